// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Threads of a CPU device. They start with the first region that wants them, spin a little for the next one and then
// sleep. One region runs at a time; a second caller is told so and works alone, which is never wrong. After fork() the
// child starts threads of its own.

#ifndef TILEJIT_DEVICES_CPU_THREADPOOL_H
#define TILEJIT_DEVICES_CPU_THREADPOOL_H

#include "tilejit/Device/Cpu.h"

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

namespace tilejit::cpu {

class ThreadPool {
public:
  /// Starts nothing. `threads` counts the calling thread. Thread i of the others is bound to the i-th processor,
  /// counted around, where there are any.
  explicit ThreadPool(int64_t threads, std::vector<int> processors = {})
      : threads_(threads), processors_(std::move(processors)) {}
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  int64_t threads() const { return threads_; }

  /// Calls task(data, i) for i in [0, count), 0 on the calling thread, each other on a thread of its own, and returns
  /// when all have returned. False, with nothing called: the pool is busy or threads can't be started.
  /// `count` is at most threads().
  bool run(int64_t count, Executor::Task task, void *data);

private:
  struct Team;
  Team *team();

  const int64_t threads_;
  const std::vector<int> processors_;
  std::atomic<Team *> team_{nullptr};
};

} // namespace tilejit::cpu

#endif // TILEJIT_DEVICES_CPU_THREADPOOL_H
