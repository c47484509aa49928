// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Elementwise expressions and casts. The space is that of the outputs, collapsed as far as all operands allow; an
// instance computes a tile along its last two dimensions.

#include "Expression.h"
#include "Generators.h"

using namespace mlir;

namespace tilejit::oplib {

Space elementwiseSpace(const Description &description) {
  Space space(description);
  for (const Dim &dim : description.outputs[0].shape)
    space.addDim(dim);
  for (size_t i = 0; i < description.inputs.size() + description.outputs.size(); ++i)
    space.addBroadcast(i);
  space.collapse();
  return space;
}

namespace {
/// The tile of one program instance.
class ElementwiseTile {
public:
  ElementwiseTile(KernelBuilder &b, const Space &space, TileSize tile, ArrayRef<Value> indices) : b_(b), space_(space) {
    int first = std::max(0, space.rank() - 2);
    for (int d = 0; d < space.rank(); ++d) {
      position_.push_back(d < first ? indices[d] : Value());
      if (d < first)
        continue;
      dims_.push_back(d);
      coordinates_.push_back(indices[d]);
      shape_.push_back(d + 1 == space.rank() ? tile.columns : tile.rows);
    }
  }

  ArrayRef<int64_t> shape() const { return shape_; }

  /// An operand's tile, of size 1 along dimensions it does not move along.
  Value loadInput(int slot) {
    const Access &access = space_.accesses[slot];
    SmallVector<Value> coordinates(coordinates_);
    SmallVector<int64_t> shape(shape_);
    for (auto [place, dim] : llvm::enumerate(dims_))
      if (!access.axes[dim].moves())
        coordinates[place] = b_.index(0), shape[place] = 1;
    return load(b_, b_.slice(space_, slot, dims_, position_), coordinates, shape, space_.operand(slot).dtype);
  }

  void storeOutput(int slot, Value value, DType from, bool saturate = false) {
    DType dtype = space_.operand(slot).dtype;
    Value view = b_.slice(space_, slot, dims_, position_);
    store(b_, convert(b_, value, from, dtype, saturate), view, coordinates_, dtype);
  }

private:
  KernelBuilder &b_;
  const Space &space_;
  SmallVector<int> dims_;
  SmallVector<Value> position_, coordinates_;
  SmallVector<int64_t> shape_;
};
} // namespace

static SmallVector<GridDim> elementwiseGrid(const Space &space, TileSize tile) {
  SmallVector<GridDim> grid;
  for (int d = 0; d < space.rank(); ++d) {
    int fromEnd = space.rank() - 1 - d;
    grid.push_back({space.dims[d].size, fromEnd == 0 ? tile.columns : fromEnd == 1 ? tile.rows : 1});
  }
  return grid;
}

void buildElementwise(KernelBuilder &b, const Schedule &schedule) {
  const Description &description = b.description();
  Space space = elementwiseSpace(description);
  auto [tile, warps] = schedule.elementwise(space);
  KernelOptions options;
  options.warps = warps;
  b.kernel("elementwise", elementwiseGrid(space, tile), options, [&, tile = tile](ArrayRef<Value> indices) {
    ElementwiseTile instance(b, space, tile, indices);
    SmallVector<Value> inputs(description.inputs.size());
    auto input = [&](int number) {
      b.setPlace("inputs/" + description.inputs[number].name);
      if (!inputs[number])
        inputs[number] = instance.loadInput(number);
      b.setPlace("attributes/expression");
      return inputs[number];
    };
    SmallVector<Value> results;
    const auto &expressions = description.as<ElementwiseAttributes>().expressions;
    for (auto [number, expression] : llvm::enumerate(expressions)) {
      b.setPlace("attributes/expression/" + description.outputs[number].name);
      results.push_back(buildExpression(b, expression, instance.shape(), input));
    }
    for (auto [number, value] : llvm::enumerate(results)) {
      b.setPlace("outputs/" + description.outputs[number].name);
      instance.storeOutput(description.inputs.size() + number, value, expressions[number].nodes.back().type);
    }
  });
}

void buildCast(KernelBuilder &b, const Schedule &schedule) {
  const Description &description = b.description();
  Space space = elementwiseSpace(description);
  auto [tile, warps] = schedule.elementwise(space);
  KernelOptions options;
  options.warps = warps;
  b.kernel("cast", elementwiseGrid(space, tile), options, [&, tile = tile](ArrayRef<Value> indices) {
    ElementwiseTile instance(b, space, tile, indices);
    b.setPlace("inputs/x");
    Value value = instance.loadInput(0);
    b.setPlace("outputs/y");
    instance.storeOutput(1, broadcastTo(b, value, instance.shape()), description.inputs[0].dtype,
                         description.as<CastAttributes>().saturate);
  });
}

} // namespace tilejit::oplib
