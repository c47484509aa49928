// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The precisions of a product, see OperandParts.h.

#include "OperandParts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tilejit;

OperandParts tilejit::operandParts(tile::Precision precision) {
  if (precision == tile::Precision::Bf16x3)
    return {{{0, 0}, {0, 1}, {1, 0}}, 2};
  return {{{0, 0}}, 1};
}

/// Rounds to 11 significant bits, to nearest even. NaN stays as it is.
static Value roundToTf32(OpBuilder &b, Location loc, Value value) {
  auto type = cast<VectorType>(value.getType());
  VectorType bitsType = cast<VectorType>(type.clone(b.getI32Type()));
  auto constant = [&](int64_t c) -> Value {
    return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(bitsType, b.getI32IntegerAttr(int32_t(c))));
  };
  Value bits = arith::BitcastOp::create(b, loc, bitsType, value);
  Value odd = arith::AndIOp::create(b, loc, arith::ShRUIOp::create(b, loc, bits, constant(13)), constant(1));
  Value sum = arith::AddIOp::create(b, loc, arith::AddIOp::create(b, loc, bits, constant(0xfff)), odd);
  Value rounded = arith::AndIOp::create(b, loc, sum, constant(~int64_t(0x1fff)));
  Value isNaN = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, value, value);
  return arith::SelectOp::create(b, loc, isNaN, value, arith::BitcastOp::create(b, loc, type, rounded));
}

Value tilejit::operandPart(OpBuilder &b, Location loc, tile::Precision precision, unsigned index, Value value) {
  if (precision == tile::Precision::Tf32)
    return roundToTf32(b, loc, value);
  if (precision != tile::Precision::Bf16x3)
    return value;
  auto type = cast<VectorType>(value.getType());
  auto toBf16 = [&](Value x) -> Value {
    Value narrow = arith::TruncFOp::create(b, loc, type.clone(b.getBF16Type()), x);
    return arith::ExtFOp::create(b, loc, type, narrow);
  };
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  Value high = toBf16(value);
  if (index == 0)
    return high;
  // An infinity has no rest; inf - inf would make one.
  Value rest = toBf16(arith::SubFOp::create(b, loc, value, high));
  Value isFinite =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, arith::SubFOp::create(b, loc, high, high), zero);
  return arith::SelectOp::create(b, loc, isFinite, rest, zero);
}
