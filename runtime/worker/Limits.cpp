// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Resource limits. A limit that can't be set is no reason to refuse work: the client's own time-out still holds.

#include "Limits.h"

#include "tilejit/Runtime/WorkerProtocol.h"

#include <algorithm>
#include <cstdio>
#include <malloc.h>
#include <new>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace tilejit::worker {

namespace {

void lower(decltype(RLIMIT_AS) what, rlim_t soft) {
  rlimit limit;
  if (getrlimit(what, &limit) != 0)
    return;
  limit.rlim_cur = limit.rlim_max == RLIM_INFINITY ? soft : std::min(soft, limit.rlim_max);
  setrlimit(what, &limit);
}

int64_t residentBytes() {
  FILE *file = std::fopen("/proc/self/statm", "re");
  if (!file)
    return 0;
  long total = 0, resident = 0;
  int read = std::fscanf(file, "%ld %ld", &total, &resident);
  std::fclose(file);
  return read == 2 ? static_cast<int64_t>(resident) * sysconf(_SC_PAGESIZE) : 0;
}

} // namespace

void applyProcessLimits(const Limits &limits) {
  lower(RLIMIT_CORE, 0);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) // Their shadow memory exceeds any sensible limit.
  if (limits.memoryBytes > 0)
    lower(RLIMIT_AS, static_cast<rlim_t>(limits.memoryBytes));
#endif
  std::set_new_handler([] { _exit(WorkerExitOutOfMemory); });
}

void keepHeap() {
  constexpr int megabyte = 1 << 20;
  mallopt(M_TRIM_THRESHOLD, 512 * megabyte);
  mallopt(M_MMAP_THRESHOLD, 32 * megabyte);
  mallopt(M_TOP_PAD, 16 * megabyte);
}

void renewCpuSeconds(const Limits &limits) {
  rusage usage;
  if (limits.cpuSeconds <= 0 || getrusage(RUSAGE_SELF, &usage) != 0)
    return;
  lower(RLIMIT_CPU, static_cast<rlim_t>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + 1 + limits.cpuSeconds));
}

bool shouldRetire(const Limits &limits, int64_t compiles) {
  return compiles >= limits.maxCompiles || residentBytes() > limits.maxResidentBytes;
}

} // namespace tilejit::worker
