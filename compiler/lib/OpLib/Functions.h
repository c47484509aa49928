// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The functions of expressions and epilogues that upstream's math and arith lack, built from them on tiles of f32 or
// f64 (or integers where said). Each keeps the accuracy that the description asks for, its limits at the infinities,
// and gives NaN for NaN.

#ifndef TILEJIT_LIB_OPLIB_FUNCTIONS_H
#define TILEJIT_LIB_OPLIB_FUNCTIONS_H

#include "Values.h"

namespace tilejit::oplib {

/// What operations of math are marked with: afn where the description asks for fast functions.
mlir::arith::FastMathFlags functionFlags(const KernelBuilder &b);

Value sigmoid(KernelBuilder &b, Value x);
Value silu(KernelBuilder &b, Value x);
Value gelu(KernelBuilder &b, Value x);
Value geluTanh(KernelBuilder &b, Value x);
Value softplus(KernelBuilder &b, Value x);
/// NaN for NaN; of integers too, read with the signedness of the dtype.
Value relu(KernelBuilder &b, Value x, DType dtype);
Value sign(KernelBuilder &b, Value x, DType dtype);
Value isNan(KernelBuilder &b, Value x);
Value isInf(KernelBuilder &b, Value x);
/// Remainder with the sign of the divisor. Of integers: 0 for a divisor of 0.
Value modulo(KernelBuilder &b, Value x, Value y, DType dtype);
/// x ** y of floating tiles; x ** 0 is 1 for NaN too.
Value power(KernelBuilder &b, Value x, Value y);
/// NaN where either is NaN.
Value minimum(KernelBuilder &b, Value x, Value y, DType dtype);
Value maximum(KernelBuilder &b, Value x, Value y, DType dtype);

} // namespace tilejit::oplib

#endif // TILEJIT_LIB_OPLIB_FUNCTIONS_H
