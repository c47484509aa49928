// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// How many threads this process may use, where they run, and what the machine is called.

#include "HostThreads.h"

#include "tilejit/Base/File.h"
#include "tilejit/Base/Text.h"
#include "tilejit/Device/Cpu.h"

#include <algorithm>
#include <optional>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace tilejit {

namespace {

std::optional<std::string> firstLine(const char *path) {
  auto text = readFile(realSystem(), path, 4096);
  if (!text)
    return std::nullopt;
  return std::string(trimText(splitText(*text, '\n').front()));
}

/// Whole CPUs that the control group grants, rounded up; nothing where there is no bound.
std::optional<int64_t> threadsByQuota() {
  std::optional<int64_t> quota, period;
  if (auto line = firstLine("/sys/fs/cgroup/cpu.max")) {
    auto parts = splitText(*line, ' ');
    if (parts.size() == 2) {
      quota = parseInteger(parts[0]);
      period = parseInteger(parts[1]);
    }
  } else if (auto old = firstLine("/sys/fs/cgroup/cpu/cpu.cfs_quota_us")) {
    quota = parseInteger(*old);
    if (auto length = firstLine("/sys/fs/cgroup/cpu/cpu.cfs_period_us"))
      period = parseInteger(*length);
  }
  if (!quota || !period || *quota <= 0 || *period <= 0)
    return std::nullopt;
  return (*quota + *period - 1) / *period;
}

} // namespace

std::vector<int> usableProcessors() {
  std::vector<int> processors;
  // The kernel refuses a mask shorter than its own, which can have more than 1024 CPUs.
  for (int cpus = CPU_SETSIZE; cpus <= (1 << 20) && processors.empty(); cpus *= 4) {
    cpu_set_t *mask = CPU_ALLOC(static_cast<size_t>(cpus));
    if (!mask)
      break;
    size_t bytes = CPU_ALLOC_SIZE(static_cast<size_t>(cpus));
    CPU_ZERO_S(bytes, mask);
    if (sched_getaffinity(0, bytes, mask) == 0)
      for (int cpu = 0; cpu < cpus; ++cpu)
        if (CPU_ISSET_S(static_cast<size_t>(cpu), bytes, mask))
          processors.push_back(cpu);
    CPU_FREE(mask);
  }
  return processors;
}

int64_t usableThreads() {
  int64_t threads = static_cast<int64_t>(usableProcessors().size());
  if (threads == 0)
    threads = sysconf(_SC_NPROCESSORS_ONLN);
  if (auto quota = threadsByQuota())
    threads = std::min(threads, *quota);
  return std::max<int64_t>(1, threads);
}

namespace cpu {

bool bindThread(int processor) {
  cpu_set_t *mask = CPU_ALLOC(static_cast<size_t>(processor) + 1);
  if (!mask)
    return false;
  size_t bytes = CPU_ALLOC_SIZE(static_cast<size_t>(processor) + 1);
  CPU_ZERO_S(bytes, mask);
  CPU_SET_S(static_cast<size_t>(processor), bytes, mask);
  bool isBound = sched_setaffinity(0, bytes, mask) == 0;
  CPU_FREE(mask);
  return isBound;
}

std::string processorName() {
  if (auto text = readFile(realSystem(), "/proc/cpuinfo", int64_t{16} << 20))
    for (std::string_view line : splitText(*text, '\n'))
      if (line.starts_with("model name") || line.starts_with("uarch"))
        if (size_t colon = line.find(':'); colon != line.npos)
          return std::string(trimText(line.substr(colon + 1)));
  utsname names;
  return uname(&names) == 0 ? names.machine : "unknown processor";
}

int64_t memoryBytes() { return sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE); }
int64_t freeMemoryBytes() { return sysconf(_SC_AVPHYS_PAGES) * sysconf(_SC_PAGESIZE); }

} // namespace cpu

} // namespace tilejit
