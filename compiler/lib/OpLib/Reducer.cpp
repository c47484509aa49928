// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Sums, products, extremes and their indices. A NaN wins among extremes; of equal ones the lowest index does.

#include "Reducer.h"

#include "Functions.h"
#include "Generators.h"

#include <limits>

using namespace mlir;

namespace tilejit::oplib {

/// Integers are summed in i32 or i64, for a mean in i64; extremes are found in the type itself.
DType reduceComputeType(ReduceKind kind, DType input, DType output) {
  bool isExtreme = kind != ReduceKind::Sum && kind != ReduceKind::Mean && kind != ReduceKind::Prod;
  if (isFloat(input))
    return computeType(input);
  if (isExtreme)
    return input == DType::Bool ? DType::U8 : input;
  return kind == ReduceKind::Mean || output == DType::I64 ? DType::I64 : DType::I32;
}

Reducer::Reducer(KernelBuilder &b) : b_(b) {
  const Description &description = b.description();
  const auto &attributes = description.as<ReduceAttributes>();
  kind_ = attributes.kind;
  input_ = description.inputs[0].dtype;
  output_ = description.outputs[0].dtype;
  compute_ = reduceComputeType(kind_, input_, output_);
  int64_t count = 1;
  for (int axis : attributes.axes)
    if (__builtin_mul_overflow(count, largest(description, Size::of(description.inputs[0].shape[axis])), &count))
      count = std::numeric_limits<int64_t>::max();
  wideIndex_ = count > std::numeric_limits<int32_t>::max();
}

Type Reducer::indexType() const { return b_.getIntegerType(wideIndex_ ? 64 : 32); }

tile::Pad Reducer::pad() const {
  switch (kind_) {
  case ReduceKind::Sum:
  case ReduceKind::Mean:
    return tile::Pad::Zero;
  case ReduceKind::Prod:
    return tile::Pad::One;
  default:
    break;
  }
  if (!isUnsigned(compute_))
    return findsLargest() ? tile::Pad::Lowest : tile::Pad::Highest;
  return findsLargest() ? tile::Pad::Zero : tile::Pad::AllOnes;
}

Values Reducer::start(ArrayRef<int64_t> shape, Value indices) {
  if (isSum())
    return {splat(b_, shape, compute_, 0)};
  if (kind_ == ReduceKind::Prod)
    return {splat(b_, shape, compute_, 1)};
  Value value;
  if (isFloat(compute_)) {
    double infinity = std::numeric_limits<double>::infinity();
    value = splat(b_, shape, compute_, findsLargest() ? -infinity : infinity);
  } else {
    value = splatInt(b_, tileType(b_, shape, compute_), findsLargest() ? minValue(compute_) : maxValue(compute_));
  }
  return isArg() ? Values{value, indices} : Values{value};
}

Value Reducer::combineValues(Value left, Value right) {
  switch (kind_) {
  case ReduceKind::Sum:
  case ReduceKind::Mean:
    return isFloat(compute_) ? arith::AddFOp::create(b_, left, right).getResult()
                             : arith::AddIOp::create(b_, left, right).getResult();
  case ReduceKind::Prod:
    return isFloat(compute_) ? arith::MulFOp::create(b_, left, right).getResult()
                             : arith::MulIOp::create(b_, left, right).getResult();
  default:
    return findsLargest() ? maximum(b_, left, right, compute_) : minimum(b_, left, right, compute_);
  }
}

/// Whether a candidate beats the best so far by its value: strictly, or as the first NaN.
Value Reducer::isBetter(Value candidate, Value best) {
  if (!isFloat(compute_)) {
    using P = arith::CmpIPredicate;
    P predicate = isUnsigned(compute_) ? (findsLargest() ? P::ugt : P::ult) : (findsLargest() ? P::sgt : P::slt);
    return arith::CmpIOp::create(b_, predicate, candidate, best);
  }
  auto predicate = findsLargest() ? arith::CmpFPredicate::UGT : arith::CmpFPredicate::ULT;
  Value beats = arith::CmpFOp::create(b_, predicate, candidate, best);
  return arith::AndIOp::create(b_, beats, arith::CmpFOp::create(b_, arith::CmpFPredicate::ORD, best, best));
}

Values Reducer::append(ValueRange state, Value elements, Value indices) {
  if (!isArg())
    return {combineValues(state[0], elements)};
  Value better = isBetter(elements, state[0]);
  return {arith::SelectOp::create(b_, better, elements, state[0]),
          arith::SelectOp::create(b_, better, indices, state[1])};
}

Values Reducer::combine(ValueRange left, ValueRange right) {
  if (!isArg())
    return {combineValues(left[0], right[0])};
  // Neither is better: equal, or both NaN.
  Value rightWins = isBetter(right[0], left[0]), leftWins = isBetter(left[0], right[0]);
  Value isLower = arith::CmpIOp::create(b_, arith::CmpIPredicate::slt, right[1], left[1]);
  Value notLeft = arith::SelectOp::create(b_, leftWins, rightWins, isLower);
  Value take = arith::OrIOp::create(b_, rightWins, notLeft);
  return {arith::SelectOp::create(b_, take, right[0], left[0]), arith::SelectOp::create(b_, take, right[1], left[1])};
}

DType Reducer::resultType() const {
  if (isArg())
    return wideIndex_ ? DType::I64 : DType::I32;
  return kind_ == ReduceKind::Mean && !isFloat(compute_) ? DType::F64 : compute_;
}

Value Reducer::finish(ValueRange state, Value count) {
  if (isArg())
    return state[1];
  if (kind_ != ReduceKind::Mean)
    return state[0];
  Value sum = convert(b_, state[0], compute_, resultType());
  Type element = cast<RankedTensorType>(sum.getType()).getElementType();
  Value bits = arith::IndexCastOp::create(b_, b_.getI64Type(), count);
  Value number = arith::SIToFPOp::create(b_, element, bits);
  return arith::DivFOp::create(b_, sum, tile::SplatOp::create(b_, sum.getType(), number));
}

} // namespace tilejit::oplib
