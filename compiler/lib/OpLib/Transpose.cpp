// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Transpositions. Where the last dimension stays last, rows are copied; else an instance turns a block along the two
// dimensions that are last in x and in y.

#include "Generators.h"
#include "Values.h"

using namespace mlir;

namespace tilejit::oplib {

static Space transposeSpace(const Description &description) {
  Space space(description);
  for (const Dim &dim : description.outputs[0].shape)
    space.addDim(dim);
  space.addOperand(0, description.as<TransposeAttributes>().permutation);
  SmallVector<int> identity = llvm::to_vector(llvm::seq<int>(0, space.rank()));
  space.addOperand(1, identity);
  space.collapse();
  return space;
}

/// The dimension of the space that runs along the last dimension of x.
static int lastOfInput(const Space &space) {
  int last = 0;
  for (int d = 0; d < space.rank(); ++d)
    if (space.accesses[0].axes[d].dim > space.accesses[0].axes[last].dim)
      last = d;
  return last;
}

TransposeShape transposeShape(const Description &description) {
  Space space = transposeSpace(description);
  int outer = lastOfInput(space), inner = space.rank() - 1;
  bool copiesRows = outer == inner;
  return {std::move(space), copiesRows ? inner - 1 : outer, inner, copiesRows};
}

void buildTranspose(KernelBuilder &b, const Schedule &schedule) {
  const Description &description = b.description();
  const TransposeShape turned = transposeShape(description);
  const Space &space = turned.space;
  const int outer = turned.outer, inner = turned.inner;
  DType dtype = description.inputs[0].dtype;
  const Tiling tiling = schedule.transpose(turned);
  const TileSize tile = tiling.tile;
  KernelOptions options;
  options.warps = tiling.warps;
  SmallVector<GridDim> grid;
  for (int d = 0; d < space.rank(); ++d)
    grid.push_back({space.dims[d].size, d == inner ? tile.columns : d == outer ? tile.rows : 1});
  b.kernel("transpose", grid, options, [&](ArrayRef<Value> indices) {
    SmallVector<Value> position(indices);
    SmallVector<int> dims{inner};
    SmallVector<Value> coordinates{indices[inner]};
    SmallVector<int64_t> shape{tile.columns};
    if (outer >= 0) {
      dims.insert(dims.begin(), outer);
      coordinates.insert(coordinates.begin(), indices[outer]);
      shape.insert(shape.begin(), tile.rows);
    }
    // As bytes in memory: nothing is computed with the values, so bool needs no i1.
    DType raw = dtype == DType::Bool ? DType::U8 : dtype;
    b.setPlace("inputs/x");
    Value value;
    if (turned.copiesRows) {
      value = load(b, b.slice(space, 0, dims, position), coordinates, shape, raw);
    } else {
      SmallVector<int> turnedDims(llvm::reverse(dims));
      SmallVector<Value> turnedCoordinates(llvm::reverse(coordinates));
      SmallVector<int64_t> turnedShape(llvm::reverse(shape));
      value = load(b, b.slice(space, 0, turnedDims, position), turnedCoordinates, turnedShape, raw);
      b.setPlace("op");
      value = tile::TransposeOp::create(b, tileType(b, shape, raw), value, ArrayRef<int64_t>{1, 0});
    }
    b.setPlace("outputs/y");
    store(b, value, b.slice(space, 1, dims, position), coordinates, raw);
  });
}

} // namespace tilejit::oplib
