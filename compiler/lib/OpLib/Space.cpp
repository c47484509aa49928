// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Index spaces: strides of operands, dropping and merging of dimensions.

#include "Shapes.h"

#include <limits>
#include <numeric>

namespace tilejit::oplib {

int64_t saturatingProduct(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<int64_t>::max() : product;
}

std::optional<Size> Size::times(const Size &other) const {
  if (!isStatic() && !other.isStatic())
    return std::nullopt;
  return Size{factor * other.factor, isStatic() ? other.symbol : symbol};
}

int64_t largest(const Description &description, const Size &size) {
  return size.isStatic() ? size.factor : saturatingProduct(size.factor, description.dims[size.symbol].max);
}

int64_t smallest(const Description &description, const Size &size) {
  return size.isStatic() ? size.factor : saturatingProduct(size.factor, description.dims[size.symbol].min);
}

int64_t divisor(const Description &description, const Size &size) {
  return size.isStatic() ? size.factor : saturatingProduct(size.factor, description.dims[size.symbol].multipleOf);
}

const Operand &Space::operand(int index) const {
  int inputs = static_cast<int>(description_->inputs.size());
  return index < inputs ? description_->inputs[index] : description_->outputs[index - inputs];
}

/// Stride of a dimension of an operand; nothing where it is a product of several symbols or known at run time only.
static std::optional<Size> strideOf(const Operand &operand, int dim) {
  if (operand.strides) {
    const Stride &stride = (*operand.strides)[dim];
    switch (stride.kind) {
    case Stride::Kind::Constant:
      return Size{stride.value, -1};
    case Stride::Kind::Symbol:
      return Size{1, static_cast<int>(stride.value)};
    case Stride::Kind::Any:
      return std::nullopt;
    }
  }
  std::optional<Size> product = Size{};
  for (int i = operand.rank() - 1; i > dim && product; --i)
    product = product->times(Size::of(operand.shape[i]));
  return product;
}

int Space::addOperand(int index, std::span<const int> along) {
  const Operand &op = operand(index);
  Access access{index, {}};
  for (size_t d = 0; d < dims.size(); ++d) {
    int dim = along[d];
    bool repeats = dim >= 0 && Size::of(op.shape[dim]).isOne() && !dims[d].size.isOne();
    access.axes.push_back(dim < 0 || repeats ? AxisAccess{} : AxisAccess{dim, strideOf(op, dim)});
  }
  accesses.push_back(std::move(access));
  return static_cast<int>(accesses.size()) - 1;
}

int Space::addBroadcast(int index) {
  std::vector<int> along(dims.size(), -1);
  int operandRank = operand(index).rank();
  for (int i = 1; i <= operandRank; ++i)
    along[dims.size() - i] = operandRank - i;
  return addOperand(index, along);
}

void Space::drop(int dim) {
  dims.erase(dims.begin() + dim);
  for (Access &access : accesses)
    access.axes.erase(access.axes.begin() + dim);
}

/// Whether dimensions `dim` and `dim + 1` are one dimension for every operand.
bool Space::canMerge(int dim) const {
  const SpaceDim &outer = dims[dim], &inner = dims[dim + 1];
  if (outer.tag != inner.tag || !outer.size.times(inner.size))
    return false;
  for (const Access &access : accesses) {
    const AxisAccess &a = access.axes[dim], &b = access.axes[dim + 1];
    if (a.moves() != b.moves())
      return false;
    if (!a.moves())
      continue;
    std::optional<Size> expected = b.stride ? b.stride->times(inner.size) : std::nullopt;
    bool follows = expected && a.stride && *expected == *a.stride;
    bool dense = !operand(access.operand).strides && b.dim == a.dim + 1;
    if (!follows && !dense)
      return false;
  }
  return true;
}

bool Space::merge(int dim) {
  if (dims[dim + 1].size.isOne() || dims[dim].size.isOne()) {
    drop(dims[dim].size.isOne() ? dim : dim + 1);
    return true;
  }
  if (!canMerge(dim))
    return false;
  dims[dim + 1].size = *dims[dim].size.times(dims[dim + 1].size);
  drop(dim);
  return true;
}

void Space::split(int dim, int64_t inner) {
  SpaceDim outer = dims[dim];
  outer.size.factor /= inner;
  dims[dim].size.factor = inner;
  dims.insert(dims.begin() + dim, outer);
  for (Access &access : accesses) {
    AxisAccess axis = access.axes[dim];
    if (axis.stride)
      axis.stride = axis.stride->times({inner, -1});
    axis.times *= inner;
    access.axes.insert(access.axes.begin() + dim, axis);
  }
}

int Space::collapseLeading(int count) {
  for (int d = count - 1; d >= 0; --d)
    if (dims[d].size.isOne()) {
      drop(d);
      --count;
    }
  for (int d = count - 2; d >= 0; --d)
    count -= merge(d);
  return count;
}

void Space::collapse() {
  if (collapseLeading(rank()) > 0)
    return;
  dims.push_back({Size{}, 0});
  for (Access &access : accesses)
    access.axes.push_back({});
}

Space rowsSpace(const Description &description) {
  bool isNorm = description.family == Family::LayerNorm || description.family == Family::RmsNorm;
  return isNorm ? normSpace(description) : softmaxSpace(description);
}

bool sweepsRows(const Space &space) { return space.dims.back().tag == swept; }

int sweepAcross(const Space &space) {
  int wanted = sweepsRows(space) ? kept : swept;
  for (int d = space.rank() - 2; d >= 0; --d)
    if (space.dims[d].tag == wanted)
      return d;
  return -1;
}

int onlySwept(const Space &space) {
  int found = -1;
  for (int d = 0; d < space.rank(); ++d)
    if (space.dims[d].tag == swept) {
      if (found >= 0)
        return -1;
      found = d;
    }
  return found;
}

} // namespace tilejit::oplib
