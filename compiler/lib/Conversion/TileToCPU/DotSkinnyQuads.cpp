// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Few rows of bytes, where the CPU has products of quadruples: four rows of B become quadruples in registers, a
// register of columns of each, and meet four elements of A at once. Nothing of B is written anywhere. Where both
// operands are signed it is B that is raised by 128 here, one step for each register, since what that adds depends on A
// alone: 128 times the sum of its row.

#include "Dot.h"

using namespace mlir;
using namespace tilejit;
using namespace tilejit::cpu;

bool tilejit::cpu::takesSkinnyQuads(KernelLowering &l, tile::DotOp op) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(op.getType()).getShape();
  return multipliesByQuads(l, op) && shape[0] <= skinnyRows && shape[1] % (4 * l.lanes) == 0 &&
         !l.transposeSource(op.getB()) && plainLoad(l, op.getB());
}

namespace {
class SkinnyQuads {
public:
  explicit SkinnyQuads(Product &p) : p(p), l(p.l), stride(llvm::alignTo(p.k, 4 * l.lanes)) {}

  FailureOr<Index> run();

private:
  bool raisesB() const { return !p.op.getUnsignedA() && !p.op.getUnsignedB(); }
  Value multiplyAdd(Value a, Value b, Value sum) {
    return p.op.getUnsignedA() ? addQuads(l, a, b, sum) : addQuads(l, b, a, sum);
  }
  LogicalResult packA(Index depth);
  LogicalResult rows(Index row, ArrayRef<Value> factors);
  Value elementOfResult(int64_t row, Index column) {
    return l.e.address(p.result, l.e.add(column, row * p.resultStride), p.compute);
  }
  void prefetch(Index row, Index column);

  static constexpr int64_t groups = 2; ///< Quadruples of rows at once.
  Product &p;
  KernelLowering &l;
  int64_t stride;
  Value bytesOfA;
};
} // namespace

LogicalResult SkinnyQuads::packA(Index depth) {
  Value a = p.op.getA();
  int64_t rows = l.transposeSource(a) ? llvm::alignTo(p.m, l.lanes) : p.m;
  FailureOr<Value> memory = l.allocateBytes(rows * stride + 4 * l.lanes, p.op);
  if (failed(memory))
    return failure();
  bytesOfA = *memory;
  return l.packMatrix(
      a, p.m, 0, depth, p.k, bytesOfA, stride, [](Value value) { return value; },
      plainLoad(l, a) ? 4 * l.lanes : l.lanes);
}

/// Rows start streams that the CPU does not foresee: each asks for its counterpart in the next groups.
void SkinnyQuads::prefetch(Index row, Index column) {
  l.prefetchFrom(l.loadAccess(plainLoad(l, p.op.getB())), l.e.add(row, 4 * groups), column, /*level=*/2);
}

/// `groups` quadruples of rows of B from `row` on over all columns; `factors`: A's, by row of A and group.
LogicalResult SkinnyQuads::rows(Index row, ArrayRef<Value> factors) {
  SmallVector<Value> nothing;
  Segment segment;
  segment.at = {l.e.add(row, 4 * groups - 1), 0}; // What holds for the last row holds for those before.
  segment.dim = 1;
  segment.width = 4 * l.lanes;
  Value b = p.op.getB();
  return l.forEachInRow(segment, 0, p.columns, b, nothing, [&](const Segment &piece, Index, auto &) -> LogicalResult {
    Index column = piece.at[1];
    auto sumAt = [&](int64_t r, int64_t v) { return elementOfResult(r, l.e.add(column, v * l.lanes)); };
    SmallVector<Value> sums;
    for (int64_t r = 0; r < p.m; ++r)
      for (int64_t v = 0; v < 4; ++v)
        sums.push_back(l.e.load(p.vectorType(), sumAt(r, v)));
    for (int64_t group = 0; group < groups; ++group) {
      SmallVector<Value> four;
      for (int64_t i = 0; i < 4; ++i) {
        Segment one = piece;
        one.at[0] = l.e.add(row, 4 * group + i);
        prefetch(one.at[0], column);
        Value value = l.evaluate(b, one);
        if (!value)
          return failure();
        if (raisesB())
          value = arith::XOrIOp::create(l.b, l.e.loc, value, l.e.intConstant(value.getType(), -128));
        four.push_back(value);
      }
      SmallVector<Value> quads = interleaveRows(l, four);
      for (int64_t r = 0; r < p.m; ++r)
        for (int64_t v = 0; v < 4; ++v)
          sums[r * 4 + v] = multiplyAdd(factors[r * groups + group], quads[v], sums[r * 4 + v]);
    }
    for (int64_t r = 0; r < p.m; ++r)
      for (int64_t v = 0; v < 4; ++v)
        l.e.store(sums[r * 4 + v], sumAt(r, v));
    return success();
  });
}

FailureOr<Index> SkinnyQuads::run() {
  Index depth = l.e.roundDown(p.depth, 4 * groups);
  if (failed(packA(depth)))
    return failure();
  Value raise = l.e.intConstant(p.vectorType(), 0x80808080);
  SmallVector<Value> added(raisesB() ? p.m : 0, p.zero(p.vectorType())), nothing;
  if (failed(l.loop(0, depth, 4 * groups, added, [&](Index row, SmallVectorImpl<Value> &state) {
        SmallVector<Value> factors;
        for (int64_t r = 0; r < p.m; ++r)
          for (int64_t group = 0; group < groups; ++group) {
            Index at = l.e.add(row, r * stride + 4 * group);
            Value four = l.e.load(l.b.getI32Type(), l.e.address(bytesOfA, at, l.b.getI8Type()));
            factors.push_back(l.e.splat(four, l.lanes));
            if (raisesB())
              state[r] = addQuads(l, raise, factors.back(), state[r]);
          }
        return rows(row, factors);
      })))
    return failure();
  if (!raisesB())
    return depth;
  LogicalResult done = l.loop(0, l.e.roundUp(p.columns, l.lanes), l.lanes, nothing, [&](Index column, auto &) {
    for (int64_t r = 0; r < p.m; ++r) {
      Value sum = l.e.load(p.vectorType(), elementOfResult(r, column));
      l.e.store(arith::SubIOp::create(l.b, l.e.loc, sum, added[r]), elementOfResult(r, column));
    }
    return success();
  });
  return failed(done) ? FailureOr<Index>(failure()) : depth;
}

FailureOr<Index> tilejit::cpu::addSkinnyQuads(Product &product) { return SkinnyQuads(product).run(); }
