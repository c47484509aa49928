// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What GPU back ends do first: tile kernels to the program of one thread.

#ifndef TILEJIT_BACKENDS_COMMON_LOWERTILES_H
#define TILEJIT_BACKENDS_COMMON_LOWERTILES_H

#include "tilejit/Driver/Backend.h"

namespace tilejit::backends {

/// Gives tiles layouts, plans on-chip memory and lowers to scf, arith, math, vector, llvm and the vendor's dialect, in
/// the job's module; what the runtime must know to launch is the result. For EmitKind::TileGpu it stops where layouts
/// and memory are planned. A module without tile kernels is left as it is. `sharedAtLaunch`: see describeGpuLaunch().
mlir::FailureOr<abi::GpuLaunch> lowerTiles(BackendJob &job, bool sharedAtLaunch);

/// The tilegpu form as text, for EmitKind::TileGpu.
std::string printTiles(mlir::ModuleOp module);

} // namespace tilejit::backends

#endif // TILEJIT_BACKENDS_COMMON_LOWERTILES_H
