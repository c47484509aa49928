// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Reading and preparing modules.

#include "decode/Loader.h"

#include "amd/FatPointers.h"
#include "decode/Decoder.h"
#include "decode/NewerText.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/CallingConv.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <mutex>
#include <set>

namespace tilejit::sim {

namespace {

bool isKernel(const llvm::Function &function) {
  if (function.isDeclaration())
    return false;
  llvm::CallingConv::ID convention = function.getCallingConv();
  if (convention == llvm::CallingConv::PTX_Kernel || convention == llvm::CallingConv::AMDGPU_KERNEL)
    return true;
  if (function.hasFnAttribute("nvvm.kernel"))
    return true;
  // Older modules list kernels in metadata.
  if (const llvm::NamedMDNode *annotations = function.getParent()->getNamedMetadata("nvvm.annotations"))
    for (const llvm::MDNode *node : annotations->operands()) {
      auto *value = node->getNumOperands() >= 3
                        ? llvm::mdconst::dyn_extract_or_null<llvm::Function>(node->getOperand(0))
                        : nullptr;
      if (value != &function)
        continue;
      for (unsigned i = 1; i + 1 < node->getNumOperands(); i += 2)
        if (auto *key = llvm::dyn_cast<llvm::MDString>(node->getOperand(i)); key && key->getString() == "kernel")
          return true;
    }
  return false;
}

/// A function that (indirectly) calls itself, or null.
llvm::Function *findRecursion(llvm::Function &function, std::set<llvm::Function *> &open,
                              std::set<llvm::Function *> &done) {
  if (done.count(&function))
    return nullptr;
  if (!open.insert(&function).second)
    return &function;
  for (llvm::BasicBlock &block : function)
    for (llvm::Instruction &instruction : block)
      if (auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction))
        if (llvm::Function *callee = call->getCalledFunction(); callee && !callee->isDeclaration())
          if (llvm::Function *recursive = findRecursion(*callee, open, done))
            return recursive;
  open.erase(&function);
  done.insert(&function);
  return nullptr;
}

/// Inlines all calls of functions with a body, whatever their attributes say.
Status inlineCalls(llvm::Function &kernel, const Rules &rules) {
  std::set<llvm::Function *> open, done;
  if (llvm::Function *recursive = findRecursion(kernel, open, done))
    return Status(StatusCode::InvalidArgument, "kernel '" + kernel.getName().str() + "' calls '" +
                                                   recursive->getName().str() + "', which is recursive");
  for (bool found = true; found;) {
    found = false;
    std::vector<llvm::CallBase *> calls;
    for (llvm::BasicBlock &block : kernel)
      for (llvm::Instruction &instruction : block)
        if (auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction))
          if (llvm::Function *callee = call->getCalledFunction();
              callee && !callee->isDeclaration() && !rules.findCall(callee->getName()))
            calls.push_back(call);
    for (llvm::CallBase *call : calls) {
      std::string name = call->getCalledFunction()->getName().str();
      llvm::InlineFunctionInfo info;
      llvm::InlineResult result = llvm::InlineFunction(*call, info);
      if (!result.isSuccess())
        return Status(StatusCode::InvalidArgument,
                      "can't inline the call of '" + name + "': " + result.getFailureReason());
      found = true;
    }
  }
  return Status::ok();
}

unsigned waveWidth(const llvm::Function &kernel, const Chip &chip) {
  llvm::StringRef features = kernel.getFnAttribute("target-features").getValueAsString();
  if (features.contains("+wavefrontsize64"))
    return 64;
  if (features.contains("+wavefrontsize32"))
    return 32;
  return chip.info.waveWidth;
}

const Rules &rulesOf(const Chip &chip) {
  auto make = [](bool nvidia) {
    Rules rules;
    addCommonRules(rules);
    nvidia ? addNvidiaRules(rules) : addAmdRules(rules);
    return rules;
  };
  static const Rules nvidia = make(true), amd = make(false);
  return chip.info.nvidia ? nvidia : amd;
}

} // namespace

LoadedIr::LoadedIr() : context_(std::make_unique<llvm::LLVMContext>()) {}
LoadedIr::~LoadedIr() { programs_.clear(); }

/// Whether a part of LLVM comes back: its reader of bitcode believes much of what it reads, and a damaged file must not
/// end the host. One thread at a time, as the handlers of signals are the process's.
static bool runGuarded(llvm::function_ref<void()> part) {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  llvm::CrashRecoveryContext::Enable();
  llvm::CrashRecoveryContext guard;
  bool done = guard.RunSafely(part);
  llvm::CrashRecoveryContext::Disable();
  return done;
}

Expected<std::shared_ptr<LoadedIr>> LoadedIr::read(std::string_view bytes, std::string_view name, const Chip &chip) {
  auto loaded = std::make_shared<LoadedIr>();
  loaded->chip_ = &chip;
  // Diagnostics of LLVM come back as text instead of going to stderr.
  std::string diagnostics;
  loaded->context_->setDiagnosticHandlerCallBack([](const llvm::DiagnosticInfo *info, void *text) {}, nullptr);
  std::string text(bytes);
  if (!text.starts_with("BC") && !text.starts_with("\xde\xc0\x17\x0b"))
    text = rewriteNewerText(text);
  llvm::SMDiagnostic error;
  bool isWhole = true;
  llvm::raw_string_ostream stream(diagnostics);
  std::unique_ptr<llvm::MemoryBuffer> buffer = llvm::MemoryBuffer::getMemBuffer(text, std::string(name));
  bool survived = runGuarded([&] {
    loaded->module_ = llvm::parseIR(*buffer, error, *loaded->context_);
    isWhole = loaded->module_ && !llvm::verifyModule(*loaded->module_, &stream);
  });
  if (!survived) {
    // What the reader left behind can't be taken apart safely.
    static auto *wrecks = new std::vector<std::shared_ptr<LoadedIr>>;
    wrecks->push_back(std::move(loaded));
    return Status(StatusCode::InvalidArgument, std::string(name) + " is damaged: LLVM's reader fails on it");
  }
  if (!loaded->module_) {
    Status status(StatusCode::InvalidArgument, "not a module that LLVM reads: " + error.getMessage().str());
    return std::move(status).at(std::string(name) + ":" + std::to_string(std::max(error.getLineNo(), 0)) + ":" +
                                std::to_string(error.getColumnNo() + 1));
  }
  if (!isWhole)
    return Status(StatusCode::InvalidArgument,
                  "the module is malformed: " + diagnostics.substr(0, diagnostics.find('\n')));
  TILEJIT_RETURN_IF_ERROR(loaded->checkTarget(name));
  if (!chip.info.nvidia)
    TILEJIT_RETURN_IF_ERROR(lowerFatPointers(loaded->module_, chip.info.name));
  loaded->listKernels();
  return loaded;
}

Status LoadedIr::checkTarget(std::string_view name) {
  llvm::Triple triple = module_->getTargetTriple();
  bool nvidia = chip_->info.nvidia;
  if (triple.str().empty()) {
    triple = llvm::Triple(nvidia ? "nvptx64-nvidia-cuda" : "amdgcn-amd-amdhsa");
    module_->setTargetTriple(triple);
  }
  bool fits = nvidia ? triple.isNVPTX() && triple.isArch64Bit() : triple.isAMDGCN();
  if (!fits)
    return Status(StatusCode::InvalidArgument, std::string(name) + " is for " + triple.str() + ", " + chip_->info.name +
                                                   " needs " + (nvidia ? "nvptx64" : "amdgcn"));
  if (module_->getDataLayoutStr().empty())
    module_->setDataLayout(triple.computeDataLayout());
  return Status::ok();
}

/// Up to three numbers of an attribute, as "2,1"; those that are missing are 1. Nothing where there is no attribute.
static void readSizes(const llvm::Function &function, llvm::StringRef name, uint32_t (&sizes)[3]) {
  if (!function.hasFnAttribute(name))
    return;
  llvm::SmallVector<llvm::StringRef, 3> parts;
  function.getFnAttribute(name).getValueAsString().split(parts, ',');
  for (size_t i = 0; i < 3; ++i)
    if (i >= parts.size() || parts[i].trim().getAsInteger(10, sizes[i]))
      sizes[i] = 1;
}

void LoadedIr::listKernels() {
  const llvm::DataLayout &layout = module_->getDataLayout();
  for (llvm::Function &function : *module_) {
    if (!isKernel(function))
      continue;
    KernelInfo info;
    info.name = function.getName().str();
    for (llvm::Argument &argument : function.args()) {
      ParameterInfo parameter;
      llvm::Type *byValue = argument.getParamByValType() ? argument.getParamByValType() : argument.getParamByRefType();
      parameter.name = argument.hasName() ? argument.getName().str() : "#" + std::to_string(argument.getArgNo());
      parameter.isPointer = argument.getType()->isPointerTy() && !byValue;
      parameter.isFloat = argument.getType()->isFloatingPointTy();
      parameter.isByValue = byValue != nullptr;
      parameter.bytes =
          static_cast<uint32_t>(layout.getTypeStoreSize(byValue ? byValue : argument.getType()).getFixedValue());
      info.parameters.push_back(std::move(parameter));
    }
    readSizes(function, "nvvm.reqntid", info.requiredBlock);
    readSizes(function, "nvvm.cluster_dim", info.requiredCluster);
    kernels_.push_back(std::move(info));
  }
}

Expected<std::shared_ptr<const Program>> LoadedIr::program(const std::string &kernel) const {
  if (auto found = programs_.find(kernel); found != programs_.end())
    return found->second;
  llvm::Function *function = module_->getFunction(kernel);
  if (!function || !isKernel(*function)) {
    std::string names;
    for (const KernelInfo &info : kernels_)
      names += (names.empty() ? "" : ", ") + info.name;
    return Status(StatusCode::InvalidArgument, "the module has no kernel '" + kernel + "'")
        .withHint(names.empty() ? "it has no kernel at all" : "its kernels are " + names);
  }
  const Rules &rules = rulesOf(*chip_);
  TILEJIT_RETURN_IF_ERROR(inlineCalls(*function, rules));
  auto program = std::make_shared<Program>();
  program->kernel = kernel;
  program->width = chip_->info.nvidia ? 32 : waveWidth(*function, *chip_);
  program->lockStep = !chip_->info.nvidia;
  Decoder decoder(*function, *chip_, rules, *program);
  TILEJIT_RETURN_IF_ERROR(decoder.run());
  programs_[kernel] = program;
  return std::shared_ptr<const Program>(program);
}

} // namespace tilejit::sim
