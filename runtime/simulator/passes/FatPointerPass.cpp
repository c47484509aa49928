// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A library of its own, opened only for the few modules that need it: runs LLVM's amdgpu-lower-buffer-fat-pointers,
// which comes with the AMDGPU target and all of LLVM behind it. Modules come and go as bitcode, since the plug-in that
// asks has its own copy of LLVM's core.

#include "amd/FatPointerPass.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>

namespace {

llvm::Error lower(llvm::Module &module, const char *chip) {
  LLVMInitializeAMDGPUTargetInfo();
  LLVMInitializeAMDGPUTarget();
  LLVMInitializeAMDGPUTargetMC();
  std::string error;
  llvm::Triple triple = module.getTargetTriple();
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return llvm::createStringError(error);
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(triple, chip, "", {}, std::nullopt));
  llvm::PassBuilder builder(machine.get());
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graph;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graph, modules);
  llvm::ModulePassManager passes;
  if (llvm::Error failure = builder.parsePassPipeline(passes, "amdgpu-lower-buffer-fat-pointers"))
    return failure;
  passes.run(module, modules);
  return llvm::Error::success();
}

} // namespace

/// tilejit::sim::FatPointerPass.
extern "C" __attribute__((visibility("default"))) bool
tilejit_simulator_lower_fat_pointers(std::string_view bitcode, const char *chip, std::string &result) {
  llvm::LLVMContext context;
  auto module = llvm::parseBitcodeFile(llvm::MemoryBufferRef(llvm::StringRef(bitcode), "module"), context);
  llvm::Error failure = module ? lower(**module, chip) : module.takeError();
  if (failure) {
    result = llvm::toString(std::move(failure));
    return false;
  }
  llvm::raw_string_ostream stream(result);
  llvm::WriteBitcodeToFile(**module, stream);
  return true;
}
