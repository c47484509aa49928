// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What this machine's processor is: features that may be used, the row that is nearest to it, its caches. The same
// answer in every process of a boot: nothing here depends on the core the caller runs on, on clocks or on counts.

#ifndef TILEJIT_LIB_TARGET_HOSTCPU_H
#define TILEJIT_LIB_TARGET_HOSTCPU_H

#include "CpuRows.h"

#include "tilejit/Base/System.h"

#include <array>

namespace tilejit::target {

struct HostCpu {
  CpuArch arch;
  FeatureSet features = 0;
  const CpuRow *row = nullptr; ///< Its CPU name is given to LLVM; differences become features.
  bool known = true;           ///< False on an architecture that nothing here detects.
};
HostCpu detectHostCpu();

/// Bytes of the data caches of levels 1 to 3; 0 where unknown or absent.
using CacheSizes = std::array<int64_t, 3>;
/// From /sys/devices/system/cpu/cpu0/cache.
CacheSizes cachesFromSysfs(System &system);
/// From CPUID leaf 4 (Intel) or 0x8000001d (AMD).
CacheSizes cachesFromCpuid(const CpuidSource &cpuid, const X86Model &model);
/// sysfs, then CPUID, for each level.
CacheSizes hostCaches(System &system);

} // namespace tilejit::target

#endif // TILEJIT_LIB_TARGET_HOSTCPU_H
