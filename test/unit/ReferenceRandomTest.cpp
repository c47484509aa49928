// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Random inputs: the published vectors of the generator, values pinned for all time, distributions and ranges.

#include "ReferenceCases.h"
#include "tilejit/Base/Float.h"
#include "tilejit/Reference/Random.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <set>

using namespace tilejit;
using namespace tilejit::test;

TEST_CASE("the generator gives its published vectors") {
  using Words = std::array<uint32_t, 4>;
  CHECK(philox({0, 0, 0, 0}, {0, 0}) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}) == Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("elements are what the header says, whatever their place") {
  HostTensor floats = *HostTensor::allocate(DType::F64, {10007}), integers = *HostTensor::allocate(DType::I32, {10007});
  uint64_t seed = 0x123456789abcdef0;
  fillRandom({RandomPlan::Kind::Normal, 0.5, 0, 0}, 3, seed, floats);
  fillRandom({RandomPlan::Kind::Uniform, 1, -7, 90}, 3, seed, integers);
  for (uint32_t i : {0u, 1u, 15u, 16u, 4095u, 4096u, 10006u}) {
    int64_t sum = -262140;
    for (uint32_t word : philox({i, 0, 3, 0}, {0x9abcdef0, 0x12345678}))
      sum += (word & 0xffff) + (word >> 16);
    CHECK(loadAsDouble(floats.element(i), DType::F64) ==
          static_cast<double>(sum) * (0.5 / std::sqrt(2.0 * 4294967295.0 / 3.0)));
    uint64_t word = philox({i / 4, 0, 3, 0}, {0x9abcdef0, 0x12345678})[i % 4];
    CHECK(loadAsInteger(integers.element(i), DType::I32) == -7 + static_cast<int64_t>(word * 98 >> 32));
  }
}

TEST_CASE("normal values have the moments of a normal distribution") {
  HostTensor tensor = *HostTensor::allocate(DType::F32, {1 << 18});
  fillRandom({RandomPlan::Kind::Normal, 3, 0, 0}, 0, 1, tensor);
  double n = static_cast<double>(tensor.elements()), sum = 0, squares = 0, fourths = 0;
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    double x = loadAsDouble(tensor.element(i), DType::F32) / 3;
    sum += x;
    squares += x * x;
    fourths += x * x * x * x;
  }
  CHECK(std::abs(sum / n) < 0.01);
  CHECK(std::abs(squares / n - 1) < 0.01);
  CHECK(std::abs(fourths / n - 2.85) < 0.1); // Eight uniform numbers: 3 - 1.2/8.
}

TEST_CASE("seeds and operands give different values, the same ones the same") {
  Description matmul = makeMatmul(DType::F32, {4, 8}, {8, 6});
  Binding none;
  HostTensor a = *randomInput(matmul, none, 0, 5), again = *randomInput(matmul, none, 0, 5);
  HostTensor other = *randomInput(matmul, none, 0, 6), b = *randomInput(matmul, none, 1, 5);
  CHECK(values(a) == values(again));
  CHECK(values(a) != values(other));
  CHECK(values(a)[0] != values(b)[0]);
}

TEST_CASE("ranges follow type and length") {
  Binding none;
  CHECK(randomPlan(makeMatmul(DType::F32, {4, 4096}, {4096, 6}), none, 0).scale == 0.125);
  RandomPlan bytes = randomPlan(makeMatmul(DType::I8, {4, 64}, {64, 6}), none, 0);
  CHECK((bytes.low == -128 && bytes.high == 127));
  RandomPlan longSum = randomPlan(makeMatmul(DType::I8, {4, 1 << 23}, {1 << 23, 6}), none, 0);
  CHECK((longSum.low == -15 && longSum.high == 15));
  CHECK(randomPlan(makeReduce(ReduceKind::Sum, DType::F16, {10, 400}, {1}), none, 0).scale == 0.05);
}

TEST_CASE("tables hold pages that there are, lengths what they hold") {
  HostTensor table = *HostTensor::allocate(DType::I32, {3, 100}), lengths = *HostTensor::allocate(DType::I32, {50});
  for (uint64_t seed = 0; seed < 20; ++seed) {
    fillRandom({RandomPlan::Kind::Pages, 1, 0, 299}, 3, seed, table);
    std::vector<double> pages = values(table);
    CHECK(std::set<double>(pages.begin(), pages.end()).size() == 300);
    CHECK((*std::min_element(pages.begin(), pages.end()) == 0 && *std::max_element(pages.begin(), pages.end()) == 299));
    fillRandom({RandomPlan::Kind::Lengths, 1, 0, 77}, 4, seed, lengths);
    CHECK(values(lengths)[0] == 77);
    for (double length : values(lengths))
      CHECK((length >= 0 && length <= 77));
  }
  fillRandom({RandomPlan::Kind::Starts, 1, 0, 77}, 5, 1, lengths);
  std::vector<double> starts = values(lengths);
  CHECK((starts.front() == 0 && starts.back() == 77 && std::is_sorted(starts.begin(), starts.end())));
  fillRandom({RandomPlan::Kind::Pages, 1, 0, -1}, 3, 1, table);
  CHECK(values(table) == std::vector<double>(300, 0.0));
}

TEST_CASE("every type can be filled, and stays in its range") {
  for (DType dtype : allDTypes()) {
    INFO(dtypeName(dtype));
    Description description = makeTranspose(dtype, {50, 60}, {1, 0});
    HostTensor tensor = *randomInput(description, {}, 0, 11);
    std::set<double> seen;
    for (double value : values(tensor)) {
      CHECK(std::isfinite(value));
      seen.insert(value);
    }
    CHECK(seen.size() >= (dtype == DType::Bool ? 2u : 7u));
  }
}

TEST_CASE("factors of long products keep the product near one") {
  Description description = makeReduce(ReduceKind::Prod, DType::F64, {10000}, {0});
  double product = 1;
  for (double value : values(*randomInput(description, {}, 0, 2)))
    product *= value;
  CHECK(std::abs(product) > 1e-3);
  CHECK(std::abs(product) < 1e3);
}
