// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Tiles of numbers: types, loads, stores, conversions.

#include "Values.h"

#include <limits>

using namespace mlir;

namespace tilejit::oplib {

Type storageType(MLIRContext *context, DType dtype) {
  switch (dtype) {
  case DType::F64:
    return Float64Type::get(context);
  case DType::F32:
    return Float32Type::get(context);
  case DType::F16:
    return Float16Type::get(context);
  case DType::BF16:
    return BFloat16Type::get(context);
  case DType::F8E4M3FN:
    return Float8E4M3FNType::get(context);
  case DType::F8E5M2:
    return Float8E5M2Type::get(context);
  case DType::F8E4M3FNUZ:
    return Float8E4M3FNUZType::get(context);
  case DType::F8E5M2FNUZ:
    return Float8E5M2FNUZType::get(context);
  case DType::F8E8M0:
    return Float8E8M0FNUType::get(context);
  case DType::F4E2M1:
    return Float4E2M1FNType::get(context);
  default:
    return IntegerType::get(context, 8 * storageBytes(dtype));
  }
}

Type valueType(MLIRContext *context, DType dtype) {
  return dtype == DType::Bool ? IntegerType::get(context, 1) : storageType(context, dtype);
}

DType computeType(DType dtype) { return isFloat(dtype) && dtype != DType::F64 ? DType::F32 : dtype; }

RankedTensorType tileType(KernelBuilder &b, ArrayRef<int64_t> shape, DType dtype) {
  return RankedTensorType::get(shape, valueType(b.getContext(), dtype));
}

ArrayRef<int64_t> shapeOf(Value tile) { return cast<RankedTensorType>(tile.getType()).getShape(); }

/// The same tile with another element type.
static RankedTensorType withElement(Value tile, Type element) { return RankedTensorType::get(shapeOf(tile), element); }

static Type elementOf(Value tile) { return cast<RankedTensorType>(tile.getType()).getElementType(); }

Value larger(KernelBuilder &b, Value x, Value y) {
  return arith::SelectOp::create(b, arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, x, y), x, y);
}

Value splatLike(KernelBuilder &b, Value like, double value) {
  auto type = cast<RankedTensorType>(like.getType());
  auto element = FloatAttr::get(type.getElementType(), value);
  return arith::ConstantOp::create(b, DenseElementsAttr::get(type, Attribute(element)));
}

Value finiteOrZero(KernelBuilder &b, Value x) {
  Value lowest = splatLike(b, x, -std::numeric_limits<double>::infinity());
  Value isLowest = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, x, lowest);
  return arith::SelectOp::create(b, isLowest, splatLike(b, x, 0), x);
}

Value inverseOfSum(KernelBuilder &b, Value x) {
  Value one = splatLike(b, x, 1);
  Value isZero = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, x, splatLike(b, x, 0));
  return arith::DivFOp::create(b, one, arith::SelectOp::create(b, isZero, one, x));
}

Value reduceAlong(KernelBuilder &b, Value tile, int axis, function_ref<Value(Value, Value)> combine) {
  SmallVector<int64_t> left(shapeOf(tile));
  left.erase(left.begin() + axis);
  Type element = elementOf(tile);
  auto reduce = tile::ReduceOp::create(b, TypeRange(RankedTensorType::get(left, element)), tile, axis);
  OpBuilder::InsertionGuard guard(b);
  Block *block = b.createBlock(&reduce.getCombiner(), {}, {element, element}, {b.getLoc(), b.getLoc()});
  tile::YieldOp::create(b, combine(block->getArgument(0), block->getArgument(1)));
  return reduce.getResult(0);
}

Value splatInt(KernelBuilder &b, RankedTensorType type, int64_t value) {
  APInt bits = APInt(64, uint64_t(value)).trunc(type.getElementTypeBitWidth());
  return arith::ConstantOp::create(b, DenseElementsAttr::get(type, bits));
}

Value splatIntLike(KernelBuilder &b, Value like, int64_t value) {
  return splatInt(b, cast<RankedTensorType>(like.getType()), value);
}

Value splatIndex(KernelBuilder &b, RankedTensorType type, Value index) {
  return tile::SplatOp::create(b, type, arith::IndexCastOp::create(b, type.getElementType(), index));
}

Value splat(KernelBuilder &b, ArrayRef<int64_t> shape, DType dtype, double value) {
  RankedTensorType type = tileType(b, shape, dtype);
  if (!isFloat(dtype))
    return splatInt(b, type, int64_t(value));
  return arith::ConstantOp::create(
      b, DenseElementsAttr::get(type, Attribute(FloatAttr::get(type.getElementType(), value))));
}

//===--- conversion ---------------------------------------------------------------------------------------------===//

/// Brings the low bits of a byte into the range of i4 or u4; values of other types unchanged.
static Value wrapNarrow(KernelBuilder &b, Value value, DType dtype) {
  if (dtype == DType::U4)
    return arith::AndIOp::create(b, value, splatIntLike(b, value, 15));
  if (dtype != DType::I4)
    return value;
  Value four = splatIntLike(b, value, 4);
  return arith::ShRSIOp::create(b, arith::ShLIOp::create(b, value, four), four);
}

static Value convertInteger(KernelBuilder &b, Value value, DType from, DType to) {
  Type type = valueType(b.getContext(), to);
  unsigned width = elementOf(value).getIntOrFloatBitWidth(), target = type.getIntOrFloatBitWidth();
  if (target < width)
    value = arith::TruncIOp::create(b, withElement(value, type), value);
  else if (target > width && isUnsigned(from))
    value = arith::ExtUIOp::create(b, withElement(value, type), value);
  else if (target > width)
    value = arith::ExtSIOp::create(b, withElement(value, type), value);
  bool keepsRange = minValue(from) >= minValue(to) && maxValue(from) <= maxValue(to);
  return keepsRange ? value : wrapNarrow(b, value, to);
}

static Value floatToFloat(KernelBuilder &b, Value value, DType to, bool saturate) {
  Type type = valueType(b.getContext(), to);
  if (elementOf(value) == type && !saturate)
    return value;
  return tile::FpToFpOp::create(b, withElement(value, type), value, tile::Rounding::NearestEven, saturate);
}

/// i32 and i64 go through f64 to types that have less precision than f32, so that nothing is rounded twice (a value
/// that f32 can't hold overflows f16 and most 8-bit types anyway, but not bf16 and f8e8m0).
static Value integerToFloat(KernelBuilder &b, Value value, DType from, DType to, bool saturate) {
  bool direct = to == DType::F64 || to == DType::F32;
  bool isWide = !isUnsigned(from) && bitWidth(from) >= 32;
  DType through = direct ? to : isWide ? DType::F64 : DType::F32;
  RankedTensorType type = withElement(value, valueType(b.getContext(), through));
  value = isUnsigned(from) ? arith::UIToFPOp::create(b, type, value).getResult()
                           : arith::SIToFPOp::create(b, type, value).getResult();
  return floatToFloat(b, value, to, saturate);
}

static Value floatToInteger(KernelBuilder &b, Value value, DType from, DType to) {
  if (to == DType::Bool) {
    value = floatToFloat(b, value, computeType(from), false);
    return arith::CmpFOp::create(b, arith::CmpFPredicate::UNE, value, splatLike(b, value, 0));
  }
  value = floatToFloat(b, value, computeType(from), false);
  if (bitWidth(to) == 4) {
    value = arith::MaximumFOp::create(b, value, splatLike(b, value, double(minValue(to))));
    value = arith::MinimumFOp::create(b, value, splatLike(b, value, double(maxValue(to))));
  }
  auto signedness = isUnsigned(to) ? tile::Signedness::Unsigned : tile::Signedness::Signed;
  return tile::FpToIntOp::create(b, withElement(value, valueType(b.getContext(), to)), value, signedness);
}

Value convert(KernelBuilder &b, Value value, DType from, DType to, bool saturate) {
  if (from == to && !(saturate && isFloat(to)))
    return value;
  if (isFloat(from))
    return isFloat(to) ? floatToFloat(b, value, to, saturate) : floatToInteger(b, value, from, to);
  if (isFloat(to))
    return integerToFloat(b, value, from, to, saturate);
  if (to == DType::Bool)
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, value, splatIntLike(b, value, 0));
  return convertInteger(b, value, from, to);
}

//===--- memory -------------------------------------------------------------------------------------------------===//

/// Whether all tiles of a shape lie inside a view of static sizes.
static bool isEven(tile::ViewType view, ArrayRef<int64_t> shape) {
  for (auto [size, tile] : llvm::zip(view.getShape(), shape))
    if (ShapedType::isDynamic(size) || size % tile != 0)
      return false;
  return true;
}

Value load(KernelBuilder &b, Value view, ValueRange coordinates, ArrayRef<int64_t> shape, DType dtype, tile::Pad pad,
           bool inside) {
  auto viewType = cast<tile::ViewType>(view.getType());
  auto type = RankedTensorType::get(shape, viewType.getElementType());
  tile::Pad padding = inside || isEven(viewType, shape) ? tile::Pad::None : pad;
  Value bits = tile::LoadOp::create(b, type, view, coordinates, padding);
  if (dtype != DType::Bool)
    return bits;
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, bits, splatIntLike(b, bits, 0));
}

void store(KernelBuilder &b, Value value, Value view, ValueRange coordinates, DType dtype) {
  if (dtype == DType::Bool)
    value = arith::ExtUIOp::create(b, withElement(value, b.getI8Type()), value);
  tile::StoreOp::create(b, value, view, coordinates);
}

Value broadcastTo(KernelBuilder &b, Value value, ArrayRef<int64_t> shape) {
  if (shapeOf(value) == shape)
    return value;
  return tile::BroadcastOp::create(b, RankedTensorType::get(shape, elementOf(value)), value);
}

Value lanesBelow(KernelBuilder &b, Value index, int64_t tile) {
  auto type = RankedTensorType::get(tile, b.getI32Type());
  Value limit = splatIndex(b, type, arith::MinSIOp::create(b, index, b.index(tile)));
  return arith::CmpIOp::create(b, arith::CmpIPredicate::slt, tile::IotaOp::create(b, type), limit);
}

Value lanesInside(KernelBuilder &b, const Size &size, Value coordinate, int64_t tile) {
  Value start = b.mul(coordinate, b.index(tile));
  return lanesBelow(b, arith::SubIOp::create(b, b.sizeValue(size), start), tile);
}

bool tilesEvenly(const Description &description, const Size &size, int64_t tile) {
  return divisor(description, size) % tile == 0;
}

} // namespace tilejit::oplib
