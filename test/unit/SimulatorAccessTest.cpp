// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What accesses of the simulator are taken apart into: rows of lanes, passes through the banks of shared memory, and
// the list of a warp's reads. Each against the plain way to say the same.

#include "core/LaneRows.h"
#include "core/SharedReads.h"
#include "core/Wavefronts.h"

#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>
#include <vector>

namespace tilejit::sim::test {

namespace {

/// Addresses of the lanes: rows of random lengths, some of which go on from each other.
std::vector<uint64_t> someAddresses(std::mt19937 &random, unsigned width, uint32_t size) {
  std::vector<uint64_t> address(width);
  for (unsigned l = 0; l < width; ++l)
    address[l] = l && random() % 4 ? address[l - 1] + size : random() % 64 * size;
  return address;
}

LaneMask someLanes(std::mt19937 &random, unsigned width) {
  LaneMask all = lanesBelow(width), some = (LaneMask(random()) << 32 | random()) & all;
  return random() % 2 || !some ? all : some;
}

} // namespace

TEST_CASE("rows of an access hold each lane once, as long as they can be", "[simulator]") {
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    unsigned width = i % 2 ? 32 : 64;
    uint32_t size = 1u << random() % 5;
    std::vector<uint64_t> address = someAddresses(random, width, size);
    LaneMask lanes = someLanes(random, width), seen = 0;
    LaneRows rows(address.data(), lanes, size, width);
    unsigned count = 0;
    rows.forEach([&](const LaneRow &row) {
      ++count;
      REQUIRE(row.bytes == uint64_t(row.count) * size);
      for (unsigned l = row.lane; l < row.lane + row.count; ++l) {
        REQUIRE((lanes & ~seen & LaneMask(1) << l) != 0);
        REQUIRE(address[l] == row.address + uint64_t(l - row.lane) * size);
        seen |= LaneMask(1) << l;
      }
      unsigned end = row.lane + row.count;
      bool goesOn = end < width && (lanes >> end & 1) && address[end] == row.address + row.bytes;
      REQUIRE(!goesOn);
    });
    REQUIRE(seen == lanes);
    REQUIRE(rows.count() == count);
  }
}

TEST_CASE("passes through the banks are those of the busiest bank", "[simulator]") {
  std::mt19937 random(2);
  for (int i = 0; i < 2000; ++i) {
    unsigned width = random() % 2 ? 32 : 64, banks = random() % 2 ? 32 : 64;
    uint32_t size = 1u << random() % 5;
    bool isAligned = random() % 4 != 0;
    std::vector<uint64_t> address = someAddresses(random, width, size);
    for (uint64_t &a : address)
      a += isAligned ? 0 : random() % 3;
    bool regular = true;
    LaneMask lanes = someLanes(random, width);
    unsigned group = std::min((size <= 4 ? 32 : size <= 8 ? 16 : 8) * (banks / 32), width), passes = 0, ideal = 0;
    for (unsigned start = 0; start < width; start += group) {
      std::map<unsigned, std::set<uint64_t>> words;
      size_t most = 0;
      forEachLane(lanes >> start & lanesBelow(group), [&](unsigned l) {
        regular &= address[start + l] % size == 0;
        for (uint64_t b = 0; b < size; ++b) {
          uint64_t word = (address[start + l] + b) / 4;
          words[static_cast<unsigned>(word % banks)].insert(word);
        }
      });
      for (const auto &[bank, of] : words)
        most = std::max(most, of.size());
      passes += static_cast<unsigned>(most);
      ideal += most != 0;
    }
    Wavefronts got = countWavefronts(address.data(), lanes, size, width, banks, regular);
    REQUIRE(got.actual == passes);
    REQUIRE(got.ideal == ideal);
  }
}

TEST_CASE("the list of reads ends in the newest read of each granule", "[simulator]") {
  constexpr uint32_t granules = 64;
  std::mt19937 random(3);
  SharedReads reads(granules);
  std::map<uint32_t, std::pair<uint32_t, unsigned>> newest;
  for (uint32_t event = 1; event <= 500; ++event) {
    uint32_t more = random() % 3;
    LaneMask lanes = someLanes(random, 32);
    uint32_t *first = reads.append(event, lanes, more);
    forEachLane(lanes, [&](unsigned lane) {
      uint32_t granule = random() % (granules - more);
      *first++ = granule;
      for (uint32_t g = granule; g <= granule + more; ++g) {
        bool again = newest.count(g) && newest[g].first == event;
        newest[g] = {event, again ? unsigned(SharedReads::severalLanes) : lane};
      }
    });
    CHECK(reads.newest() == event);
    if (event % 97)
      continue;
    reads.settle();
    for (const auto &[g, read] : newest) {
      REQUIRE(reads.event(g) == read.first);
      REQUIRE(reads.lane(g) == read.second);
    }
  }
  CHECK(!reads.listEndsBefore(500));
  CHECK(reads.listEndsBefore(501));
  reads.dropList();
  CHECK(!reads.listEndsBefore(501));
}

} // namespace tilejit::sim::test
