// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Random vectors and layouts for the tests of the layout algebra; every test seeds its own generator.

#ifndef TILEJIT_TEST_UNIT_TILEGPURANDOM_H
#define TILEJIT_TEST_UNIT_TILEGPURANDOM_H

#include "tilejit/Dialect/TileGPU/IR/LinearLayout.h"

#include <algorithm>
#include <random>

namespace tilejit::tilegpu::test {

class Random {
public:
  explicit Random(uint64_t seed) : generator_(seed) {}

  /// From 0 to bound - 1.
  int below(int bound) { return static_cast<int>(generator_() % static_cast<uint64_t>(bound)); }
  uint64_t vector(int bits) { return generator_() & gf2::lowBits(bits); }
  gf2::Vectors vectors(int count, int bits) {
    gf2::Vectors result;
    for (int i = 0; i < count; ++i)
      result.push_back(below(6) ? vector(bits) : 0);
    return result;
  }
  template <typename T> void shuffle(T first, T last) { std::shuffle(first, last, generator_); }

  /// A tile of 1 to 3 dimensions with so many bits in all.
  std::vector<int64_t> shape(int bits) {
    std::vector<int64_t> sizes(static_cast<size_t>(1 + below(3)), 1);
    for (int i = 0; i < bits; ++i)
      sizes[static_cast<size_t>(below(static_cast<int>(sizes.size())))] *= 2;
    return sizes;
  }

  /// Any map from (register, lane, warp) to a tile.
  LinearLayout layout(int registers, int lanes, int warps, const std::vector<int64_t> &shape) {
    Dims outs = tileDims(shape);
    int bits = 0;
    for (const Dim &dim : outs)
      bits += dim.bits;
    return {{{"register", registers}, {"lane", lanes}, {"warp", warps}},
            std::move(outs),
            vectors(registers + lanes + warps, bits)};
  }

private:
  std::mt19937_64 generator_;
};

} // namespace tilejit::tilegpu::test

#endif // TILEJIT_TEST_UNIT_TILEGPURANDOM_H
