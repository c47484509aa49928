// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Options of the TargetMachine, function attributes.

#include "CodeGen.h"

#include "backends/common/CodeGen.h"

#include "llvm/IR/Module.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

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

} // namespace

std::unique_ptr<llvm::TargetMachine> makeTargetMachine(const TargetSpec &target, std::string &error) {
  initialize(target.cpuFacts.arch);
  llvm::TargetOptions options;
  options.EmitStackSizeSection = true;
  options.ExceptionModel = llvm::ExceptionHandling::None;
  if (target.cpuFacts.arch == CpuArch::RiscV64)
    options.MCOptions.ABIName = "lp64d";
  return backends::makeTargetMachine(target, options, error);
}

void prepareModule(llvm::Module &module, const llvm::TargetMachine &machine, const TargetSpec &target) {
  backends::prepareModule(module, machine, target);
  if (target.cpuFacts.arch == CpuArch::RiscV64)
    module.addModuleFlag(llvm::Module::Error, "target-abi", llvm::MDString::get(module.getContext(), "lp64d"));
  std::string bits = std::to_string(target.cpuFacts.vectorBits);
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("prefer-vector-width", bits);
    function.addFnAttr("min-legal-vector-width", bits);
  }
}

} // namespace tilejit::cpu
