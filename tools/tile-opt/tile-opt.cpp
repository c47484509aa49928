// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// tile-opt: reads tile IR, runs passes, prints the result. It has the dialects that tile programs and their lowerings
// use, the passes of the compiler that this build contains, and upstream's general clean-ups.

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "tilejit/Dialect/Tile/IR/Tile.h"
#include "tilejit/Dialect/TileGPU/IR/TileGPU.h"
#ifdef TILE_OPT_TRANSFORMS
#include "tilejit/Transforms/Passes.h"
#endif
#ifdef TILE_OPT_CONVERSION
#include "tilejit/Conversion/Passes.h"
#endif

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<tilejit::tile::TileDialect, tilejit::tilegpu::TileGPUDialect, mlir::LLVM::LLVMDialect,
                  mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect, mlir::func::FuncDialect,
                  mlir::math::MathDialect, mlir::scf::SCFDialect, mlir::ub::UBDialect, mlir::vector::VectorDialect>();
  mlir::registerTransformsPasses();
#ifdef TILE_OPT_TRANSFORMS
  tilejit::registerTilejitTransformsPasses();
#endif
#ifdef TILE_OPT_CONVERSION
  tilejit::registerTilejitConversionPasses();
#endif
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "tilejit's modular optimizer\n", registry));
}
