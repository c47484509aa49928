// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Matrix products. A program instance makes one tile of the result: a loop over tiles of k that carries the
// accumulator, then the epilogue. Instances that run one after the other go down the rows, so that they share the right
// operand's panel; with `order`, down so many rows of tiles before they take the next column. With `split_k` several
// instances sum parts of k into the workspace, and a second phase adds these up in ascending order.

#include "Epilogue.h"
#include "Generators.h"
#include "PackedOperand.h"
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

bool MatmulShape::canSplitDepth() const {
  int varying = 0;
  for (int d = 0; d < space.rank(); ++d)
    varying += d != depth && !space.dims[d].size.isStatic();
  return varying <= 1;
}

namespace {
/// The kernels of one regime of a product.
class Product {
public:
  /// `packed`: how the right operand is read; null: as it lies.
  Product(KernelBuilder &b, const MatmulShape &shape, const MatmulRegime &regime, PackedOperand *packed)
      : b_(b), shape_(shape), regime_(regime), packed_(packed), attributes_(b.description().as<MatmulAttributes>()) {}

  /// Builds them; `when` are the conditions of the regime.
  void build(ArrayRef<KernelOptions::Condition> when);
  /// The same for a regime with a split of k, in two phases.
  void buildSplit(ArrayRef<KernelOptions::Condition> when);

private:
  const Operand &operand(int slot) const { return shape_.operand(slot); }
  GridDim rows() const { return {shape_.size(shape_.rows), regime_.bm}; }
  GridDim columns() const { return {shape_.size(shape_.columns), regime_.bn}; }
  GridDim depth() const { return {shape_.size(shape_.depth), regime_.bk}; }
  std::string name() const;
  SmallVector<GridDim> grid() const;
  KernelOptions options(ArrayRef<KernelOptions::Condition> when) const;

  void place(ArrayRef<Value> indices);
  void groupRows();
  Values loadOperands(Value k);
  Value multiply(ValueRange operands, Value accumulator);
  Value accumulate(Value first = {}, Value last = {});
  Value accumulateAhead(Value first, Value last, Value zero);
  AffineExpr workspaceBytes();
  Value partView(Value part);
  Value sumOfParts();
  void finish(Value product);

  KernelBuilder &b_;
  const MatmulShape &shape_;
  const MatmulRegime &regime_;
  PackedOperand *packed_;
  const MatmulAttributes &attributes_;
  SmallVector<Value> position_;
  Value row_, column_;
};
} // namespace

Values Product::loadOperands(Value k) {
  Value left =
      loadMatrix(b_, shape_, shape_.left, {shape_.rows, shape_.depth}, {row_, k}, {regime_.bm, regime_.bk}, position_);
  if (packed_)
    return {left, packed_->load(k, column_, regime_.bk, regime_.bn, position_)};
  return {left, loadMatrix(b_, shape_, shape_.right, {shape_.depth, shape_.columns}, {k, column_},
                           {regime_.bk, regime_.bn}, position_)};
}

Value Product::multiply(ValueRange operands, Value accumulator) {
  b_.setPlace("op");
  auto isUnsignedInteger = [&](int slot) { return isInteger(operand(slot).dtype) && isUnsigned(operand(slot).dtype); };
  auto precision = static_cast<tile::Precision>(attributes_.precision);
  return tile::DotOp::create(b_, accumulator.getType(), operands[0], operands[1], accumulator, precision,
                             isUnsignedInteger(shape_.left), isUnsignedInteger(shape_.right));
}

//===--- places -------------------------------------------------------------------------------------------------===//

void Product::place(ArrayRef<Value> indices) {
  int batch = shape_.batchRank();
  position_.assign(shape_.space.rank(), Value());
  for (int d = 0; d < batch; ++d)
    position_[d] = indices[d];
  column_ = indices[batch];
  row_ = indices[batch + 1];
  if (regime_.order > 0 && largest(b_.description(), rows().size) > regime_.order * regime_.bm)
    groupRows();
}

/// Renumbers tiles so that groups of `order` rows of them go through all columns, one column after the other.
void Product::groupRows() {
  Value rowCount = b_.countValue(rows()), order = b_.index(regime_.order);
  Value number = b_.add(b_.mul(column_, rowCount), row_), ofGroup = b_.mul(b_.countValue(columns()), order);
  Value first = b_.mul(arith::DivUIOp::create(b_, number, ofGroup), order);
  Value within = arith::RemUIOp::create(b_, number, ofGroup);
  Value height = arith::MinUIOp::create(b_, arith::SubIOp::create(b_, rowCount, first), order);
  row_ = b_.add(first, arith::RemUIOp::create(b_, within, height));
  column_ = arith::DivUIOp::create(b_, within, height);
}

//===--- sums ---------------------------------------------------------------------------------------------------===//

/// The sum over tiles of k, all or from `first` to before `last`.
Value Product::accumulate(Value first, Value last) {
  std::array<int64_t, 2> tile{regime_.bm, regime_.bn};
  Value zero = splat(b_, tile, attributes_.accumulate, 0);
  auto body = [&](Value k, ValueRange carried) { return Values{multiply(loadOperands(k), carried[0])}; };
  bool isShort = depth().size.isStatic() && depth().size.factor <= regime_.bk;
  if (regime_.stages > 1 && !isShort)
    return accumulateAhead(first ? first : b_.index(0), last ? last : b_.countValue(depth()), zero);
  return first ? b_.loop(first, last, zero, body)[0] : b_.loop(depth(), zero, body)[0];
}

/// The same with tiles loaded `stages` - 1 steps before they are used. The last steps load the last tile again.
Value Product::accumulateAhead(Value first, Value last, Value zero) {
  Value none = b_.index(0), one = b_.index(1);
  Value end = arith::MaxSIOp::create(b_, arith::SubIOp::create(b_, last, one), none);
  auto loadAt = [&](Value k) { return loadOperands(arith::MinSIOp::create(b_, k, end)); };
  Values carried{zero};
  for (int64_t step = 0; step + 1 < regime_.stages; ++step)
    carried.append(loadAt(b_.add(first, b_.index(step))));
  return b_.loop(first, last, carried, [&](Value k, ValueRange now) {
    Values next{multiply(now.slice(1, 2), now[0])};
    next.append(now.begin() + 3, now.end());
    next.append(loadAt(b_.add(k, b_.index(regime_.stages - 1))));
    return next;
  })[0];
}

AffineExpr Product::workspaceBytes() {
  AffineExpr bytes = b_.getAffineConstantExpr(regime_.splitK * storageBytes(attributes_.accumulate));
  for (int d = 0; d < shape_.space.rank(); ++d)
    if (d != shape_.depth)
      bytes = bytes * b_.sizeExpr(shape_.size(d));
  return bytes;
}

/// The sums of one part: rows by columns of this instance's place among the batches.
Value Product::partView(Value part) {
  Value matrix = part;
  for (int d = 0; d < shape_.batchRank(); ++d)
    matrix = b_.add(b_.mul(matrix, b_.sizeValue(shape_.size(d))), position_[d]);
  SmallVector<int64_t> shape;
  SmallVector<Value> sizes;
  Value elements = matrix;
  for (int d : {shape_.rows, shape_.columns}) {
    const Size &size = shape_.size(d);
    shape.push_back(size.isStatic() ? size.factor : ShapedType::kDynamic);
    if (!size.isStatic())
      sizes.push_back(b_.sizeValue(size));
    elements = b_.mul(elements, b_.sizeValue(size));
  }
  Value bytes = b_.mul(elements, b_.index(storageBytes(attributes_.accumulate)));
  Value base = tile::AddPtrOp::create(b_, b_.workspace(), bytes);
  auto type = tile::ViewType::get(shape, valueType(b_.getContext(), attributes_.accumulate));
  return tile::ViewOp::create(b_, type, base, sizes, ValueRange());
}

Value Product::sumOfParts() {
  std::array<int64_t, 2> tile{regime_.bm, regime_.bn};
  Value zero = splat(b_, tile, attributes_.accumulate, 0);
  return b_.loop(b_.index(0), b_.index(regime_.splitK), zero, [&](Value part, ValueRange carried) {
    Value sum = load(b_, partView(part), {row_, column_}, tile, attributes_.accumulate);
    if (isFloat(attributes_.accumulate))
      return Values{arith::AddFOp::create(b_, carried[0], sum)};
    return Values{arith::AddIOp::create(b_, carried[0], sum)};
  })[0];
}

void Product::finish(Value product) {
  std::array<int64_t, 2> tile{regime_.bm, regime_.bn};
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

//===--- kernels ------------------------------------------------------------------------------------------------===//

std::string Product::name() const {
  return "matmul_" + regime_.name + "_" + std::to_string(regime_.bm) + "x" + std::to_string(regime_.bn) + "x" +
         std::to_string(regime_.bk);
}

SmallVector<GridDim> Product::grid() const {
  SmallVector<GridDim> grid;
  for (int d = 0; d < shape_.batchRank(); ++d)
    grid.push_back({shape_.size(d), 1});
  grid.push_back(columns());
  grid.push_back(rows());
  return grid;
}

KernelOptions Product::options(ArrayRef<KernelOptions::Condition> when) const {
  KernelOptions options;
  options.when.assign(when.begin(), when.end());
  options.warps = regime_.warps;
  if (packed_) {
    options.phase = 1;
    options.workspace = b_.getAffineConstantExpr(packed_->bytes());
  }
  return options;
}

void Product::build(ArrayRef<KernelOptions::Condition> when) {
  b_.kernel(name(), grid(), options(when), [&](ArrayRef<Value> indices) {
    place(indices);
    finish(accumulate());
  });
}

void Product::buildSplit(ArrayRef<KernelOptions::Condition> when) {
  KernelOptions options = this->options(when);
  options.workspace = workspaceBytes();
  SmallVector<GridDim> partsGrid = grid();
  partsGrid.insert(partsGrid.begin(), {Size{regime_.splitK, -1}, 1});
  b_.kernel(name() + "_parts", partsGrid, options, [&](ArrayRef<Value> indices) {
    place(indices.drop_front());
    Value count = b_.countValue(depth()), split = b_.index(regime_.splitK);
    Value raised = arith::AddIOp::create(b_, count, b_.index(regime_.splitK - 1));
    Value length = arith::DivUIOp::create(b_, raised, split);
    Value first = arith::MinUIOp::create(b_, b_.mul(indices[0], length), count);
    Value last = arith::MinUIOp::create(b_, arith::AddIOp::create(b_, first, length), count);
    Value sum = accumulate(first, last);
    store(b_, sum, partView(indices[0]), {row_, column_}, attributes_.accumulate);
  });
  options.phase = 1;
  b_.kernel(name() + "_total", grid(), options, [&](ArrayRef<Value> indices) {
    place(indices);
    finish(sumOfParts());
  });
}

void buildMatmul(KernelBuilder &b, const Schedule &schedule) {
  MatmulShape shape = matmulShape(b.description());
  const Size &rows = shape.size(shape.rows);
  std::optional<PackedOperand> packed;
  if (std::optional<PackedForm> form = schedule.packedForm(shape))
    packed.emplace(b, shape, *form);
  bool isConstant = shape.operand(shape.right).constant;
  if (packed && isConstant)
    packed->buildKernel({});
  std::optional<int64_t> below; // Rows up to here are another regime's.
  for (const MatmulRegime &regime : schedule.matmul(shape)) {
    SmallVector<KernelOptions::Condition, 2> when;
    if (regime.maxRows)
      when.push_back({rows, true, *regime.maxRows});
    bool hasPhases = regime.splitK > 1 || (regime.isPacked && !isConstant);
    if (hasPhases && below) // Its second phase must not follow another regime's first.
      when.push_back({rows, false, *below + 1});
    if (regime.isPacked && !isConstant)
      packed->buildKernel(when);
    Product product(b, shape, regime, regime.isPacked ? &*packed : nullptr);
    if (regime.splitK > 1)
      product.buildSplit(when);
    else
      product.build(when);
    below = regime.maxRows;
  }
}

} // namespace tilejit::oplib
