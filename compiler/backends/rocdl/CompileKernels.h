// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The part of the AMD back end that knows no tiles: kernels on scf, arith, math, vector, llvm and rocdl to the payload.

#ifndef TILEJIT_BACKENDS_ROCDL_COMPILEKERNELS_H
#define TILEJIT_BACKENDS_ROCDL_COMPILEKERNELS_H

#include "tilejit/Driver/Backend.h"

namespace tilejit::rocdl {

/// Dialects and translations that compileKernels() needs.
void registerKernelDialects(mlir::DialectRegistry &registry);

/// Optimises, generates code, links. Package and Object: a HSACO; Llvm: the optimised IR; Asm: AMDGPU assembly.
/// `launch`, where it is known, is what resources are counted for. Reasons for failure go to the diagnostics.
mlir::FailureOr<BackendResult> compileKernels(BackendJob job, const abi::GpuLaunch &launch = {});

} // namespace tilejit::rocdl

#endif // TILEJIT_BACKENDS_ROCDL_COMPILEKERNELS_H
