// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// TargetMachine, function attributes, the code generator.

#include "CodeGen.h"

#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"

namespace tilejit::cpu {

namespace {

void initialize(CpuArch arch) {
  switch (arch) {
  case CpuArch::X86_64:
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    return;
  case CpuArch::AArch64:
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
    return;
  case CpuArch::RiscV64:
    LLVMInitializeRISCVTargetInfo();
    LLVMInitializeRISCVTarget();
    LLVMInitializeRISCVTargetMC();
    LLVMInitializeRISCVAsmPrinter();
    return;
  }
}

std::string joinFeatures(const TargetSpec &target) {
  std::string text;
  for (const std::string &feature : target.features)
    text += (text.empty() ? "" : ",") + feature;
  return text;
}

/// Keeps the first error; warnings and remarks are of no interest to a kernel's author.
class ErrorKeeper : public llvm::DiagnosticHandler {
public:
  explicit ErrorKeeper(std::string &error) : error_(error) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    if (info.getSeverity() == llvm::DS_Error && error_.empty()) {
      llvm::raw_string_ostream stream(error_);
      llvm::DiagnosticPrinterRawOStream printer(stream);
      info.print(printer);
    }
    return true;
  }

private:
  std::string &error_;
};

} // namespace

std::unique_ptr<llvm::TargetMachine> makeTargetMachine(const TargetSpec &target, std::string &error) {
  initialize(target.cpuFacts.arch);
  llvm::Triple triple(target.triple);
  const llvm::Target *found = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!found)
    return nullptr;
  llvm::TargetOptions options;
  options.EmitStackSizeSection = true;
  options.ExceptionModel = llvm::ExceptionHandling::None;
  if (target.cpuFacts.arch == CpuArch::RiscV64)
    options.MCOptions.ABIName = "lp64d";
  std::unique_ptr<llvm::TargetMachine> machine(found->createTargetMachine(triple, target.cpu, joinFeatures(target),
                                                                          options, llvm::Reloc::PIC_, std::nullopt,
                                                                          llvm::CodeGenOptLevel::Default));
  if (!machine)
    error = "LLVM has no code generator for " + target.triple;
  return machine;
}

void prepareModule(llvm::Module &module, const llvm::TargetMachine &machine, const TargetSpec &target) {
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
  if (target.cpuFacts.arch == CpuArch::RiscV64)
    module.addModuleFlag(llvm::Module::Error, "target-abi", llvm::MDString::get(module.getContext(), "lp64d"));
  std::string features = joinFeatures(target), bits = std::to_string(target.cpuFacts.vectorBits);
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", target.cpu);
    if (!features.empty())
      function.addFnAttr("target-features", features);
    function.addFnAttr("prefer-vector-width", bits);
    function.addFnAttr("min-legal-vector-width", bits);
    function.addFnAttr("no-trapping-math", "true");
    function.addFnAttr(llvm::Attribute::NoUnwind);
  }
}

std::string generateCode(llvm::Module &module, llvm::TargetMachine &machine, CodeForm form, std::string &error) {
  module.getContext().setDiagnosticHandler(std::make_unique<ErrorKeeper>(error));
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  auto type = form == CodeForm::Object ? llvm::CodeGenFileType::ObjectFile : llvm::CodeGenFileType::AssemblyFile;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type, /*DisableVerify=*/true)) {
    error = "LLVM can't emit this form for the target";
    return {};
  }
  passes.run(module);
  if (!error.empty())
    return {};
  return std::string(bytes.data(), bytes.size());
}

} // namespace tilejit::cpu
