// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Conversions: checks.

#include "tilejit/Dialect/Tile/IR/Tile.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace tilejit::tile;

/// Checks that a conversion keeps the shape.
static LogicalResult verifySameShape(Operation *op, Type source, Type result) {
  auto from = dyn_cast<RankedTensorType>(source), to = dyn_cast<RankedTensorType>(result);
  if (bool(from) != bool(to) || (from && from.getShape() != to.getShape()))
    return op->emitOpError("expected a result of the operand's shape, got ") << source << " and " << result;
  return success();
}

LogicalResult FpToFpOp::verify() { return verifySameShape(*this, getSource().getType(), getType()); }

OpFoldResult FpToFpOp::fold(FoldAdaptor) {
  bool keepsInfinity = !getSaturate();
  return keepsInfinity && getSource().getType() == getType() ? getSource() : OpFoldResult();
}

LogicalResult FpToIntOp::verify() { return verifySameShape(*this, getSource().getType(), getType()); }

/// Shared by pack and unpack: `packed` are the bytes, `loose` the 4-bit values.
static LogicalResult verifyPacking(Operation *op, RankedTensorType packed, RankedTensorType loose) {
  if (!packed.getElementType().isInteger(8))
    return op->emitOpError("expected bytes of i8, got ") << packed.getElementType();
  if (loose.getElementType().getIntOrFloatBitWidth() != 4)
    return op->emitOpError("expected values of 4 bits, got ") << loose.getElementType();
  if (packed.getRank() == 0 || packed.getRank() != loose.getRank())
    return op->emitOpError("expected two tiles of one rank of at least 1, got ")
           << packed.getRank() << " and " << loose.getRank();
  SmallVector<int64_t> expected(packed.getShape());
  expected.back() *= 2;
  if (loose.getShape() != ArrayRef<int64_t>(expected))
    return op->emitOpError("expected two values for each byte of the last dimension, got ")
           << loose << " and " << packed;
  return success();
}

LogicalResult PackOp::verify() { return verifyPacking(*this, getType(), getSource().getType()); }

OpFoldResult PackOp::fold(FoldAdaptor) {
  auto inverse = getSource().getDefiningOp<UnpackOp>();
  return inverse ? inverse.getSource() : Value();
}

LogicalResult UnpackOp::verify() { return verifyPacking(*this, getSource().getType(), getType()); }

OpFoldResult UnpackOp::fold(FoldAdaptor) {
  auto inverse = getSource().getDefiningOp<PackOp>();
  return inverse && inverse.getSource().getType() == getType() ? inverse.getSource() : Value();
}
