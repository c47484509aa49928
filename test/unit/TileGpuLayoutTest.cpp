// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The algebra of layouts: laws on random maps, and every operation on tiles compared with coordinates.

#include "TileGpuRandom.h"

#include <catch2/catch.hpp>

#include <numeric>

namespace tilejit::tilegpu::test {

TEST_CASE("Flat numbers have the first input and the last output lowest", "[tilegpu]") {
  const LinearLayout layout({{"register", 1}, {"lane", 2}}, tileDims({4, 8}), {1, 2, 8});
  CHECK(layout.shape() == std::vector<int64_t>{4, 8});
  CHECK(layout.inShift("register") == 0);
  CHECK(layout.inShift("lane") == 1);
  CHECK(layout.outShift("dim0") == 3);
  CHECK(layout.outShift("dim1") == 0);
  CHECK(layout.inBits("warp") == 0);
  CHECK(layout.flatIn({{"lane", 3}, {"register", 1}}) == 7);
  CHECK(layout.apply(7) == 11);
  CHECK(layout.splitOut(11) == std::vector<uint64_t>{1, 3});
  CHECK(layout.joinOut({1, 3}) == 11);
  CHECK(layout.columns("lane") == gf2::Vectors{2, 8});
  CHECK(layout.describe() == "register: dim1=1\nlane: dim1=2 dim0=1\n");
  CHECK(LinearLayout::zero("lane", 1, tileDims({2})).describe() == "lane: 0\n");
}

TEST_CASE("What is no layout is told", "[tilegpu]") {
  CHECK(LinearLayout::check({{"lane", 1}}, tileDims({2}), {1}).empty());
  CHECK(LinearLayout::check({{"lane", 1}}, tileDims({2}), {}) ==
        "there are 0 columns, expected one for each of 1 input bits");
  CHECK(LinearLayout::check({{"lane", 1}}, tileDims({2}), {2}) == "column 2 is outside of a tile with 2 elements");
  CHECK(LinearLayout::check({{"lane", -1}}, {}, {}) == "dimension lane has -1 bits, expected 0 to 63");
  CHECK(LinearLayout::check({{"lane", 0}, {"lane", 0}}, {}, {}) == "dimension lane appears twice");
  CHECK(LinearLayout::check({{"lane", 40}, {"warp", 40}}, {}, gf2::Vectors(80)) ==
        "there are 80 bits, expected at most 63");
}

TEST_CASE("Pseudo-inverses and inverses undo maps", "[tilegpu]") {
  Random random(11);
  int inverses = 0;
  for (int i = 0; i < 1000; ++i) {
    const LinearLayout map =
        random.layout(random.below(4), random.below(4), random.below(3), random.shape(random.below(9)));
    const LinearLayout back = map.pseudoInverse();
    REQUIRE(map.then(back).then(map) == map);
    REQUIRE(map.isSurjective() == (map.image().size() == static_cast<size_t>(map.outBits())));
    REQUIRE(map.isInjective() == map.kernel().empty());
    if (const auto inverse = map.inverse()) {
      ++inverses;
      for (uint64_t place = 0; place < uint64_t(1) << map.inBits(); ++place)
        REQUIRE(inverse->apply(map.apply(place)) == place);
    } else {
      REQUIRE_FALSE((map.isInjective() && map.isSurjective()));
    }
  }
  CHECK(inverses > 10);
}

TEST_CASE("A pseudo-inverse prefers registers", "[tilegpu]") {
  const LinearLayout copies({{"register", 1}, {"lane", 2}}, tileDims({2}), {1, 1, 0});
  CHECK(copies.pseudoInverse().columns() == gf2::Vectors{1});
}

TEST_CASE("Composition applies one map after the other", "[tilegpu]") {
  Random random(12);
  for (int i = 0; i < 300; ++i) {
    const int middle = 1 + random.below(5);
    const LinearLayout first = random.layout(2, 2, 1, random.shape(middle));
    const LinearLayout second({{"offset", middle}}, tileDims({16}), random.vectors(middle, 4));
    const LinearLayout both = first.then(second);
    for (uint64_t place = 0; place < 32; ++place)
      REQUIRE(both.apply(place) == second.apply(first.apply(place)));
  }
}

TEST_CASE("A product repeats one layout in the pattern of another, and a quotient takes it back", "[tilegpu]") {
  Random random(13);
  const auto make = [&] {
    const int rows = random.below(3), columns = random.below(3);
    return random.layout(random.below(3), random.below(3), random.below(2),
                         {int64_t(1) << rows, int64_t(1) << columns});
  };
  for (int i = 0; i < 500; ++i) {
    const LinearLayout inner = make(), outer = make(), product = inner.product(outer);
    for (uint64_t place = 0; place < uint64_t(1) << product.inBits(); ++place) {
      uint64_t low = 0, high = 0;
      for (std::string_view dim : {kRegister, kLane, kWarp}) {
        const uint64_t value = place >> product.inShift(dim) & gf2::lowBits(product.inBits(dim));
        low |= (value & gf2::lowBits(inner.inBits(dim))) << inner.inShift(dim);
        high |= value >> inner.inBits(dim) << outer.inShift(dim);
      }
      const auto at = product.splitOut(product.apply(place)), in = inner.splitOut(inner.apply(low)),
                 out = outer.splitOut(outer.apply(high));
      for (size_t d = 0; d < 2; ++d)
        REQUIRE(at[d] == (out[d] << inner.outs()[d].bits | in[d]));
    }
    REQUIRE(product.quotient(inner) == outer);
  }
  const LinearLayout line = LinearLayout::identity("lane", "dim0", 3);
  CHECK(line.quotient(LinearLayout::identity("lane", "dim0", 1)) == LinearLayout::identity("lane", "dim0", 2));
  CHECK_FALSE(line.quotient(LinearLayout::zero("lane", 1, tileDims({1}))).has_value());
  CHECK_FALSE(line.quotient(LinearLayout::identity("warp", "dim0", 1)).has_value());
}

TEST_CASE("A product of layouts of other dimensions keeps the inner ones fast", "[tilegpu]") {
  const LinearLayout product =
      LinearLayout::identity("register", "dim1", 1).product(LinearLayout::identity("lane", "dim0", 2));
  CHECK(product == LinearLayout({{"register", 1}, {"lane", 2}}, tileDims({4, 2}), {1, 2, 4}));
}

TEST_CASE("Copies are seen and dropped", "[tilegpu]") {
  const LinearLayout layout({{"register", 3}, {"lane", 2}}, tileDims({8}), {1, 1, 2, 0, 4});
  CHECK(layout.broadcastBits("lane") == 1);
  CHECK(layout.broadcastBits("register") == 0);
  const LinearLayout dropped = layout.withoutBroadcast("register");
  CHECK(dropped == LinearLayout({{"register", 2}, {"lane", 2}}, tileDims({8}), {1, 2, 0, 4}));
  CHECK(layout.withoutBroadcast("warp") == layout);
  CHECK(dropped.withIns({"lane", "warp", "register"}) ==
        LinearLayout({{"lane", 2}, {"warp", 0}, {"register", 2}}, tileDims({8}), {0, 4, 1, 2}));
}

TEST_CASE("Slices, insertions, transposes and reshapes move coordinates", "[tilegpu]") {
  Random random(14);
  for (int i = 0; i < 300; ++i) {
    const LinearLayout map = random.layout(2, 3, 1, random.shape(6));
    const int rank = static_cast<int>(map.outs().size()), axis = random.below(rank);
    std::vector<int> order(static_cast<size_t>(rank));
    std::iota(order.begin(), order.end(), 0);
    random.shuffle(order.begin(), order.end());
    const LinearLayout sliced = map.sliced(axis), expanded = map.expanded(axis), transposed = map.transposed(order),
                       flat = map.reshaped({64}), again = flat.reshaped(map.shape());
    REQUIRE(again == map);
    for (uint64_t place = 0; place < 64; ++place) {
      std::vector<uint64_t> at = map.splitOut(map.apply(place)), without = at, with = at, turned;
      without.erase(without.begin() + axis);
      with.insert(with.begin() + axis, 0);
      for (int d : order)
        turned.push_back(at[static_cast<size_t>(d)]);
      REQUIRE(sliced.splitOut(sliced.apply(place)) == without);
      REQUIRE(expanded.splitOut(expanded.apply(place)) == with);
      REQUIRE(transposed.splitOut(transposed.apply(place)) == turned);
      REQUIRE(flat.apply(place) == map.apply(place));
    }
    for (const LinearLayout *tile : {&sliced, &expanded, &transposed, &flat})
      REQUIRE(tile->outs() == tileDims(tile->shape()));
  }
}

} // namespace tilejit::tilegpu::test
