// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Linear algebra over GF(2), compared with sets of vectors that are listed in full.

#include "TileGpuRandom.h"

#include <catch2/catch.hpp>

#include <set>

namespace tilejit::tilegpu::test {

namespace {

std::set<uint64_t> listed(const gf2::Vectors &vectors) {
  std::set<uint64_t> sums;
  for (uint64_t i = 0; i < uint64_t(1) << vectors.size(); ++i)
    sums.insert(gf2::combine(vectors, i));
  return sums;
}

} // namespace

TEST_CASE("A span contains and expresses exactly the sums of its vectors", "[tilegpu]") {
  Random random(1);
  for (int i = 0; i < 500; ++i) {
    const gf2::Vectors vectors = random.vectors(1 + random.below(6), 7);
    const std::set<uint64_t> sums = listed(vectors);
    const gf2::Span span(vectors);
    REQUIRE(size_t(1) << span.rank() == sums.size());
    for (uint64_t v = 0; v < 128; ++v) {
      REQUIRE(span.contains(v) == sums.contains(v));
      REQUIRE(span.express(v).has_value() == sums.contains(v));
      if (span.contains(v))
        REQUIRE(gf2::combine(vectors, *span.express(v)) == v);
    }
  }
}

TEST_CASE("A span prefers vectors added early and tells relations", "[tilegpu]") {
  gf2::Span span;
  CHECK(span.add(3));
  CHECK(span.add(5));
  CHECK_FALSE(span.add(6));
  CHECK(span.relation() == 0b111);
  CHECK(span.express(6) == 0b011u);
  CHECK_FALSE(span.express(1).has_value());
}

TEST_CASE("Kernels, bases and intersections are those of the listed sets", "[tilegpu]") {
  Random random(2);
  for (int i = 0; i < 500; ++i) {
    const gf2::Vectors x = random.vectors(1 + random.below(5), 7), y = random.vectors(1 + random.below(5), 7);
    const gf2::Vectors basis = gf2::independent(x), kernel = gf2::kernel(x);
    REQUIRE(listed(basis) == listed(x));
    REQUIRE(basis.size() + kernel.size() == x.size());
    REQUIRE(gf2::rank(kernel) == static_cast<int>(kernel.size()));
    for (uint64_t relation : kernel)
      REQUIRE(gf2::combine(x, relation) == 0);
    std::set<uint64_t> both;
    for (uint64_t v : listed(x))
      if (listed(y).contains(v))
        both.insert(v);
    REQUIRE(listed(gf2::intersection(x, y)) == both);
    REQUIRE(listed(gf2::concat(basis, gf2::extension(basis, y))) == listed(gf2::concat(x, y)));
  }
}

TEST_CASE("Two subspaces have a common complement", "[tilegpu]") {
  Random random(3);
  for (int i = 0; i < 2000; ++i) {
    const gf2::Vectors space = gf2::independent(random.vectors(8, 8));
    const int rank = static_cast<int>(space.size());
    if (rank == 0)
      continue;
    const auto inside = [&] {
      return gf2::independent(gf2::combineEach(space, random.vectors(random.below(rank + 1), rank)));
    };
    const gf2::Vectors x = inside(), y = inside();
    const int least = static_cast<int>(std::max(x.size(), y.size())), size = least + random.below(rank - least + 1);
    const gf2::Vectors apart = gf2::commonComplement(x, y, space, size);
    REQUIRE(static_cast<int>(apart.size()) == rank - size);
    REQUIRE(gf2::Span(space).containsAll(apart));
    REQUIRE(gf2::rank(gf2::concat(apart, x)) == static_cast<int>(apart.size() + x.size()));
    REQUIRE(gf2::rank(gf2::concat(apart, y)) == static_cast<int>(apart.size() + y.size()));
  }
}

} // namespace tilejit::tilegpu::test
