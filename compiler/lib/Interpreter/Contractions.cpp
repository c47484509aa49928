// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// tile: matrix products, reductions and scans. A combining region is written for scalars; here it runs on slices of
// many elements at once where it has no control flow of its own.

#include "Instance.h"

#include "mlir/IR/TypeUtilities.h"
#include "tilejit/Dialect/Tile/IR/Tile.h"

#include <cmath>

using namespace mlir;

namespace tilejit::interpreter {

//===--- dot ----------------------------------------------------------------------------------------------------===//

/// An operand of a product as the numbers that are multiplied; with `split` also the rest after the first rounding.
struct Factor {
  std::vector<double> main, rest;
};

static Factor makeFactor(const Tile &tile, bool doublePrecision, tile::Precision precision) {
  Factor factor;
  factor.main.reserve(tile.cells.size());
  for (Cell cell : tile.cells)
    factor.main.push_back(toReal(cell));
  if (doublePrecision || precision == tile::Precision::Ieee)
    return factor;
  MLIRContext *context = tile.element.getContext();
  bool split = precision == tile::Precision::Bf16x3;
  Format format(split ? Type(BFloat16Type::get(context)) : Type(FloatTF32Type::get(context)));
  for (double &value : factor.main) {
    double rounded = format.round(value);
    if (split)
      factor.rest.push_back(std::isfinite(rounded) ? format.round(value - rounded) : 0);
    value = rounded;
  }
  return factor;
}

/// acc + a * b, with one rounding to the accumulator's format for each term.
static void addProduct(Instance &in, Tile &acc, ArrayRef<double> a, ArrayRef<double> b, int64_t depth) {
  Format format(acc.element);
  int64_t rows = acc.shape[0], columns = acc.shape[1];
  std::vector<double> sums(columns);
  for (int64_t m = 0; m < rows; ++m) {
    Cell *row = acc.cells.data() + m * columns;
    for (int64_t n = 0; n < columns; ++n)
      sums[n] = toReal(row[n]);
    for (int64_t k = 0; k < depth; ++k) {
      double factor = a[m * depth + k];
      const double *values = b.data() + k * columns;
      for (int64_t n = 0; n < columns; ++n)
        sums[n] = in.round(format, sums[n] + factor * values[n]);
    }
    for (int64_t n = 0; n < columns; ++n)
      row[n] = toCell(sums[n]);
  }
}

static Status runIntegerDot(Instance &in, tile::DotOp op) {
  const Tile &a = in.getTile(op.getA()), &b = in.getTile(op.getB());
  Tile acc = in.getTile(op.getAcc());
  Format byte(a.element), word(acc.element);
  int64_t depth = a.shape[1], columns = b.shape[1];
  for (int64_t m = 0; m < a.shape[0]; ++m)
    for (int64_t n = 0; n < columns; ++n) {
      uint64_t sum = acc.cells[m * columns + n];
      for (int64_t k = 0; k < depth; ++k) {
        Cell x = a.cells[m * depth + k], y = b.cells[k * columns + n];
        sum += uint64_t(op.getUnsignedA() ? int64_t(x) : byte.toSigned(x)) *
               uint64_t(op.getUnsignedB() ? int64_t(y) : byte.toSigned(y));
      }
      acc.cells[m * columns + n] = word.wrap(sum);
    }
  in.setTile(op, std::move(acc));
  return Status::ok();
}

static Status runDot(Instance &in, tile::DotOp op) {
  if (isa<IntegerType>(op.getType().getElementType()))
    return runIntegerDot(in, op);
  bool doublePrecision = in.launch.options.doublePrecision;
  int64_t depth = op.getA().getType().getDimSize(1);
  Factor a = makeFactor(in.getTile(op.getA()), doublePrecision, op.getPrecision());
  Factor b = makeFactor(in.getTile(op.getB()), doublePrecision, op.getPrecision());
  Tile acc = in.getTile(op.getAcc());
  if (!a.rest.empty()) {
    addProduct(in, acc, a.rest, b.main, depth);
    addProduct(in, acc, a.main, b.rest, depth);
  }
  addProduct(in, acc, a.main, b.main, depth);
  in.setTile(op, std::move(acc));
  return Status::ok();
}

//===--- reduce, scan -------------------------------------------------------------------------------------------===//

/// One slice of every operand: the elements at some positions along the axis, in row-major order of all dimensions.
using Slices = SmallVector<Tile>;

/// The elements from `begin` to `end` along an axis.
static Tile slice(const Tile &tile, int64_t axis, int64_t begin, int64_t end) {
  Tile part{tile.element, tile.shape, {}};
  part.shape[axis] = end - begin;
  int64_t inner = countElements(ArrayRef<int64_t>(tile.shape).drop_front(axis + 1));
  int64_t outer = countElements(ArrayRef<int64_t>(tile.shape).take_front(axis)), size = tile.shape[axis];
  part.cells.reserve(outer * (end - begin) * inner);
  for (int64_t i = 0; i < outer; ++i)
    part.cells.insert(part.cells.end(), tile.cells.begin() + (i * size + begin) * inner,
                      tile.cells.begin() + (i * size + end) * inner);
  return part;
}

/// Writes a slice back from `begin` on.
static void replace(Tile &tile, int64_t axis, int64_t begin, const Tile &part) {
  int64_t inner = countElements(ArrayRef<int64_t>(tile.shape).drop_front(axis + 1));
  int64_t outer = countElements(ArrayRef<int64_t>(tile.shape).take_front(axis));
  int64_t size = tile.shape[axis], count = part.shape[axis];
  for (int64_t i = 0; i < outer; ++i)
    std::copy(part.cells.begin() + i * count * inner, part.cells.begin() + (i + 1) * count * inner,
              tile.cells.begin() + (i * size + begin) * inner);
}

/// Runs a region on slices as they are.
static Status combineAtOnce(Instance &in, Block &block, const Slices &lhs, const Slices &rhs, Slices &results) {
  for (size_t i = 0; i < lhs.size(); ++i) {
    in.setTile(block.getArgument(i), lhs[i]);
    in.setTile(block.getArgument(lhs.size() + i), rhs[i]);
  }
  SmallVector<Datum> data;
  TILEJIT_RETURN_IF_ERROR(in.runBlock(block, data));
  results.clear();
  for (auto [datum, like] : llvm::zip(data, lhs)) {
    Tile result{like.element, like.shape, datum.tile->cells};
    if (result.cells.size() == 1) // A region that yields a constant.
      result.cells.resize(like.cells.size(), result.cells.front());
    results.push_back(std::move(result));
  }
  return Status::ok();
}

/// Runs a region on slices element by element: with control flow inside, elements may take different ways.
static Status combineOneByOne(Instance &in, Block &block, const Slices &lhs, const Slices &rhs, Slices &results) {
  Slices sums = lhs;
  auto scalar = [](const Tile &tile, size_t i) { return Tile{tile.element, {}, {tile.cells[i]}}; };
  for (size_t i = 0; i < lhs.front().cells.size(); ++i) {
    for (size_t operand = 0; operand < lhs.size(); ++operand) {
      in.setTile(block.getArgument(operand), scalar(lhs[operand], i));
      in.setTile(block.getArgument(lhs.size() + operand), scalar(rhs[operand], i));
    }
    SmallVector<Datum> data;
    TILEJIT_RETURN_IF_ERROR(in.runBlock(block, data));
    for (size_t operand = 0; operand < lhs.size(); ++operand)
      sums[operand].cells[i] = data[operand].tile->cells.front();
  }
  results = std::move(sums);
  return Status::ok();
}

static Status combine(Instance &in, Block &block, const Slices &lhs, const Slices &rhs, Slices &results) {
  bool hasRegions = llvm::any_of(block, [](Operation &op) { return op.getNumRegions() != 0; });
  return hasRegions ? combineOneByOne(in, block, lhs, rhs, results) : combineAtOnce(in, block, lhs, rhs, results);
}

/// The same part of every operand.
static Slices sliceAll(const Slices &tiles, int64_t axis, int64_t begin, int64_t end) {
  Slices parts;
  for (const Tile &tile : tiles)
    parts.push_back(slice(tile, axis, begin, end));
  return parts;
}

/// Combines halves until one element is left; the order of combination is free.
static Status runReduce(Instance &in, tile::ReduceOp op) {
  int64_t axis = op.getAxis();
  Block &block = op.getCombiner().front();
  Slices tiles;
  for (Value input : op.getInputs())
    tiles.push_back(in.getTile(input));
  for (int64_t size = tiles.front().shape[axis]; size > 1; size = tiles.front().shape[axis]) {
    int64_t half = size / 2;
    Slices sums;
    TILEJIT_RETURN_IF_ERROR(
        combine(in, block, sliceAll(tiles, axis, 0, half), sliceAll(tiles, axis, half, 2 * half), sums));
    Slices last = sliceAll(tiles, axis, 2 * half, size);
    for (auto [tile, sum, rest] : llvm::zip(tiles, sums, last)) {
      tile = {sum.element, sum.shape, {}};
      tile.shape[axis] = size - half;
      tile.cells.resize(countElements(tile.shape));
      replace(tile, axis, 0, sum);
      replace(tile, axis, half, rest);
    }
  }
  for (auto [result, tile] : llvm::zip(op.getResults(), tiles)) {
    tile.shape.erase(tile.shape.begin() + axis);
    in.setTile(result, std::move(tile));
  }
  return Status::ok();
}

static Status runScan(Instance &in, tile::ScanOp op) {
  int64_t axis = op.getAxis();
  Block &block = op.getCombiner().front();
  Slices tiles;
  for (Value input : op.getInputs())
    tiles.push_back(in.getTile(input));
  int64_t size = tiles.front().shape[axis];
  for (int64_t step = 1; step < size; ++step) {
    int64_t here = op.getReverse() ? size - 1 - step : step, before = op.getReverse() ? here + 1 : here - 1;
    Slices sums;
    TILEJIT_RETURN_IF_ERROR(
        combine(in, block, sliceAll(tiles, axis, before, before + 1), sliceAll(tiles, axis, here, here + 1), sums));
    for (auto [tile, sum] : llvm::zip(tiles, sums))
      replace(tile, axis, here, sum);
  }
  for (auto [result, tile] : llvm::zip(op.getResults(), tiles))
    in.setTile(result, std::move(tile));
  return Status::ok();
}

void addContractionHandlers(HandlerTable &table) {
  table.add<tile::DotOp>(runDot);
  table.add<tile::ReduceOp>(runReduce);
  table.add<tile::ScanOp>(runScan);
}

} // namespace tilejit::interpreter
