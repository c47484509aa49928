// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Makes the CPU device. It loads payloads with its own small ELF loader (no temporary files) and runs tasks on its own
// threads, which start with the first launch that is worth it, or on a pool that the host hands in.

#ifndef TILEJIT_DEVICE_CPU_H
#define TILEJIT_DEVICE_CPU_H

#include "tilejit/Device/Device.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace tilejit {

/// A host's own thread pool. `run` calls task(data, i) once for each i in [0, count), from any threads, and returns
/// when all calls have; it may be called from several threads at once.
struct Executor {
  using Task = void (*)(void *data, int64_t index);
  void (*run)(void *user, int64_t count, Task task, void *data) = nullptr;
  void *user = nullptr;
  int64_t threads = 0; ///< How many calls may run at once.
};

struct CpuDeviceOptions {
  int64_t threads = 0; ///< 0: as many as the process may use (affinity, control group).
  Executor executor;   ///< Without a function: own threads.
  /// Own thread i is bound to the i-th of these, counted around; the caller of a launch, which is thread 0, is not.
  /// Empty: where the system puts them. Without `threads` there are as many threads as processors.
  std::vector<int> processors;
};

/// Nothing is started and nothing is read but the number of threads.
std::unique_ptr<Device> makeCpuDevice(const CpuDeviceOptions &options);

/// The processors that this thread may run on, in ascending order; empty where the system doesn't tell.
std::vector<int> usableProcessors();

/// How many threads this process may use: its affinity mask and the CPU quota of its control group.
int64_t usableThreads();

} // namespace tilejit

#endif // TILEJIT_DEVICE_CPU_H
