// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Copies parts of a lazy matrix into scratch memory in the form that a product reads: whole vectors, another element
// type, transposed where the matrix is written as a transposition.

#include "Dot.h"

using namespace mlir;
using namespace tilejit;
using namespace tilejit::cpu;

Value KernelLowering::transposeSource(Value tile) {
  if (stored(tile))
    return {};
  auto op = tile.getDefiningOp<tile::TransposeOp>();
  return op && movesLanes(op) ? op.getSource() : Value();
}

tile::LoadOp tilejit::cpu::matrixLoad(KernelLowering &l, Value tile) {
  while (!l.stored(tile) && tile.getDefiningOp() && !isa<tile::LoadOp>(tile.getDefiningOp())) {
    Operation *op = tile.getDefiningOp();
    std::optional<Clipped> clip = clipped(l, tile);
    if (!clip && !op->hasTrait<OpTrait::Elementwise>() && !isa<tile::FpToFpOp>(op))
      return {};
    tile = clip ? clip->tile : op->getOperand(0);
  }
  auto load = tile.getDefiningOp<tile::LoadOp>();
  bool isMatrix = load && !l.stored(tile) && load.getType().getRank() == 2;
  return isMatrix && l.loadAccess(load).strides[1].is(1) ? load : tile::LoadOp();
}

void KernelLowering::prefetchMatrix(Value tile, Index first, Index rows, Index column, int64_t columns) {
  tile::LoadOp load = matrixLoad(*this, tile);
  if (!load)
    return;
  const Access &a = loadAccess(load);
  Type memory = memoryType(a.element);
  int64_t line = 64 / byteSize(memory);
  SmallVector<Value> nothing;
  (void)loop(0, rows, 1, nothing, [&](Index i, auto &) {
    Value row = e.address(a.origin, e.mul(e.add(first, i), a.strides[0]), memory);
    row = e.address(row, column, memory);
    if (columns > 8 * line)
      return loop(0, columns, line, nothing, [&](Index at, auto &) {
        e.prefetch(e.address(row, at, memory), /*level=*/2);
        return success();
      });
    for (int64_t at = 0; at < columns; at += line)
      e.prefetch(e.address(row, at, memory), /*level=*/2);
    return success();
  });
}

void KernelLowering::prefetchFrom(const Access &matrix, Index row, Index column, int level) {
  constexpr int64_t line = 64;
  Type memory = memoryType(matrix.element);
  Value first = e.address(e.address(matrix.origin, e.mul(row, matrix.strides[0]), memory), column, memory);
  e.prefetch(e.address(first, line - 1, b.getI8Type()), level);
}

namespace {
/// One copy: rows [0, rows) and columns [column, column + columns) to destination[row * rowStride + c - column].
struct Packer {
  KernelLowering &l;
  Value tile, source; ///< source: what tile is the transposition of.
  Index rows, column, columns;
  int64_t mostColumns;
  Value destination;
  int64_t rowStride;
  KernelLowering::Convert convert;
  int64_t width;

  Type element() const { return cast<RankedTensorType>(tile.getType()).getElementType(); }
  ArrayRef<int64_t> shape() const { return cast<RankedTensorType>(tile.getType()).getShape(); }

  void write(Value value, Index row, Index at) {
    Value converted = convert(value);
    Index offset = l.e.add(l.e.mul(row, rowStride), at);
    l.e.store(converted, l.e.address(destination, offset, getElementTypeOrSelf(converted.getType())));
  }

  /// Rows lie pages apart, where the CPU does not foresee the next one: each asks for one further down, in step.
  void lookAhead(Index row, Index at) {
    constexpr int64_t ahead = 4;
    if (tile::LoadOp load = matrixLoad(l, tile))
      l.prefetchFrom(l.loadAccess(load), l.e.add(row, ahead), l.e.add(column, at), /*level=*/1);
  }

  LogicalResult copyRows(bool checked) {
    SmallVector<Value> nothing;
    bool few = mostColumns <= 4 * width && columns.isConstant();
    return l.loop(0, rows, 1, nothing, [&](Index row, auto &) -> LogicalResult {
      auto one = [&](Index at) -> LogicalResult {
        Segment segment;
        segment.at = {row, l.e.add(column, at)};
        segment.dim = 1;
        segment.width = width;
        segment.checked = checked;
        Value value = l.evaluate(tile, segment);
        if (!value)
          return failure();
        write(value, row, at);
        return success();
      };
      if (!few)
        return l.loop(0, columns, width, nothing, [&](Index at, auto &) {
          lookAhead(row, at);
          return one(at);
        });
      for (int64_t at = 0; at < columns.constant; at += width)
        if (failed(one(at)))
          return failure();
      return success();
    });
  }

  /// Squares: rows of the source become columns of the copy.
  LogicalResult copySquares(bool checked) {
    SmallVector<Value> nothing;
    return l.loop(0, rows, l.lanes, nothing, [&](Index row, auto &) {
      return l.loop(0, columns, l.lanes, nothing, [&](Index at, auto &) -> LogicalResult {
        SmallVector<Value> square;
        for (int64_t i = 0; i < l.lanes; ++i) {
          Index sourceRow = l.e.add(l.e.add(column, at), i);
          if (checked) // Rows beyond the tile repeat its last one; nobody reads what they give.
            sourceRow = l.e.min(sourceRow, shape()[1] - 1);
          Segment segment;
          segment.at = {sourceRow, row};
          segment.dim = 1;
          segment.width = l.lanes;
          segment.checked = checked;
          Value value = l.evaluate(source, segment);
          if (!value)
            return failure();
          square.push_back(convert(value));
        }
        l.e.transposeSquare(square);
        for (int64_t i = 0; i < l.lanes; ++i) {
          Index offset = l.e.add(l.e.mul(l.e.add(row, i), rowStride), at);
          l.e.store(square[i], l.e.address(destination, offset, getElementTypeOrSelf(square[i].getType())));
        }
        return success();
      });
    });
  }
};
} // namespace

Value tilejit::cpu::isInside(KernelLowering &l, Value tile, Index rows, Index column, Index columns, int64_t width) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(tile.getType()).getShape();
  Value source = l.transposeSource(tile);
  Index lastRow = l.e.sub(source ? l.e.roundUp(rows, width) : rows, 1);
  Index end = l.e.add(column, l.e.roundUp(columns, width));
  Segment segment;
  segment.width = width;
  segment.checked = false;
  segment.dim = 1;
  if (!source) {
    segment.at = {lastRow, column};
    Value inTile = l.e.less(end, shape[1] + 1);
    return l.e.both(inTile, l.e.less(l.e.sub(end, 1), l.uncheckedLimit(segment, shape[1], tile)));
  }
  // Lanes run along the rows here.
  segment.at = {l.e.sub(end, 1), 0};
  Value inTile = l.e.both(l.e.less(end, shape[1] + 1), l.e.less(lastRow, shape[0]));
  return l.e.both(inTile, l.e.less(lastRow, l.uncheckedLimit(segment, shape[0], source)));
}

LogicalResult KernelLowering::packMatrix(Value tile, Index rows, Index column, Index columns, int64_t mostColumns,
                                         Value destination, int64_t rowStride, Convert convert, int64_t width) {
  Value source = transposeSource(tile);
  width = width && !source ? width : lanes;
  Packer packer{*this, tile, source, rows, column, columns, mostColumns, destination, rowStride, convert, width};
  auto copy = [&](bool checked) { return packer.source ? packer.copySquares(checked) : packer.copyRows(checked); };
  Value inside = isInside(*this, tile, rows, column, columns, width);
  return branch(inside, [&] { return copy(false); }, [&] { return copy(true); });
}

//===-- groups of elements
//----------------------------------------------------------------------------------------------===//

/// Columns of two lists of registers side by side: as many registers of integers twice as wide for each.
static SmallVector<Value> joinColumns(KernelLowering &l, ArrayRef<Value> left, ArrayRef<Value> right) {
  SmallVector<Value> result;
  for (auto [x, y] : llvm::zip_equal(left, right)) {
    auto type = cast<VectorType>(x.getType());
    int64_t count = type.getNumElements();
    VectorType wide = l.e.vector(l.b.getIntegerType(2 * type.getElementTypeBitWidth()), count / 2);
    for (int64_t start : {int64_t{0}, count / 2}) {
      SmallVector<int64_t> lanes;
      for (int64_t i = start; i < start + count / 2; ++i)
        lanes.append({i, count + i});
      result.push_back(LLVM::BitcastOp::create(l.b, l.e.loc, wide, l.e.shuffle(x, y, lanes)));
    }
  }
  return result;
}

SmallVector<Value> tilejit::cpu::interleaveRows(KernelLowering &l, ArrayRef<Value> rows) {
  SmallVector<SmallVector<Value>, 4> lists;
  for (Value row : rows)
    lists.push_back({row});
  while (lists.size() > 1) {
    SmallVector<SmallVector<Value>, 4> joined;
    for (size_t i = 0; i < lists.size(); i += 2)
      joined.push_back(joinColumns(l, lists[i], lists[i + 1]));
    lists = std::move(joined);
  }
  return lists.front();
}

namespace {
/// One copy of elements to groups of `terms` neighbours of a column, 32 bits each.
struct GroupPacker {
  KernelLowering &l;
  Value tile, source;
  int64_t terms;
  Index groups, column;
  int64_t columns;
  Value destination;
  KernelLowering::Convert convert;
  Value smallestAt; ///< Where the smallest magnitude of each lane goes, of pairs; null: nobody asks.

  int64_t depth() const { return cast<RankedTensorType>(tile.getType()).getShape()[0]; }

  /// The bits of elements.
  Value bits(Value elements) {
    if (convert)
      elements = convert(elements);
    auto type = cast<VectorType>(elements.getType());
    VectorType integers = l.e.vector(l.b.getIntegerType(32 / terms), type.getNumElements());
    return type == integers ? elements : arith::BitcastOp::create(l.b, l.e.loc, integers, elements).getResult();
  }

  /// A whole register of a row.
  Value readRow(Index row, Index at, bool checked) {
    Value elements = l.evaluate(tile, Segment{{row, at}, 1, terms * l.lanes, checked});
    return elements ? bits(elements) : Value();
  }

  /// The groups of as many columns as a register holds elements. Fewer steps than widening each row.
  LogicalResult copyRegisters(Index group, int64_t at, bool checked, SmallVectorImpl<Value> &smallest) {
    SmallVector<Value, 4> rows;
    for (int64_t i = 0; i < terms; ++i) {
      Value row = readRow(l.e.add(l.e.mul(group, terms), i), l.e.add(column, at), checked);
      if (!row)
        return failure();
      if (!smallest.empty()) {
        Value magnitude = arith::AndIOp::create(l.b, l.e.loc, row, l.e.intConstant(row.getType(), 0x7fff));
        smallest[0] = arith::MinUIOp::create(l.b, l.e.loc, smallest[0], magnitude);
      }
      rows.push_back(row);
    }
    for (auto [i, value] : llvm::enumerate(interleaveRows(l, rows)))
      l.e.store(value,
                l.e.address(destination, l.e.add(l.e.mul(group, columns), at + static_cast<int64_t>(i) * l.lanes),
                            l.b.getI32Type()));
    return success();
  }

  /// A vector of the groups of `count` rows from `row` on.
  Value gather(Index row, Index at, int64_t count, bool checked) {
    Value result;
    VectorType wide = l.e.vector(l.b.getI32Type(), l.lanes);
    for (int64_t i = 0; i < count; ++i) {
      Segment segment{{l.e.add(row, i), at}, 1, l.lanes, checked};
      Value elements = l.evaluate(tile, segment);
      if (!elements)
        return {};
      Value part = arith::ExtUIOp::create(l.b, l.e.loc, wide, bits(elements));
      if (i > 0)
        part = arith::ShLIOp::create(l.b, l.e.loc, part, l.e.intConstant(wide, 32 / terms * i));
      result = result ? Value(arith::OrIOp::create(l.b, l.e.loc, result, part)) : part;
    }
    return result;
  }

  bool takesRegisters() const { return !source && columns % (terms * l.lanes) == 0 && plainLoad(l, tile); }
  /// The row of a last, incomplete group is not looked at.
  bool notesSmallest() const { return takesRegisters() && depth() % terms == 0; }

  LogicalResult copyRows(bool checked) {
    SmallVector<Value> smallest;
    if (smallestAt)
      smallest.push_back(l.e.intConstant(l.e.vector(l.b.getI16Type(), 2 * l.lanes), -1));
    auto copyGroup = [&](Index group, SmallVectorImpl<Value> &state) -> LogicalResult {
      for (int64_t at = 0; at < columns; at += terms * l.lanes)
        if (failed(copyRegisters(group, at, checked, state)))
          return failure();
      return success();
    };
    auto copy = [&](Index group, int64_t count) -> LogicalResult {
      for (int64_t at = 0; at < columns; at += l.lanes) {
        Value value = gather(l.e.mul(group, terms), l.e.add(column, at), count, checked);
        if (!value)
          return failure();
        l.e.store(value, l.e.address(destination, l.e.add(l.e.mul(group, columns), at), l.b.getI32Type()));
      }
      return success();
    };
    int64_t whole = depth() / terms;
    if (failed(l.loop(0, l.e.min(groups, whole), 1, smallest, [&](Index group, SmallVectorImpl<Value> &state) {
          return takesRegisters() ? copyGroup(group, state) : copy(group, terms);
        })))
      return failure();
    if (smallestAt)
      l.e.store(smallest[0], smallestAt);
    if (depth() % terms == 0)
      return success();
    return l.branch(l.e.less(whole, groups), [&] { return copy(whole, depth() % terms); }, nullptr);
  }

  /// Squares of groups: rows of the source are columns of the copy.
  LogicalResult copySquares(bool checked) {
    SmallVector<Value> nothing;
    VectorType wide = l.e.vector(l.b.getI32Type(), l.lanes);
    int64_t width = terms * l.lanes;
    Value none = l.e.intConstant(l.e.vector(l.b.getIntegerType(32 / terms), width), 0);
    return l.loop(0, groups, l.lanes, nothing, [&](Index group, auto &) {
      return l.loop(0, columns, l.lanes, nothing, [&](Index at, auto &) -> LogicalResult {
        SmallVector<Value> square;
        for (int64_t i = 0; i < l.lanes; ++i) {
          Index row = l.e.add(l.e.add(column, at), i), first = l.e.mul(group, terms);
          if (checked) // Rows beyond the tile repeat its last one; nobody reads what they give.
            row = l.e.min(row, cast<RankedTensorType>(tile.getType()).getShape()[1] - 1);
          Value elements = l.evaluate(source, Segment{{row, first}, 1, width, checked});
          if (!elements)
            return failure();
          elements = bits(elements);
          if (Value mask = checked ? l.e.laneMask(l.e.sub(depth(), first), width) : Value())
            elements = arith::SelectOp::create(l.b, l.e.loc, mask, elements, none);
          square.push_back(LLVM::BitcastOp::create(l.b, l.e.loc, wide, elements));
        }
        l.e.transposeSquare(square);
        for (int64_t i = 0; i < l.lanes; ++i) {
          Index offset = l.e.add(l.e.mul(l.e.add(group, i), columns), at);
          l.e.store(square[i], l.e.address(destination, offset, l.b.getI32Type()));
        }
        return success();
      });
    });
  }
};
} // namespace

LogicalResult KernelLowering::packGroups(Value tile, int64_t terms, Index groups, Index column, int64_t columns,
                                         Value destination, Value smallestAt, Convert convert) {
  GroupPacker packer{*this, tile, transposeSource(tile), terms, groups, column, columns, destination, convert, {}};
  if (packer.notesSmallest())
    packer.smallestAt = smallestAt;
  else if (smallestAt)
    e.store(e.intConstant(e.vector(b.getI16Type(), 2 * lanes), 0), smallestAt);
  auto copy = [&](bool checked) { return packer.source ? packer.copySquares(checked) : packer.copyRows(checked); };
  // Rows beyond the tile are not read where it lies by rows.
  Index rows = packer.source ? e.mul(groups, terms) : e.min(e.mul(groups, terms), packer.depth());
  Value inside = isInside(*this, tile, rows, column, columns, packer.source ? terms * lanes : lanes);
  return branch(inside, [&] { return copy(false); }, [&] { return copy(true); });
}
