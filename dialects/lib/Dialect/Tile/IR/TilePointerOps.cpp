// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Pointer tiles: checks of gathers, scatters and atomics.

#include "tilejit/Dialect/Tile/IR/Tile.h"

#include "Checks.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tilejit::tile;

LogicalResult tilejit::tile::verifyAtomicKind(Operation *op, AtomicKind kind, Type element) {
  if (kind == AtomicKind::Exchange)
    return success();
  bool wantsFloat = kind == AtomicKind::AddF;
  if (wantsFloat != isa<FloatType>(element))
    return op->emitOpError("expected ") << (wantsFloat ? "floating-point numbers" : "integers") << " for '"
                                        << stringifyAtomicKind(kind) << "', got " << element;
  return success();
}

/// Checks that a tile has the shape of the pointers and their pointee as element.
static LogicalResult verifyAgainstPointers(Operation *op, RankedTensorType pointers, RankedTensorType tile) {
  if (tile.getShape() != pointers.getShape())
    return op->emitOpError("expected a tile of the pointers' shape, got ") << tile << " and " << pointers;
  Type expected = cast<PtrType>(pointers.getElementType()).getPointee();
  if (tile.getElementType() != expected)
    return op->emitOpError("expected a tile of the pointee type ") << expected << ", got " << tile.getElementType();
  return success();
}

LogicalResult AddPtrOp::verify() {
  auto base = dyn_cast<RankedTensorType>(getBase().getType());
  auto offset = dyn_cast<RankedTensorType>(getOffset().getType());
  if (bool(base) != bool(offset))
    return emitOpError("expected two scalars or two tiles, got ")
           << getBase().getType() << " and " << getOffset().getType();
  if (base && base.getShape() != offset.getShape())
    return emitOpError("expected offsets of the pointers' shape, got ") << offset << " and " << base;
  return success();
}

LogicalResult GatherOp::verify() {
  if (getOther() && !getMask())
    return emitOpError("expected a mask beside 'other'");
  return verifyAgainstPointers(*this, getPointers().getType(), getType());
}

LogicalResult ScatterOp::verify() {
  return verifyAgainstPointers(*this, getPointers().getType(), getValue().getType());
}

LogicalResult AtomicRmwOp::verify() {
  if (failed(verifyAgainstPointers(*this, getPointers().getType(), getValue().getType())))
    return failure();
  return verifyAtomicKind(*this, getKind(), getValue().getType().getElementType());
}

LogicalResult AtomicCasOp::verify() {
  return verifyAgainstPointers(*this, getPointers().getType(), getExpected().getType());
}
