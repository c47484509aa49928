// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The remainder of a truncating division. r -= q * y with q the quotient cut to 51 bits, so that the difference is
// exact, repeated until r < y: once where the quotient has less than 50 bits, at most 45 times for the extremes.

#include "Functions.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>

using namespace mlir;

namespace tilejit::math {

namespace {

/// One step for doubles: r with a multiple of y taken off, exactly.
Num reduceOnce(Num r, Num y) {
  // A tiny y against a large r: multiples of y instead, so that the quotient stays finite.
  Num divisor = y;
  for (int i = 0; i < 2; ++i) {
    Num multiple = divisor * 0x1p700;
    divisor = select(multiple <= r, multiple, divisor);
  }
  // The quotient cut to a multiple of `unit`. It was rounded and may be one unit too large; with one unit put back
  // where the rest is negative, the rest lies in [0, unit * divisor), which has an exact representation.
  Num quotient = r / divisor, bits = bitsOf(quotient);
  Num fourUlps = floatOf(bits & 0x7ff0000000000000) * 0x1p-50;
  Num unit = select(fourUlps > 1.0, fourUlps, 1.0);
  Pair exact = exactProduct(truncate(floatOf(bits & ~int64_t{3})), divisor);
  Num rest = (r - exact.hi) - exact.lo;
  return select(rest < 0.0, rest + unit * divisor, rest);
}

Num anyLane(Num condition) {
  const Emit &emit = condition.emit();
  if (!emit.lanes)
    return condition;
  return Num(emit, vector::ReductionOp::create(emit.builder, emit.loc, vector::CombiningKind::OR, condition.value()));
}

} // namespace

Num expandRemainder(Num x, Num y) {
  if (!x.isDouble())
    return narrow(expandRemainder(widen(x), widen(y)));
  const Emit &emit = x.emit();
  OpBuilder &builder = emit.builder;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Num magnitude = abs(x), divisor = abs(y);
  Num valid = (divisor > 0.0) & (magnitude < infinity);
  Num start = select(valid, magnitude, 0.0);
  auto loop = scf::WhileOp::create(builder, emit.loc, TypeRange(start.value().getType()), ValueRange(start.value()));
  {
    OpBuilder::InsertionGuard guard(builder);
    Type type = start.value().getType();
    Block *before = builder.createBlock(&loop.getBefore(), {}, {type}, {emit.loc});
    Num r(emit, before->getArgument(0));
    scf::ConditionOp::create(builder, emit.loc, anyLane((r >= divisor) & valid).value(), ValueRange(r.value()));
    Block *after = builder.createBlock(&loop.getAfter(), {}, {type}, {emit.loc});
    Num current(emit, after->getArgument(0));
    Num next = select((current >= divisor) & valid, reduceOnce(current, divisor), current);
    scf::YieldOp::create(builder, emit.loc, ValueRange(next.value()));
  }
  Num result = copySign(Num(emit, loop.getResult(0)), x);
  // NaN where either is NaN, x is infinite or y is 0: x * y would be infinite times 0 only by chance, so ask.
  return select(valid, result, std::numeric_limits<double>::quiet_NaN());
}

} // namespace tilejit::math
