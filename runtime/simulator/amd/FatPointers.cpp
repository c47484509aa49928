// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Runs amdgpu-lower-buffer-fat-pointers on modules that need it.

#include "amd/FatPointers.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>

namespace tilejit::sim {

namespace {

constexpr unsigned fatPointerSpace = 7, stridedPointerSpace = 9;

bool isFat(const llvm::Type *type) {
  type = type->getScalarType();
  if (!type->isPointerTy())
    return false;
  unsigned space = type->getPointerAddressSpace();
  return space == fatPointerSpace || space == stridedPointerSpace;
}

bool usesFatPointers(const llvm::Module &module) {
  for (const llvm::Function &function : module) {
    for (const llvm::Argument &argument : function.args())
      if (isFat(argument.getType()))
        return true;
    for (const llvm::Instruction &instruction : llvm::instructions(function))
      if (isFat(instruction.getType()))
        return true;
  }
  return false;
}

} // namespace

Status lowerFatPointers(llvm::Module &module, std::string_view chip) {
  if (!usesFatPointers(module))
    return Status::ok();
  LLVMInitializeAMDGPUTargetInfo();
  LLVMInitializeAMDGPUTarget();
  LLVMInitializeAMDGPUTargetMC();
  std::string error;
  llvm::Triple triple = module.getTargetTriple();
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return Status(StatusCode::Internal, "no AMDGPU target to lower fat buffer pointers: " + error);
  std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(triple, llvm::StringRef(chip.data(), chip.size()), "", {}, std::nullopt));
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
    return Status(StatusCode::Internal, "can't lower fat buffer pointers: " + llvm::toString(std::move(failure)));
  passes.run(module, modules);
  return Status::ok();
}

} // namespace tilejit::sim
