// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Threads of the host that run blocks of launches. They outlive a round and a launch, so that short ones cost no thread
// starts; a round never waits for a thread that has not begun.

#ifndef TILEJIT_SIMULATOR_CORE_HOSTTHREADS_H
#define TILEJIT_SIMULATOR_CORE_HOSTTHREADS_H

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tilejit::sim {

class HostThreads {
public:
  HostThreads() = default;
  ~HostThreads();
  HostThreads(const HostThreads &) = delete;
  HostThreads &operator=(const HostThreads &) = delete;

  /// Calls work(0) here and work(1) to work(count - 1) on other threads, as far as those are free before work(0) ends,
  /// which must do whatever the others leave. Returns when all that were called have ended. Not for several callers at
  /// once.
  void run(size_t count, const std::function<void(size_t)> &work);

private:
  void help();

  std::mutex mutex_;
  std::condition_variable begin_, end_;
  const std::function<void(size_t)> *work_ = nullptr; ///< Null: nothing to be begun.
  size_t next_ = 0, count_ = 0, active_ = 0;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_CORE_HOSTTHREADS_H
