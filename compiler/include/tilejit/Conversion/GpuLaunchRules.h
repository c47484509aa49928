// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What the runtime must know to launch the kernels of a module on a GPU.

#ifndef TILEJIT_CONVERSION_GPULAUNCHRULES_H
#define TILEJIT_CONVERSION_GPULAUNCHRULES_H

#include "tilejit/ABI/GpuLaunch.h"

#include "mlir/IR/BuiltinOps.h"

namespace tilejit {

/// Kernels with layouts and planned memory (after tile-gpu-plan-memory) as launch data. `sharedAtLaunch`: on-chip
/// memory is given by the launch (NVIDIA); otherwise the code object carries its size.
abi::GpuLaunch describeGpuLaunch(mlir::ModuleOp module, bool sharedAtLaunch);

} // namespace tilejit

#endif // TILEJIT_CONVERSION_GPULAUNCHRULES_H
