// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// From scf, arith, vector and the math that a chip has in hardware to the LLVM dialect, in the module itself. The
// operations of the chip's own dialect (nvvm, rocdl) stay as they are.

#ifndef TILEJIT_BACKENDS_COMMON_LOWERTOLLVM_H
#define TILEJIT_BACKENDS_COMMON_LOWERTOLLVM_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringRef.h"

namespace tilejit::backends {

/// Whom the code is for.
struct Recipient {
  llvm::StringRef name;                  ///< As in "has no lowering to NAME": "a CPU".
  llvm::StringRef dialect;               ///< Of operations that stay; empty: none.
  llvm::ArrayRef<llvm::StringRef> calls; ///< Functions outside of the module that code may call.
  bool hasF16 = true;                    ///< Registers hold f16; where not, it travels as integers of the same bits.
  bool hasBf16 = true;                   ///< The same of bf16.
};

/// The dialects that the lowering of every chip ends in, and their translations.
void registerLoopDialects(mlir::DialectRegistry &registry);
/// Loads them: what the conversions create need not be in the source.
void loadLoopDialects(mlir::MLIRContext &context);

/// Refuses what no code can be made for, with a diagnostic at the operation: other dialects, inline assembly, calls
/// of functions that the module does not define.
mlir::LogicalResult checkSupported(mlir::ModuleOp module, const Recipient &recipient);

/// Converts everything to the LLVM dialect. Emits a diagnostic for an operation that has no conversion.
mlir::LogicalResult lowerToLLVM(mlir::ModuleOp module, const Recipient &recipient);

} // namespace tilejit::backends

#endif // TILEJIT_BACKENDS_COMMON_LOWERTOLLVM_H
