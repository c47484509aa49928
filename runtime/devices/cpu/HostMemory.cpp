// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Lines, and large pages.

#include "HostMemory.h"

#include <cstdlib>
#include <sys/mman.h>

namespace tilejit::cpu {

void *allocateHostMemory(int64_t &bytes) {
  // From a quarter of a page on: a core's second-level cache is hardly larger, and what lies anyhow in it gets lost.
  constexpr int64_t line = 64, largePage = int64_t{2} << 20, leastOfPage = largePage / 4;
  int64_t alignment = bytes >= leastOfPage ? largePage : line;
  bytes = (bytes + alignment - 1) / alignment * alignment;
  void *memory = std::aligned_alloc(static_cast<size_t>(alignment), static_cast<size_t>(bytes));
  if (memory && alignment == largePage)
    madvise(memory, static_cast<size_t>(bytes), MADV_HUGEPAGE); // Only a wish.
  return memory;
}

} // namespace tilejit::cpu
