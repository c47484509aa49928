// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Arithmetic on integers of 65 to 128 bits, in two registers of 64: what high halves of 64-bit products and divisions
// by constants are made of. One handler each for operations and comparisons; kernels have few of either.

#include "core/Handlers.h"
#include "core/Lanes.h"
#include "core/Warp.h"

namespace tilejit::sim {

namespace {

__extension__ typedef __int128 Wide;
__extension__ typedef unsigned __int128 UnsignedWide;

/// The first or second operand of a lane.
UnsignedWide operand(Warp &warp, const OpOperands &x, unsigned which, unsigned lane) {
  const uint64_t *low = warp.reg<uint64_t>(x.in[2 * which]), *high = warp.reg<uint64_t>(x.in[2 * which + 1]);
  return UnsignedWide(high[lane]) << 64 | low[lane];
}

Wide withSign(UnsignedWide value, unsigned bits) { return static_cast<Wide>(value << (128 - bits)) >> (128 - bits); }

UnsignedWide quotient(UnsignedWide a, UnsignedWide b, bool wantsRest) {
  if (b == 0)
    return 0;
  return wantsRest ? a % b : a / b;
}

UnsignedWide signedQuotient(Wide a, Wide b, bool wantsRest) {
  UnsignedWide sizeOfA = a < 0 ? 0 - UnsignedWide(a) : UnsignedWide(a);
  UnsignedWide sizeOfB = b < 0 ? 0 - UnsignedWide(b) : UnsignedWide(b);
  UnsignedWide result = quotient(sizeOfA, sizeOfB, wantsRest);
  bool isNegative = wantsRest ? a < 0 : (a < 0) != (b < 0);
  return isNegative ? 0 - result : result;
}

UnsignedWide apply(IntegerOp op, UnsignedWide a, UnsignedWide b, unsigned bits) {
  Wide signedA = withSign(a, bits), signedB = withSign(b, bits);
  switch (op) {
  case IntegerOp::Add:
    return a + b;
  case IntegerOp::Sub:
    return a - b;
  case IntegerOp::Mul:
    return a * b;
  case IntegerOp::UDiv:
  case IntegerOp::URem:
    return quotient(a, b, op == IntegerOp::URem);
  case IntegerOp::SDiv:
  case IntegerOp::SRem:
    return signedQuotient(signedA, signedB, op == IntegerOp::SRem);
  case IntegerOp::Shl:
    return b >= bits ? 0 : a << static_cast<unsigned>(b);
  case IntegerOp::LShr:
    return b >= bits ? 0 : a >> static_cast<unsigned>(b);
  case IntegerOp::AShr:
    return static_cast<UnsignedWide>(signedA >> (b >= bits ? bits - 1 : static_cast<unsigned>(b)));
  case IntegerOp::And:
    return a & b;
  case IntegerOp::Or:
    return a | b;
  case IntegerOp::Xor:
    return a ^ b;
  case IntegerOp::UMin:
    return a < b ? a : b;
  case IntegerOp::UMax:
    return a > b ? a : b;
  case IntegerOp::SMin:
    return signedA < signedB ? a : b;
  case IntegerOp::SMax:
    return signedA > signedB ? a : b;
  }
  return 0;
}

bool holds(IntegerTest test, UnsignedWide a, UnsignedWide b, unsigned bits) {
  Wide signedA = withSign(a, bits), signedB = withSign(b, bits);
  switch (test) {
  case IntegerTest::Eq:
    return a == b;
  case IntegerTest::Ne:
    return a != b;
  case IntegerTest::UGt:
    return a > b;
  case IntegerTest::UGe:
    return a >= b;
  case IntegerTest::ULt:
    return a < b;
  case IntegerTest::ULe:
    return a <= b;
  case IntegerTest::SGt:
    return signedA > signedB;
  case IntegerTest::SGe:
    return signedA >= signedB;
  case IntegerTest::SLt:
    return signedA < signedB;
  case IntegerTest::SLe:
    return signedA <= signedB;
  }
  return false;
}

void wideInteger(Warp &warp, const Op &op) {
  const OpOperands &x = *op.x;
  auto operation = static_cast<IntegerOp>(op.imm);
  auto bits = static_cast<unsigned>(x.numbers[0]);
  uint64_t keep = ~uint64_t(0) >> (128 - bits);
  forEachLane(warp.mask, [&](unsigned l) {
    UnsignedWide result = apply(operation, operand(warp, x, 0, l), operand(warp, x, 1, l), bits);
    warp.reg<uint64_t>(x.out[0])[l] = static_cast<uint64_t>(result);
    warp.reg<uint64_t>(x.out[1])[l] = static_cast<uint64_t>(result >> 64) & keep;
  });
}

void wideIntegerTest(Warp &warp, const Op &op) {
  const OpOperands &x = *op.x;
  auto test = static_cast<IntegerTest>(op.imm);
  auto bits = static_cast<unsigned>(x.numbers[0]);
  uint8_t *result = warp.reg<uint8_t>(x.out[0]);
  forEachLane(warp.mask,
              [&](unsigned l) { result[l] = holds(test, operand(warp, x, 0, l), operand(warp, x, 1, l), bits); });
}

} // namespace

Handler wideIntegerHandler() { return &wideInteger; }
Handler wideIntegerTestHandler() { return &wideIntegerTest; }

} // namespace tilejit::sim
