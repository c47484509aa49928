// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// tile.dot. The accumulator lies in scratch memory; operands are packed into scratch memory in the type of the
// accumulator; a microkernel keeps a register tile of the result in vectors for the whole depth.

#include "Dot.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tilejit;
using namespace tilejit::cpu;

//===-- operands
//-----------------------------------------------------------------------------------------------------===//

/// How many elements along a dimension can differ from zero, as far as the bounds of a zero-padded load tell.
static Index extentOf(KernelLowering &l, Value tile, unsigned dim) {
  int64_t size = cast<RankedTensorType>(tile.getType()).getShape()[dim];
  while (!l.stored(tile)) {
    Operation *op = tile.getDefiningOp();
    if (!op)
      break;
    if (auto transpose = dyn_cast<tile::TransposeOp>(op)) {
      dim = transpose.getPermutation()[dim];
    } else if (auto load = dyn_cast<tile::LoadOp>(op)) {
      if (load.getPad() == tile::Pad::Zero)
        return l.e.max(l.loadAccess(op).extents[dim], 0);
      break;
    } else if (!isa<arith::ExtFOp, arith::TruncFOp, arith::ExtSIOp, arith::ExtUIOp, tile::FpToFpOp>(op)) {
      break;
    }
    tile = op->getOperand(0);
  }
  return size;
}

Product::Product(KernelLowering &l, tile::DotOp op) : l(l), op(op) {
  auto a = cast<RankedTensorType>(op.getA().getType()), b = cast<RankedTensorType>(op.getB().getType());
  m = a.getShape()[0];
  k = a.getShape()[1];
  n = b.getShape()[1];
  compute = cast<RankedTensorType>(op.getType()).getElementType();
  rows = extentOf(l, op.getA(), 0);
  columns = extentOf(l, op.getB(), 1);
  // A product with the padding of one operand only may still be NaN.
  depth = l.e.max(extentOf(l, op.getA(), 1), extentOf(l, op.getB(), 0));
}

Value Product::convert(Value value, bool isUnsigned) {
  Type from = getElementTypeOrSelf(value.getType());
  if (from == compute)
    return value;
  Type type = compute;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    type = l.e.vector(compute, vector.getNumElements());
  if (isa<FloatType>(compute))
    return arith::ExtFOp::create(l.b, l.e.loc, type, value);
  if (isUnsigned)
    return arith::ExtUIOp::create(l.b, l.e.loc, type, value);
  return arith::ExtSIOp::create(l.b, l.e.loc, type, value);
}

Value Product::multiplyAdd(Value a, Value b, Value sum) {
  if (!isa<FloatType>(compute))
    return arith::AddIOp::create(l.b, l.e.loc, arith::MulIOp::create(l.b, l.e.loc, a, b), sum);
  if (l.model.fma)
    return math::FmaOp::create(l.b, l.e.loc, a, b, sum);
  return arith::AddFOp::create(l.b, l.e.loc, arith::MulFOp::create(l.b, l.e.loc, a, b), sum);
}

Value Product::zero(Type type) {
  return isa<FloatType>(compute) ? l.e.floatConstant(type, 0.0) : l.e.intConstant(type, 0);
}

//===-- the register tile
//--------------------------------------------------------------------------------------------===//

RegisterTile tilejit::cpu::chooseRegisterTile(const CpuModel &model, int64_t lanes, int64_t m, int64_t n) {
  int64_t vectors = llvm::divideCeil(n, lanes);
  RegisterTile best{1, lanes};
  double bestCost = 0;
  for (int64_t wide = 1; wide <= 7; ++wide) {
    if (vectors % wide)
      continue;
    for (int64_t tall = 1; tall <= 14 && tall * wide + wide + 1 <= model.vectorRegisters; ++tall) {
      // Cycles of one step of depth on two multiply-add and two load ports, with a latency of four.
      double step = std::max({tall * wide / 2.0, (tall + wide) / 2.0, 4.0});
      double cost = step * static_cast<double>(llvm::divideCeil(m, tall) * (vectors / wide));
      // Among equals the one with fewer loads for each multiply-add.
      cost *= 1 + 0.02 * static_cast<double>(tall + wide) / static_cast<double>(tall * wide);
      if (bestCost == 0 || cost < bestCost) {
        bestCost = cost;
        best = {tall, wide * lanes};
      }
    }
  }
  return best;
}

namespace {
/// The packed operands and the loops around the microkernel.
class BlockedProduct {
public:
  BlockedProduct(Product &p)
      : p(p), l(p.l), tile(chooseRegisterTile(l.model, l.lanes, p.m, p.n)), parts(operandParts(p.op.getPrecision())),
        section(llvm::alignTo(p.k, l.lanes)),
        // One vector more than needed keeps rows of a power of two apart in the cache.
        rowStride(section * static_cast<int64_t>(parts.products.size()) + l.lanes), unroll(p.k % 2 ? 1 : 2),
        depth(p.k % 2 ? p.depth : l.e.roundUp(p.depth, 2)) {}

  LogicalResult run();

private:
  LogicalResult packA();
  LogicalResult packB(Index column);
  LogicalResult microkernel(Index row, Index column);
  void prefetchNextPanel(Index row, Index column);
  Value rowOfResult(Value result, Index row, int64_t r);

  Product &p;
  KernelLowering &l;
  RegisterTile tile;
  OperandParts parts;
  int64_t section, rowStride, unroll;
  Index depth;
  Value packedA, packedB;
  Value spareRow; ///< Of the result, for rows that only fill up the last register tile; null: there are none.
};
} // namespace

LogicalResult BlockedProduct::packA() {
  int64_t paddedRows = llvm::alignTo(llvm::alignTo(p.m, tile.rows), l.lanes);
  FailureOr<Value> memory = l.allocateBytes((paddedRows * rowStride + l.lanes) * p.elementBytes(), p.op);
  if (failed(memory))
    return failure();
  packedA = *memory;
  Index rows = l.e.min(l.e.roundUp(p.rows, tile.rows), p.m);
  for (auto [i, product] : llvm::enumerate(parts.products)) {
    Value destination = l.e.address(packedA, static_cast<int64_t>(i) * section, p.compute);
    auto convert = [&](Value value) {
      return operandPart(l.b, l.e.loc, p.op.getPrecision(), product.first, p.convert(value, p.op.getUnsignedA()));
    };
    if (failed(l.packMatrix(p.op.getA(), rows, 0, depth, p.k, destination, rowStride, convert)))
      return failure();
  }
  // Rows that only fill up the last register tile: anything finite and not subnormal.
  SmallVector<Value> nothing;
  return l.loop(p.m, llvm::alignTo(p.m, tile.rows), 1, nothing, [&](Index row, auto &) {
    return l.loop(0, rowStride, l.lanes, nothing, [&](Index at, auto &) {
      l.e.store(p.zero(p.vectorType()), l.e.address(packedA, l.e.add(l.e.mul(row, rowStride), at), p.compute));
      return success();
    });
  });
}

LogicalResult BlockedProduct::packB(Index column) {
  for (auto [i, product] : llvm::enumerate(parts.products)) {
    Value destination = l.e.address(packedB, static_cast<int64_t>(i) * section * tile.columns, p.compute);
    auto convert = [&](Value value) {
      return operandPart(l.b, l.e.loc, p.op.getPrecision(), product.second, p.convert(value, p.op.getUnsignedB()));
    };
    if (failed(
            l.packMatrix(p.op.getB(), depth, column, tile.columns, tile.columns, destination, tile.columns, convert)))
      return failure();
  }
  return success();
}

/// The microkernels of a panel ask for the next panel of B in turn, each for its share.
void BlockedProduct::prefetchNextPanel(Index row, Index column) {
  if (p.n <= tile.columns || p.m <= tile.rows)
    return;
  int64_t shares = llvm::divideCeil(p.m, tile.rows);
  Index share = l.e.divide(row, tile.rows), next = l.e.add(column, tile.columns);
  if (Value source = l.transposeSource(p.op.getB())) {
    int64_t rows = llvm::divideCeil(tile.columns, shares);
    l.prefetchMatrix(source, l.e.add(next, l.e.mul(share, rows)), rows, 0, p.k);
    return;
  }
  int64_t rows = llvm::divideCeil(p.k, shares);
  l.prefetchMatrix(p.op.getB(), l.e.mul(share, rows), rows, next, tile.columns);
}

/// Row r of a register tile whose first row is `row`. Beyond the result there is memory of others.
Value BlockedProduct::rowOfResult(Value result, Index row, int64_t r) {
  Value address = l.e.address(result, r * p.resultStride, p.compute);
  if (!spareRow || r < p.m % tile.rows)
    return address;
  Value exists = l.e.less(l.e.add(row, r), p.m);
  return exists ? arith::SelectOp::create(l.b, l.e.loc, exists, address, spareRow).getResult() : address;
}

LogicalResult BlockedProduct::microkernel(Index row, Index column) {
  int64_t wide = tile.columns / l.lanes;
  // With few microkernels to a panel the shares are long: one row of the next panel every other step, not all at once.
  int64_t shares = llvm::divideCeil(p.m, tile.rows), rowsAhead = llvm::divideCeil(p.k, shares);
  bool interleave = shares <= 8 && p.n > tile.columns && !l.transposeSource(p.op.getB());
  if (!interleave)
    prefetchNextPanel(row, column);
  Index ahead = l.e.mul(l.e.divide(row, tile.rows), rowsAhead);
  Value result = l.e.address(l.e.address(p.result, l.e.mul(row, p.resultStride), p.compute), column, p.compute);
  Value rowsOfA = l.e.address(packedA, l.e.mul(row, rowStride), p.compute);
  SmallVector<Value> rows, sums;
  for (int64_t r = 0; r < tile.rows; ++r) {
    rows.push_back(rowOfResult(result, row, r));
    for (int64_t v = 0; v < wide; ++v)
      sums.push_back(l.e.load(p.vectorType(), l.e.address(rows[r], v * l.lanes, p.compute)));
  }

  auto steps = [&](Value a, Value b, SmallVectorImpl<Value> &state) {
    return l.loop(0, depth, unroll, state, [&](Index at, SmallVectorImpl<Value> &sum) {
      Value fromA = l.e.address(a, at, p.compute);
      Value fromB = l.e.address(b, l.e.mul(at, tile.columns), p.compute);
      if (interleave)
        l.prefetchMatrix(p.op.getB(), l.e.add(ahead, l.e.divide(at, std::max<int64_t>(p.k / rowsAhead, 1))), 1,
                         l.e.add(column, tile.columns), tile.columns);
      for (int64_t u = 0; u < unroll; ++u) {
        SmallVector<Value> vectors;
        for (int64_t v = 0; v < wide; ++v)
          vectors.push_back(l.e.load(p.vectorType(), l.e.address(fromB, u * tile.columns + v * l.lanes, p.compute)));
        for (int64_t r = 0; r < tile.rows; ++r) {
          Value element = l.e.load(p.compute, l.e.address(fromA, r * rowStride + u, p.compute));
          Value factor = l.e.splat(element, l.lanes);
          for (int64_t v = 0; v < wide; ++v)
            sum[r * wide + v] = p.multiplyAdd(factor, vectors[v], sum[r * wide + v]);
        }
      }
      return success();
    });
  };
  LogicalResult done = l.loop(0, parts.products.size(), 1, sums, [&](Index part, SmallVectorImpl<Value> &state) {
    return steps(l.e.address(rowsOfA, l.e.mul(part, section), p.compute),
                 l.e.address(packedB, l.e.mul(part, section * tile.columns), p.compute), state);
  });
  if (failed(done))
    return failure();
  for (int64_t r = 0; r < tile.rows; ++r)
    for (int64_t v = 0; v < wide; ++v) {
      // The rows of a single column lie side by side: a vector would reach into those of other microkernels.
      Value sum = p.n == 1 ? l.e.lane(sums[r * wide + v], 0) : sums[r * wide + v];
      l.e.store(sum, l.e.address(rows[r], v * l.lanes, p.compute));
    }
  return success();
}

LogicalResult BlockedProduct::run() {
  if (failed(packA()))
    return failure();
  int64_t elements = section * tile.columns * static_cast<int64_t>(parts.products.size());
  FailureOr<Value> memory = l.allocateBytes((elements + l.lanes) * p.elementBytes(), p.op);
  if (failed(memory))
    return failure();
  packedB = *memory;
  if (p.m % tile.rows) {
    FailureOr<Value> spare = l.allocateBytes((tile.columns + l.lanes) * p.elementBytes(), p.op);
    if (failed(spare))
      return failure();
    spareRow = *spare;
    for (int64_t at = 0; at < tile.columns; at += l.lanes)
      l.e.store(p.zero(p.vectorType()), l.e.address(spareRow, at, p.compute));
  }
  SmallVector<Value> nothing;
  return l.loop(0, l.e.min(l.e.roundUp(p.columns, l.lanes), llvm::alignTo(p.n, l.lanes)), tile.columns, nothing,
                [&](Index column, auto &) {
                  if (failed(packB(column)))
                    return failure();
                  return l.loop(0, p.rows, tile.rows, nothing,
                                [&](Index row, auto &) { return microkernel(row, column); });
                });
}

LogicalResult tilejit::cpu::lowerBlockedProduct(Product &product) { return BlockedProduct(product).run(); }

//===-- tile.dot
//-------------------------------------------------------------------------------------------------------===//

static LogicalResult lowerDot(KernelLowering &l, Operation *operation) {
  auto op = cast<tile::DotOp>(operation);
  Value sum = op.getAcc();
  auto type = cast<RankedTensorType>(op.getType());
  if (!type.getElementType().isF32() && !type.getElementType().isF64() && !type.getElementType().isInteger(32))
    return l.refuse(op, "expected an accumulator of f32, f64 or i32");
  if (readsInPlace(l, op))
    return lowerProductInPlace(l, op);
  Stored place;
  Stored *old = l.stored(sum);
  bool inPlace = old && !old->inRegisters() && sum.hasOneUse() && sum.getParentBlock() == op->getBlock() &&
                 old->buffer.strides[0] >= static_cast<int64_t>(llvm::alignTo(type.getShape()[1], l.lanes));
  if (inPlace) {
    place = *old;
  } else {
    FailureOr<Buffer> buffer = l.allocate(type, op);
    if (failed(buffer) || failed(l.assign(*buffer, sum)))
      return failure();
    place.buffer = *buffer;
  }
  int64_t mark = l.scratchMark();
  Product product(l, op);
  product.result = place.buffer.pointer;
  product.resultStride = place.buffer.strides[0];
  LogicalResult done = product.m <= skinnyRows ? lowerSkinnyProduct(product) : lowerBlockedProduct(product);
  l.scratchRelease(mark);
  l.setStored(op.getResult(), place);
  return done;
}

void tilejit::cpu::registerDot(OpTables &tables) { tables.eager[tile::DotOp::getOperationName()] = lowerDot; }
