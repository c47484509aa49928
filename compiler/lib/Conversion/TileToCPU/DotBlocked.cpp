// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Products of more than a few rows. A and a panel of B are read where they lie if that is the form that a step of the
// depth takes, and packed into scratch memory in that form otherwise; a microkernel keeps a register tile of the result
// in vectors for the whole depth and then adds it to the accumulator. On its way through a panel it asks for the next
// one, a cache line at a time.

#include "Dot.h"

#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/Support/SaveAndRestore.h"

#include <numeric>

using namespace mlir;
using namespace tilejit;
using namespace tilejit::cpu;

/// Products with up to so many rows are bound by reading B.
static constexpr int64_t fewRows = 64;

/// Groups are packed by whole registers of elements. Where more than one register tile meets what is read once, its
/// rows are read in pieces as long as may be, and so are those of all panels where a CPU with one port for
/// multiply-adds has time for the loads of a wide tile. All that needs registers.
static int64_t vectorsTogether(const Product &p) {
  constexpr int64_t tallest = 12, manyRegisters = 32;
  if (p.l.model.vectorRegisters < manyRegisters)
    return 1;
  bool isLong = p.m > tallest && (p.m <= fewRows || p.l.model.fmaPorts == 1);
  return p.isGrouped() || isLong ? 4 : 1;
}

static RegisterTile chooseTile(const Product &p) {
  const KernelLowering &l = p.l;
  if (!p.packed)
    return chooseRegisterTile(l.model, l.lanes, p.m, 4, p.n, vectorsTogether(p));
  int64_t across = p.packed->columns / l.lanes;
  return chooseRegisterTile(l.model, l.lanes, p.m, across, p.packed->columns, across);
}

namespace {
/// Columns of B and of the result that register tiles of one form go down.
struct Panel {
  RegisterTile tile;
  Index column;
  Value address = {}; ///< Of the first vector of B.
  Index stride = {};  ///< Elements from step to step.
};

class BlockedProduct {
public:
  BlockedProduct(Product &p)
      : p(p), l(p.l), tile(chooseTile(p)), narrow(chooseRegisterTile(l.model, l.lanes, p.m, 1, l.lanes)),
        parts(operandParts(p.op.getPrecision())), terms(p.stepTerms()), mostSteps(llvm::divideCeil(p.k, terms)),
        section(llvm::alignTo(mostSteps, l.lanes)),
        // One vector more than needed keeps rows of a power of two apart in the cache.
        rowStride(section * static_cast<int64_t>(parts.products.size()) + l.lanes), unroll(mostSteps % 2 ? 1 : 2),
        steps(l.e.roundUp(l.e.divide(l.e.add(p.depth, terms - 1), terms), unroll)) {}

  LogicalResult run();

private:
  Index depth() { return l.e.min(l.e.mul(steps, terms), p.k); }
  bool isInForm(tile::LoadOp load);
  bool readsLeftInPlace();
  LogicalResult provideA();
  Index touchedRows();
  LogicalResult packA();
  LogicalResult packB(const Panel &panel);
  LogicalResult sumColumns(const Panel &panel);
  LogicalResult provide(Panel &panel);
  bool readsInPlace(const Panel &panel);
  LogicalResult panels(Index from, Index to, RegisterTile form);
  LogicalResult allPanels();
  LogicalResult microkernels(const Panel &panel);
  LogicalResult microkernelsKeepingSubnormals(const Panel &panel);
  FailureOr<Value> holdsSubnormals(const Panel &panel);
  LogicalResult multiply(const Panel &panel);
  LogicalResult products(const Panel &panel);
  LogicalResult microkernel(const Panel &panel, Index row, int64_t tall);
  void finish(const Panel &panel, Value result, ArrayRef<Value> sums);
  int64_t wide(const Panel &panel) const { return panel.tile.columns / l.lanes; }

  //===-- prefetching the next panel
  /// Few rows take too little time for the next panel to arrive, so it is the same one of the next block down that is
  /// asked for, where there is a loop that may want it.
  bool looksBehind() const { return p.isGrouped() && p.m <= fewRows && isa<LoopLikeOpInterface>(p.op->getParentOp()); }
  int64_t shares(const Panel &panel) const { return llvm::divideCeil(p.m, panel.tile.rows); }
  void prefetchRows(const Panel &panel, Index row);
  void prefetchLines(const Panel &panel, Index row, Index at);
  void prefetchPacked(const Panel &panel, Index row, Index at);

  Product &p;
  KernelLowering &l;
  RegisterTile tile, narrow;
  OperandParts parts;
  int64_t terms, mostSteps, section, rowStride, unroll;
  Index steps;
  Value packedA, packedB;
  Value columnSums;    ///< What raising A adds to each column of a panel.
  Value subnormalsInA; ///< Whether there are any; of pairs.
  Value amx;           ///< Configurations of the matrix registers.
  Value smallestInB;   ///< Where the smallest magnitudes of a panel are noted; of pairs.
};
} // namespace

//===-- operands
//---------------------------------------------------------------------------------------------------===//

/// Whether A's rows are in the form that a step takes, all of them there, and so far apart that those of a register
/// tile find room beside each other in the first cache. The distance has to be known: it is part of instructions then.
/// (A few rows are copied in no time.) Groups lie side by side in a row.
bool BlockedProduct::readsLeftInPlace() {
  constexpr int64_t waySize = 4096, mostInSet = 6;
  auto load = p.op.getA().getDefiningOp<tile::LoadOp>();
  bool isMadeOver = p.grouping == Grouping::QuadsRaised || p.grouping == Grouping::Words;
  if (p.m <= fewRows || isMadeOver || !load || load.getPad() != tile::Pad::None)
    return false;
  const Index &stride = l.loadAccess(load).strides[0];
  if (!stride.isConstant() || stride.constant <= 0)
    return false;
  int64_t places = waySize / std::gcd(stride.constant / terms * p.elementBytes(), waySize);
  if (llvm::divideCeil(tile.rows, places) > mostInSet)
    return false;
  if (!p.isGrouped())
    return isInForm(load);
  // Whole registers are looked at for subnormal elements.
  int64_t unit = p.grouping == Grouping::Pairs ? terms * l.lanes : terms;
  return matrixLoad(l, load) == load && stride.constant % terms == 0 && p.k % unit == 0;
}

LogicalResult BlockedProduct::provideA() {
  if (!readsLeftInPlace()) {
    if (failed(packA()))
      return failure();
  } else {
    const Access &access = l.loadAccess(p.op.getA().getDefiningOp());
    packedA = access.origin;
    rowStride = access.strides[0].constant / terms;
  }
  if (p.grouping != Grouping::Pairs)
    return success();
  FailureOr<Value> found = cpu::holdsSubnormals(l, packedA, touchedRows(), steps, rowStride);
  if (failed(found))
    return failure();
  subnormalsInA = *found;
  return success();
}

/// Rows that register tiles touch: both forms of panels read whole ones, one of them taller than the other.
Index BlockedProduct::touchedRows() {
  Index touched = l.e.max(l.e.roundUp(p.rows, tile.rows), l.e.roundUp(p.rows, narrow.rows));
  if (p.byAmx)
    touched = l.e.max(touched, rowsOfAmx(p));
  return l.e.min(touched, p.m);
}

LogicalResult BlockedProduct::packA() {
  int64_t paddedRows = llvm::alignTo(p.m, l.lanes); // Squares of a transposition are written as a whole.
  FailureOr<Value> memory = l.allocateBytes((paddedRows * rowStride + l.lanes) * p.elementBytes(), p.op);
  if (failed(memory))
    return failure();
  packedA = *memory;
  Index rows = touchedRows();
  for (auto [i, product] : llvm::enumerate(parts.products)) {
    Value destination = l.e.address(packedA, static_cast<int64_t>(i) * section, p.compute);
    auto convert = [&](Value value) -> Value {
      if (!p.isGrouped())
        return operandPart(l.b, l.e.loc, p.op.getPrecision(), product.first, p.convert(value, p.op.getUnsignedA()));
      if (p.grouping == Grouping::Words)
        return toWords(l, value, p.op.getUnsignedA());
      if (p.grouping != Grouping::QuadsRaised)
        return value;
      return arith::XOrIOp::create(l.b, l.e.loc, value, l.e.intConstant(value.getType(), -128));
    };
    int64_t width = plainLoad(l, p.op.getA()) ? terms * l.lanes : l.lanes;
    if (failed(l.packMatrix(p.op.getA(), rows, 0, depth(), p.k, destination, rowStride * terms, convert, width)))
      return failure();
  }
  if (p.grouping != Grouping::Pairs || p.k % terms == 0)
    return success();
  // Whatever is beyond the last element makes a pair with it.
  Type element = l.b.getBF16Type();
  SmallVector<Value> nothing;
  return l.loop(0, rows, 1, nothing, [&](Index row, auto &) {
    Index last = l.e.add(l.e.mul(row, rowStride * terms), p.k);
    l.e.store(l.e.floatConstant(element, 0.0), l.e.address(packedA, last, element));
    return success();
  });
}

LogicalResult BlockedProduct::packB(const Panel &panel) {
  int64_t columns = panel.tile.columns;
  if (p.isGrouped())
    return l.packGroups(p.op.getB(), terms, steps, panel.column, columns, packedB,
                        p.grouping == Grouping::Pairs ? smallestInB : Value(), [&](Value value) {
                          return p.grouping == Grouping::Words ? toWords(l, value, p.op.getUnsignedB()) : value;
                        });
  for (auto [i, product] : llvm::enumerate(parts.products)) {
    Value destination = l.e.address(packedB, static_cast<int64_t>(i) * section * columns, p.compute);
    auto convert = [&](Value value) {
      return operandPart(l.b, l.e.loc, p.op.getPrecision(), product.second, p.convert(value, p.op.getUnsignedB()));
    };
    if (failed(l.packMatrix(p.op.getB(), depth(), panel.column, columns, columns, destination, columns, convert)))
      return failure();
  }
  return success();
}

LogicalResult BlockedProduct::sumColumns(const Panel &panel) {
  Value raise = l.e.intConstant(p.vectorType(), 0x80808080);
  SmallVector<Value> sums(wide(panel), p.zero(p.vectorType()));
  if (failed(l.loop(0, steps, 1, sums, [&](Index at, SmallVectorImpl<Value> &sum) {
        Value from = l.e.address(panel.address, l.e.mul(at, panel.stride), p.compute);
        for (int64_t v = 0; v < wide(panel); ++v)
          sum[v] = p.multiplyAdd(raise, l.e.load(p.vectorType(), l.e.address(from, v * l.lanes, p.compute)), sum[v]);
        return success();
      })))
    return failure();
  for (int64_t v = 0; v < wide(panel); ++v)
    l.e.store(sums[v], l.e.address(columnSums, v * l.lanes, p.compute));
  return success();
}

/// Whether an operand's rows are in the form that a step takes.
bool BlockedProduct::isInForm(tile::LoadOp load) {
  return load && !p.isGrouped() && matrixLoad(l, load) == load && load.getType().getElementType() == p.compute &&
         p.op.getPrecision() == tile::Precision::Ieee;
}

/// Whether B's rows are in the form that a step takes and packing them doesn't pay: where few rows of A meet them, and
/// where a panel takes several lines of each, so that a step has the time to bring them in. (A deep panel of single
/// lines would have to stay in the cache, where rows a power of two apart find no room.)
bool BlockedProduct::readsInPlace(const Panel &panel) {
  constexpr int64_t shallow = 64, line = 64;
  auto load = p.op.getB().getDefiningOp<tile::LoadOp>();
  bool isCheap = p.m <= panel.tile.rows || (p.m <= fewRows && p.k <= shallow);
  bool isWide = panel.tile.columns * p.elementBytes() > line;
  return (isCheap || isWide) && isInForm(load);
}

/// Sees to it that the panel of B is there.
LogicalResult BlockedProduct::provide(Panel &panel) {
  if (p.packed) {
    const Access &access = l.loadAccess(p.packed->load);
    Index number = l.e.divide(panel.column, p.packed->columns);
    panel.address = l.e.address(access.origin, l.e.mul(number, access.strides[0]), memoryType(access.element));
    panel.stride = panel.tile.columns;
    return success();
  }
  Panel packed = panel, there = panel;
  packed.address = packedB;
  packed.stride = panel.tile.columns;
  if (!readsInPlace(panel)) {
    panel = packed;
    return packB(panel);
  }
  const Access &access = l.loadAccess(p.op.getB().getDefiningOp());
  there.address = l.e.address(access.origin, panel.column, p.compute);
  there.stride = access.strides[0];
  Value inside = isInside(l, p.op.getB(), depth(), panel.column, panel.tile.columns, l.lanes);
  panel = there;
  if (!inside)
    return success();
  auto choice = scf::IfOp::create(l.b, l.e.loc, {l.e.pointer(), l.e.i64()}, inside, true, true);
  for (const Panel *chosen : {&there, &packed}) {
    Block *block = chosen == &packed ? choice.elseBlock() : choice.thenBlock();
    OpBuilder::InsertionGuard guard(l.b);
    l.b.setInsertionPointToEnd(block);
    ScopeGuard scope(l, block, nullptr);
    if (chosen == &packed && failed(packB(packed)))
      return failure();
    l.b.setInsertionPointToEnd(block);
    scf::YieldOp::create(l.b, l.e.loc, ValueRange{chosen->address, l.e.value(chosen->stride)});
  }
  panel.address = choice.getResult(0);
  panel.stride = choice.getResult(1);
  return success();
}

//===-- the next panel
//---------------------------------------------------------------------------------------------===//

/// Its share of the rows of a transposition, all at once.
void BlockedProduct::prefetchRows(const Panel &panel, Index row) {
  Value source = l.transposeSource(p.op.getB());
  if (!source || p.n <= panel.tile.columns || p.m <= panel.tile.rows)
    return;
  int64_t rows = llvm::divideCeil(panel.tile.columns, shares(panel));
  Index first = l.e.mul(l.e.divide(row, panel.tile.rows), rows);
  l.prefetchMatrix(source, l.e.add(l.e.add(panel.column, panel.tile.columns), first), rows, 0, p.k);
}

/// Its share of the lines, a few in each step.
void BlockedProduct::prefetchLines(const Panel &panel, Index row, Index at) {
  if (p.packed)
    return prefetchPacked(panel, row, at);
  tile::LoadOp load = l.transposeSource(p.op.getB()) ? tile::LoadOp() : matrixLoad(l, p.op.getB());
  if (!load || (p.n <= panel.tile.columns && !looksBehind()))
    return;
  const Access &access = l.loadAccess(load);
  Type memory = memoryType(access.element);
  int64_t line = 64 / byteSize(memory), linesOfRow = llvm::divideCeil(panel.tile.columns, line);
  int64_t lines = llvm::divideCeil(p.k * linesOfRow, shares(panel)), turns = llvm::divideCeil(mostSteps, unroll);
  int64_t atOnce = llvm::divideCeil(lines, turns);
  Index first = l.e.mul(l.e.divide(row, panel.tile.rows), lines);
  // A small panel that is read where it lies, and often, comes to the nearest cache in time.
  constexpr int64_t smallBytes = 16 << 10;
  bool isNear = shares(panel) > 2 && readsInPlace(panel) && p.k * linesOfRow * 64 <= smallBytes;
  Index nextRow = looksBehind() ? Index(load.getType().getShape()[0]) : Index(0);
  Index nextColumn = looksBehind() ? panel.column : l.e.add(panel.column, panel.tile.columns);
  for (int64_t i = 0; i < atOnce; ++i) {
    Index number = l.e.add(l.e.add(l.e.mul(l.e.divide(at, unroll), atOnce), first), i);
    Index matrixRow = l.e.divide(number, linesOfRow), inRow = l.e.mul(l.e.remainder(number, linesOfRow), line);
    l.prefetchFrom(access, l.e.add(matrixRow, nextRow), l.e.add(nextColumn, inRow), isNear ? 1 : 2);
  }
}

/// The same of a packed panel: where it is met by one register tile, what it has some steps further on, since it comes
/// from memory then; else a share of the next one.
void BlockedProduct::prefetchPacked(const Panel &panel, Index row, Index at) {
  constexpr int64_t stepsAhead = 32, line = 64;
  int64_t stepBytes = panel.tile.columns * p.elementBytes();
  int64_t lines = llvm::divideCeil(mostSteps * stepBytes, line * shares(panel));
  int64_t atOnce = llvm::divideCeil(lines, llvm::divideCeil(mostSteps, unroll));
  Value start = l.e.address(panel.address, l.e.mul(l.e.add(at, stepsAhead), stepBytes), l.b.getI8Type());
  if (shares(panel) > 1) {
    const Access &access = l.loadAccess(p.packed->load);
    start = l.e.address(panel.address, access.strides[0], memoryType(access.element));
    Index first = l.e.mul(l.e.divide(row, panel.tile.rows), lines);
    Index number = l.e.add(l.e.mul(l.e.divide(at, unroll), atOnce), first);
    start = l.e.address(start, l.e.mul(number, line), l.b.getI8Type());
  }
  for (int64_t i = 0; i < atOnce; ++i)
    l.e.prefetch(l.e.address(start, i * line, l.b.getI8Type()), /*level=*/2);
}

//===-- the register tile
//------------------------------------------------------------------------------------------===//

/// Adds the sums to the accumulator.
void BlockedProduct::finish(const Panel &panel, Value result, ArrayRef<Value> sums) {
  int64_t across = wide(panel);
  for (int64_t i = 0, e = sums.size(); i < e; ++i) {
    // The rows of a single column lie side by side: a vector would reach into those of other microkernels.
    Value sum = sums[i];
    if (p.grouping == Grouping::QuadsRaised) {
      Value raised = l.e.load(p.vectorType(), l.e.address(columnSums, i % across * l.lanes, p.compute));
      sum = arith::SubIOp::create(l.b, l.e.loc, sum, raised);
    }
    sum = p.n == 1 ? l.e.lane(sum, 0) : sum;
    Value address = l.e.address(result, i / across * p.resultStride + i % across * l.lanes, p.compute);
    if (!p.startsAtZero) {
      Value before = l.e.load(sum.getType(), address);
      if (isa<FloatType>(p.compute))
        sum = arith::AddFOp::create(l.b, l.e.loc, before, sum);
      else
        sum = arith::AddIOp::create(l.b, l.e.loc, before, sum);
    }
    l.e.store(sum, address);
  }
}

/// `tall` rows by the columns of the panel.
LogicalResult BlockedProduct::microkernel(const Panel &panel, Index row, int64_t tall) {
  if (!p.keepsSubnormals)
    prefetchRows(panel, row);
  Value result = l.e.address(l.e.address(p.result, l.e.mul(row, p.resultStride), p.compute), panel.column, p.compute);
  for (int64_t r = 0; r < tall && !p.startsAtZero; ++r)
    for (int64_t at = 0; at < panel.tile.columns; at += 64 / p.elementBytes())
      l.e.prefetch(l.e.address(result, r * p.resultStride + at, p.compute), /*level=*/1);
  Value rowsOfA = l.e.address(packedA, l.e.mul(row, rowStride), p.compute);
  SmallVector<Value> sums(tall * wide(panel), p.zero(p.vectorType()));
  LogicalResult done = l.loop(0, parts.products.size(), 1, sums, [&](Index part, SmallVectorImpl<Value> &state) {
    Value a = l.e.address(rowsOfA, l.e.mul(part, section), p.compute);
    Panel own = panel;
    own.address = l.e.address(panel.address, l.e.mul(part, section * panel.tile.columns), p.compute);
    return l.loop(0, steps, unroll, state, [&](Index at, SmallVectorImpl<Value> &sum) {
      if (!p.keepsSubnormals)
        prefetchLines(panel, row, at);
      for (int64_t u = 0; u < unroll; ++u) {
        Index step = l.e.add(at, u);
        auto elementOfA = [&](int64_t r) { return l.e.address(a, l.e.add(step, r * rowStride), p.compute); };
        p.step(l.e.address(own.address, l.e.mul(step, own.stride), p.compute), elementOfA, sum, wide(own));
      }
      return success();
    });
  });
  if (failed(done))
    return failure();
  finish(panel, result, sums);
  return success();
}

/// All rows of a panel; those that fill no register tile have a smaller one.
LogicalResult BlockedProduct::microkernels(const Panel &panel) {
  SmallVector<Value> nothing;
  int64_t rest = p.m % panel.tile.rows, whole = p.m - rest;
  if (failed(l.loop(0, l.e.min(p.rows, whole), panel.tile.rows, nothing,
                    [&](Index row, auto &) { return microkernel(panel, row, panel.tile.rows); })))
    return failure();
  if (rest == 0)
    return success();
  return l.branch(l.e.less(whole, p.rows), [&] { return microkernel(panel, whole, rest); }, nullptr);
}

/// The same where subnormal elements count for what they are: rarely, so by little code.
LogicalResult BlockedProduct::microkernelsKeepingSubnormals(const Panel &panel) {
  constexpr int64_t tall = 4;
  llvm::SaveAndRestore keep(p.keepsSubnormals, true);
  SmallVector<Value> nothing;
  Index whole = l.e.roundDown(p.rows, tall);
  if (failed(l.loop(0, whole, tall, nothing, [&](Index row, auto &) { return microkernel(panel, row, tall); })))
    return failure();
  return l.loop(whole, p.rows, 1, nothing, [&](Index row, auto &) { return microkernel(panel, row, 1); });
}

/// Whether a panel of pairs holds subnormal elements. Packing it here noted the smallest.
FailureOr<Value> BlockedProduct::holdsSubnormals(const Panel &panel) {
  int64_t columns = panel.tile.columns;
  auto noted = [&] { return l.e.load(l.e.vector(l.b.getI16Type(), terms * l.lanes), smallestInB); };
  FailureOr<Value> smallest =
      p.packed ? smallestMagnitudes(l, panel.address, steps, columns) : FailureOr<Value>(noted());
  if (failed(smallest))
    return failure();
  return cpu::holdsSubnormals(l, *smallest, panel.address, l.e.mul(steps, columns));
}

LogicalResult BlockedProduct::products(const Panel &panel) {
  if (!p.byAmx)
    return microkernels(panel);
  return multiplyByAmx(p,
                       {amx, packedA, rowStride, panel.address, panel.stride, panel.column, panel.tile.columns, steps});
}

LogicalResult BlockedProduct::multiply(const Panel &panel) {
  if (p.grouping != Grouping::Pairs)
    return products(panel);
  FailureOr<Value> inB = holdsSubnormals(panel);
  if (failed(inB))
    return failure();
  Value either = arith::OrIOp::create(l.b, l.e.loc, subnormalsInA, *inB);
  return l.branch(either, [&] { return microkernelsKeepingSubnormals(panel); }, [&] { return products(panel); });
}

LogicalResult BlockedProduct::panels(Index from, Index to, RegisterTile form) {
  SmallVector<Value> nothing;
  return l.loop(from, to, form.columns, nothing, [&](Index column, auto &) {
    Panel panel{form, column};
    if (failed(provide(panel)) || (p.grouping == Grouping::QuadsRaised && failed(sumColumns(panel))))
      return failure();
    return multiply(panel);
  });
}

LogicalResult BlockedProduct::allPanels() {
  Index columns = l.e.min(l.e.roundUp(p.columns, l.lanes), llvm::alignTo(p.n, l.lanes));
  if (tile.columns == l.lanes || p.packed)
    return panels(0, columns, tile);
  Index whole = l.e.mul(l.e.divide(columns, tile.columns), tile.columns);
  if (failed(panels(0, whole, tile)))
    return failure();
  return panels(whole, columns, narrow);
}

LogicalResult BlockedProduct::run() {
  if (failed(provideA()))
    return failure();
  int64_t elements = p.packed ? 0 : section * tile.columns * static_cast<int64_t>(parts.products.size());
  FailureOr<Value> memory = l.allocateBytes((elements + l.lanes) * p.elementBytes(), p.op);
  FailureOr<Value> sums = l.allocateBytes(tile.columns * p.elementBytes(), p.op);
  FailureOr<Value> smallest = l.allocateBytes(l.lanes * p.elementBytes(), p.op);
  if (failed(memory) || failed(sums) || failed(smallest))
    return failure();
  smallestInB = *smallest;
  packedB = *memory;
  columnSums = *sums;
  if (p.byAmx) {
    FailureOr<Value> configurations = prepareAmx(p, steps);
    if (failed(configurations))
      return failure();
    amx = *configurations;
  }
  if (failed(allPanels()))
    return failure();
  if (p.byAmx)
    finishAmx(p);
  return success();
}

LogicalResult tilejit::cpu::lowerBlockedProduct(Product &product) { return BlockedProduct(product).run(); }
