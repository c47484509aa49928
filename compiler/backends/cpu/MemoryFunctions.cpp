// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Each function is one loop over bytes, upward, and downward where memmove's areas ask for it. "no-builtins" keeps LLVM
// from finding a call of the function itself in it.

#include "MemoryFunctions.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace tilejit::cpu {

namespace {

/// Adds a loop from `begin` in steps of `step` until `end` before the builder's place; `body` gets the index.
template <typename Body>
void addLoop(IRBuilder<> &builder, Function *function, Value *begin, Value *end, int64_t step, BasicBlock *exit,
             Body body) {
  LLVMContext &context = builder.getContext();
  BasicBlock *before = builder.GetInsertBlock();
  BasicBlock *head = BasicBlock::Create(context, "head", function),
             *loop = BasicBlock::Create(context, "loop", function);
  builder.CreateBr(head);
  builder.SetInsertPoint(head);
  PHINode *index = builder.CreatePHI(builder.getInt64Ty(), 2);
  builder.CreateCondBr(builder.CreateICmpEQ(index, end), exit, loop);
  builder.SetInsertPoint(loop);
  Value *next = builder.CreateAdd(index, builder.getInt64(static_cast<uint64_t>(step)));
  body(step > 0 ? static_cast<Value *>(index) : next);
  builder.CreateBr(head);
  index->addIncoming(begin, before);
  index->addIncoming(next, loop);
}

Function *begin(Module &module, StringRef name, Type *second) {
  LLVMContext &context = module.getContext();
  Type *pointer = PointerType::get(context, 0);
  auto *type = FunctionType::get(pointer, {pointer, second, Type::getInt64Ty(context)}, false);
  Function *function = Function::Create(type, GlobalValue::WeakAnyLinkage, name, module);
  function->setVisibility(GlobalValue::HiddenVisibility);
  function->addFnAttr("no-builtins");
  BasicBlock::Create(context, "entry", function);
  return function;
}

void addCopy(Module &module, StringRef name, bool mayOverlap) {
  LLVMContext &context = module.getContext();
  Function *function = begin(module, name, PointerType::get(context, 0));
  Value *to = function->getArg(0), *from = function->getArg(1), *bytes = function->getArg(2);
  IRBuilder<> builder(&function->getEntryBlock());
  BasicBlock *exit = BasicBlock::Create(context, "exit", function);
  auto copyByte = [&](Value *index) {
    Value *byte = builder.CreateLoad(builder.getInt8Ty(), builder.CreateGEP(builder.getInt8Ty(), from, index));
    builder.CreateStore(byte, builder.CreateGEP(builder.getInt8Ty(), to, index));
  };
  if (mayOverlap) {
    BasicBlock *up = BasicBlock::Create(context, "up", function), *down = BasicBlock::Create(context, "down", function);
    builder.CreateCondBr(builder.CreateICmpULT(from, to), down, up);
    builder.SetInsertPoint(down);
    addLoop(builder, function, bytes, builder.getInt64(0), -1, exit, copyByte);
    builder.SetInsertPoint(up);
  }
  addLoop(builder, function, builder.getInt64(0), bytes, 1, exit, copyByte);
  builder.SetInsertPoint(exit);
  builder.CreateRet(to);
}

void addFill(Module &module) {
  LLVMContext &context = module.getContext();
  Function *function = begin(module, "memset", Type::getInt32Ty(context));
  Value *to = function->getArg(0), *value = function->getArg(1), *bytes = function->getArg(2);
  IRBuilder<> builder(&function->getEntryBlock());
  BasicBlock *exit = BasicBlock::Create(context, "exit", function);
  Value *byte = builder.CreateTrunc(value, builder.getInt8Ty());
  addLoop(builder, function, builder.getInt64(0), bytes, 1, exit,
          [&](Value *index) { builder.CreateStore(byte, builder.CreateGEP(builder.getInt8Ty(), to, index)); });
  builder.SetInsertPoint(exit);
  builder.CreateRet(to);
}

} // namespace

bool isMemoryFunction(std::string_view name) { return name == "memcpy" || name == "memmove" || name == "memset"; }

std::unique_ptr<Module> makeMemoryFunctions(LLVMContext &context) {
  auto module = std::make_unique<Module>("memory", context);
  addCopy(*module, "memcpy", /*mayOverlap=*/false);
  addCopy(*module, "memmove", /*mayOverlap=*/true);
  addFill(*module);
  return module;
}

} // namespace tilejit::cpu
