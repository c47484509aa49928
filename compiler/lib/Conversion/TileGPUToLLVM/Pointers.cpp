// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Tiles of pointers. A pointer in a tile is an i64; an access through it is one element's.

#include "KernelEmitter.h"

using namespace mlir;
using namespace tilejit;
using namespace tilejit::gpu;

static Type pointeeOf(Value pointers) {
  return cast<tile::PtrType>(getElementTypeOrSelf(pointers.getType())).getPointee();
}

static LogicalResult lowerAddPtr(KernelEmitter &e, Operation *op) {
  Value base = e.get(op->getOperand(0)), offset = e.get(op->getOperand(1));
  Type pointee = pointeeOf(op->getResult(0));
  Type wide = e.b.getI64Type();
  if (auto vector = dyn_cast<VectorType>(offset.getType()))
    wide = vector.clone(wide);
  offset = e.resize(offset, wide, /*isSigned=*/true);
  if (isa<LLVM::LLVMPointerType>(base.getType())) {
    Value moved =
        LLVM::GEPOp::create(e.b, e.loc, base.getType(), e.memoryType(pointee), base, ArrayRef<LLVM::GEPArg>{offset});
    e.set(op->getResult(0), moved);
    return success();
  }
  Value bytes = arith::MulIOp::create(e.b, e.loc, offset, e.integer(offset.getType(), tilegpu::storageBytes(pointee)));
  e.set(op->getResult(0), arith::AddIOp::create(e.b, e.loc, base, bytes));
  return success();
}

Value gpu::addressOf(KernelEmitter &e, Value number, Type pointee) {
  return LLVM::IntToPtrOp::create(e.b, e.loc, e.lowered(tile::PtrType::get(pointee.getContext(), pointee)), number);
}

SmallVector<Value> gpu::elementConditions(KernelEmitter &e, RankedTensorType tile, Value mask) {
  LayoutAttr layout = tilegpu::layoutOf(tile);
  Value all = e.both(e.insideTile(layout, tile.getShape()), mask ? e.get(mask) : Value());
  if (!all)
    return SmallVector<Value>(layout.numRegisters());
  return e.scalars(all);
}

static LogicalResult lowerGather(KernelEmitter &e, Operation *op) {
  auto gather = cast<tile::GatherOp>(op);
  auto tile = tileTypeOf(gather.getResult());
  Type element = tile.getElementType(), memory = e.memoryType(element);
  SmallVector<Value> pointers = e.scalars(e.get(gather.getPointers())), values, others;
  SmallVector<Value> conditions = elementConditions(e, tile, gather.getMask());
  if (gather.getOther())
    others = e.scalars(e.toMemory(e.get(gather.getOther()), element));
  Value nothing = arith::ConstantOp::create(e.b, e.loc, cast<TypedAttr>(e.b.getZeroAttr(memory)));
  for (auto [reg, pointer] : llvm::enumerate(pointers)) {
    auto read = [&] {
      return e.loadFrom(memory, addressOf(e, pointers[reg], element), tilegpu::storageBytes(element));
    };
    values.push_back(e.choose(conditions[reg], memory, read, [&] { return others.empty() ? nothing : others[reg]; }));
  }
  e.set(gather.getResult(), e.fromMemory(e.fromScalars(values), element));
  return success();
}

static LogicalResult lowerScatter(KernelEmitter &e, Operation *op) {
  auto scatter = cast<tile::ScatterOp>(op);
  auto tile = tileTypeOf(scatter.getValue());
  Type element = tile.getElementType();
  SmallVector<Value> values = e.scalars(e.toMemory(e.get(scatter.getValue()), element));
  SmallVector<Value> pointers = e.scalars(e.get(scatter.getPointers()));
  SmallVector<Value> conditions = elementConditions(e, tile, scatter.getMask());
  return e.when(e.isOriginal(tilegpu::layoutOf(tile)), [&]() -> LogicalResult {
    for (auto [reg, value] : llvm::enumerate(values)) {
      auto write = [&, value = value, reg = reg] {
        e.storeTo(value, addressOf(e, pointers[reg], element), tilegpu::storageBytes(element));
        return success();
      };
      if (failed(e.when(conditions[reg], write)))
        return failure();
    }
    return success();
  });
}

void gpu::registerPointers(LoweringTable &table) {
  table[tile::AddPtrOp::getOperationName()] = lowerAddPtr;
  table[tile::GatherOp::getOperationName()] = lowerGather;
  table[tile::ScatterOp::getOperationName()] = lowerScatter;
}
