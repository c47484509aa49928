// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What the kernels of a GPU payload take, under the keys of the manifest, from what the vendor's tool said of each and
// what is known of the launch.

#ifndef TILEJIT_BACKENDS_COMMON_RESOURCES_H
#define TILEJIT_BACKENDS_COMMON_RESOURCES_H

#include "tilejit/ABI/GpuLaunch.h"
#include "tilejit/Target/TargetSpec.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>

namespace tilejit::backends {

/// One kernel's numbers by key: `registers` (of a thread, 32 bits each), `spill_bytes`, `stack_bytes` (of a thread),
/// `shared_bytes` (static, of a block), and what the vendor has beside them.
struct KernelResources {
  std::string symbol;
  std::map<std::string, int64_t> numbers;
};

/// The largest number of all kernels in each row. `shared_bytes` gets what the launch adds; `occupancy`, where the
/// registers and the launch of a kernel are known, is the lowest of all kernels: percent of the threads that the chip
/// can hold.
std::map<std::string, int64_t> collectResources(std::span<const KernelResources> kernels, const TargetSpec &target,
                                                const abi::GpuLaunch &launch);

} // namespace tilejit::backends

#endif // TILEJIT_BACKENDS_COMMON_RESOURCES_H
