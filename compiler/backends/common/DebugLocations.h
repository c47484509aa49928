// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Where operations came from, into LLVM IR: the simulator's reports name these places. Nothing of it reaches code.

#ifndef TILEJIT_BACKENDS_COMMON_DEBUGLOCATIONS_H
#define TILEJIT_BACKENDS_COMMON_DEBUGLOCATIONS_H

#include "mlir/IR/BuiltinOps.h"

namespace tilejit::backends {

/// Gives every operation in the functions of an LLVM-dialect module a location that its translation keeps: file, line
/// and column, or for parts of a description the name that their generator gave as a file without lines
/// ("/epilogue/1"). Operations without either stay without.
void keepLocations(mlir::ModuleOp module);

} // namespace tilejit::backends

#endif // TILEJIT_BACKENDS_COMMON_DEBUGLOCATIONS_H
