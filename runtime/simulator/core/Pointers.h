// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// From pointers of an LLVM address space to the spaces of the simulator. The lanes of a generic pointer may point to
// different spaces; handlers see each space once.

#ifndef TILEJIT_SIMULATOR_CORE_POINTERS_H
#define TILEJIT_SIMULATOR_CORE_POINTERS_H

#include "core/GlobalMemory.h"
#include "core/Lanes.h"
#include "core/Warp.h"

namespace tilejit::sim {

/// LLVM's numbers, the same for NVPTX and AMDGPU where they mean memory.
enum AddressSpace : unsigned {
  genericSpace = 0,
  globalSpace = 1,
  sharedSpace = 3,
  constantSpace = 4,
  localSpace = 5,
  constant32Space = 6,    ///< AMD: 32-bit constant pointers.
  clusterSharedSpace = 7, ///< NVIDIA: shared memory of a cluster. AMD: fat buffer pointers, which are lowered before.
  parameterSpace = 101,   ///< NVIDIA.
};

/// Calls f(space, addresses within it, lanes) for each space that active lanes point to.
template <unsigned W, class F>
inline void forEachSpace(Warp &warp, const uint64_t *pointer, unsigned addressSpace, F f) {
  LaneMask lanes = warp.mask;
  if (!lanes)
    return;
  switch (addressSpace) {
  case sharedSpace:
  case clusterSharedSpace:
    return f(Space::Shared, pointer, lanes);
  case localSpace:
    return f(Space::Local, pointer, lanes);
  case globalSpace:
  case constantSpace:
  case constant32Space:
  case parameterSpace:
    return f(Space::Global, pointer, lanes);
  default:
    break;
  }
  LaneMask windows = lanesWhere<W>([&](unsigned l) { return pointer[l] >= sharedWindow; }) & lanes;
  if (!windows)
    return f(Space::Global, pointer, lanes);
  if (windows != lanes)
    f(Space::Global, pointer, lanes & ~windows);
  alignas(64) uint64_t address[W];
  for (Space space : {Space::Shared, Space::Local}) {
    LaneMask part = lanesWhere<W>([&](unsigned l) { return spaceOf(pointer[l]) == space; }) & windows;
    if (!part)
      continue;
    for (unsigned l = 0; l < W; ++l)
      address[l] = pointer[l] - windowOf(space);
    f(space, static_cast<const uint64_t *>(address), part);
    windows &= ~part;
  }
  // Past both windows: reported as out of bounds of global memory.
  if (windows)
    f(Space::Global, pointer, windows);
}

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_CORE_POINTERS_H
