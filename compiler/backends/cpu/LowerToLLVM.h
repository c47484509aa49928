// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// From scf, arith, vector and the math that a CPU has in hardware to the LLVM dialect, in the module itself.

#ifndef TILEJIT_BACKENDS_CPU_LOWERTOLLVM_H
#define TILEJIT_BACKENDS_CPU_LOWERTOLLVM_H

#include "mlir/IR/BuiltinOps.h"

namespace tilejit::cpu {

/// Refuses what no code can be made for, with a diagnostic at the operation: other dialects, inline assembly, calls
/// of functions that the module does not define.
mlir::LogicalResult checkSupported(mlir::ModuleOp module);

/// Converts everything to the LLVM dialect. Emits a diagnostic for an operation that has no conversion.
mlir::LogicalResult lowerToLLVM(mlir::ModuleOp module);

} // namespace tilejit::cpu

#endif // TILEJIT_BACKENDS_CPU_LOWERTOLLVM_H
