// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The first code that a process generates for a target takes longer than the second: passes are registered, tables are
// built, pages of the libraries are read. None of it depends on the kernel, so that a second thread can do it while the
// first kernel is still tiles.

#ifndef TILEJIT_BACKENDS_COMMON_WARMUP_H
#define TILEJIT_BACKENDS_COMMON_WARMUP_H

#include "backends/common/GpuBackend.h"

#include <thread>

namespace tilejit::backends {

/// Generates code of an all but empty kernel on a thread, which ends by itself.
std::jthread warmUp(const GpuVendor &vendor, const TargetSpec &target);

} // namespace tilejit::backends

#endif // TILEJIT_BACKENDS_COMMON_WARMUP_H
