// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Math to arithmetic, LLVM dialect, LLVM IR, object, ELF shared object. The stages are functions of their own; this
// file is their order and turns their errors into diagnostics.

#include "CompileLoops.h"

#include "CodeGen.h"
#include "MemoryFunctions.h"

#include "backends/common/CodeGen.h"
#include "backends/common/Link.h"
#include "backends/common/LowerToLLVM.h"
#include "backends/common/ObjectFacts.h"
#include "tilejit/Transforms/MathExpansion.h"

#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;

namespace tilejit::cpu {

namespace {

/// Half floats are only moved, since their arithmetic has been expanded, and LLVM gains nothing from knowing them:
/// where a CPU has no conversion of its own it calls a library's for each in a register. bf16 travels as integers
/// everywhere, because LLVM 22 takes the sign of one that crosses blocks on x86 as known to be 0.
backends::Recipient recipientOf(const TargetSpec &target) {
  backends::Recipient recipient{"a CPU", {}, {}};
  recipient.hasF16 = target.cpuFacts.hasF16Convert;
  recipient.hasBf16 = false;
  return recipient;
}

const char *emulation(CpuArch arch) {
  switch (arch) {
  case CpuArch::X86_64:
    return "elf_x86_64";
  case CpuArch::AArch64:
    return "aarch64linux";
  case CpuArch::RiscV64:
    return "elf64lriscv";
  }
  return "";
}

/// Links; on the way refuses what would need a library, and adds the memory functions where LLVM called them.
FailureOr<BackendResult> link(BackendJob &job, std::string object, llvm::LLVMContext &context,
                              llvm::TargetMachine &machine) {
  backends::ObjectFacts facts;
  if (!backends::readObjectFacts(object, facts))
    return job.module.emitError("the code generator gave no ELF object");
  std::vector<std::string> objects;
  objects.push_back(std::move(object));
  std::string error;
  for (const std::string &symbol : facts.undefined) {
    if (symbol == "_GLOBAL_OFFSET_TABLE_")
      continue;
    if (!isMemoryFunction(symbol))
      return job.module.emitError("the code calls '") << symbol << "', which kernels have no library for";
    if (objects.size() == 1) {
      std::unique_ptr<llvm::Module> functions = makeMemoryFunctions(context);
      prepareModule(*functions, machine, job.target);
      objects.push_back(backends::generateCode(*functions, machine, backends::CodeForm::Object, error));
    }
  }
  BackendResult result;
  if (error.empty())
    result.payloads.push_back(
        {abi::PayloadKind::Elf, backends::linkSharedObject(objects, emulation(job.target.cpuFacts.arch), error)});
  if (!error.empty())
    return job.module.emitError(error);
  result.resources["code_bytes"] = facts.codeBytes;
  result.resources["stack_bytes"] = facts.stackBytes;
  return result;
}

LogicalResult lower(BackendJob &job) {
  backends::loadLoopDialects(*job.module.getContext());
  const CpuFacts &facts = job.target.cpuFacts;
  job.stages.begin("math");
  MathExpansionOptions math;
  math.hasFma = facts.hasFma;
  math.hasHalfConvert = facts.hasF16Convert;
  bool hasAvx512 = facts.arch == CpuArch::X86_64 && facts.vectorBits == 512;
  math.hasBf16Convert = hasAvx512 && facts.hasBf16Dot; // One extension has both.
  math.hasScalef = hasAvx512;
  const backends::Recipient recipient = recipientOf(job.target);
  if (failed(expandMath(job.module, math)) || failed(backends::checkSupported(job.module, recipient)))
    return failure();
  job.stages.begin("llvm-dialect");
  return backends::lowerToLLVM(job.module, recipient);
}

} // namespace

FailureOr<BackendResult> compileLoops(BackendJob job) {
  if (failed(lower(job)))
    return failure();
  job.stages.begin("translate");
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = translateModuleToLLVMIR(job.module, context, "kernel");
  if (!module)
    return job.module.emitError("the LLVM dialect could not be translated");
  std::string error;
  std::unique_ptr<llvm::TargetMachine> machine = makeTargetMachine(job.target, error);
  if (!machine)
    return job.module.emitError(error);
  prepareModule(*module, *machine, job.target);
  if (job.emit == abi::EmitKind::Llvm) {
    BackendResult result;
    result.text = backends::printModule(*module);
    return result;
  }
  if (job.texts)
    job.texts->llvm = backends::printModule(*module);
  job.stages.begin("codegen");
  bool text = job.emit == abi::EmitKind::Asm;
  std::string code = backends::generateCode(*module, *machine,
                                            text ? backends::CodeForm::Assembly : backends::CodeForm::Object, error);
  if (!error.empty())
    return job.module.emitError(error);
  if (text) {
    BackendResult result;
    result.text = std::move(code);
    return result;
  }
  job.stages.begin("link");
  return link(job, std::move(code), context, *machine);
}

} // namespace tilejit::cpu
