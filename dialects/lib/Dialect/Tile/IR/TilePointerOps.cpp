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

/// Checks that a tile has the shape of the pointers and, where `pointee` asks for it, their pointee as element.
static LogicalResult verifyAgainstPointers(Operation *op, RankedTensorType pointers, Value tile, const char *what,
                                           bool pointee) {
  auto type = cast<RankedTensorType>(tile.getType());
  if (type.getShape() != pointers.getShape())
    return op->emitOpError("expected ") << what << " of the pointers' shape, got " << type << " and " << pointers;
  Type expected = cast<PtrType>(pointers.getElementType()).getPointee();
  if (pointee && type.getElementType() != expected)
    return op->emitOpError("expected ") << what << " of the pointee type " << expected << ", got "
                                        << type.getElementType();
  return success();
}

/// As above, for an optional mask.
static LogicalResult verifyMask(Operation *op, RankedTensorType pointers, Value mask) {
  return mask ? verifyAgainstPointers(op, pointers, mask, "a mask", /*pointee=*/false) : success();
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
  RankedTensorType pointers = getPointers().getType();
  if (failed(verifyAgainstPointers(*this, pointers, getResult(), "a result", /*pointee=*/true)) ||
      failed(verifyMask(*this, pointers, getMask())))
    return failure();
  if (!getOther())
    return success();
  if (!getMask())
    return emitOpError("expected a mask beside 'other'");
  return verifyAgainstPointers(*this, pointers, getOther(), "'other'", /*pointee=*/true);
}

LogicalResult ScatterOp::verify() {
  RankedTensorType pointers = getPointers().getType();
  if (failed(verifyAgainstPointers(*this, pointers, getValue(), "a value", /*pointee=*/true)))
    return failure();
  return verifyMask(*this, pointers, getMask());
}

LogicalResult AtomicRmwOp::verify() {
  RankedTensorType pointers = getPointers().getType();
  if (failed(verifyAgainstPointers(*this, pointers, getValue(), "a value", /*pointee=*/true)) ||
      failed(verifyAgainstPointers(*this, pointers, getResult(), "a result", /*pointee=*/true)) ||
      failed(verifyMask(*this, pointers, getMask())))
    return failure();
  return verifyAtomicKind(*this, getKind(), getValue().getType().getElementType());
}

LogicalResult AtomicCasOp::verify() {
  return verifyAgainstPointers(*this, getPointers().getType(), getExpected(), "a value", /*pointee=*/true);
}
