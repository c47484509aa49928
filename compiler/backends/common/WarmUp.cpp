// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A kernel that adds one number to itself, through all passes. What comes of it is thrown away, errors included: the
// kernel that is waited for meets them again.

#include "WarmUp.h"

#include "CodeGen.h"
#include "Machines.h"
#include "Optimize.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LLVMContext.h"

using namespace llvm;

namespace tilejit::backends {

static void addKernel(Module &module, CallingConv::ID convention) {
  LLVMContext &context = module.getContext();
  constexpr unsigned globalMemory = 1;
  Type *number = Type::getFloatTy(context), *pointer = PointerType::get(context, globalMemory);
  auto *type = FunctionType::get(Type::getVoidTy(context), {pointer}, /*isVarArg=*/false);
  auto *kernel = Function::Create(type, GlobalValue::ExternalLinkage, "warm_up", module);
  kernel->setCallingConv(convention);
  IRBuilder<> builder(BasicBlock::Create(context, "", kernel));
  Value *read = builder.CreateLoad(number, kernel->getArg(0));
  builder.CreateStore(builder.CreateFAdd(read, read), kernel->getArg(0));
  builder.CreateRetVoid();
}

std::jthread warmUp(const GpuVendor &vendor, const TargetSpec &target) {
  return std::jthread([vendor, target] {
    std::string error;
    std::unique_ptr<TargetMachine> machine = vendor.makeMachine(target, error);
    if (!machine)
      return;
    LLVMContext context;
    Module module("warm_up", context);
    addKernel(module, vendor.kernelConvention);
    prepareModule(module, *machine, target);
    vendor.prepare(module, target);
    optimize(module, *machine, target.gpuFacts);
    generateCode(module, *machine, vendor.codeForm, error);
    if (error.empty())
      keepMachine(target, std::move(machine));
  });
}

} // namespace tilejit::backends
