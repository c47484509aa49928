// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Runs the blocks of a launch on the threads of the host. Blocks advance in rounds: all resident ones run in parallel
// until they are done or wait for the world; then those accesses happen one after the other, in a fixed order. So the
// outcome does not depend on the number of host threads.

#ifndef TILEJIT_SIMULATOR_CORE_LAUNCH_H
#define TILEJIT_SIMULATOR_CORE_LAUNCH_H

#include "core/Block.h"
#include "core/HostThreads.h"

#include <memory>
#include <vector>

namespace tilejit::sim {

class LaunchRunner {
public:
  LaunchRunner(const LaunchState &launch, HostThreads &threads);
  ~LaunchRunner();

  /// Runs all blocks and fills reports, counters and what was printed.
  void run(Outcome &outcome);

private:
  struct Worker;
  struct Item;

  void runRound(std::vector<Item> &items);
  void actInWorld(std::vector<Item> &items);
  void finish(Outcome &outcome);
  uint64_t residentLimit() const;

  const LaunchState &launch_;
  HostThreads &threads_;
  std::vector<std::unique_ptr<Worker>> workers_;
  Reports reports_;
  std::vector<std::pair<uint64_t, std::string>> printed_;
  uint64_t turns_ = 0;
};

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_CORE_LAUNCH_H
