// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A loop over all processors. Which thread does which part is not fixed; bodies write to places of their own, so that
// results do not depend on it.

#ifndef TILEJIT_REFERENCE_PARALLEL_H
#define TILEJIT_REFERENCE_PARALLEL_H

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace tilejit::reference {

/// Calls body(begin, end) for parts of [0, count) of at most `grain`, on as many threads as there are processors. The
/// first exception of a body, if any, leaves this function once all threads have ended.
template <typename Body> void parallelFor(int64_t count, int64_t grain, Body body) {
  grain = std::max<int64_t>(grain, 1);
  int64_t parts = (count + grain - 1) / grain;
  std::atomic<int64_t> next{0};
  std::exception_ptr failure;
  std::mutex failureLock;
  auto work = [&] {
    try {
      for (int64_t part; (part = next.fetch_add(1)) < parts;)
        body(part * grain, std::min(count, (part + 1) * grain));
    } catch (...) {
      next = parts;
      std::lock_guard lock(failureLock);
      if (!failure)
        failure = std::current_exception();
    }
  };
  int64_t threads = std::min<int64_t>(std::max(1u, std::thread::hardware_concurrency()), parts);
  std::vector<std::thread> pool;
  for (int64_t i = 1; i < threads; ++i) {
    try {
      pool.emplace_back(work);
    } catch (const std::system_error &) {
      break; // No more threads: the ones that are there do the work.
    }
  }
  work();
  for (std::thread &thread : pool)
    thread.join();
  if (failure)
    std::rethrow_exception(failure);
}

} // namespace tilejit::reference

#endif // TILEJIT_REFERENCE_PARALLEL_H
