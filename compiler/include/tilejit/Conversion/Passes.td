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
    Option<"fmaPorts", "fma-ports", "int64_t", "2", "Multiply-adds of whole vectors that start in one cycle">,
    Option<"loadPorts", "load-ports", "int64_t", "2", "Loads of whole vectors that start in one cycle">,
    Option<"pairs", "pairs", "bool", "false",
           "Whether there are products of bf16 pairs that beat multiply-adds (x86 only)">,
    Option<"quads", "quads", "bool", "false", "Whether there are products of 8-bit quadruples (x86 only)">,
    Option<"words", "words", "bool", "false", "Whether there are products of pairs of 16-bit integers (x86 only)">,
    Option<"amxPairs", "amx-pairs", "bool", "false", "Whether matrix registers multiply bf16 pairs; only with `pairs`">,
    Option<"amxQuads", "amx-quads", "bool", "false", "The same of 8-bit quadruples; only with `quads`">,
    Option<"streamBytes", "stream-bytes", "int64_t", "0",
           "Size in bytes from which arguments are written past the cache (x86 only); 0: never">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect", "::mlir::LLVM::LLVMDialect"];
}

def TileToTileGPUPass : Pass<"convert-tile-to-tilegpu", "::mlir::ModuleOp"> {
  let summary = "give every tile a layout over the threads of a block";
  let description = [{
    Decides how many warps run a program instance, marks each kernel with that (`tilegpu.warps`, `tilegpu.lanes`), gives
    every tile an encoding `#tilegpu.layout`, and inserts `tilegpu.convert_layout` where a user needs another layout than
    the producer has.
  }];
  let options = [
    Option<"lanes", "lanes", "int64_t", "32", "Lanes of a warp">,
    Option<"warps", "warps", "int64_t", "0", "Warps of a block; 0: as a hint says, or by the size of the largest tile">,
    Option<"amd", "amd", "bool", "false", "Follow the hints for `rocdl` instead of those for `nvvm`">,
  ];
  let dependentDialects = ["::tilejit::tilegpu::TileGPUDialect", "::mlir::arith::ArithDialect"];
}

def TileGPUOnChipPass : Pass<"tile-gpu-on-chip", "::mlir::ModuleOp"> {
  let summary = "move tiles between warps through on-chip memory";
  let description = [{
    Rewrites what threads of different warps must exchange (changes of layout, operands of products, reductions along a
    dimension that warps share, picking by index) to stores to and loads from on-chip memory. Places have no offset yet
    and nothing waits: that is `tile-gpu-plan-memory`. Changes of layout within a warp are kept.
  }];
  let options = [
    Option<"banks", "banks", "std::string", "\"nvidia\"", "Bank model to plan for: nvidia, cdna, cdna4 or rdna">,
  ];
  let dependentDialects = ["::tilejit::tilegpu::TileGPUDialect", "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

def TileGPUPlanMemoryPass : Pass<"tile-gpu-plan-memory", "::mlir::ModuleOp"> {
  let summary = "give places in on-chip memory their offsets and order their accesses by barriers";
  let description = [{
    Places whose lives do not overlap share memory. A barrier is put before each access that could meet, since the last
    barrier, an access by other threads to the same bytes of which one is a write; also to global memory of the same
    argument, so that an instance reads what it wrote before, and writes after it has read. The kernel's need is noted in
    `tilegpu.shared_bytes`; more than `limit` is refused.
  }];
  let options = [Option<"limit", "limit", "int64_t", "49152", "On-chip memory of a block in bytes">];
  let dependentDialects = ["::tilejit::tilegpu::TileGPUDialect"];
}

def TileGPUPrintLayoutsPass : Pass<"tile-gpu-print-layouts", "::mlir::ModuleOp"> {
  let summary = "draw which thread holds which element of the tiles of a module";
  let description = [{
    For people. Each distinct `#tilegpu.layout` and `#tilegpu.memory` of the module is drawn once, in the order of first
    use, as comment lines on standard output: what tile-opt prints stays IR. A cell says warp, lane and register (or the
    offset) of an element. The module is not changed.
  }];
  let options = [
    Option<"svgDir", "svg-dir", "std::string", "\"\"",
           "Folder in which each picture is written as layout-N.svg, too; it is made where it is missing">,
  ];
}

def TileGPUToLLVMPass : Pass<"convert-tilegpu-to-llvm", "::mlir::ModuleOp"> {
  let summary = "lower kernels on tiles with layouts to the program of one thread";
  let description = [{
    Each kernel becomes an `llvm.func` with the parameters of tilejit/ABI/GpuLaunch.h. Tiles become vectors of registers;
    the result holds scf, arith, math, vector, llvm and nvvm (or rocdl) operations. Needs planned memory.
  }];
  let options = [
    Option<"amd", "amd", "bool", "false", "Emit rocdl instead of nvvm">,
    Option<"banks", "banks", "std::string", "\"nvidia\"", "Bank model that memory was planned for">,
    Option<"dot2", "dot2", "bool", "false", "Add two products of f16 to an f32 at once (AMD)">,
    Option<"dot4", "dot4", "bool", "false", "Add four products of 8-bit integers to an i32 at once">,
    Option<"packedF32", "packed-f32", "bool", "false", "Add two products of f32 to two sums at once">,
    Option<"mixedSigns", "mixed-signs", "bool", "false", "dot4 also where one operand only is unsigned">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect", "::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect",
                           "::mlir::ROCDL::ROCDLDialect"];
}

#endif // TILEJIT_CONVERSION_PASSES_TD
