// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Layouts of whole tiles, compared with the coordinates that their definitions give.

#include "tilejit/Dialect/TileGPU/IR/Fragments.h"
#include "tilejit/Dialect/TileGPU/IR/LayoutBuilders.h"

#include <catch2/catch.hpp>

namespace tilejit::tilegpu::test {

TEST_CASE("Blocked layouts run over threads, warps and repeats in their order", "[tilegpu]") {
  // Threads have 2 x 4 elements, 4 x 8 of them make a warp, 2 x 1 warps the block of 16 x 32; the tile has two such
  // rows and two such columns.
  const LinearLayout layout = blockedLayout({{2, 4}, {4, 8}, {2, 1}, {1, 0}}, {32, 64});
  CHECK(layout.isInjective());
  CHECK(layout.isSurjective());
  for (uint64_t place = 0; place < 2048; ++place) {
    const uint64_t r = place % 32, lane = place / 32 % 32, warp = place / 1024;
    const uint64_t row = r / 4 % 2 + 2 * (lane / 8) + 8 * warp + 16 * (r / 16),
                   column = r % 4 + 4 * (lane % 8) + 32 * (r / 8 % 2);
    REQUIRE(layout.splitOut(layout.apply(place)) == std::vector<uint64_t>{row, column});
  }
  const LinearLayout columnsFirst = blockedLayout({{2, 1}, {8, 4}, {1, 4}, {0, 1}}, {16, 16});
  CHECK(columnsFirst.describe() == "register: dim0=1\nlane: dim0=2 dim0=4 dim0=8 dim1=1 dim1=2\nwarp: dim1=4 dim1=8\n");
}

TEST_CASE("Blocked layouts hold copies where there are more places than elements", "[tilegpu]") {
  const LinearLayout layout = blockedLayout({{4}, {32}, {4}, {0}}, {64});
  CHECK(layout.broadcastBits(kRegister) == 0);
  CHECK(layout.broadcastBits(kLane) == 0b10000);
  CHECK(layout.broadcastBits(kWarp) == 0b11);
  CHECK(layout.isSurjective());
}

TEST_CASE("Coalesced layouts give each thread 16 bytes and cover rows first", "[tilegpu]") {
  CHECK(coalescedLayout({128, 64}, {1, 0}, 16, 5, 2).describe() ==
        "register: dim1=1 dim1=2 dim1=4 dim0=16 dim0=32 dim0=64\nlane: dim1=8 dim1=16 dim1=32 dim0=1 dim0=2\n"
        "warp: dim0=4 dim0=8\n");
  CHECK(coalescedLayout({16, 64}, {0, 1}, 32, 5, 2).describe() ==
        "register: dim0=1 dim0=2 dim1=32\nlane: dim0=4 dim0=8 dim1=1 dim1=2 dim1=4\nwarp: dim1=8 dim1=16\n");
  // Few elements: one for each thread, then copies.
  CHECK(coalescedLayout({128}, {0}, 32, 5, 2).describe() ==
        "register:\nlane: dim0=1 dim0=2 dim0=4 dim0=8 dim0=16\nwarp: dim0=32 dim0=64\n");
  CHECK(coalescedLayout({1, 16}, {1, 0}, 8, 6, 1).describe() ==
        "register:\nlane: dim1=1 dim1=2 dim1=4 dim1=8 0 0\nwarp: 0\n");
}

TEST_CASE("Registers are vectors along a dimension as far as threads allow", "[tilegpu]") {
  using Vectors = std::vector<std::vector<unsigned>>;
  const auto layout = [](gf2::Vectors registers, gf2::Vectors lanes, const std::vector<int64_t> &shape) {
    return LinearLayout({{"register", static_cast<int>(registers.size())}, {"lane", static_cast<int>(lanes.size())}},
                        tileDims(shape), gf2::concat(registers, lanes));
  };
  CHECK(vectorsAlong(layout({1, 2, 8}, {4}, {2, 8}), 1, 4) == Vectors{{0, 1, 2, 3}, {4, 5, 6, 7}});
  CHECK(vectorsAlong(layout({1, 2, 8}, {4}, {2, 8}), 1, 1) == Vectors{{0, 1}, {2, 3}, {4, 5}, {6, 7}});
  CHECK(vectorsAlong(layout({1, 2, 8}, {4}, {2, 8}), 0, 4) == Vectors{{0, 4}, {1, 5}, {2, 6}, {3, 7}});
  CHECK(vectorsAlong(layout({2, 4}, {1}, {8}), 0, 4) == Vectors{{0}, {1}, {2}, {3}});
  CHECK(vectorsAlong(layout({3, 1}, {4}, {8}), 0, 4) == Vectors{{0, 2, 3, 1}});
  CHECK(vectorsAlong(layout({1, 2}, {5}, {8}), 0, 4) == Vectors{{0}, {1}, {2}, {3}});
  CHECK(vectorsAlong(layout({1, 1, 2}, {4}, {8}), 0, 4) == Vectors{{0, 1, 4, 5}});
  CHECK(vectorsAlong(layout({1, 9}, {2}, {2, 8}), 1, 4) == Vectors{{0, 1}, {3, 2}});
}

TEST_CASE("Fragments are repeated over warps, then registers", "[tilegpu]") {
  const MatrixInstruction *mma = findMatrixInstruction(MatrixFamily::Mma, {16, 8, 16}, 16);
  REQUIRE(mma);
  const LinearLayout a = repeatedLayout(mma->layout(MatrixOperand::A), {{0, 1}, {WarpBits::kCopies, 1}}, {64, 32});
  CHECK(a.describe() == "register: dim1=1 dim0=8 dim1=8 dim1=16 dim0=32\nlane: dim1=2 dim1=4 dim0=1 dim0=2 dim0=4\n"
                        "warp: dim0=16 0\n");
  const LinearLayout rowsFirst = repeatedLayout(mma->layout(MatrixOperand::Result), {}, {32, 16}, {0, 1});
  CHECK(rowsFirst.describe() ==
        "register: dim1=1 dim0=8 dim0=16 dim1=8\nlane: dim1=2 dim1=4 dim0=1 dim0=2 dim0=4\nwarp:\n");
  const MatrixInstruction *wgmma = findMatrixInstruction(MatrixFamily::Wgmma, {64, 8, 16}, 16);
  REQUIRE(wgmma);
  const LinearLayout result = repeatedLayout(wgmma->layout(MatrixOperand::Result), {}, {64, 32});
  CHECK(result.describe() == "register: dim1=1 dim0=8 dim1=8 dim1=16\nlane: dim1=2 dim1=4 dim0=1 dim0=2 dim0=4\n"
                             "warp: dim0=16 dim0=32\n");
}

TEST_CASE("Swizzled memory is what tensor copies write", "[tilegpu]") {
  for (int swizzle : {32, 64, 128})
    for (int bits : {8, 16, 32}) {
      CAPTURE(swizzle, bits);
      const int64_t rows = 64, columns = 256, box = swizzle * 8 / bits;
      const LinearLayout memory = swizzledMemory(rows, columns, bits, swizzle);
      const auto inverse = memory.inverse();
      REQUIRE(inverse);
      for (int64_t row = 0; row < rows; ++row)
        for (int64_t column = 0; column < columns; ++column) {
          int64_t bytes = ((column / box * rows + row) * box + column % box) * bits / 8;
          const int64_t mask = swizzle / 16 - 1;
          bytes ^= (bytes >> 7 & mask) << 4;
          const auto offset =
              inverse->apply(memory.joinOut({static_cast<uint64_t>(row), static_cast<uint64_t>(column)}));
          REQUIRE(static_cast<int64_t>(offset) * bits / 8 == bytes);
        }
    }
  CHECK(rowMajorMemory({2, 4}) == LinearLayout({{"offset", 3}}, tileDims({2, 4}), {1, 2, 4}));
}

} // namespace tilejit::tilegpu::test
