// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Products of bf16 pairs. x86's instruction rounds to the nearest, takes subnormal elements for zero and makes sums
// that would be subnormal zero (Intel's instruction set reference, VDPBF16PS). The latter costs at most 2^-126 for each
// term, whatever the elements. The former could cost the whole result, so where an operand holds subnormal elements its
// pairs are made wide and go through ordinary multiply-adds.

#include "Dot.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tilejit;
using namespace tilejit::cpu;

/// One half of each pair as f32: bf16 is the upper half of one.
static Value half(KernelLowering &l, Value pairs, bool upper) {
  auto type = cast<VectorType>(pairs.getType());
  VectorType integers = l.e.vector(l.b.getI32Type(), type.getNumElements());
  Value bits = arith::BitcastOp::create(l.b, l.e.loc, integers, pairs);
  if (upper)
    bits = arith::AndIOp::create(l.b, l.e.loc, bits, l.e.intConstant(integers, 0xffff0000));
  else
    bits = arith::ShLIOp::create(l.b, l.e.loc, bits, l.e.intConstant(integers, 16));
  return arith::BitcastOp::create(l.b, l.e.loc, type, bits);
}

Value tilejit::cpu::addPairs(KernelLowering &l, Value a, Value b, Value sum, bool keepsSubnormals) {
  if (keepsSubnormals) {
    for (bool upper : {false, true})
      sum = math::FmaOp::create(l.b, l.e.loc, half(l, a, upper), half(l, b, upper), sum);
    return sum;
  }
  return addGroups(l, "avx512bf16.dpbf16ps", l.b.getBF16Type(), a, b, sum);
}

/// Whether any lane is below a number, unsigned.
static Value anyBelow(KernelLowering &l, Value lanes, int64_t number) {
  auto type = cast<VectorType>(lanes.getType());
  Value below = arith::CmpIOp::create(l.b, l.e.loc, arith::CmpIPredicate::ult, lanes, l.e.intConstant(type, number));
  Type mask = l.b.getIntegerType(type.getNumElements());
  below = LLVM::BitcastOp::create(l.b, l.e.loc, mask, below);
  return arith::CmpIOp::create(l.b, l.e.loc, arith::CmpIPredicate::ne, below, l.e.intConstant(mask, 0));
}

constexpr int64_t smallestNormal = 0x80; // Bits of 2^-126.

Value tilejit::cpu::isBelowNormal(KernelLowering &l, Value magnitudes) {
  return anyBelow(l, magnitudes, smallestNormal);
}

FailureOr<Value> tilejit::cpu::holdsSubnormals(KernelLowering &l, Value pairs, Index rows, Index steps,
                                               int64_t stride) {
  constexpr int64_t magnitude = 0x7fff;
  Type lane = l.b.getI32Type();
  VectorType elements = l.e.vector(l.b.getI16Type(), 2 * l.lanes);
  auto number = [&](int64_t value) { return l.e.intConstant(elements, value); };
  // Magnitudes less one, so that zero is the largest of all.
  SmallVector<Value> least{number(-1)};
  LogicalResult done = l.loop(0, rows, 1, least, [&](Index row, SmallVectorImpl<Value> &outer) {
    Value start = l.e.address(pairs, l.e.mul(row, stride), lane);
    return l.loop(0, steps, l.lanes, outer, [&](Index at, SmallVectorImpl<Value> &inner) {
      Value bits = l.e.load(elements, l.e.address(start, at, lane));
      bits = arith::AndIOp::create(l.b, l.e.loc, bits, number(magnitude));
      bits = arith::AddIOp::create(l.b, l.e.loc, bits, number(-1));
      // What follows the last step of a row is anything.
      if (!steps.isConstant() || steps.constant % l.lanes)
        if (Value mask = l.e.laneMask(l.e.mul(l.e.sub(steps, at), 2), 2 * l.lanes))
          bits = arith::SelectOp::create(l.b, l.e.loc, mask, bits, number(-1));
      inner[0] = arith::MinUIOp::create(l.b, l.e.loc, inner[0], bits);
      return success();
    });
  });
  if (failed(done))
    return failure();
  return anyBelow(l, least[0], smallestNormal - 1);
}
