// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The part of the NVIDIA back end that knows no tiles: kernels on scf, arith, math, vector, llvm and nvvm to the
// payload.

#ifndef TILEJIT_BACKENDS_NVVM_COMPILEKERNELS_H
#define TILEJIT_BACKENDS_NVVM_COMPILEKERNELS_H

#include "tilejit/Driver/Backend.h"

namespace tilejit::nvvm {

/// Dialects and translations that compileKernels() needs.
void registerKernelDialects(mlir::DialectRegistry &registry);

/// Optimises, generates PTX, and where ptxas is found a cubin. Package: the cubin, or PTX without ptxas; Object: the
/// cubin; Llvm: the optimised IR; Ptx and Asm: PTX. `launch`, where it is known, is what resources are
/// counted for. Reasons for failure go to the diagnostics.
mlir::FailureOr<BackendResult> compileKernels(BackendJob job, const abi::GpuLaunch &launch = {});

} // namespace tilejit::nvvm

#endif // TILEJIT_BACKENDS_NVVM_COMPILEKERNELS_H
