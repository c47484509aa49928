// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Pictures of layouts.

#include "tilejit/Dialect/TileGPU/IR/LayoutBuilders.h"
#include "tilejit/Dialect/TileGPU/IR/LayoutPicture.h"

#include <catch2/catch.hpp>

#include <algorithm>

namespace tilejit::tilegpu::test {

TEST_CASE("A text picture shows the place of each element", "[tilegpu]") {
  const LinearLayout layout({{"register", 1}, {"lane", 2}, {"warp", 1}}, tileDims({4, 4}), {1, 2, 4, 8});
  CHECK(textPicture(layout) == "w0 l0 r0  w0 l0 r1  w0 l1 r0  w0 l1 r1\n"
                               "w0 l2 r0  w0 l2 r1  w0 l3 r0  w0 l3 r1\n"
                               "w1 l0 r0  w1 l0 r1  w1 l1 r0  w1 l1 r1\n"
                               "w1 l2 r0  w1 l2 r1  w1 l3 r0  w1 l3 r1\n");
}

TEST_CASE("A text picture marks copies, absent elements and what it cuts", "[tilegpu]") {
  const LinearLayout layout({{"register", 0}, {"lane", 2}}, tileDims({2, 2}), {1, 0});
  CHECK(textPicture(layout) == "l0 +1  l1 +1\n-      -\n");
  CHECK(textPicture(rowMajorMemory({2, 2, 4}), {3, 2}) == "o0  o1\no4  o5\no8  o9\nfirst 3 x 2 of 4 x 4 elements\n");
  CHECK(textPicture(rowMajorMemory({2})) == "o0  o1\n");
  CHECK(textPicture(LinearLayout()) == "0\n");
}

TEST_CASE("An SVG picture has a cell with a tooltip for each element", "[tilegpu]") {
  const LinearLayout layout({{"register", 1}, {"lane", 2}}, tileDims({2, 2}), {1, 2, 0});
  const std::string svg = svgPicture(layout, "a < b");
  CHECK(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  CHECK(svg.ends_with("</svg>\n"));
  CHECK(svg.find("a &lt; b</text>") != std::string::npos);
  CHECK(svg.find("<title>dim0=1 dim1=0: l1 r0, l3 r0</title>") != std::string::npos);
  size_t cells = 0;
  for (size_t at = svg.find("<rect"); at != std::string::npos; at = svg.find("<rect", at + 1))
    ++cells;
  CHECK(cells == 4);
}

} // namespace tilejit::tilegpu::test
