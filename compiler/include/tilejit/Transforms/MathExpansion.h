// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The expansion of math functions as a function, for back ends that run it without a pass manager.

#ifndef TILEJIT_TRANSFORMS_MATHEXPANSION_H
#define TILEJIT_TRANSFORMS_MATHEXPANSION_H

#include "mlir/IR/Operation.h"
#include "mlir/Support/LogicalResult.h"

namespace tilejit {

struct MathExpansionOptions {
  bool hasFma = true;          ///< Fused multiply-adds in hardware (and with them instructions that round to integers).
  bool hasHalfConvert = true;  ///< f16 <-> f32 in hardware.
  bool leavesBf16 = false;     ///< bf16 <-> f32, rounded to nearest, is left to the code generator.
  bool hasScalef = false;      ///< AVX-512: multiplication by a power of two that rounds once, for whole registers.
  bool hasLdexp = false;       ///< AMD GPUs: multiplication by a power of two that rounds once.
  bool hasBf16Convert = false; ///< AVX-512: f32 to bf16 in hardware, subnormals flushed, for whole registers.
};

/// Expands everything below `root` (see the pass tile-expand-math). Fails, with a diagnostic at the operation, only for
/// a math function that has no expansion.
mlir::LogicalResult expandMath(mlir::Operation *root, const MathExpansionOptions &options);

} // namespace tilejit

#endif // TILEJIT_TRANSFORMS_MATHEXPANSION_H
