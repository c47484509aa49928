// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// tile: making and rearranging tiles. Each element of a result is a copy of one of an operand.

#include "Instance.h"

#include "mlir/IR/TypeUtilities.h"
#include "tilejit/Dialect/Tile/IR/Tile.h"

using namespace mlir;

namespace tilejit::interpreter {

/// A tile of a result's type whose elements are still to be set.
static Tile makeResult(Value result) {
  auto type = dyn_cast<RankedTensorType>(result.getType());
  if (!type)
    return {result.getType(), {}, std::vector<Cell>(1)};
  return {type.getElementType(), llvm::SmallVector<int64_t, 4>(type.getShape()),
          std::vector<Cell>(type.getNumElements())};
}

/// Sets a result whose element at an index is the source's at another one.
static void pick(Instance &in, Value result, Value source,
                 function_ref<void(ArrayRef<int64_t>, MutableArrayRef<int64_t>)> map) {
  const Tile &from = in.getTile(source);
  Tile to = makeResult(result);
  SmallVector<int64_t, 4> position(from.shape.size());
  int64_t number = 0;
  forEachIndex(to.shape, [&](ArrayRef<int64_t> index) {
    map(index, position);
    to.cells[number++] = from.cells[linearIndex(from.shape, position)];
  });
  in.setTile(result, std::move(to));
}

static Status runIota(Instance &in, tile::IotaOp op) {
  Tile result = makeResult(op);
  Format format(result.element);
  for (size_t i = 0; i < result.cells.size(); ++i)
    result.cells[i] = format.wrap(i);
  in.setTile(op, std::move(result));
  return Status::ok();
}

static Status runBroadcast(Instance &in, tile::BroadcastOp op) {
  const Tile &source = in.getTile(op.getSource());
  pick(in, op, op.getSource(), [&](ArrayRef<int64_t> index, MutableArrayRef<int64_t> position) {
    for (size_t dim = 0; dim < index.size(); ++dim)
      position[dim] = source.shape[dim] == 1 ? 0 : index[dim];
  });
  return Status::ok();
}

/// Shared by expand and reshape: the elements keep their order.
template <typename OpTy> static Status runReshape(Instance &in, OpTy op) {
  Tile result = makeResult(op.getResult());
  result.cells = in.getTile(op.getSource()).cells;
  in.setTile(op.getResult(), std::move(result));
  return Status::ok();
}

static Status runTranspose(Instance &in, tile::TransposeOp op) {
  pick(in, op, op.getSource(), [&](ArrayRef<int64_t> index, MutableArrayRef<int64_t> position) {
    for (auto [dim, from] : llvm::enumerate(op.getPermutation()))
      position[from] = index[dim];
  });
  return Status::ok();
}

static Status runCat(Instance &in, tile::CatOp op) {
  Tile result = makeResult(op);
  int64_t axis = op.getAxis(), start = 0;
  for (Value value : op.getSources()) {
    const Tile &source = in.getTile(value);
    int64_t number = 0;
    forEachIndex(source.shape, [&](ArrayRef<int64_t> index) {
      SmallVector<int64_t, 4> position(index);
      position[axis] += start;
      result.cells[linearIndex(result.shape, position)] = source.cells[number++];
    });
    start += source.shape[axis];
  }
  in.setTile(op, std::move(result));
  return Status::ok();
}

static Status runJoin(Instance &in, tile::JoinOp op) {
  Tile result = makeResult(op);
  const Tile &lhs = in.getTile(op.getLhs()), &rhs = in.getTile(op.getRhs());
  for (size_t i = 0; i < lhs.cells.size(); ++i) {
    result.cells[2 * i] = lhs.cells[i];
    result.cells[2 * i + 1] = rhs.cells[i];
  }
  in.setTile(op, std::move(result));
  return Status::ok();
}

static Status runSplit(Instance &in, tile::SplitOp op) {
  const Tile &source = in.getTile(op.getSource());
  Tile lhs = makeResult(op.getLhs()), rhs = makeResult(op.getRhs());
  for (size_t i = 0; i < lhs.cells.size(); ++i) {
    lhs.cells[i] = source.cells[2 * i];
    rhs.cells[i] = source.cells[2 * i + 1];
  }
  in.setTile(op.getLhs(), std::move(lhs));
  in.setTile(op.getRhs(), std::move(rhs));
  return Status::ok();
}

static Status runExtract(Instance &in, tile::ExtractOp op) {
  const Tile &source = in.getTile(op.getSource());
  SmallVector<int64_t> coordinates = in.getIntegers(op.getCoordinates());
  auto type = dyn_cast<RankedTensorType>(op.getType());
  SmallVector<int64_t> part(source.shape.size(), 1);
  if (type)
    part.assign(type.getShape().begin(), type.getShape().end());
  for (size_t dim = 0; dim < part.size(); ++dim)
    if (int64_t count = source.shape[dim] / part[dim]; coordinates[dim] < 0 || coordinates[dim] >= count)
      return failAt(op, "expected a coordinate below " + Twine(count) + " in dimension " + Twine(dim) + ", got " +
                            Twine(coordinates[dim]));
  pick(in, op, op.getSource(), [&](ArrayRef<int64_t> index, MutableArrayRef<int64_t> position) {
    for (size_t dim = 0; dim < position.size(); ++dim)
      position[dim] = coordinates[dim] * part[dim] + (type ? index[dim] : 0);
  });
  return Status::ok();
}

static Status runGatherInTile(Instance &in, tile::GatherInTileOp op) {
  const Tile &source = in.getTile(op.getSource()), &indices = in.getTile(op.getIndices());
  uint64_t limit = source.shape[op.getAxis()];
  for (Cell index : indices.cells)
    if (index >= limit)
      return failAt(op, "expected indices below " + Twine(limit) + ", got " + Twine(index));
  size_t number = 0;
  pick(in, op, op.getSource(), [&](ArrayRef<int64_t> index, MutableArrayRef<int64_t> position) {
    llvm::copy(index, position.begin());
    position[op.getAxis()] = indices.cells[number++];
  });
  return Status::ok();
}

void addShapeHandlers(HandlerTable &table) {
  table.add<tile::SplatOp>([](Instance &in, tile::SplatOp op) {
    Tile result = makeResult(op);
    llvm::fill(result.cells, in.getTile(op.getValue()).cells.front());
    in.setTile(op, std::move(result));
    return Status::ok();
  });
  table.add<tile::IotaOp>(runIota);
  table.add<tile::BroadcastOp>(runBroadcast);
  table.add<tile::ExpandOp>(runReshape<tile::ExpandOp>);
  table.add<tile::ReshapeOp>(runReshape<tile::ReshapeOp>);
  table.add<tile::TransposeOp>(runTranspose);
  table.add<tile::CatOp>(runCat);
  table.add<tile::JoinOp>(runJoin);
  table.add<tile::SplitOp>(runSplit);
  table.add<tile::ExtractOp>(runExtract);
  table.add<tile::GatherInTileOp>(runGatherInTile);
}

} // namespace tilejit::interpreter
