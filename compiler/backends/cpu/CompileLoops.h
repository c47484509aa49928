// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The part of the CPU back end that knows no tiles: functions on scf, arith, math, vector and llvm to the payload.

#ifndef TILEJIT_BACKENDS_CPU_COMPILELOOPS_H
#define TILEJIT_BACKENDS_CPU_COMPILELOOPS_H

#include "tilejit/Driver/Backend.h"

namespace tilejit::cpu {

/// Expands math, converts, generates code, links. Reasons for failure go to the diagnostics.
mlir::FailureOr<BackendResult> compileLoops(BackendJob job);

} // namespace tilejit::cpu

#endif // TILEJIT_BACKENDS_CPU_COMPILELOOPS_H
