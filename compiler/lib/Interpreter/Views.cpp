// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// tile: views, and loads and stores through them.

#include "Elementwise.h"
#include "Memory.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace tilejit::interpreter {

/// Fills the entries of a list that are dynamic with run-time values, in order.
static SmallVector<int64_t, 4> fillDynamic(ArrayRef<int64_t> entries, ArrayRef<int64_t> values) {
  SmallVector<int64_t, 4> filled(entries);
  for (int64_t &entry : filled)
    if (ShapedType::isDynamic(entry)) {
      entry = values.front();
      values = values.drop_front();
    }
  return filled;
}

/// The strides of a dense, row-major view.
static SmallVector<int64_t, 4> denseStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t, 4> strides(shape.size(), 1);
  for (size_t dim = shape.size(); dim-- > 1;)
    strides[dim - 1] = strides[dim] * shape[dim];
  return strides;
}

static Status runView(Instance &in, tile::ViewOp op) {
  tile::ViewType type = op.getType();
  View view{type.getElementType(),
            in.getTile(op.getBase()).cells.front(),
            fillDynamic(type.getShape(), in.getIntegers(op.getSizes())),
            {}};
  for (int64_t size : view.shape)
    if (size < 0)
      return failAt(op, "expected sizes of at least 0, got " + Twine(size));
  view.strides = type.getStrides().empty() ? denseStrides(view.shape)
                                           : fillDynamic(type.getStrides(), in.getIntegers(op.getStrides()));
  in.setView(op, std::move(view));
  return Status::ok();
}

static Status runSubview(Instance &in, tile::SubviewOp op) {
  const View &source = in.getView(op.getSource());
  SmallVector<int64_t> offsets = in.getIntegers(op.getOffsets());
  View view{source.element, source.base, fillDynamic(op.getType().getShape(), in.getIntegers(op.getSizes())),
            source.strides};
  int64_t distance = 0;
  for (size_t dim = 0; dim < offsets.size(); ++dim) {
    bool inside = view.shape[dim] >= 0 && offsets[dim] >= 0 && offsets[dim] <= source.shape[dim] - view.shape[dim];
    if (!inside && in.launch.options.checkBounds)
      return failAt(op, "expected a part of the source's " + Twine(source.shape[dim]) + " elements in dimension " +
                            Twine(dim) + ", got " + Twine(view.shape[dim]) + " from " + Twine(offsets[dim]));
    distance += offsets[dim] * source.strides[dim];
  }
  view.base = movePointer(source.base, distance * Format(source.element).getBytes());
  in.setView(op, std::move(view));
  return Status::ok();
}

/// The value of elements outside a view.
static Cell padCell(const Format &format, tile::Pad pad) {
  double infinity = std::numeric_limits<double>::infinity();
  switch (pad) {
  case tile::Pad::None:
  case tile::Pad::Zero:
    return format.isFloat() ? toCell(format.getZero()) : 0;
  case tile::Pad::One:
    return format.isFloat() ? toCell(1) : 1;
  case tile::Pad::Lowest:
    if (!format.isFloat())
      return format.getSignedMin();
    return toCell(format.getLowest());
  case tile::Pad::Highest:
    if (!format.isFloat())
      return format.getSignedMax();
    return toCell(format.hasInfinity() ? infinity : format.getLargest());
  case tile::Pad::NaN:
    return toCell(std::numeric_limits<double>::quiet_NaN());
  case tile::Pad::AllOnes:
    return format.wrap(~uint64_t(0));
  }
  llvm_unreachable("all paddings are listed");
}

namespace {
/// Walks over the elements of the tile at some coordinates of a view.
class TileWalk {
public:
  TileWalk(const View &view, ArrayRef<int64_t> coordinates, ArrayRef<int64_t> shape)
      : view(view), coordinates(coordinates), shape(shape), bytes(Format(view.element).getBytes()) {}

  /// Calls a function with the number of each element, and its pointer or nothing where it is outside the view.
  Status forEach(function_ref<Status(int64_t, std::optional<Cell>)> fn) const {
    Status status;
    int64_t number = 0;
    forEachIndex(shape, [&](ArrayRef<int64_t> index) {
      if (status)
        status = fn(number++, find(index));
    });
    return status;
  }

private:
  std::optional<Cell> find(ArrayRef<int64_t> index) const {
    int64_t distance = 0;
    for (size_t dim = 0; dim < index.size(); ++dim) {
      int64_t position = coordinates[dim] * shape[dim] + index[dim];
      if (position < 0 || position >= view.shape[dim])
        return std::nullopt;
      distance += position * view.strides[dim];
    }
    return movePointer(view.base, distance * bytes);
  }

  const View &view;
  ArrayRef<int64_t> coordinates, shape;
  int64_t bytes;
};
} // namespace

static Status runLoad(Instance &in, tile::LoadOp op) {
  const View &view = in.getView(op.getView());
  Format format(view.element);
  SmallVector<int64_t> coordinates = in.getIntegers(op.getCoordinates());
  ArrayRef<int64_t> shape = op.getType().getShape();
  Tile result{view.element, llvm::SmallVector<int64_t, 4>(shape), std::vector<Cell>(op.getType().getNumElements())};
  Cell padding = padCell(format, op.getPad());
  bool mustBeInside = op.getPad() == tile::Pad::None && in.launch.options.checkBounds;
  TILEJIT_RETURN_IF_ERROR(
      TileWalk(view, coordinates, shape).forEach([&](int64_t number, std::optional<Cell> pointer) -> Status {
        if (!pointer && mustBeInside)
          return failAt(op, "expected a tile inside the view, got element " + Twine(number) + " of the tile outside");
        if (!pointer) {
          result.cells[number] = padding;
          return Status::ok();
        }
        TILEJIT_ASSIGN_OR_RETURN(result.cells[number], in.loadCell(op, *pointer, format));
        return Status::ok();
      }));
  in.setTile(op, std::move(result));
  return Status::ok();
}

static Status runStore(Instance &in, tile::StoreOp op) {
  const View &view = in.getView(op.getView());
  const Tile &value = in.getTile(op.getValue());
  Format format(view.element);
  SmallVector<int64_t> coordinates = in.getIntegers(op.getCoordinates());
  return TileWalk(view, coordinates, op.getValue().getType().getShape())
      .forEach([&](int64_t number, std::optional<Cell> pointer) {
        return pointer ? in.storeCell(op, *pointer, format, value.cells[number]) : Status::ok();
      });
}

static Status runAtomic(Instance &in, tile::AtomicOp op) {
  const View &view = in.getView(op.getView());
  const Tile &value = in.getTile(op.getValue());
  Format format(view.element);
  SmallVector<int64_t> coordinates = in.getIntegers(op.getCoordinates());
  return TileWalk(view, coordinates, op.getValue().getType().getShape())
      .forEach([&](int64_t number, std::optional<Cell> pointer) {
        return pointer ? updateAtomically(in, op, op.getKind(), *pointer, format, value.cells[number]).status()
                       : Status::ok();
      });
}

void addViewHandlers(HandlerTable &table) {
  table.add<tile::ViewOp>(runView);
  table.add<tile::SubviewOp>(runSubview);
  table.add<tile::DimOp>([](Instance &in, tile::DimOp op) {
    in.setScalar(op, in.getView(op.getView()).shape[op.getDim()]);
    return Status::ok();
  });
  table.add<tile::StrideOp>([](Instance &in, tile::StrideOp op) {
    in.setScalar(op, in.getView(op.getView()).strides[op.getDim()]);
    return Status::ok();
  });
  table.add<tile::BaseOp>([](Instance &in, tile::BaseOp op) {
    in.setScalar(op, in.getView(op.getView()).base);
    return Status::ok();
  });
  table.add<tile::LoadOp>(runLoad);
  table.add<tile::StoreOp>(runStore);
  table.add<tile::AtomicOp>(runAtomic);
  table.add<tile::PrefetchOp>([](Instance &, tile::PrefetchOp) { return Status::ok(); });
}

} // namespace tilejit::interpreter
