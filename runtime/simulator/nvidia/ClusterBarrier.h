// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The barrier of a cluster (barrier.cluster): an arrival, and a wait that ends when all threads of all blocks have
// arrived. Between the two a thread may do other things; threads that have ended count as arrived.

#ifndef TILEJIT_SIMULATOR_NVIDIA_CLUSTERBARRIER_H
#define TILEJIT_SIMULATOR_NVIDIA_CLUSTERBARRIER_H

#include "core/Lanes.h"
#include "core/Ordering.h"

#include <cstdint>
#include <vector>

namespace tilejit::sim {

class Rules;

struct ClusterBarrier {
  uint64_t phase = 0;            ///< Phases completed.
  std::vector<LaneMask> arrived; ///< In the present phase; of each warp.
  std::vector<uint64_t> owed;    ///< The phase that a lane has arrived in and not waited for; 0: none. Of each member.
  VectorClock clock, proxy;      ///< What those who arrived have done, and what their proxy fences cover;
  VectorClock done, doneProxy;   ///< of the phases completed.
  VectorClock come, passed;      ///< The same with relaxed arrivals, which hand over nothing but were executed.
  std::vector<VectorClock> past; ///< Of each block: what its waits have shown to be over.
};

void addNvidiaClusterBarrierRules(Rules &rules);

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_NVIDIA_CLUSTERBARRIER_H
