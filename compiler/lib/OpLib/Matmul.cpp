// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Matrix products. A program instance makes one tile of the result: a loop over tiles of k that carries the
// accumulator, then the epilogue. Instances that run one after the other go down the rows, so that they share the right
// operand's panel.

#include "Epilogue.h"
#include "Generators.h"
#include "Values.h"

using namespace mlir;

namespace tilejit::oplib {

/// The dimension of an operand along each dimension of the space: batch dimensions broadcast from the right.
static SmallVector<int> operandAlong(const Operand &operand, int batchRank, std::array<int, 3> matrix) {
  SmallVector<int> along(batchRank + 3, -1);
  int leading = operand.rank() - 2;
  for (int i = 1; i <= leading && i <= batchRank; ++i)
    along[batchRank - i] = leading - i;
  for (int i = 0; i < 3; ++i)
    along[batchRank + i] = matrix[i];
  return along;
}

/// The same for an epilogue operand, which broadcasts against the result and may have a rank below 2.
static SmallVector<int> epilogueAlong(const Operand &operand, int batchRank) {
  SmallVector<int> along(batchRank + 3, -1);
  for (int i = 1; i <= operand.rank(); ++i)
    along[batchRank + 2 - i] = operand.rank() - i;
  return along;
}

MatmulShape matmulShape(const Description &description) {
  const auto &attributes = description.as<MatmulAttributes>();
  const Operand &a = description.inputs[0], &b = description.inputs[1], &c = description.outputs[0];
  int batchRank = c.rank() - 2;
  MatmulShape shape{Space(description), 0, 0, 0, 0, 1};
  for (const Dim &dim : c.shape)
    shape.space.addDim(dim);
  shape.space.addDim(a.shape[a.rank() - (attributes.transposeA ? 2 : 1)]);

  auto pair = [](const Operand &operand, bool transposed) {
    int first = operand.rank() - 2, second = operand.rank() - 1;
    return transposed ? std::pair(second, first) : std::pair(first, second);
  };
  auto [aRows, aDepth] = pair(a, attributes.transposeA);
  auto [bDepth, bColumns] = pair(b, attributes.transposeB);
  shape.space.addOperand(0, operandAlong(a, batchRank, {aRows, -1, aDepth}));
  shape.space.addOperand(1, operandAlong(b, batchRank, {-1, bColumns, bDepth}));
  for (size_t i = 2; i < description.inputs.size(); ++i)
    shape.space.addOperand(i, epilogueAlong(description.inputs[i], batchRank));
  shape.space.addOperand(description.inputs.size(), operandAlong(c, batchRank, {c.rank() - 2, c.rank() - 1, -1}));

  int first = shape.space.collapseLeading(batchRank);
  shape.rows = first, shape.columns = first + 1, shape.depth = first + 2;
  if (shape.size(shape.columns).isOne() && !shape.size(shape.rows).isOne()) {
    std::swap(shape.rows, shape.columns);
    std::swap(shape.left, shape.right);
  }
  return shape;
}

bool MatmulShape::columnsAreContiguous() const {
  const Access &access = space.accesses[right];
  return access.axes[columns].dim >= access.axes[depth].dim;
}

namespace {
/// One kernel: a regime of a product.
class Product {
public:
  Product(KernelBuilder &b, const MatmulShape &shape, const MatmulRegime &regime)
      : b_(b), shape_(shape), regime_(regime), attributes_(b.description().as<MatmulAttributes>()) {}

  void build(ArrayRef<Value> indices);

private:
  const Operand &operand(int slot) const { return shape_.space.operand(shape_.space.accesses[slot].operand); }
  Value loadMatrix(int slot, std::array<int, 2> dims, std::array<Value, 2> coordinates, std::array<int64_t, 2> tile);
  Value multiply(Value k, Value accumulator);

  KernelBuilder &b_;
  const MatmulShape &shape_;
  const MatmulRegime &regime_;
  const MatmulAttributes &attributes_;
  SmallVector<Value> position_;
  Value row_, column_;
};

/// Loads a tile along two dimensions of the space, as it lies in memory, and turns it where they lie the other way.
Value Product::loadMatrix(int slot, std::array<int, 2> dims, std::array<Value, 2> coordinates,
                          std::array<int64_t, 2> tile) {
  b_.setPlace("inputs/" + operand(slot).name);
  const Access &access = shape_.space.accesses[slot];
  bool turned = access.axes[dims[0]].dim > access.axes[dims[1]].dim && !shape_.size(dims[0]).isOne();
  if (turned) {
    std::swap(dims[0], dims[1]);
    std::swap(coordinates[0], coordinates[1]);
    std::swap(tile[0], tile[1]);
  }
  Value view = b_.slice(shape_.space, slot, dims, position_);
  Value value = load(b_, view, coordinates, tile, operand(slot).dtype);
  if (!turned)
    return value;
  auto type = RankedTensorType::get({tile[1], tile[0]}, cast<RankedTensorType>(value.getType()).getElementType());
  return tile::TransposeOp::create(b_, type, value, ArrayRef<int64_t>{1, 0});
}

Value Product::multiply(Value k, Value accumulator) {
  Value left = loadMatrix(shape_.left, {shape_.rows, shape_.depth}, {row_, k}, {regime_.bm, regime_.bk});
  Value right = loadMatrix(shape_.right, {shape_.depth, shape_.columns}, {k, column_}, {regime_.bk, regime_.bn});
  b_.setPlace("op");
  auto isUnsignedInteger = [&](int slot) { return isInteger(operand(slot).dtype) && isUnsigned(operand(slot).dtype); };
  auto precision = static_cast<tile::Precision>(attributes_.precision);
  return tile::DotOp::create(b_, accumulator.getType(), left, right, accumulator, precision,
                             isUnsignedInteger(shape_.left), isUnsignedInteger(shape_.right));
}

void Product::build(ArrayRef<Value> indices) {
  int batch = shape_.batchRank();
  position_.assign(shape_.space.rank(), Value());
  for (int d = 0; d < batch; ++d)
    position_[d] = indices[d];
  column_ = indices[batch];
  row_ = indices[batch + 1];

  std::array<int64_t, 2> tile{regime_.bm, regime_.bn};
  Value zero = splat(b_, tile, attributes_.accumulate, 0);
  GridDim depth{shape_.size(shape_.depth), regime_.bk};
  Value product = b_.loop(depth, zero, [&](Value k, ValueRange carried) { return Values{multiply(k, carried[0])}; })[0];

  std::array<int, 2> dims{shape_.rows, shape_.columns};
  std::array<Value, 2> coordinates{row_, column_};
  TypedValue result =
      applyEpilogue(b_, {shape_.space, dims, position_, coordinates, tile}, {product, attributes_.accumulate});
  int slot = b_.description().inputs.size();
  b_.setPlace("outputs/" + operand(slot).name);
  DType dtype = operand(slot).dtype;
  Value view = b_.slice(shape_.space, slot, dims, position_);
  store(b_, convert(b_, result.value, result.dtype, dtype), view, coordinates, dtype);
}
} // namespace

void buildMatmul(KernelBuilder &b, const Schedule &schedule) {
  MatmulShape shape = matmulShape(b.description());
  const Size &rows = shape.size(shape.rows), &columns = shape.size(shape.columns);
  for (const MatmulRegime &regime : schedule.matmul(shape)) {
    SmallVector<GridDim> grid;
    for (int d = 0; d < shape.batchRank(); ++d)
      grid.push_back({shape.size(d), 1});
    grid.push_back({columns, regime.bn});
    grid.push_back({rows, regime.bm});
    KernelOptions options;
    options.warps = regime.warps;
    if (regime.maxRows)
      options.when.push_back({rows, true, *regime.maxRows});
    std::string name = "matmul_" + regime.name + "_" + std::to_string(regime.bm) + "x" + std::to_string(regime.bn) +
                       "x" + std::to_string(regime.bk);
    b.kernel(name, grid, options, [&](ArrayRef<Value> indices) { Product(b, shape, regime).build(indices); });
  }
}

} // namespace tilejit::oplib
