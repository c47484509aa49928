// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Passes over the IR that belong to no conversion.

#ifndef TILEJIT_TRANSFORMS_PASSES_TD
#define TILEJIT_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def ExpandMathPass : Pass<"tile-expand-math", "::mlir::ModuleOp"> {
  let summary = "expand mathematical functions and narrow floats to arithmetic that every CPU has";
  let description = [{
    Replaces the functions of the math dialect, `arith.remf` and all arithmetic and conversions of floats below 32 bits,
    on scalars and one-dimensional vectors, by arithmetic, comparisons and integer operations without calls. What every
    CPU has in hardware stays: sqrt, fma, rounding, abs, copysign.

    Results of f32 are within 2 ulp for exp, exp2, log, log2, sqrt and rsqrt and within 4 ulp for the others, subnormal
    results included; those of f64 within 4 ulp. Infinities, NaN and zeros give what IEEE 754 recommends. Sine, cosine
    and tangent reduce their argument with as many digits of pi as it needs. f16 and bf16 are computed as f32 and
    rounded once more.
  }];
  let options = [
    Option<"fma", "fma", "bool", "true", "Whether fused multiply-adds are in hardware">,
    Option<"halfConvert", "half-convert", "bool", "true", "Whether conversions between f16 and f32 are in hardware">,
    Option<"leaveBf16", "leave-bf16", "bool", "false",
           "Whether conversions between bf16 and f32 are left to the code generator">,
    Option<"bf16Convert", "bf16-convert", "bool", "false", "Whether to use AVX-512's conversion from f32 to bf16">,
    Option<"scalef", "scalef", "bool", "false", "Whether to use AVX-512's multiplication by powers of two">,
    Option<"ldexp", "ldexp", "bool", "false", "Whether to use LLVM's multiplication by powers of two, as on AMD's GPUs">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect", "::mlir::LLVM::LLVMDialect"];
}

#endif // TILEJIT_TRANSFORMS_PASSES_TD
