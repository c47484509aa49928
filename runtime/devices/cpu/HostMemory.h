// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Memory of the host for scratch, workspaces and buffers.

#ifndef TILEJIT_DEVICES_CPU_HOSTMEMORY_H
#define TILEJIT_DEVICES_CPU_HOSTMEMORY_H

#include <cstdint>

namespace tilejit::cpu {

/// At least `bytes` of memory, uninitialised, for std::free(); `bytes` becomes what there is. Aligned to 64 bytes. What
/// is large gets pages of 2 MiB, where the system has some to give: fewer misses in the TLB, and neighbours that meet
/// in no set of the second-level cache. Null where memory ran out.
void *allocateHostMemory(int64_t &bytes);

} // namespace tilejit::cpu

#endif // TILEJIT_DEVICES_CPU_HOSTMEMORY_H
