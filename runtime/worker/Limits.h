// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What a worker may use: memory, CPU time, no core dumps, no new rights. Set by the process for itself.

#ifndef TILEJIT_WORKER_LIMITS_H
#define TILEJIT_WORKER_LIMITS_H

#include <cstdint>

namespace tilejit::worker {

struct Limits {
  int64_t memoryBytes = 0; ///< Address space; 0: no limit.
  int64_t cpuSeconds = 0;  ///< Of one compile; 0: no limit.
  int64_t maxCompiles = 100;
  int64_t maxResidentBytes = int64_t{2} << 30; ///< Larger than that after a compile, and the worker retires.
};

/// The limits that hold for the whole process.
void applyProcessLimits(const Limits &limits);
/// Lets the process keep the memory of one compile for the next, which would ask the kernel for each page again.
void keepHeap();
/// Gives the next compile its CPU seconds.
void renewCpuSeconds(const Limits &limits);
/// Whether the worker should end after this compile.
bool shouldRetire(const Limits &limits, int64_t compiles);

} // namespace tilejit::worker

#endif // TILEJIT_WORKER_LIMITS_H
