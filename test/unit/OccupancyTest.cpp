// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Occupancy against numbers worked out by hand from the vendors' tables.

#include "tilejit/Target/Occupancy.h"

#include <catch2/catch.hpp>

using namespace tilejit;

namespace {

Occupancy of(const char *chip, const BlockNeeds &needs) { return occupancyOf(parseTarget(chip)->gpuFacts, needs); }

} // namespace

TEST_CASE("occupancy of NVIDIA chips") {
  // 65536 registers: 32 for each of 2048 threads.
  CHECK(of("sm_80", {256, 32, 0}).percent == 100);
  CHECK(of("sm_80", {256, 32, 0}).blocks == 8);
  // 40 registers: 65536 / (256 * 40) = 6.4.
  CHECK(of("sm_80", {256, 40, 0}).blocks == 6);
  CHECK(of("sm_80", {256, 40, 0}).percent == 75);
  CHECK(of("sm_80", {256, 40, 0}).limit == "registers");
  // 33 becomes 40.
  CHECK(of("sm_80", {256, 33, 0}).blocks == 6);
  // 48 KiB of 164.
  CHECK(of("sm_80", {128, 32, 48 << 10}).blocks == 3);
  CHECK(of("sm_80", {128, 32, 48 << 10}).limit == "shared memory");
  // 32 blocks of one warp.
  CHECK(of("sm_80", {32, 16, 0}).blocks == 32);
  CHECK(of("sm_80", {32, 16, 0}).percent == 50);
  CHECK(of("sm_80", {32, 16, 0}).limit == "blocks");
  CHECK(of("sm_75", {1024, 64, 0}).percent == 100);
}

TEST_CASE("occupancy of AMD chips") {
  // 512 registers of a SIMD for waves of 64 lanes.
  CHECK(of("gfx90a", {256, 64, 0}).percent == 100);
  CHECK(of("gfx90a", {256, 128, 0}).percent == 50);
  CHECK(of("gfx906", {256, 64, 0}).percent == 40);
  CHECK(of("gfx942", {256, 64, 64 << 10}).blocks == 1);
  // 96 registers: two waves on each of four SIMDs, not 10.
  CHECK(of("gfx906", {64, 96, 0}).blocks == 8);
}

TEST_CASE("a block that does not fit has no occupancy") {
  CHECK(of("sm_80", {128, 32, 200 << 10}).blocks == 0);
  CHECK(of("sm_80", {128, 300, 0}).blocks == 0);
  CHECK(of("sm_80", {2048, 16, 0}).blocks == 0);
  CHECK(of("sm_80", {2048, 16, 0}).percent == 0);
}
