// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Bank conflicts of shared memory.

#include "core/Wavefronts.h"

#include <algorithm>
#include <vector>

namespace tilejit::sim {

namespace {

/// Calls f(word) for each word of 4 bytes that a lane accesses.
template <class F> void forEachWord(const uint64_t *address, LaneMask lanes, uint32_t size, F f) {
  forEachLane(lanes, [&](unsigned l) {
    for (uint64_t word = address[l] >> 2; word <= (address[l] + size - 1) >> 2; ++word)
      f(word);
  });
}

constexpr unsigned mostBanks = 128;

/// Whether lanes that share a bank want the same word of it, which is one read.
bool sharesWordsOnly(const uint64_t *address, LaneMask lanes, uint32_t size, unsigned banks) {
  uint64_t wordOf[mostBanks], used[mostBanks / 64] = {};
  bool shares = true;
  forEachWord(address, lanes, size, [&](uint64_t word) {
    auto bank = static_cast<unsigned>(word % banks);
    shares &= !(used[bank / 64] >> bank % 64 & 1) || wordOf[bank] == word;
    used[bank / 64] |= uint64_t(1) << bank % 64;
    wordOf[bank] = word;
  });
  return shares;
}

/// Passes for one group of lanes: different words of a bank follow each other.
uint32_t countPasses(const uint64_t *address, LaneMask lanes, uint32_t size, unsigned banks) {
  if (sharesWordsOnly(address, lanes, size, banks))
    return 1;
  std::vector<uint64_t> words;
  forEachWord(address, lanes, size, [&](uint64_t word) { words.push_back(word); });
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  uint32_t perBank[mostBanks] = {}, most = 1;
  for (uint64_t word : words)
    most = std::max(most, ++perBank[word % banks]);
  return most;
}

/// For groups of `group` lanes in a warp of W, where each lane accesses one unit of banks: bit g where no unit is
/// accessed twice. Units: an integer with a bit for each.
template <class Units, unsigned W, unsigned group>
uint32_t groupsInOnePass(const uint64_t *address, LaneMask lanes, unsigned unitLog, unsigned units) {
  alignas(64) Units unit[W];
  for (unsigned l = 0; l < W; ++l)
    unit[l] = Units(1) << (static_cast<Units>(address[l] >> unitLog) & (units - 1));
  uint32_t result = 0;
  for (unsigned g = 0; g < W / group; ++g) {
    Units used = 0;
    LaneMask part = lanes >> (g * group) & lanesBelow(group);
    if (part == lanesBelow(group))
      for (unsigned l = g * group; l < (g + 1) * group; ++l)
        used |= unit[l];
    else
      forEachLane(part, [&](unsigned l) { used |= unit[g * group + l]; });
    result |= uint32_t(countLanes(used) == countLanes(part)) << g;
  }
  return result;
}

template <class Units, unsigned W>
uint32_t groupsInOnePass(const uint64_t *address, LaneMask lanes, unsigned group, unsigned unitLog, unsigned units) {
  switch (group) {
  case 8:
    return groupsInOnePass<Units, W, 8>(address, lanes, unitLog, units);
  case 16:
    return groupsInOnePass<Units, W, 16>(address, lanes, unitLog, units);
  case 32:
    return groupsInOnePass<Units, W, 32>(address, lanes, unitLog, units);
  default:
    return groupsInOnePass<Units, W, W>(address, lanes, unitLog, units);
  }
}

} // namespace

Wavefronts countWavefronts(const uint64_t *address, LaneMask lanes, uint32_t size, unsigned width, unsigned banks,
                           bool regular) {
  unsigned group = std::min((size <= 4 ? 32 : size <= 8 ? 16 : 8) * (banks / 32), width);
  uint32_t onePass = 0;
  if (regular) {
    unsigned unitLog = std::max(firstLane(size), 2u), units = banks * 4 >> unitLog;
    auto *count = units > 32    ? width == 64 ? &groupsInOnePass<uint64_t, 64> : &groupsInOnePass<uint64_t, 32>
                  : width == 64 ? &groupsInOnePass<uint32_t, 64>
                                : &groupsInOnePass<uint32_t, 32>;
    onePass = count(address, lanes, group, unitLog, units);
  }
  Wavefronts result;
  for (unsigned g = 0; g < width / group; ++g) {
    LaneMask part = lanes >> (g * group) & lanesBelow(group);
    if (!part)
      continue;
    ++result.ideal;
    result.actual += onePass >> g & 1 ? 1 : countPasses(address + g * group, part, size, banks);
  }
  return result;
}

} // namespace tilejit::sim
