// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Packing an operand, and reading it. A matrix in memory is [panel][step][column of the panel][term of the step], the
// last only where steps have several terms.

#include "PackedOperand.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tilejit::oplib {

PackedOperand::PackedOperand(KernelBuilder &b, const MatmulShape &shape, PackedForm form)
    : b_(b), shape_(shape), form_(form) {
  panels_ = llvm::divideCeilSigned(shape.size(shape.columns).factor, form.columns);
  steps_ = llvm::alignTo(shape.size(shape.depth).factor, form.depthUnit()) / form.terms;
  const Operand &packed = operand();
  for (int d = 0; d + 2 < packed.rank(); ++d)
    matrices_ *= packed.shape[d].size;
  constexpr int64_t line = 64;
  int64_t elements = panels_ * steps_ * form.columns * form.terms;
  matrixBytes_ = llvm::alignTo(elements * storageBytes(packed.dtype), line);
}

/// Which of the operand's matrices, in row-major order, is the one at a position among the batches.
Value PackedOperand::matrix(ArrayRef<Value> position) {
  const Access &access = shape_.space.accesses[shape_.right];
  Value number = b_.index(0);
  for (int d = 0; d < shape_.batchRank(); ++d) {
    const AxisAccess &axis = access.axes[d];
    if (!axis.moves())
      continue;
    int64_t stride = axis.times;
    for (int inner = axis.dim + 1; inner + 2 < operand().rank(); ++inner)
      stride *= operand().shape[inner].size;
    number = b_.add(number, b_.mul(position[d], b_.index(stride)));
  }
  return number;
}

/// The matrix at a position as an array of these sizes.
Value PackedOperand::view(ArrayRef<Value> position, ArrayRef<int64_t> sizes) {
  Value base = b_.workspace();
  if (matrices_ > 1)
    base = tile::AddPtrOp::create(b_, base, b_.mul(matrix(position), b_.index(matrixBytes_)));
  auto type = tile::ViewType::get(sizes, storageType(b_.getContext(), operand().dtype));
  return tile::ViewOp::create(b_, type, base, ValueRange(), ValueRange());
}

static Value reshape(KernelBuilder &b, Value tile, ArrayRef<int64_t> shape) {
  auto type = RankedTensorType::get(shape, cast<RankedTensorType>(tile.getType()).getElementType());
  return tile::ReshapeOp::create(b, type, tile);
}

static Value transpose(KernelBuilder &b, Value tile, ArrayRef<int64_t> permutation) {
  ArrayRef<int64_t> from = shapeOf(tile);
  SmallVector<int64_t> shape = llvm::map_to_vector(permutation, [&](int64_t d) { return from[d]; });
  auto type = RankedTensorType::get(shape, cast<RankedTensorType>(tile.getType()).getElementType());
  return tile::TransposeOp::create(b, type, tile, permutation);
}

/// Packs the k-th piece of `depth` terms of a panel.
void PackedOperand::pack(Value panel, Value k, int64_t depth, ArrayRef<Value> position) {
  Value tile = loadMatrix(b_, shape_, shape_.right, {shape_.depth, shape_.columns}, {k, panel}, {depth, form_.columns},
                          position);
  int64_t steps = depth / form_.terms, width = form_.columns * form_.terms;
  if (hasTerms())
    tile = transpose(b_, reshape(b_, tile, {steps, form_.terms, form_.columns}), {0, 2, 1});
  store(b_, reshape(b_, tile, {1, steps, width}), view(position, {panels_, steps_, width}), {panel, k, b_.index(0)},
        operand().dtype);
}

void PackedOperand::buildKernel(ArrayRef<KernelOptions::Condition> when) {
  // Few rows at a time of many panels are long pieces of memory. One that lies the other way is read by panels, as
  // deep as they stay in the first-level caches.
  constexpr int64_t fewSteps = 4, manyPanels = 32, mostDepth = 512;
  bool isTurned = !shape_.columnsAreContiguous();
  int64_t depth = std::min(isTurned ? mostDepth : fewSteps * form_.terms, steps_ * form_.terms);
  int64_t together = isTurned ? 1 : std::min(manyPanels, panels_);
  int batch = shape_.batchRank();
  const Access &access = shape_.space.accesses[shape_.right];
  SmallVector<GridDim> grid;
  for (int d = 0; d < batch; ++d)
    grid.push_back({access.axes[d].moves() ? shape_.size(d) : Size{}, 1});
  grid.push_back({Size{panels_, -1}, together});
  grid.push_back({Size{steps_ * form_.terms, -1}, depth});
  KernelOptions options;
  options.workspace = b_.getAffineConstantExpr(bytes());
  options.packs = operand().constant ? access.operand : -1;
  options.when.assign(when.begin(), when.end());
  b_.kernel("matmul_pack_" + operand().name, grid, options, [&](ArrayRef<Value> indices) {
    Values position(shape_.space.rank());
    llvm::copy(indices.take_front(batch), position.begin());
    Value first = b_.mul(indices[batch], b_.index(together)), k = indices[batch + 1];
    Value end = arith::MinSIOp::create(b_, b_.add(first, b_.index(together)), b_.index(panels_));
    b_.loop(first, end, {}, [&](Value panel, ValueRange) {
      pack(panel, k, depth, position);
      return Values();
    });
  });
}

Value PackedOperand::load(Value k, Value column, int64_t bk, int64_t bn, ArrayRef<Value> position) {
  b_.setPlace("inputs/" + operand().name);
  SmallVector<int64_t> shape{bn / form_.columns, bk / form_.terms, form_.columns};
  SmallVector<int64_t> sizes{panels_, steps_, form_.columns};
  SmallVector<int64_t> permutation{1, 0, 2};
  Values place{column, k, b_.index(0)};
  if (hasTerms()) {
    shape.push_back(form_.terms);
    sizes.push_back(form_.terms);
    permutation = {1, 3, 0, 2};
    place.push_back(b_.index(0));
  }
  Value tile = oplib::load(b_, view(position, sizes), place, shape, operand().dtype);
  return reshape(b_, transpose(b_, tile, permutation), {bk, bn});
}

Value loadMatrix(KernelBuilder &b, const MatmulShape &shape, int slot, std::array<int, 2> dims,
                 std::array<Value, 2> coordinates, std::array<int64_t, 2> tile, ArrayRef<Value> position) {
  const Access &access = shape.space.accesses[slot];
  const Operand &operand = shape.operand(slot);
  b.setPlace("inputs/" + operand.name);
  bool turned = access.axes[dims[0]].dim > access.axes[dims[1]].dim && !shape.size(dims[0]).isOne();
  if (turned) {
    std::swap(dims[0], dims[1]);
    std::swap(coordinates[0], coordinates[1]);
    std::swap(tile[0], tile[1]);
  }
  Value value = load(b, b.slice(shape.space, slot, dims, position), coordinates, tile, operand.dtype);
  return turned ? transpose(b, value, {1, 0}) : value;
}

} // namespace tilejit::oplib
