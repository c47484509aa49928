// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Threads of AMD GPUs, in the rocdl dialect.

#include "Threads.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"

using namespace mlir;
using namespace tilejit;
using namespace tilejit::gpu;

namespace {

class AmdThreads final : public Threads {
public:
  explicit AmdThreads(const PackedProducts &products) : signsAreOperands_(products.mixedSigns) {}
  void markKernel(LLVM::LLVMFuncOp function, int64_t threads) const override {
    Builder b(function.getContext());
    function->setAttr(ROCDL::ROCDLDialect::KernelAttrHelper::getNameStr(), b.getUnitAttr());
    std::string range = std::to_string(threads) + "," + std::to_string(threads);
    function->setAttr(ROCDL::ROCDLDialect::FlatWorkGroupSizeAttrHelper::getNameStr(), b.getStringAttr(range));
    function->setAttr(ROCDL::ROCDLDialect::ReqdWorkGroupSizeAttrHelper::getNameStr(),
                      b.getDenseI32ArrayAttr({int32_t(threads), 1, 1}));
  }
  /// An array of each kernel's own size, so that the code object says what a launch takes.
  Value onChipMemory(OpBuilder &b, Location loc, ModuleOp module, StringRef kernel, int64_t bytes) const override {
    constexpr unsigned space = 3, alignment = 1024;
    auto type = LLVM::LLVMArrayType::get(b.getI8Type(), bytes);
    OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
    auto global = LLVM::GlobalOp::create(top, loc, type, /*isConstant=*/false, LLVM::Linkage::Internal,
                                         ("tilejit_shared_" + kernel).str(), Attribute(), alignment, space);
    top.createBlock(&global.getInitializerRegion());
    Value nothing = LLVM::UndefOp::create(top, loc, type);
    LLVM::ReturnOp::create(top, loc, nothing);
    return LLVM::AddressOfOp::create(b, loc, global);
  }
  Value threadId(OpBuilder &b, Location loc, int64_t threads) const override {
    auto range = LLVM::ConstantRangeAttr::get(b.getContext(), 32, 0, threads);
    return ROCDL::ThreadIdXOp::create(b, loc, b.getI32Type(), range);
  }
  Value blockId(OpBuilder &b, Location loc) const override { return ROCDL::BlockIdXOp::create(b, loc, b.getI32Type()); }
  /// The bare barrier instruction orders nothing: fences around it do.
  void barrier(OpBuilder &b, Location loc) const override {
    LLVM::FenceOp::create(b, loc, LLVM::AtomicOrdering::release, "workgroup");
    ROCDL::SBarrierOp::create(b, loc);
    LLVM::FenceOp::create(b, loc, LLVM::AtomicOrdering::acquire, "workgroup");
  }
  Value shuffleXor(OpBuilder &b, Location loc, Value word, int64_t mask) const override {
    Value other = arith::XOrIOp::create(b, loc, laneId(b, loc), constant(b, loc, mask));
    return shuffleFrom(b, loc, word, other);
  }
  Value shuffleFrom(OpBuilder &b, Location loc, Value word, Value lane) const override {
    constexpr int64_t log2WordBytes = 2;
    Value address = arith::ShLIOp::create(b, loc, lane, constant(b, loc, log2WordBytes));
    return ROCDL::DsBpermuteOp::create(b, loc, b.getI32Type(), address, word);
  }
  void endWarp(OpBuilder &b, Location loc) const override {
    LLVM::CallIntrinsicOp::create(b, loc, b.getStringAttr("llvm.amdgcn.endpgm"), ValueRange());
  }
  Value addProducts(OpBuilder &b, Location loc, const ProductTypes &types, Value left, Value right,
                    Value sum) const override {
    auto flag = [&](bool value) -> Value { return arith::ConstantIntOp::create(b, loc, b.getI1Type(), value); };
    auto call = [&](const char *name, ValueRange arguments) {
      return LLVM::CallIntrinsicOp::create(b, loc, sum.getType(), b.getStringAttr(name), arguments).getResult(0);
    };
    Value wraps = flag(false); // What leaves the range of the sum.
    if (isa<FloatType>(types.left))
      return call("llvm.amdgcn.fdot2", {left, right, sum, wraps});
    Value x = LLVM::BitcastOp::create(b, loc, b.getI32Type(), left);
    Value y = LLVM::BitcastOp::create(b, loc, b.getI32Type(), right);
    if (signsAreOperands_)
      return call("llvm.amdgcn.sudot4", {flag(!types.isLeftUnsigned), x, flag(!types.isRightUnsigned), y, sum, wraps});
    return call(types.isLeftUnsigned ? "llvm.amdgcn.udot4" : "llvm.amdgcn.sdot4", {x, y, sum, wraps});
  }
  bool movesUnaligned() const override { return true; }
  StringRef scopeName(tile::MemoryScope scope) const override {
    switch (scope) {
    case tile::MemoryScope::Block:
      return "workgroup";
    case tile::MemoryScope::Device:
      return "agent";
    case tile::MemoryScope::System:
      return "";
    }
    return "";
  }

private:
  const bool signsAreOperands_; ///< Of products of bytes: one instruction for all signs, instead of one for each.

  static Value constant(OpBuilder &b, Location loc, int64_t value) {
    return arith::ConstantIntOp::create(b, loc, b.getI32Type(), value);
  }
  /// Counts the lanes below this one. Right for waves of 32 and of 64 lanes.
  static Value laneId(OpBuilder &b, Location loc) {
    Type i32 = b.getI32Type();
    Value all = constant(b, loc, -1), zero = constant(b, loc, 0);
    Value low = ROCDL::MbcntLoOp::create(b, loc, i32, all, zero, ArrayAttr(), ArrayAttr());
    return ROCDL::MbcntHiOp::create(b, loc, i32, all, low, ArrayAttr(), ArrayAttr());
  }
};

} // namespace

std::unique_ptr<Threads> tilejit::gpu::amdThreads(const PackedProducts &products) {
  return std::make_unique<AmdThreads>(products);
}
