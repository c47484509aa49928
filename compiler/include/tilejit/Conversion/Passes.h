// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Conversions from the tile dialect: registration and ready-made pipelines.

#ifndef TILEJIT_CONVERSION_PASSES_H
#define TILEJIT_CONVERSION_PASSES_H

#include "mlir/Pass/Pass.h"
#include "tilejit/Target/TargetSpec.h"

#include <memory>

namespace mlir {
class ModuleOp;
class OpPassManager;
namespace arith {
class ArithDialect;
}
namespace math {
class MathDialect;
}
namespace scf {
class SCFDialect;
}
namespace vector {
class VectorDialect;
}
namespace LLVM {
class LLVMDialect;
}
namespace NVVM {
class NVVMDialect;
}
namespace ROCDL {
class ROCDLDialect;
}
} // namespace mlir
namespace tilejit::tilegpu {
class TileGPUDialect;
}

namespace tilejit {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "tilejit/Conversion/Passes.h.inc"

/// Tile kernels to clean loops over vectors: the conversion with the facts of a CPU, then canonicalisation, removal of
/// common subexpressions and hoisting of loop invariants. LLVM's mid-end is not expected to run on the result.
void buildTileToCPUPipeline(mlir::OpPassManager &manager, const CpuFacts &facts);

/// Tile kernels to kernels on tiles with layouts and planned on-chip memory. `warps` of a block; 0: as hints say, or
/// chosen.
void buildTileToTileGPUPipeline(mlir::OpPassManager &manager, const TargetSpec &target, int64_t warps);
/// Those to the program of one thread on scf, arith, math, vector, llvm and nvvm or rocdl. Between the two,
/// describeGpuLaunch() reads what the runtime must know.
void buildTileGPUToLLVMPipeline(mlir::OpPassManager &manager, const TargetSpec &target);
/// Whether the kernels of a module can be alternatives and phases of one launch on a GPU; a diagnostic where not.
mlir::LogicalResult checkGpuKernels(mlir::ModuleOp module);

} // namespace tilejit

#endif // TILEJIT_CONVERSION_PASSES_H
