// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// cp.async: copies of 4, 8 or 16 bytes a lane from global to shared memory, in groups that lanes commit and wait for,
// or that arrive at an mbarrier. A copy lands, and reads its source, no sooner than somebody waits for it.

#ifndef TILEJIT_SIMULATOR_NVIDIA_ASYNCCOPY_H
#define TILEJIT_SIMULATOR_NVIDIA_ASYNCCOPY_H

#include "nvidia/State.h"

namespace tilejit::sim {

class Rules;

/// Lets the copies that an arrival waits for land, and arrives.
void landArrival(Block &block, const DeferredArrival &arrival);

void addNvidiaAsyncCopyRules(Rules &rules);

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_NVIDIA_ASYNCCOPY_H
