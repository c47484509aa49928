// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Threads of NVIDIA GPUs, in the nvvm dialect.

#include "Threads.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace tilejit;
using namespace tilejit::gpu;

namespace {

/// One array without a size for all kernels of a module: the launch says how large it is.
Value sharedArray(OpBuilder &b, Location loc, ModuleOp module) {
  constexpr StringLiteral name = "tilejit_shared";
  constexpr unsigned space = 3, alignment = 1024;
  auto global = module.lookupSymbol<LLVM::GlobalOp>(name);
  if (!global) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    auto type = LLVM::LLVMArrayType::get(b.getI8Type(), 0);
    global = LLVM::GlobalOp::create(b, loc, type, /*isConstant=*/false, LLVM::Linkage::External, name, Attribute(),
                                    alignment, space);
  }
  return LLVM::AddressOfOp::create(b, loc, global);
}

class NvidiaThreads final : public Threads {
public:
  void markKernel(LLVM::LLVMFuncOp function, int64_t threads) const override {
    Builder b(function.getContext());
    function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), b.getUnitAttr());
    function->setAttr(NVVM::NVVMDialect::getReqntidAttrName(), b.getDenseI32ArrayAttr({int32_t(threads), 1, 1}));
  }
  Value onChipMemory(OpBuilder &b, Location loc, ModuleOp module, StringRef, int64_t) const override {
    return sharedArray(b, loc, module);
  }
  Value threadId(OpBuilder &b, Location loc, int64_t threads) const override {
    auto range = LLVM::ConstantRangeAttr::get(b.getContext(), 32, 0, threads);
    return NVVM::ThreadIdXOp::create(b, loc, b.getI32Type(), range);
  }
  Value blockId(OpBuilder &b, Location loc) const override { return NVVM::BlockIdXOp::create(b, loc, b.getI32Type()); }
  void barrier(OpBuilder &b, Location loc) const override { NVVM::Barrier0Op::create(b, loc); }
  Value shuffleXor(OpBuilder &b, Location loc, Value word, int64_t mask) const override {
    return shuffle(b, loc, word, constant(b, loc, mask), NVVM::ShflKind::bfly);
  }
  Value shuffleFrom(OpBuilder &b, Location loc, Value word, Value lane) const override {
    return shuffle(b, loc, word, lane, NVVM::ShflKind::idx);
  }
  void endWarp(OpBuilder &b, Location loc) const override {
    LLVM::CallIntrinsicOp::create(b, loc, b.getStringAttr("llvm.nvvm.exit"), ValueRange());
  }
  /// dp4a; there is nothing for pairs of f16.
  Value addProducts(OpBuilder &b, Location loc, const ProductTypes &types, Value left, Value right,
                    Value sum) const override {
    auto signs = [](bool isUnsigned) {
      return isUnsigned ? NVVM::DotAccumulateType::UNSIGNED : NVVM::DotAccumulateType::SIGNED;
    };
    return NVVM::DotAccumulate4WayOp::create(b, loc, b.getI32Type(), left, signs(types.isLeftUnsigned), right,
                                             signs(types.isRightUnsigned), sum);
  }
  bool movesUnaligned() const override { return false; }
  StringRef scopeName(tile::MemoryScope scope) const override {
    switch (scope) {
    case tile::MemoryScope::Block:
      return "block";
    case tile::MemoryScope::Device:
      return "device";
    case tile::MemoryScope::System:
      return "";
    }
    return "";
  }

private:
  static Value constant(OpBuilder &b, Location loc, int64_t value) {
    return arith::ConstantIntOp::create(b, loc, b.getI32Type(), value);
  }
  static Value shuffle(OpBuilder &b, Location loc, Value word, Value offset, NVVM::ShflKind kind) {
    constexpr int64_t allLanes = -1, wholeWarp = 31;
    return NVVM::ShflOp::create(b, loc, b.getI32Type(), constant(b, loc, allLanes), word, offset,
                                constant(b, loc, wholeWarp), kind, UnitAttr());
  }
};

} // namespace

std::unique_ptr<Threads> tilejit::gpu::nvidiaThreads() { return std::make_unique<NvidiaThreads>(); }
