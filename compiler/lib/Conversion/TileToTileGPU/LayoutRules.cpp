// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Layouts for memory accesses and products; layouts carried through shape operations by LinearLayout.

#include "LayoutRules.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace tilejit;
using namespace tilejit::gpu;
using namespace tilejit::tilegpu;

namespace {

/// Hands out the bits of a tile's coordinates, each once: the low ones of a dimension from below, the high ones from
/// above.
class BitDealer {
public:
  explicit BitDealer(ArrayRef<int64_t> shape) : shape_(paddedShape(shape)) {
    low_.assign(shape_.size(), 0);
    for (int64_t size : shape_)
      high_.push_back(llvm::Log2_64(uint64_t(size)));
  }

  int left(int dim) const { return high_[dim] - low_[dim]; }
  int total() const {
    int bits = 0;
    for (size_t dim = 0; dim < shape_.size(); ++dim)
      bits += left(int(dim));
    return bits;
  }
  /// Moves up to `count` of the lowest bits of a dimension to `place`; says how many.
  int takeLow(SmallVectorImpl<int64_t> &place, int dim, int count) {
    count = std::max(0, std::min(count, left(dim)));
    for (int i = 0; i < count; ++i)
      place.push_back(weight(dim) << low_[dim]++);
    return count;
  }
  /// The same with the highest bits; the lowest of them first in `place`.
  int takeHigh(SmallVectorImpl<int64_t> &place, int dim, int count) {
    count = std::max(0, std::min(count, left(dim)));
    for (int i = 0; i < count; ++i)
      place.push_back(weight(dim) << (high_[dim] - count + i));
    high_[dim] -= count;
    return count;
  }
  LayoutAttr finish(MLIRContext *context, ArrayRef<int> order, SmallVectorImpl<int64_t> &registers,
                    SmallVectorImpl<int64_t> &lanes, SmallVectorImpl<int64_t> &warps, BlockShape block) {
    for (int dim : order)
      takeLow(registers, dim, left(dim));
    lanes.resize(block.laneBits, 0);
    warps.resize(block.warpBits, 0);
    return LayoutAttr::get(context, shape_, registers, lanes, warps);
  }

private:
  /// What one step along a dimension adds to an element's number.
  int64_t weight(int dim) const {
    return std::accumulate(shape_.begin() + dim + 1, shape_.end(), int64_t{1}, std::multiplies<>());
  }

  SmallVector<int64_t> shape_;
  SmallVector<int> low_, high_;
};

} // namespace

LayoutAttr gpu::blockedLayout(MLIRContext *context, ArrayRef<int64_t> shape, ArrayRef<int> order, int vectorBits,
                              BlockShape block) {
  BitDealer bits(shape);
  SmallVector<int64_t> registers, lanes, warps;
  int perThread = std::max(0, bits.total() - block.laneBits - block.warpBits);
  if (!order.empty())
    bits.takeLow(registers, order.front(), std::min(vectorBits, perThread));
  for (int dim : order)
    bits.takeLow(lanes, dim, block.laneBits - int(lanes.size()));
  for (int dim : llvm::reverse(order))
    bits.takeHigh(warps, dim, block.warpBits - int(warps.size()));
  return bits.finish(context, order, registers, lanes, warps, block);
}

LayoutAttr gpu::rowLayout(MLIRContext *context, ArrayRef<int64_t> shape, int vectorBits, BlockShape block) {
  SmallVector<int> order(llvm::reverse(llvm::seq<int>(0, int(shape.size()))));
  return blockedLayout(context, shape, order, vectorBits, block);
}

LayoutAttr gpu::accumulatorLayout(MLIRContext *context, ArrayRef<int64_t> shape, BlockShape block) {
  constexpr int rows = 0, columns = 1, squareBits = 2, columnLanes = 3;
  BitDealer bits(shape);
  SmallVector<int64_t> registers, lanes, warps;
  int perThread = std::max(0, bits.total() - block.laneBits - block.warpBits);
  int taken = bits.takeLow(registers, columns, std::min(squareBits, perThread));
  bits.takeLow(registers, rows, std::min(squareBits, perThread - taken));
  bits.takeLow(lanes, columns, std::min(columnLanes, block.laneBits));
  bits.takeLow(lanes, rows, block.laneBits - int(lanes.size()));
  bits.takeLow(lanes, columns, block.laneBits - int(lanes.size()));
  while (int(warps.size()) < block.warpBits && bits.total() > 0)
    bits.takeHigh(warps, bits.left(rows) >= bits.left(columns) ? rows : columns, 1);
  return bits.finish(context, {columns, rows}, registers, lanes, warps, block);
}

LayoutAttr gpu::operandLayout(LayoutAttr accumulator, bool isLeft, int64_t depth) {
  int64_t k = int64_t(llvm::PowerOf2Ceil(uint64_t(depth))), columns = accumulator.getShape()[1];
  auto project = [&](int64_t element) { return isLeft ? element / columns * k : element % columns; };
  auto all = [&](ArrayRef<int64_t> numbers) { return llvm::map_to_vector(numbers, project); };
  SmallVector<int64_t> registers;
  for (int64_t step = 1; step < k; step *= 2)
    registers.push_back(isLeft ? step : step * columns);
  for (int64_t element : accumulator.getRegisters())
    if (int64_t number = project(element))
      registers.push_back(number);
  SmallVector<int64_t> shape(accumulator.getShape());
  shape[isLeft ? 1 : 0] = k;
  return LayoutAttr::get(accumulator.getContext(), shape, registers, all(accumulator.getLanes()),
                         all(accumulator.getWarps()));
}

//===--- shape operations ---------------------------------------------------------------------------------------===//

/// Registers that became copies are dropped.
static LayoutAttr fromLinear(MLIRContext *context, const LinearLayout &linear) {
  LinearLayout layout = linear.withoutBroadcast(kRegister);
  auto part = [&](std::string_view dim) {
    return llvm::map_to_vector(layout.columns(dim), [](uint64_t column) { return int64_t(column); });
  };
  std::vector<int64_t> shape = layout.shape();
  return LayoutAttr::get(context, shape, part(kRegister), part(kLane), part(kWarp));
}

LayoutAttr gpu::slicedLayout(LayoutAttr layout, int axis) {
  return fromLinear(layout.getContext(), layout.toLinear().sliced(axis));
}

LayoutAttr gpu::expandedLayout(LayoutAttr layout, int axis) {
  return fromLinear(layout.getContext(), layout.toLinear().expanded(axis));
}

LayoutAttr gpu::narrowedLayout(LayoutAttr layout, ArrayRef<int64_t> source) {
  LinearLayout linear = layout.toLinear();
  for (auto [axis, size] : llvm::enumerate(source))
    if (size == 1 && layout.getShape()[axis] != 1)
      linear = linear.sliced(int(axis)).expanded(int(axis));
  return fromLinear(layout.getContext(), linear);
}

LayoutAttr gpu::transposedLayout(LayoutAttr layout, ArrayRef<int64_t> order) {
  return fromLinear(layout.getContext(), layout.toLinear().transposed({order.begin(), order.end()}));
}

SmallVector<int64_t> gpu::inverseOrder(ArrayRef<int64_t> order) {
  SmallVector<int64_t> inverse(order.size());
  for (auto [position, dim] : llvm::enumerate(order))
    inverse[dim] = int64_t(position);
  return inverse;
}

LayoutAttr gpu::reshapedLayout(LayoutAttr layout, ArrayRef<int64_t> shape) {
  return fromLinear(layout.getContext(), layout.toLinear().reshaped({shape.begin(), shape.end()}));
}

LayoutAttr gpu::joinedLayout(LayoutAttr layout) {
  auto twice = [](ArrayRef<int64_t> numbers) { return llvm::map_to_vector(numbers, [](int64_t n) { return n * 2; }); };
  SmallVector<int64_t> shape(layout.getShape()), registers = {1};
  shape.push_back(2);
  registers.append(twice(layout.getRegisters()));
  return LayoutAttr::get(layout.getContext(), shape, registers, twice(layout.getLanes()), twice(layout.getWarps()));
}

LayoutAttr gpu::splitLayout(LayoutAttr layout) {
  if (layout.getRegisters().empty() || layout.getRegisters().front() != 1)
    return {};
  auto halves = [](ArrayRef<int64_t> numbers) { return llvm::map_to_vector(numbers, [](int64_t n) { return n / 2; }); };
  for (ArrayRef<int64_t> part : {layout.getRegisters().drop_front(), layout.getLanes(), layout.getWarps()})
    if (llvm::any_of(part, [](int64_t number) { return number & 1; }))
      return {};
  return LayoutAttr::get(layout.getContext(), layout.getShape().drop_back(), halves(layout.getRegisters().drop_front()),
                         halves(layout.getLanes()), halves(layout.getWarps()));
}

int64_t gpu::contiguousRun(LayoutAttr layout, int dim, int vectorBits) {
  int64_t weight = int64_t{1} << layout.shiftOf(dim);
  int64_t run = 1, most = layout.getShape()[dim];
  while (run < most && run >> vectorBits == 0 && llvm::is_contained(layout.getRegisters(), run * weight))
    run *= 2;
  while (run < most && llvm::is_contained(layout.getLanes(), run * weight))
    run *= 2;
  return run;
}
