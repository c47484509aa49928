// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Products with few rows are bound by reading B, so B is read once where it lies and nothing is packed but A. Row-major
// B: several rows of B at a time over all columns, the result in the first-level cache. Transposed B: inner products
// along the depth for a few columns at a time.

#include "Dot.h"

using namespace mlir;
using namespace tilejit;
using namespace tilejit::cpu;

namespace {
class SkinnyProduct {
public:
  SkinnyProduct(Product &p)
      : p(p), l(p.l), parts(operandParts(p.op.getPrecision())), section(llvm::alignTo(p.k, l.lanes)),
        rowStride(section * parts.count) {}

  LogicalResult run();

private:
  LogicalResult packA();
  LogicalResult rowsOfB(Index from, Index to, int64_t together);
  LogicalResult columnsOfB(Value source);
  void prefetchFor(Value matrix, Index row, Index column, int64_t together);
  Value part(unsigned index, Value value) {
    return operandPart(l.b, l.e.loc, p.op.getPrecision(), index, p.convert(value, p.op.getUnsignedB()));
  }
  Value elementOfResult(Index row, Index column) {
    return l.e.address(p.result, l.e.add(l.e.mul(row, p.resultStride), column), p.compute);
  }
  Value elementOfA(int64_t row, unsigned which, Index at) {
    return l.e.address(packedA, l.e.add(at, row * rowStride + which * section), p.compute);
  }
  /// Adds the products of the parts of A (by part) with those of one vector of B.
  Value accumulate(llvm::function_ref<Value(unsigned)> a, ArrayRef<Value> b, Value sum) {
    for (auto [partOfA, partOfB] : parts.products)
      sum = p.multiplyAdd(a(partOfA), b[partOfB], sum);
    return sum;
  }

  Product &p;
  KernelLowering &l;
  OperandParts parts;
  int64_t section, rowStride;
  Value packedA;
};
} // namespace

LogicalResult SkinnyProduct::packA() {
  int64_t paddedRows = l.transposeSource(p.op.getA()) ? llvm::alignTo(p.m, l.lanes) : p.m;
  FailureOr<Value> memory = l.allocateBytes((paddedRows * rowStride + l.lanes) * p.elementBytes(), p.op);
  if (failed(memory))
    return failure();
  packedA = *memory;
  for (unsigned i = 0; i < parts.count; ++i) {
    auto convert = [&](Value value) {
      return operandPart(l.b, l.e.loc, p.op.getPrecision(), i, p.convert(value, p.op.getUnsignedA()));
    };
    if (failed(l.packMatrix(p.op.getA(), p.m, 0, p.depth, p.k, elementOfA(0, i, 0), rowStride, convert)))
      return failure();
  }
  return success();
}

/// What a pass over B needs soon. Rows without gaps between them go on in the next block, so what lies some way ahead
/// of an element is asked for, into L2: each line once, and also across the ends of blocks, where the CPU has to find
/// the stream again. Other rows start streams that it does not foresee; of those, the counterpart of a line that is
/// read is asked for, `together` rows further on (0: none is).
void SkinnyProduct::prefetchFor(Value matrix, Index row, Index column, int64_t together) {
  constexpr int64_t ahead = 16 << 10, line = 64;
  tile::LoadOp load = matrixLoad(l, matrix);
  if (!load)
    return;
  const Access &access = l.loadAccess(load);
  Type memory = memoryType(access.element);
  int64_t width = load.getType().getShape()[1], rowBytes = width * byteSize(memory);
  bool isDense = access.strides[0].is(width) && isa<LoopLikeOpInterface>(p.op->getParentOp());
  int64_t distance = isDense ? llvm::divideCeil(ahead, rowBytes) : together;
  if (distance == 0 || l.lanes * byteSize(memory) < (isDense ? line / 2 : line))
    return;
  l.prefetchFrom(access, l.e.add(row, distance), column, /*level=*/2);
}

/// Rows [from, to) of B, `together` of them at a time.
LogicalResult SkinnyProduct::rowsOfB(Index from, Index to, int64_t together) {
  SmallVector<Value> nothing;
  return l.loop(from, to, together, nothing, [&](Index row, auto &) {
    SmallVector<Value> factors;
    for (int64_t r = 0; r < p.m; ++r)
      for (int64_t q = 0; q < together; ++q)
        for (unsigned i = 0; i < parts.count; ++i)
          factors.push_back(l.e.splat(l.e.load(p.compute, elementOfA(r, i, l.e.add(row, q))), l.lanes));
    Segment segment;
    segment.at = {l.e.add(row, together - 1), 0}; // What holds for the last row holds for those before.
    segment.dim = 1;
    segment.width = l.lanes;
    return l.forEachInRow(
        segment, 0, p.columns, p.op.getB(), nothing, [&](const Segment &columns, Index, auto &) -> LogicalResult {
          Index column = columns.at[1];
          SmallVector<Value> sums;
          for (int64_t r = 0; r < p.m; ++r)
            sums.push_back(l.e.load(p.vectorType(), elementOfResult(r, column)));
          for (int64_t q = 0; q < together; ++q) {
            Segment one = columns;
            one.at[0] = l.e.add(row, q);
            if (together > 1)
              prefetchFor(p.op.getB(), one.at[0], column, together);
            Value value = l.evaluate(p.op.getB(), one);
            if (!value)
              return failure();
            SmallVector<Value, 2> halves;
            for (unsigned i = 0; i < parts.count; ++i)
              halves.push_back(part(i, value));
            for (int64_t r = 0; r < p.m; ++r)
              sums[r] = accumulate([&](unsigned i) { return factors[(r * together + q) * parts.count + i]; }, halves,
                                   sums[r]);
          }
          for (int64_t r = 0; r < p.m; ++r)
            l.e.store(sums[r], elementOfResult(r, column));
          return success();
        });
  });
}

/// Inner products: B is written as the transposition of `source`, whose rows are B's columns.
LogicalResult SkinnyProduct::columnsOfB(Value source) {
  int64_t together = std::min<int64_t>({4, l.lanes, p.n});
  SmallVector<Value> nothing;
  return l.loop(0, p.columns, together, nothing, [&](Index column, auto &) {
    Segment segment;
    segment.at = {l.e.min(l.e.add(column, together - 1), p.n - 1), 0};
    segment.dim = 1;
    segment.width = l.lanes;
    SmallVector<Value> sums(p.m * together, p.zero(p.vectorType()));
    if (failed(l.forEachInRow(
            segment, 0, p.depth, source, sums,
            [&](const Segment &piece, Index remaining, SmallVectorImpl<Value> &state) -> LogicalResult {
              Index at = piece.at[1];
              Value mask = piece.checked ? l.e.laneMask(remaining, l.lanes) : Value();
              auto keep = [&](Value value) -> Value {
                if (!mask)
                  return value;
                return arith::SelectOp::create(l.b, l.e.loc, mask, value, p.zero(p.vectorType()));
              };
              SmallVector<Value> rows;
              for (int64_t r = 0; r < p.m; ++r)
                for (unsigned i = 0; i < parts.count; ++i)
                  rows.push_back(keep(l.e.load(p.vectorType(), elementOfA(r, i, at))));
              for (int64_t c = 0; c < together; ++c) {
                Segment one = piece;
                one.at[0] = p.n % together ? l.e.min(l.e.add(column, c), p.n - 1) : l.e.add(column, c);
                prefetchFor(source, l.e.add(column, c), at, 0);
                Value value = l.evaluate(source, one);
                if (!value)
                  return failure();
                SmallVector<Value, 2> halves;
                for (unsigned i = 0; i < parts.count; ++i)
                  halves.push_back(keep(part(i, value)));
                for (int64_t r = 0; r < p.m; ++r)
                  state[r * together + c] = accumulate([&](unsigned i) { return rows[r * parts.count + i]; }, halves,
                                                       state[r * together + c]);
              }
              return success();
            })))
      return failure();
    for (int64_t r = 0; r < p.m; ++r) {
      for (int64_t c = 0; c < together; ++c) {
        Value sum = sums[r * together + c];
        for (int64_t half = l.lanes / 2; half >= 1; half /= 2) {
          Value upper = l.e.upperLanes(sum, half, 2 * half);
          if (isa<FloatType>(p.compute))
            sum = arith::AddFOp::create(l.b, l.e.loc, sum, upper);
          else
            sum = arith::AddIOp::create(l.b, l.e.loc, sum, upper);
        }
        Value address = elementOfResult(r, l.e.add(column, c));
        Value before = l.e.load(p.compute, address), total = l.e.lane(sum, 0);
        if (isa<FloatType>(p.compute))
          total = arith::AddFOp::create(l.b, l.e.loc, before, total);
        else
          total = arith::AddIOp::create(l.b, l.e.loc, before, total);
        l.e.store(total, address);
      }
    }
    return success();
  });
}

LogicalResult SkinnyProduct::run() {
  if (failed(packA()))
    return failure();
  if (Value source = l.transposeSource(p.op.getB()))
    return columnsOfB(source);
  // As many rows at once as their factors leave registers for the sums and one vector of B.
  int64_t together = 8;
  while (together > 1 && p.m * together * parts.count + p.m + 2 > l.model.vectorRegisters)
    together /= 2;
  if (together > p.k)
    together = 1;
  if (takesSkinnyQuads(l, p.op)) {
    FailureOr<Index> done = addSkinnyQuads(p);
    return failed(done) ? failure() : rowsOfB(*done, p.depth, 1);
  }
  Index whole = l.e.roundDown(p.depth, together);
  if (failed(rowsOfB(0, whole, together)))
    return failure();
  return rowsOfB(whole, p.depth, 1);
}

LogicalResult tilejit::cpu::lowerSkinnyProduct(Product &product) { return SkinnyProduct(product).run(); }
