// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Sizes of the data caches, from the kernel's description of core 0 or from CPUID. Core 0 and no other, so that every
// process finds the same on a machine with two kinds of cores.

#include "HostCpu.h"

#include "tilejit/Base/File.h"
#include "tilejit/Base/Text.h"

namespace tilejit::target {

namespace {

constexpr int maxIndices = 16;

std::string readTrimmed(System &system, const std::string &path) {
  auto text = readFile(system, path, 256);
  return text ? std::string(trimText(*text)) : std::string();
}

void keepLargest(CacheSizes &sizes, int64_t level, int64_t bytes) {
  if (level >= 1 && level <= 3 && bytes > sizes[level - 1])
    sizes[level - 1] = bytes;
}

} // namespace

CacheSizes cachesFromSysfs(System &system) {
  CacheSizes sizes{};
  for (int index = 0; index < maxIndices; ++index) {
    std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    std::string kind = readTrimmed(system, folder + "type");
    if (kind.empty())
      break;
    if (kind != "Data" && kind != "Unified")
      continue;
    auto level = parseInteger(readTrimmed(system, folder + "level"));
    auto bytes = parseSize(readTrimmed(system, folder + "size"));
    if (level && bytes)
      keepLargest(sizes, *level, *bytes);
  }
  return sizes;
}

CacheSizes cachesFromCpuid(const CpuidSource &cpuid, const X86Model &model) {
  CacheSizes sizes{};
  uint32_t leaf = model.vendor == X86Model::Vendor::Amd ? 0x8000001d : 4;
  if (cpuid.leaf(leaf & 0x80000000, 0).eax < leaf)
    return sizes;
  for (uint32_t index = 0; index < maxIndices; ++index) {
    CpuidLeaf entry = cpuid.leaf(leaf, index);
    uint32_t kind = entry.eax & 0x1f; // 1: data, 2: instructions, 3: both.
    if (kind == 0)
      break;
    if (kind == 2)
      continue;
    int64_t ways = (entry.ebx >> 22) + 1, partitions = (entry.ebx >> 12 & 0x3ff) + 1, line = (entry.ebx & 0xfff) + 1;
    keepLargest(sizes, entry.eax >> 5 & 7, ways * partitions * line * (int64_t{entry.ecx} + 1));
  }
  return sizes;
}

} // namespace tilejit::target
