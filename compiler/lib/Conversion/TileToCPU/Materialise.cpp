// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Which lazy values are better stored where they stand, and storing them: loads from memory that the kernel writes,
// expensive values with several consumers, transpositions and reshapes that would scatter lanes.

#include "Dot.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tilejit;
using namespace tilejit::cpu;

static ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

/// Whether a reshape only cuts dimensions into several, those of size 1 aside, and not the one that lanes run along.
static bool keepsLanes(tile::ReshapeOp op) {
  auto isMany = [](int64_t size) { return size != 1; };
  SmallVector<int64_t> from, to;
  llvm::copy_if(shapeOf(op.getSource()), std::back_inserter(from), isMany);
  llvm::copy_if(shapeOf(op.getResult()), std::back_inserter(to), isMany);
  if (from.empty() || from.back() != to.back())
    return from.empty();
  auto piece = to.begin();
  for (int64_t size : from)
    for (int64_t covered = 1; covered < size; ++piece)
      if (covered *= *piece; size % covered != 0)
        return false;
  return true;
}

/// Whether lanes side by side in the result of a transposition lie apart in its operand.
bool KernelLowering::movesLanes(Operation *op) {
  auto transpose = dyn_cast<tile::TransposeOp>(op);
  if (!transpose)
    return false;
  int from = laneDimension(shapeOf(transpose.getSource())), to = laneDimension(shapeOf(transpose.getResult()));
  return to >= 0 && transpose.getPermutation()[to] != from;
}

/// The eager operations that read a value, through lazy ones.
static void collectRoots(KernelLowering &l, Value value, llvm::SmallPtrSetImpl<Operation *> &seen,
                         llvm::SmallPtrSetImpl<Operation *> &roots) {
  for (Operation *user : value.getUsers()) {
    bool lazy = l.tables.lazy.contains(user->getName().getStringRef()) && user->getNumResults() == 1 &&
                isa<RankedTensorType>(user->getResult(0).getType());
    if (!lazy)
      roots.insert(user);
    else if (seen.insert(user).second)
      collectRoots(l, user->getResult(0), seen, roots);
  }
}

/// Whether evaluating a value again costs more than reading it back.
static bool isExpensive(KernelLowering &l, Value value, unsigned depth = 0) {
  Operation *op = value.getDefiningOp();
  if (!op || l.stored(value) || depth > 16)
    return false;
  if (isa<math::MathDialect>(op->getDialect()) &&
      !isa<math::AbsFOp, math::AbsIOp, math::CopySignOp, math::FmaOp, math::FloorOp, math::CeilOp, math::TruncOp>(op))
    return true;
  if (isa<arith::DivFOp, arith::RemFOp, arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op))
    return true;
  return l.lazyOp(value) && llvm::any_of(op->getOperands(), [&](Value operand) {
           return isa<RankedTensorType>(operand.getType()) && isExpensive(l, operand, depth + 1);
         });
}

static int64_t bytesOf(Value tile) {
  auto type = dyn_cast<RankedTensorType>(tile.getType());
  return type ? type.getNumElements() * byteSize(type.getElementType()) : 0;
}

/// Bytes of what lies in memory and `value` is made from.
static int64_t loadedBytes(KernelLowering &l, Value value, llvm::SmallPtrSetImpl<Operation *> &seen) {
  Operation *op = value.getDefiningOp();
  if (!op || !seen.insert(op).second)
    return 0;
  if (isa<tile::LoadOp>(op) || l.stored(value))
    return bytesOf(value);
  int64_t bytes = 0;
  if (l.lazyOp(value))
    for (Value operand : op->getOperands())
      bytes += loadedBytes(l, operand, seen);
  return bytes;
}

/// Whether a narrow float made wide is worth keeping for the sweeps over a row, since making it costs as much as what
/// is mostly done with it. What leaves the first-level cache costs more to read back, and so does what drives the rest
/// of the row out of it: what the sweeps read and write beside it.
static bool keepsWidened(KernelLowering &l, Operation *op, const llvm::SmallPtrSetImpl<Operation *> &roots) {
  constexpr int64_t mostBytes = 32 << 10;
  int64_t bytes = bytesOf(op->getResult(0));
  llvm::SmallPtrSet<Operation *, 16> seen;
  for (Operation *root : roots)
    for (Value operand : root->getOperands())
      bytes += loadedBytes(l, operand, seen) + (isa<tile::StoreOp>(root) ? bytesOf(operand) : 0);
  return bytes <= mostBytes && llvm::any_of(roots, [](Operation *root) { return isa<tile::ReduceOp>(root); });
}

/// Whether a value is a narrow float made wide.
static bool isWidened(Operation *op) {
  auto convert = dyn_cast<tile::FpToFpOp>(op);
  auto bits = [](Value value) { return getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth(); };
  return convert && isa<RankedTensorType>(convert.getType()) && bits(convert.getSource()) < 32 &&
         bits(convert.getResult()) >= 32;
}

/// Whether an expression is made from `value` and does not move its elements.
static bool isElementwiseOn(KernelLowering &l, Value expression, Value value, unsigned depth = 0) {
  if (expression == value)
    return true;
  Operation *op = expression.getDefiningOp();
  if (!op || depth > 16 || !l.lazyOp(expression) || !op->hasTrait<OpTrait::Elementwise>())
    return false;
  return llvm::any_of(op->getOperands(), [&](Value operand) { return isElementwiseOn(l, operand, value, depth + 1); });
}

/// The reduction that reads a value before all others do, each element in its place; null: another operation does.
static Operation *firstReduction(KernelLowering &l, Value value) {
  llvm::SmallPtrSet<Operation *, 8> seen, roots;
  collectRoots(l, value, seen, roots);
  Operation *first = nullptr;
  for (Operation *root : roots) {
    Operation *here = value.getParentBlock()->findAncestorOpInBlock(*root);
    if (!first || here->isBeforeInBlock(first))
      first = here;
  }
  auto reduce = dyn_cast_or_null<tile::ReduceOp>(first);
  bool reads =
      reduce && llvm::any_of(reduce.getInputs(), [&](Value input) { return isElementwiseOn(l, input, value); });
  return reads ? first : nullptr;
}

/// A value in scratch memory that `tile` is made from element by element and that nobody reads later, so that the tile
/// can take its place; null: there is none.
static Stored *outlived(KernelLowering &l, Value tile, Value value, unsigned depth = 0) {
  Operation *op = tile.getDefiningOp(), *maker = value.getDefiningOp();
  if (!maker || depth > 16)
    return nullptr;
  if (Stored *place = l.stored(value)) {
    llvm::SmallPtrSet<Operation *, 8> seen{op}, roots;
    collectRoots(l, value, seen, roots);
    bool isLast = maker->getBlock() == op->getBlock() && llvm::all_of(roots, [&](Operation *root) {
                    Operation *here = op->getBlock()->findAncestorOpInBlock(*root);
                    return here && here->isBeforeInBlock(op);
                  });
    bool fits = value.getType() == tile.getType() && l.hasUsualLayout(*place, cast<RankedTensorType>(tile.getType()));
    return isLast && fits ? place : nullptr;
  }
  if (!l.lazyOp(value) || !maker->hasTrait<OpTrait::Elementwise>())
    return nullptr;
  for (Value operand : maker->getOperands())
    if (Stored *place = outlived(l, tile, operand, depth + 1))
      return place;
  return nullptr;
}

/// Whether all that reads a value, or its reshape, are products that take it as packed panels.
static bool isPackedPanel(KernelLowering &l, Operation *op) {
  return isa<tile::TransposeOp, tile::ReshapeOp>(op) && llvm::all_of(op->getUsers(), [&](Operation *user) {
           if (auto dot = dyn_cast<tile::DotOp>(user))
             return dot.getB().getDefiningOp() == op && packedPanels(l, dot).has_value();
           return isa<tile::ReshapeOp>(user) && isa<tile::TransposeOp>(op) && isPackedPanel(l, user);
         });
}

/// The matrix [steps * terms x columns] that a transposition to [steps x columns x terms] puts groups of neighbours of
/// a column together from, 32 bits each; null: it is another one.
static Value groupedMatrix(KernelLowering &l, Operation *op) {
  auto transpose = dyn_cast<tile::TransposeOp>(op);
  auto reshape = transpose ? transpose.getSource().getDefiningOp<tile::ReshapeOp>() : tile::ReshapeOp();
  if (!reshape || l.stored(reshape) || transpose.getPermutation() != ArrayRef<int64_t>{0, 2, 1})
    return {};
  ArrayRef<int64_t> from = shapeOf(reshape.getSource()), to = shapeOf(reshape);
  int64_t bits = 8 * byteSize(getElementTypeOrSelf(op->getResult(0).getType()));
  bool isCut = from.size() == 2 && from[0] == to[0] * to[1] && from[1] == to[2] && to[2] % l.lanes == 0;
  return isCut && (bits == 8 || bits == 16) && to[1] * bits == 32 ? reshape.getSource() : Value();
}

/// Whether a reshape is read for such groups only.
static bool isForGroups(KernelLowering &l, Operation *reshape) {
  return isa<tile::ReshapeOp>(reshape) &&
         llvm::all_of(reshape->getUsers(), [&](Operation *user) { return groupedMatrix(l, user) != nullptr; });
}

bool KernelLowering::wantsMaterialising(Operation *op) {
  if (op->use_empty() || isPackedPanel(*this, op))
    return false;
  if (isHazardousLoad(op))
    return true;
  Value result = op->getResult(0);
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
    return elements && !elements.isSplat();
  }
  auto inDeeperLoop = [&](Operation *user) {
    Operation *parent = user->getParentOp();
    return parent != op->getParentOp() && isa<LoopLikeOpInterface>(parent);
  };
  if (movesLanes(op)) // Products transpose while they pack, but not again in each turn of a loop.
    return !llvm::all_of(op->getUsers(), [&](Operation *user) {
      return (isa<tile::DotOp>(user) || isForGroups(*this, user)) && !inDeeperLoop(user);
    });
  if (auto reshape = dyn_cast<tile::ReshapeOp>(op))
    return !keepsLanes(reshape);
  if (isa<tile::BroadcastOp, tile::SplatOp, tile::ExpandOp, tile::LoadOp>(op))
    return false;
  bool expensive = isExpensive(*this, result);
  if (!expensive && !isWidened(op))
    return false;
  if (expensive && llvm::any_of(op->getUsers(), inDeeperLoop))
    return true;
  llvm::SmallPtrSet<Operation *, 8> users(op->user_begin(), op->user_end()), seen, roots;
  if (users.size() < 2)
    return false;
  collectRoots(*this, result, seen, roots);
  return roots.size() >= 2 && (expensive || keepsWidened(*this, op, roots));
}

LogicalResult KernelLowering::materialise(Value tile) {
  auto type = cast<RankedTensorType>(tile.getType());
  Operation *op = tile.getDefiningOp();
  if (Value matrix = groupedMatrix(*this, op))
    return materialiseGroups(tile, matrix);
  if (movesLanes(op))
    return isMultipliedByPairs(*this, tile) ? storePairs(*this, tile) : materialiseTransposed(tile);
  if (auto reshape = dyn_cast<tile::ReshapeOp>(op); reshape && !keepsLanes(reshape))
    return materialiseReshape(tile);
  if (fitsRegisters(type, 8)) {
    SmallVector<Value> values;
    if (failed(evaluateRegisters(tile, values)))
      return failure();
    setStored(tile, registersOf(type, values));
    return success();
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return placeTable(constant);
  Stored *old = outlived(*this, tile, tile);
  FailureOr<Buffer> buffer = old ? FailureOr<Buffer>(old->buffer) : allocate(type, op);
  if (failed(buffer))
    return failure();
  Stored place;
  place.buffer = *buffer;
  if (isWidened(op))
    if (auto load = op->getOperand(0).getDefiningOp<tile::LoadOp>(); load && !stored(load.getResult()))
      place.source = load;
  if (Operation *reduction = isa<tile::LoadOp, tile::GatherOp>(op) ? nullptr : firstReduction(*this, tile)) {
    keptOnTheWay[tile] = {reduction, place};
    return success();
  }
  if (failed(assign(*buffer, tile)))
    return failure();
  setStored(tile, place);
  return success();
}

void KernelLowering::finishKept(Operation *root) {
  for (auto it = keptOnTheWay.begin(); it != keptOnTheWay.end();) {
    auto [reduction, place] = it->second;
    auto current = it++;
    if (reduction != root)
      continue;
    setStored(current->first, place);
    keptOnTheWay.erase(current);
  }
}

/// A tile in memory without gaps.
static Stored denselyStored(Value pointer, ArrayRef<int64_t> shape) {
  Stored place;
  place.buffer.pointer = pointer;
  place.buffer.strides.resize(shape.size());
  int64_t stride = 1;
  for (int d = static_cast<int>(shape.size()) - 1; d >= 0; --d) {
    place.buffer.strides[d] = stride;
    stride *= shape[d];
  }
  return place;
}

/// Stores the operand without gaps, unless it is so already; the result is the same memory under another shape.
LogicalResult KernelLowering::materialiseReshape(Value tile) {
  Operation *op = tile.getDefiningOp();
  Value source = op->getOperand(0);
  if (Stored *place = stored(source); place && !place->inRegisters() && !place->isPaired)
    if (place->buffer.strides == denselyStored({}, shapeOf(source)).buffer.strides) {
      setStored(tile, denselyStored(place->buffer.pointer, shapeOf(tile)));
      return success();
    }
  FailureOr<Buffer> buffer = allocate(cast<RankedTensorType>(source.getType()), op, /*dense=*/true);
  if (failed(buffer) || failed(assign(*buffer, source)))
    return failure();
  setStored(tile, denselyStored(buffer->pointer, shapeOf(tile)));
  return success();
}

/// Puts groups of neighbours of a column together as products of groups do.
LogicalResult KernelLowering::materialiseGroups(Value tile, Value matrix) {
  ArrayRef<int64_t> shape = shapeOf(tile);
  int64_t steps = shape[0], columns = shape[1], terms = shape[2];
  // Squares of a transposition may reach beyond the last step, and who reads whole vectors too.
  FailureOr<Value> memory = allocateBytes(4 * (columns * llvm::alignTo(steps, lanes) + lanes), tile.getDefiningOp());
  if (failed(memory) || failed(packGroups(matrix, terms, steps, 0, columns, *memory)))
    return failure();
  setStored(tile, denselyStored(*memory, shape));
  return success();
}

/// Squares of lanes x lanes elements, read as rows of the operand and written as rows of the result.
LogicalResult KernelLowering::materialiseTransposed(Value tile) {
  auto op = cast<tile::TransposeOp>(tile.getDefiningOp());
  auto type = cast<RankedTensorType>(tile.getType());
  ArrayRef<int64_t> shape = type.getShape(), permutation = op.getPermutation();
  Value source = op.getSource();
  int sourceLane = laneDimension(shapeOf(source)), resultLane = laneDimension(shape);
  int other = llvm::find(permutation, sourceLane) - permutation.begin(); // Where the operand's lanes go.

  SmallVector<int64_t> padded(shape);
  padded[other] = llvm::alignTo(padded[other], lanes);
  FailureOr<Buffer> buffer = allocate(RankedTensorType::get(padded, type.getElementType()), op);
  if (failed(buffer))
    return failure();

  // Unchecked if the whole operand is inside and made of whole squares.
  Segment whole;
  whole.dim = sourceLane;
  whole.width = lanes;
  whole.checked = false;
  for (int64_t size : shapeOf(source))
    whole.at.push_back(size - 1);
  Index inside = uncheckedLimit(whole, padded[other], source);
  Value fast = e.less(padded[other] - 1, inside);
  if (shape[other] != padded[other])
    fast = e.constant(b.getBoolAttr(false));

  // Squares touch one line of many rows at a time, which the CPU does not foresee.
  if (shapeOf(source).size() == 2)
    prefetchMatrix(source, 0, shapeOf(source)[0], 0, shapeOf(source)[1]);

  auto squares = [&](bool checked) -> LogicalResult {
    SmallVector<Index> limits(shape);
    limits[other] = limits[resultLane] = 1; // Visited by the two inner loops.
    SmallVector<Value> nothing;
    Segment read, write;
    return forEachSegment(limits, -1, {}, nothing, [&](const Segment &outer, Index, auto &) {
      return loop(0, shape[resultLane], lanes, nothing, [&](Index column, auto &) {
        return loop(0, shape[other], lanes, nothing, [&](Index row, auto &) {
          read = write = outer;
          SmallVector<Value> rows;
          for (int64_t i = 0; i < lanes; ++i) {
            write.at[resultLane] =
                shape[resultLane] % lanes ? e.min(e.add(column, i), shape[resultLane] - 1) : e.add(column, i);
            write.at[other] = row;
            for (auto [d, p] : llvm::enumerate(permutation))
              read.at[p] = write.at[d];
            read.dim = sourceLane;
            read.width = lanes;
            read.checked = checked;
            Value value = evaluate(source, read);
            if (!value)
              return failure();
            rows.push_back(toMemory(value, type.getElementType()));
          }
          e.transposeSquare(rows);
          write.at[resultLane] = column;
          write.dim = resultLane;
          for (int64_t i = 0; i < lanes; ++i) {
            write.at[other] = e.add(row, i);
            e.store(rows[i],
                    e.address(buffer->pointer, bufferOffset(*buffer, write.at), memoryType(type.getElementType())));
          }
          return success();
        });
      });
    });
  };
  if (failed(branch(fast, [&] { return squares(false); }, [&] { return squares(true); })))
    return failure();
  Stored place;
  place.buffer = *buffer;
  setStored(tile, place);
  return success();
}
