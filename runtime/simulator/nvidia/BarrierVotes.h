// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What threads have said at reducing block barriers (barrier.red): counted while they arrive, read when it opens. Two
// phases are kept apart, because a warp may be at the barrier again before the last one has read the result.

#ifndef TILEJIT_SIMULATOR_NVIDIA_BARRIERVOTES_H
#define TILEJIT_SIMULATOR_NVIDIA_BARRIERVOTES_H

#include <array>
#include <cstdint>

namespace tilejit::sim {

inline constexpr unsigned numBarriers = 16;

struct BarrierVotes {
  struct Phase {
    uint32_t arrived = 0, yes = 0; ///< Threads.
    uint32_t readers = 0;          ///< Threads that have not read the result yet.
  };
  /// phases[0] is being counted; phases[1] has opened.
  std::array<std::array<Phase, 2>, numBarriers> phases{};
};

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_NVIDIA_BARRIERVOTES_H
