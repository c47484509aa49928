// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Products of 64-bit integers with all their bits.

#ifndef TILEJIT_BACKENDS_COMMON_WIDEPRODUCTS_H
#define TILEJIT_BACKENDS_COMMON_WIDEPRODUCTS_H

#include "mlir/IR/BuiltinOps.h"

namespace tilejit::backends {

/// Rewrites arith.mului_extended of 64-bit integers (range reduction of sine and cosine has them) to products of their
/// halves. GPUs multiply 32 bits at a time in any case, and integers of 128 bits stay out of the kernel.
void expandWideProducts(mlir::ModuleOp module);

} // namespace tilejit::backends

#endif // TILEJIT_BACKENDS_COMMON_WIDEPRODUCTS_H
