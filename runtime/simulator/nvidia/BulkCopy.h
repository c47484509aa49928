// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Bulk copies of sm_90 (cp.async.bulk), through the asynchronous proxy. Loads signal the bytes to an mbarrier; stores
// belong to groups that their thread waits for. Loads land when nothing else can go on; stores read their source, and
// write their destination, at the wait that demands it. Reductions read and write at once, alone among all blocks.

#ifndef TILEJIT_SIMULATOR_NVIDIA_BULKCOPY_H
#define TILEJIT_SIMULATOR_NVIDIA_BULKCOPY_H

#include "nvidia/State.h"

#include <string_view>

namespace tilejit::sim {

class Rules;
struct Mbarrier;

/// Whether bytes in shared memory exist and are aligned; a report otherwise.
bool checkShared(Warp &warp, unsigned lane, uint32_t site, uint32_t address, uint32_t bytes, uint32_t alignment,
                 std::string_view what);
/// Checks what a copy reads or writes in global memory. Runs that may not be touched become gaps.
void checkGlobal(Warp &warp, BulkCopy &copy, bool write, bool atomic);

/// Starts a copy that was checked: marks its destination in shared memory, and its source.
void startLoad(Warp &warp, Mbarrier &barrier, BulkCopy copy);
/// Starts a store, or makes a reduction, whose places were checked.
void startStore(Warp &warp, BulkCopy copy, ReductionSpec reduction);

/// The bytes come and are signalled.
void landLoad(Block &block, BulkCopy &copy);
/// Takes the bytes of a store out of shared memory, and puts them into global memory; each once.
void readStore(Block &block, BulkCopy &copy);
void writeStore(Block &block, BulkCopy &copy);

/// to = to op from (from, where there is no operation), for elements that follow each other.
void reduceBytes(ReductionSpec spec, uint8_t *to, const uint8_t *from, uint32_t bytes);

void addNvidiaBulkCopyRules(Rules &rules);

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_NVIDIA_BULKCOPY_H
