// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Products whose right operand was computed before and lies in scratch memory in the type of the accumulator, as the
// weights of attention do; or which was packed as pairs of bf16 before a loop, or is to be rounded to such. Otherwise
// nothing of it is packed. The left operand is read where it lies too, by rows or by columns;
// only where it has another type or reaches beyond its view is it copied. Rows that a selection makes zero, and steps
// of the depth where it makes both operands zero, are left out. The accumulator is read once, when a register tile is
// done, so that what scales it costs no pass of its own.

#include "Dot.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace tilejit;
using namespace tilejit::cpu;

namespace {
/// Elements of the accumulator's type, or pairs: address of the first, and elements from row to row and from column to
/// column.
struct Matrix {
  Value origin;
  Index rowStride, columnStride;
  Type unit = nullptr; ///< Of the stride from row to row; null: the accumulator's type.
  Value holdsSubnormals = nullptr;
};

/// Rows that fill no register tile have a smaller one, so it is only the time of their steps that counts; but a second
/// microkernel has to be compiled, so it has to pay.
RegisterTile chooseTile(const Product &p) {
  int64_t vectors = llvm::divideCeil(p.n, p.l.lanes);
  // A tile takes some cycles to begin and to end.
  auto cycles = [&](int64_t tall, int64_t wide) {
    return tall == 0 ? 0 : cyclesOfStep(p.l.model, tall, wide) * (p.k / p.stepTerms()) + tall * wide + 40;
  };
  constexpr double worthAnother = 1.05;
  RegisterTile best{1, p.l.lanes};
  double least = 0;
  for (int64_t wide = 1; wide <= 7; ++wide) {
    if (vectors % wide)
      continue;
    for (int64_t tall = 1; tall <= std::min<int64_t>(14, p.m); ++tall) {
      if (tall * wide + wide + 1 > p.l.model.vectorRegisters)
        continue;
      double all = (p.m / tall * cycles(tall, wide) + cycles(p.m % tall, wide)) * (vectors / wide);
      if (p.m % tall)
        all *= worthAnother;
      if (least == 0 || all < least) {
        least = all;
        best = {tall, wide * p.l.lanes};
      }
    }
  }
  return best;
}

class ProductInPlace {
public:
  ProductInPlace(Product &p) : p(p), l(p.l), tile(chooseTile(p)), rest(p.m % tile.rows), unroll(chooseUnroll()) {}

  LogicalResult run();

private:
  int64_t chooseUnroll() const;
  FailureOr<Matrix> findA();
  FailureOr<Matrix> pairsOfA(Value source);
  FailureOr<Matrix> findB();
  LogicalResult products();
  LogicalResult productsKeepingSubnormals();
  FailureOr<Value> copyA(Value source, int64_t rowStride);
  void lookAhead(Index row, int64_t tall, Index at);
  LogicalResult microkernel(Index row, Index column, int64_t tall);
  LogicalResult rowsWithout(Index first);
  LogicalResult put(Index row, Index column, Value sum);
  Value accumulated(Value sum, Segment segment);
  int64_t wide() const { return tile.columns / l.lanes; }
  int64_t steps() const { return p.k / p.stepTerms(); }

  Product &p;
  KernelLowering &l;
  RegisterTile tile;
  int64_t rest, unroll;
  Matrix a, b;
};
} // namespace

/// Steps of the depth in one round of the loop: as many as keep the multiply-adds busy for longer than its end takes.
int64_t ProductInPlace::chooseUnroll() const {
  constexpr int64_t enough = 24;
  int64_t unroll = 1;
  while (unroll < 4 && tile.rows * wide() * unroll < enough && steps() % (2 * unroll) == 0)
    unroll *= 2;
  return unroll;
}

/// A matrix in scratch memory as the product reads it; null: the value is something else.
static Stored *storedMatrix(KernelLowering &l, Value tile, Type compute) {
  Stored *place = l.stored(tile);
  bool isMatrix = place && !place->inRegisters() && getElementTypeOrSelf(tile.getType()) == compute;
  return isMatrix && place->buffer.strides.back() == 1 ? place : nullptr;
}

/// Whether a number is known to be a multiple of `unit`.
static bool isMultiple(Value number, int64_t unit) {
  APInt constant;
  if (matchPattern(number, m_ConstantInt(&constant)))
    return constant.getSExtValue() % unit == 0;
  Operation *op = number.getDefiningOp();
  if (!op)
    return false;
  auto ofOperand = [&](Value operand) { return isMultiple(operand, unit); };
  if (isa<arith::MulIOp>(op))
    return llvm::any_of(op->getOperands(), ofOperand);
  return isa<arith::AddIOp, arith::MinSIOp, arith::MaxSIOp, arith::IndexCastOp>(op) &&
         llvm::all_of(op->getOperands(), ofOperand);
}

/// Whether both operands are zero from the same step of the depth on, so that neither is looked at from there on.
static bool endsEarly(KernelLowering &l, tile::DotOp op) {
  Value turned = l.transposeSource(op.getA());
  std::optional<Clipped> left = clipped(l, turned ? turned : op.getA()), right = clipped(l, op.getB());
  if (!left || !right || left->dim != (turned ? 0 : 1) || right->dim != 0 || left->below != right->below)
    return false;
  // Pairs are left out in whole steps only.
  constexpr int64_t mostOfStep = 8;
  return !getElementTypeOrSelf(op.getB().getType()).isBF16() || isMultiple(right->kept, mostOfStep);
}

/// The right operand as far as it is looked at.
static Value rightOf(KernelLowering &l, tile::DotOp op) {
  return endsEarly(l, op) ? clipped(l, op.getB())->tile : op.getB();
}

/// Whether that holds pairs, or what is to be rounded to such.
static bool readsPairs(KernelLowering &l, tile::DotOp op) {
  auto a = cast<RankedTensorType>(op.getA().getType());
  if (!l.model.pairs || l.lanes < 4 || !a.getElementType().isBF16() || a.getShape()[1] % 2 ||
      !getElementTypeOrSelf(op.getType()).isF32())
    return false;
  Value right = rightOf(l, op);
  Stored *place = l.stored(right);
  return place ? place->isPaired : static_cast<bool>(roundedSource(l, right));
}

bool tilejit::cpu::readsInPlace(KernelLowering &l, tile::DotOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  return type.getShape()[0] > skinnyRows && type.getShape()[1] > 1 && op.getPrecision() == tile::Precision::Ieee &&
         (storedMatrix(l, rightOf(l, op), type.getElementType()) || readsPairs(l, op));
}

//===-- the left operand
//--------------------------------------------------------------------------------------------===//

FailureOr<Value> ProductInPlace::copyA(Value source, int64_t rowStride) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(source.getType()).getShape();
  FailureOr<Value> memory = l.allocateBytes((shape[0] * rowStride + l.lanes) * p.elementBytes(), p.op);
  if (failed(memory))
    return failure();
  auto convert = [&](Value value) {
    Type element = getElementTypeOrSelf(source.getType());
    return p.isGrouped() ? l.toMemory(value, element) : p.convert(value, p.op.getUnsignedA());
  };
  if (failed(l.packMatrix(source, shape[0], 0, shape[1], shape[1], *memory, rowStride, convert)))
    return failure();
  return *memory;
}

/// What is transposed is packed; pairs of neighbours in a row are read where they lie.
FailureOr<Matrix> ProductInPlace::pairsOfA(Value source) {
  constexpr int64_t bytes = 4;
  int64_t columns = llvm::alignTo(p.m, l.lanes);
  Index pairs = steps();
  if (endsEarly(l, p.op))
    pairs = l.e.divide(p.depth, 2);
  FailureOr<Value> memory = l.allocateBytes(bytes * columns * steps(), p.op);
  if (failed(memory))
    return failure();
  FailureOr<Value> found = packPairs(l, source, pairs, columns, *memory, p.op);
  if (failed(found))
    return failure();
  return Matrix{*memory, 1, columns, p.compute, *found};
}

FailureOr<Matrix> ProductInPlace::findA() {
  Value turned = l.transposeSource(p.op.getA()), source = turned ? turned : p.op.getA();
  // Rows from which on there are zeros are not read, or what is computed of them is written over.
  if (std::optional<Clipped> clip = clipped(l, source); clip && (clip->dim == (turned ? 1 : 0) || endsEarly(l, p.op)))
    source = clip->tile;
  if (p.isGrouped() && turned)
    return pairsOfA(source);
  Type element = p.isGrouped() ? getElementTypeOrSelf(source.getType()) : p.compute;
  auto matrix = [&](Value origin, Index along, Index across) {
    return turned ? Matrix{origin, across, along} : Matrix{origin, along, across, memoryType(element)};
  };
  if (Stored *place = storedMatrix(l, source, element))
    return matrix(place->buffer.pointer, place->buffer.strides[0], 1);
  ArrayRef<int64_t> shape = cast<RankedTensorType>(source.getType()).getShape();
  int64_t dense = llvm::alignTo(shape[1], l.lanes);
  auto load = l.stored(source) ? tile::LoadOp() : source.getDefiningOp<tile::LoadOp>();
  if (!load || load.getType().getElementType() != element || !l.loadAccess(load).strides[1].is(1)) {
    FailureOr<Value> copy = copyA(source, dense);
    return failed(copy) ? FailureOr<Matrix>(failure()) : matrix(*copy, dense, 1);
  }
  const Access &access = l.loadAccess(load);
  Index stride = access.strides[0];
  Value inside = l.e.both(l.e.less(shape[0] - 1, access.extents[0]), l.e.less(shape[1] - 1, access.extents[1]));
  if (!inside)
    return matrix(access.origin, stride, 1);
  // A copy with the same stride leaves addresses as they are. (What a row's last vector holds beyond its end is written
  // over by the next row.)
  constexpr int64_t mostBytes = 256 << 10;
  bool isAlike =
      stride.isConstant() && stride.constant >= shape[1] && stride.constant * shape[0] * p.elementBytes() <= mostBytes;
  SmallVector<Type> types{l.e.pointer(), l.e.i64()};
  auto choice = scf::IfOp::create(l.b, l.e.loc, types, inside, /*addThenBlock=*/true, /*addElseBlock=*/true);
  for (bool isCopied : {false, true}) {
    Block *block = isCopied ? choice.elseBlock() : choice.thenBlock();
    OpBuilder::InsertionGuard guard(l.b);
    l.b.setInsertionPointToEnd(block);
    ScopeGuard scope(l, block, nullptr);
    FailureOr<Value> origin = access.origin;
    if (isCopied)
      origin = copyA(source, isAlike ? stride.constant : dense);
    if (failed(origin))
      return failure();
    l.b.setInsertionPointToEnd(block);
    Value step = l.e.value(isCopied && !isAlike ? Index(dense) : stride);
    scf::YieldOp::create(l.b, l.e.loc, ValueRange{*origin, step});
  }
  return matrix(choice.getResult(0), isAlike ? stride : Index(choice.getResult(1)), 1);
}

//===-- the accumulator
//---------------------------------------------------------------------------------------------===//

/// The accumulator and a sum (null: none).
Value ProductInPlace::accumulated(Value sum, Segment segment) {
  Value acc = p.op.getAcc();
  if (!l.stored(acc) && isZero(acc))
    return sum ? sum : p.zero(p.vectorType());
  auto scaled = l.stored(acc) ? arith::MulFOp() : acc.getDefiningOp<arith::MulFOp>();
  if (sum && scaled && l.model.fma) {
    Value x = l.evaluate(scaled.getLhs(), segment), y = l.evaluate(scaled.getRhs(), segment);
    return x && y ? Value(math::FmaOp::create(l.b, l.e.loc, x, y, sum)) : Value();
  }
  Value before = l.evaluate(acc, segment);
  if (!before || !sum)
    return before;
  if (isa<FloatType>(p.compute))
    return arith::AddFOp::create(l.b, l.e.loc, before, sum);
  return arith::AddIOp::create(l.b, l.e.loc, before, sum);
}

LogicalResult ProductInPlace::put(Index row, Index column, Value sum) {
  Segment segment;
  segment.at = {row, column};
  segment.dim = 1;
  segment.width = l.lanes;
  Value total = accumulated(sum, segment);
  if (!total)
    return failure();
  l.e.store(total, l.e.address(p.result, l.e.add(l.e.mul(row, p.resultStride), column), p.compute));
  return success();
}

/// The value in scratch memory that an accumulator is computed from, element by element, whose place the result can
/// take since nothing else reads it; null: there is none.
static Stored *replaceable(KernelLowering &l, Value value, RankedTensorType type, Block *block) {
  if (!value.hasOneUse() || value.getType() != type || value.getParentBlock() != block)
    return nullptr;
  if (Stored *place = l.stored(value))
    return l.hasUsualLayout(*place, type) ? place : nullptr;
  Operation *op = value.getDefiningOp();
  if (!op || !op->hasTrait<OpTrait::Elementwise>())
    return nullptr;
  for (Value operand : op->getOperands())
    if (Stored *place = replaceable(l, operand, type, block))
      return place;
  return nullptr;
}

//===-- the next block
//-------------------------------------------------------------------------------------------------===//

/// On its way through the left operand a microkernel asks for its share of the block behind, which a loop wants next.
/// The first to go through a matrix would wait for most of its lines otherwise: the steps are too short for the CPU to
/// see where they lead.
void ProductInPlace::lookAhead(Index row, int64_t tall, Index at) {
  Value source = l.transposeSource(p.op.getA());
  bool isTurned = source != nullptr;
  tile::LoadOp load = matrixLoad(l, isTurned ? source : p.op.getA());
  if (!load || !isa<LoopLikeOpInterface>(p.op->getParentOp()))
    return;
  const Access &access = l.loadAccess(load);
  Type memory = memoryType(access.element);
  int64_t line = 64 / byteSize(memory);
  auto ask = [&](Index matrixRow, Index matrixColumn) {
    l.prefetchFrom(access, l.e.add(matrixRow, load.getType().getShape()[0]), matrixColumn, /*level=*/2);
  };
  if (isTurned) {
    for (int64_t u = 0; u < unroll * p.stepTerms(); ++u)
      ask(l.e.add(l.e.mul(at, p.stepTerms()), u), row);
    return;
  }
  int64_t linesOfRow = llvm::divideCeil(p.k, line), atOnce = llvm::divideCeil(tall * linesOfRow * unroll, steps());
  for (int64_t i = 0; i < atOnce; ++i) {
    Index number = l.e.add(l.e.mul(l.e.divide(at, unroll), atOnce), i);
    ask(l.e.add(row, l.e.divide(number, linesOfRow)), l.e.mul(l.e.remainder(number, linesOfRow), line));
  }
}

//===-- the register tile
//------------------------------------------------------------------------------------------===//

/// `tall` rows by the columns of a panel.
LogicalResult ProductInPlace::microkernel(Index row, Index column, int64_t tall) {
  Type unit = a.unit ? a.unit : p.compute;
  Value first = l.e.address(a.origin, l.e.mul(row, a.rowStride), unit);
  Value panel = l.e.address(b.origin, column, p.compute);
  SmallVector<Value> rows, sums(tall * wide(), p.zero(p.vectorType()));
  for (int64_t r = 0; r < tall; ++r)
    rows.push_back(l.e.address(first, l.e.mul(a.rowStride, r), unit));
  auto one = [&](Index step, SmallVectorImpl<Value> &sum) {
    auto elementOfA = [&](int64_t r) { return l.e.address(rows[r], l.e.mul(step, a.columnStride), p.compute); };
    p.step(l.e.address(panel, l.e.mul(step, b.rowStride), p.compute), elementOfA, sum, wide());
    return success();
  };
  Index whole = steps();
  bool isWhole = true;
  if (endsEarly(l, p.op)) {
    isWhole = isMultiple(clipped(l, p.op.getB())->kept, unroll * p.stepTerms());
    Index depth = l.e.divide(p.depth, p.stepTerms());
    whole = isWhole ? depth : l.e.roundDown(depth, unroll);
  }
  LogicalResult done = l.loop(0, whole, unroll, sums, [&](Index at, SmallVectorImpl<Value> &sum) {
    if (!p.keepsSubnormals)
      lookAhead(row, tall, at);
    for (int64_t u = 0; u < unroll; ++u)
      (void)one(l.e.add(at, u), sum);
    return success();
  });
  if (succeeded(done) && !isWhole)
    done = l.loop(whole, p.depth, 1, sums, one);
  if (failed(done))
    return failure();
  for (int64_t r = 0; r < tall; ++r)
    for (int64_t v = 0; v < wide(); ++v)
      if (failed(put(l.e.add(row, r), l.e.add(column, v * l.lanes), sums[r * wide() + v])))
        return failure();
  return success();
}

/// Rows that have no products.
LogicalResult ProductInPlace::rowsWithout(Index first) {
  SmallVector<Value> nothing;
  return l.loop(first, p.m, 1, nothing, [&](Index row, auto &) {
    return l.loop(0, llvm::alignTo(p.n, l.lanes), l.lanes, nothing,
                  [&](Index column, auto &) { return put(row, column, Value()); });
  });
}

FailureOr<Matrix> ProductInPlace::findB() {
  Value right = rightOf(l, p.op);
  if (Stored *place = l.stored(right))
    return Matrix{place->buffer.pointer, place->buffer.strides[0], 1, nullptr, place->holdsSubnormals};
  int64_t columns = llvm::alignTo(p.n, l.lanes);
  FailureOr<Value> memory = l.allocateBytes(columns * steps() * p.elementBytes(), p.op);
  Index pairs = endsEarly(l, p.op) ? l.e.divide(p.depth, 2) : Index(steps());
  if (failed(memory) || failed(roundPairs(l, roundedSource(l, right), pairs, columns, *memory)))
    return failure();
  return Matrix{*memory, columns, 1};
}

LogicalResult ProductInPlace::products() {
  SmallVector<Value> nothing;
  int64_t whole = p.m - rest;
  return l.loop(0, llvm::alignTo(p.n, l.lanes), tile.columns, nothing, [&](Index column, auto &) {
    if (failed(l.loop(0, l.e.min(p.rows, whole), tile.rows, nothing,
                      [&](Index row, auto &) { return microkernel(row, column, tile.rows); })))
      return failure();
    if (rest == 0)
      return success();
    return l.branch(l.e.less(whole, p.rows), [&] { return microkernel(whole, column, rest); }, nullptr);
  });
}

/// Rarely, so by little code.
LogicalResult ProductInPlace::productsKeepingSubnormals() {
  int64_t tall = p.m % 4 == 0 ? 4 : 1;
  llvm::SaveAndRestore keep(p.keepsSubnormals, true);
  llvm::SaveAndRestore small(tile, RegisterTile{tall, l.lanes});
  llvm::SaveAndRestore none(rest, int64_t{0}), once(unroll, int64_t{1});
  return products();
}

LogicalResult ProductInPlace::run() {
  FailureOr<Matrix> left = findA(), right = failed(left) ? FailureOr<Matrix>(failure()) : findB();
  if (failed(right))
    return failure();
  a = *left;
  b = *right;
  if (p.isGrouped() && !a.holdsSubnormals) {
    FailureOr<Value> found = rowsHoldSubnormals(l, a.origin, p.rows, p.k, a.rowStride);
    if (failed(found))
      return failure();
    a.holdsSubnormals = *found;
  }
  Value either = a.holdsSubnormals;
  if (either && b.holdsSubnormals)
    either = arith::OrIOp::create(l.b, l.e.loc, either, b.holdsSubnormals);
  LogicalResult done =
      either ? l.branch(either, [&] { return productsKeepingSubnormals(); }, [&] { return products(); }) : products();
  if (failed(done) || p.rows.is(p.m))
    return done;
  bool isClipped = !l.transposeSource(p.op.getA()) && clipped(l, p.op.getA());
  return rowsWithout(isClipped ? p.rows : l.e.roundUp(p.rows, tile.rows));
}

LogicalResult tilejit::cpu::lowerProductInPlace(KernelLowering &l, tile::DotOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  Stored place;
  if (Stored *old = replaceable(l, op.getAcc(), type, op->getBlock())) {
    place.buffer = old->buffer;
  } else {
    FailureOr<Buffer> buffer = l.allocate(type, op);
    if (failed(buffer))
      return failure();
    place.buffer = *buffer;
  }
  int64_t mark = l.scratchMark();
  Product product(l, op);
  product.result = place.buffer.pointer;
  product.resultStride = place.buffer.strides[0];
  LogicalResult done = ProductInPlace(product).run();
  l.scratchRelease(mark);
  l.setStored(op.getResult(), place);
  return done;
}
