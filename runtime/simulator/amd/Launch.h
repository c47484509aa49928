// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Where things stand in what an AMD kernel is started with.

#ifndef TILEJIT_SIMULATOR_AMD_LAUNCH_H
#define TILEJIT_SIMULATOR_AMD_LAUNCH_H

#include <cstdint>

namespace tilejit::sim {

// Hidden arguments of code object version 5, from llvm.amdgcn.implicitarg.ptr on. Pointers that no simulated kernel has
// a use for (printf buffer, heap, multi-grid) are null.
inline constexpr uint64_t hiddenBlockCounts = 0, hiddenGroupSizes = 12, hiddenGridDimensions = 64,
                          hiddenDynamicLds = 120, hiddenPrivateBase = 192, hiddenSharedBase = 196, hiddenQueue = 200,
                          hiddenBytes = 256;
inline constexpr uint64_t dispatchBytes = 64;
// Of the queue only the windows of LDS and scratch memory are there.
inline constexpr uint64_t queueSharedBase = 0x40, queuePrivateBase = 0x44, queueBytes = 256;

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_AMD_LAUNCH_H
