// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Conversions from the tile dialect to what LLVM understands.

#ifndef TILEJIT_CONVERSION_PASSES_TD
#define TILEJIT_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def TileToCPUPass : Pass<"convert-tile-to-cpu", "::mlir::ModuleOp"> {
  let summary = "lower tile kernels to loops over vectors of the CPU's width";
  let description = [{
    Replaces the kernels of a module by two functions with C calling convention, `tilejit_plan` and `tilejit_run` (see
    tilejit/ABI/KernelABI.h), and one private function for each kernel. Tiles are never turned into values as a whole:
    elementwise operations, conversions and loads are evaluated inside the loop nest of the store, reduction or product
    that consumes them, on one-dimensional vectors. The result holds scf, arith, math, vector and llvm operations on
    i64, pointers, scalars and 1-D vectors only.
  }];
  let options = [
    Option<"vectorBits", "vector-bits", "int64_t", "512", "Width of the vectors to emit">,
    Option<"vectorRegisters", "vector-registers", "int64_t", "32", "Vector registers of that width">,
    Option<"fma", "fma", "bool", "true", "Whether fused multiply-adds are fast">,
    Option<"masks", "masks", "bool", "true", "Whether masked loads and stores cost no more than plain ones">,
    Option<"scratchLimit", "scratch-limit", "int64_t", "67108864", "Most scratch memory that a kernel may use, in bytes">,
    Option<"streamBytes", "stream-bytes", "int64_t", "0",
           "Size in bytes from which arguments are written past the cache (x86 only); 0: never">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect", "::mlir::LLVM::LLVMDialect"];
}

#endif // TILEJIT_CONVERSION_PASSES_TD
