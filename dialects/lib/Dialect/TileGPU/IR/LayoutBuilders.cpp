// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Layouts of whole tiles: see the header.

#include "tilejit/Dialect/TileGPU/IR/LayoutBuilders.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace tilejit::tilegpu {

namespace {

int logOf(int64_t value) {
  assert(value > 0 && std::has_single_bit(static_cast<uint64_t>(value)) && "expected a power of two");
  return std::countr_zero(static_cast<uint64_t>(value));
}

/// Hands out the bits of a tile's coordinates, from low to high in each dimension.
class Cover {
public:
  explicit Cover(const std::vector<int64_t> &shape) : tile_({}, tileDims(shape), {}), used_(shape.size()) {}

  const Dims &dims() const { return tile_.outs(); }
  int missing(int axis) const { return bits(axis) - used_[index(axis)]; }
  void skip(int axis, int bits) { used_[index(axis)] += bits; }
  /// Appends the next `bits` bits of a dimension; zero where it has no more.
  void take(int axis, int bits, gf2::Vectors &columns) {
    for (int i = 0; i < bits; ++i) {
      bool left = missing(axis) > 0;
      columns.push_back(left ? uint64_t(1) << (tile_.outShift(dims()[index(axis)].name) + used_[index(axis)]) : 0);
      used_[index(axis)] += left;
    }
  }

private:
  static size_t index(int axis) { return static_cast<size_t>(axis); }
  int bits(int axis) const { return dims()[index(axis)].bits; }

  LinearLayout tile_;
  std::vector<int> used_;
};

LinearLayout assembled(const gf2::Vectors &registers, const gf2::Vectors &lanes, const gf2::Vectors &warps,
                       const Dims &outs) {
  const auto bits = [](const gf2::Vectors &columns) { return static_cast<int>(columns.size()); };
  return {
      {{std::string(kRegister), bits(registers)}, {std::string(kLane), bits(lanes)}, {std::string(kWarp), bits(warps)}},
      outs,
      gf2::concat(gf2::concat(registers, lanes), warps)};
}

} // namespace

LinearLayout blockedLayout(const BlockedShape &blocked, const std::vector<int64_t> &shape) {
  assert(blocked.perThread.size() == shape.size() && blocked.threadsPerWarp.size() == shape.size() &&
         blocked.warps.size() == shape.size() && blocked.order.size() == shape.size());
  Cover cover(shape);
  gf2::Vectors registers, lanes, warps;
  const auto grid = [&](const std::vector<int64_t> &counts, gf2::Vectors &columns) {
    for (int axis : blocked.order)
      cover.take(axis, logOf(counts[static_cast<size_t>(axis)]), columns);
  };
  grid(blocked.perThread, registers);
  grid(blocked.threadsPerWarp, lanes);
  grid(blocked.warps, warps);
  for (int axis : blocked.order)
    cover.take(axis, cover.missing(axis), registers);
  return assembled(registers, lanes, warps, cover.dims());
}

LinearLayout coalescedLayout(const std::vector<int64_t> &shape, const std::vector<int> &order, int elementBits,
                             int laneBits, int warpBits) {
  int left = 0; // Bits of the tile that no thread has yet.
  for (int64_t size : shape)
    left += logOf(size);
  const std::vector<int64_t> ones(shape.size(), 1);
  BlockedShape blocked{ones, ones, ones, order};
  std::vector<int> missing;
  for (int64_t size : shape)
    missing.push_back(logOf(size));
  const auto fastest = static_cast<size_t>(order.front());
  const int vector = std::clamp(std::min(left - laneBits - warpBits, logOf(128 / elementBits)), 0, missing[fastest]);
  blocked.perThread[fastest] <<= vector;
  missing[fastest] -= vector;
  const auto spread = [&](std::vector<int64_t> &counts, int bits) {
    for (int axis : order) {
      const int taken = std::min(bits, missing[static_cast<size_t>(axis)]);
      counts[static_cast<size_t>(axis)] <<= taken;
      missing[static_cast<size_t>(axis)] -= taken;
      bits -= taken;
    }
    counts[fastest] <<= bits; // More threads than elements: copies.
  };
  spread(blocked.threadsPerWarp, laneBits);
  spread(blocked.warps, warpBits);
  return blockedLayout(blocked, shape);
}

std::vector<std::vector<unsigned>> vectorsAlong(const LinearLayout &layout, int axis, int maxLog) {
  const Dim &dim = layout.outs()[static_cast<size_t>(axis)];
  const int shift = layout.outShift(dim.name);
  const gf2::Vectors registers = layout.columns(kRegister);
  const gf2::Span held(registers);
  // Steps of the dimension that every thread has and that no thread begins at.
  uint64_t begins = 0;
  for (std::string_view in : {kLane, kWarp})
    for (uint64_t column : layout.columns(in))
      begins |= column >> shift & gf2::lowBits(dim.bits);
  gf2::Vectors vector;
  for (int i = 0; i < std::min(maxLog, dim.bits) && !(begins >> i & 1); ++i) {
    const auto found = held.express(uint64_t(1) << (shift + i));
    if (!found)
      break;
    vector.push_back(*found);
  }
  // The other registers, each moved within its vector to where that begins.
  const uint64_t inside = gf2::lowBits(static_cast<int>(vector.size()));
  gf2::Vectors distinct, rest;
  gf2::Span seen;
  for (size_t i = 0; i < registers.size(); ++i)
    if (seen.add(registers[i]))
      distinct.push_back(uint64_t(1) << i);
  for (uint64_t place : gf2::extension(vector, distinct))
    rest.push_back(place ^ gf2::combine(vector, gf2::combine(registers, place) >> shift & inside));
  std::vector<std::vector<unsigned>> vectors;
  for (uint64_t first = 0; first < uint64_t(1) << rest.size(); ++first) {
    vectors.emplace_back();
    for (uint64_t i = 0; i <= inside; ++i)
      vectors.back().push_back(static_cast<unsigned>(gf2::combine(rest, first) ^ gf2::combine(vector, i)));
  }
  return vectors;
}

LinearLayout repeatedLayout(const LinearLayout &fragment, const std::vector<WarpBits> &warps,
                            const std::vector<int64_t> &shape, std::vector<int> order) {
  assert(fragment.outs().size() == shape.size() && "a fragment has the rank of its tile");
  Cover cover(shape);
  const Dims &outs = cover.dims();
  const LinearLayout tile({}, outs, {});
  for (size_t d = 0; d < outs.size(); ++d) {
    assert(fragment.outs()[d].bits <= outs[d].bits && "a tile is at least as large as the fragment");
    cover.skip(static_cast<int>(d), fragment.outs()[d].bits);
  }
  const auto own = [&](std::string_view in) {
    gf2::Vectors columns = fragment.columns(in);
    for (uint64_t &column : columns)
      column = tile.joinOut(fragment.splitOut(column));
    return columns;
  };
  gf2::Vectors registers = own(kRegister), warpColumns = own(kWarp);
  for (const WarpBits &part : warps) {
    if (part.axis == WarpBits::kCopies)
      warpColumns.resize(warpColumns.size() + static_cast<size_t>(part.bits));
    else
      cover.take(part.axis, part.bits, warpColumns);
  }
  if (order.empty()) {
    order.resize(shape.size());
    std::iota(order.rbegin(), order.rend(), 0);
  }
  for (int axis : order)
    cover.take(axis, cover.missing(axis), registers);
  return assembled(registers, own(kLane), warpColumns, outs);
}

LinearLayout rowMajorMemory(const std::vector<int64_t> &shape) {
  Dims outs = tileDims(shape);
  int bits = std::accumulate(outs.begin(), outs.end(), 0, [](int sum, const Dim &dim) { return sum + dim.bits; });
  return {{{std::string(kOffset), bits}}, std::move(outs), gf2::units(0, bits)};
}

LinearLayout swizzledMemory(int64_t rows, int64_t columns, int elementBits, int swizzleBytes) {
  const int boxColumns = logOf(swizzleBytes * 8 / elementBits), all = logOf(columns), rowBits = logOf(rows);
  assert(all >= boxColumns && "the columns fill whole boxes");
  // Offsets run over a row of a box, its rows, then the boxes.
  gf2::Vectors plain = gf2::concat(gf2::units(0, boxColumns), gf2::units(all, rowBits));
  plain = gf2::concat(plain, gf2::units(boxColumns, all - boxColumns));
  const int chunk = logOf(16 * 8 / elementBits), line = logOf(128 * 8 / elementBits), mixed = logOf(swizzleBytes / 16);
  gf2::Vectors swizzled = plain;
  for (int i = 0; i < mixed && line + i < static_cast<int>(plain.size()); ++i)
    swizzled[static_cast<size_t>(line + i)] ^= plain[static_cast<size_t>(chunk + i)];
  return {{{std::string(kOffset), static_cast<int>(plain.size())}}, tileDims({rows, columns}), std::move(swizzled)};
}

} // namespace tilejit::tilegpu
