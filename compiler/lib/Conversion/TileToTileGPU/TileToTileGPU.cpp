// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The pass convert-tile-to-tilegpu.

#include "LayoutAssignment.h"
#include "OddShapes.h"

#include "../Common/Switches.h"
#include "tilejit/Conversion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

namespace tilejit {
#define GEN_PASS_DEF_TILETOTILEGPUPASS
#include "tilejit/Conversion/Passes.h.inc"
} // namespace tilejit

using namespace mlir;
using namespace tilejit;
using namespace tilejit::gpu;

/// What a kernel's hint says about its warps; 0: nothing.
static int64_t hintedWarps(tile::KernelOp kernel, StringRef backEnd) {
  int64_t warps = 0;
  kernel.walk([&](tile::HintOp hint) {
    if (auto advice = hint.getTargets().getAs<DictionaryAttr>(backEnd))
      if (auto number = advice.getAs<IntegerAttr>("warps"))
        warps = number.getInt();
  });
  return warps;
}

/// Enough warps that a thread of them holds about 16 elements of the largest tile (32 of an accumulator).
static int64_t chooseWarps(tile::KernelOp kernel, int64_t lanes) {
  constexpr int64_t most = 8;
  int64_t threads = lanes;
  kernel.walk([&](Operation *op) {
    for (Value result : op->getResults())
      if (auto type = dyn_cast<RankedTensorType>(result.getType())) {
        int64_t elements = ShapedType::getNumElements(tilegpu::paddedShape(type.getShape()));
        threads = std::max(threads, elements / (isa<tile::DotOp>(op) ? 32 : 16));
      }
  });
  return std::min<int64_t>(most, int64_t(llvm::bit_floor(uint64_t(threads / lanes))));
}

namespace {
struct TileToTileGPU : tilejit::impl::TileToTileGPUPassBase<TileToTileGPU> {
  using TileToTileGPUPassBase::TileToTileGPUPassBase;

  void runOnOperation() override {
    if ((lanes != 32 && lanes != 64) || warps < 0 || (warps > 0 && !llvm::isPowerOf2_64(uint64_t(warps.getValue())))) {
      getOperation().emitError("expected 32 or 64 lanes and a power of two of warps, got ")
          << lanes.getValue() << " and " << warps.getValue();
      return signalPassFailure();
    }
    constexpr int64_t mostThreads = 1024;
    Builder builder(&getContext());
    int64_t assertions = 0;
    getOperation().walk([&](tile::AssertOp op) {
      op->setAttr(tilegpu::TileGPUDialect::assertionAttrName, builder.getI64IntegerAttr(assertions++));
    });
    for (tile::KernelOp kernel : getOperation().getOps<tile::KernelOp>()) {
      expandSwitches(kernel);
      int64_t count = warps > 0 ? warps.getValue() : hintedWarps(kernel, amd ? "rocdl" : "nvvm");
      if (count < 1 || count > mostThreads / lanes || !llvm::isPowerOf2_64(uint64_t(count)))
        count = chooseWarps(kernel, lanes);
      kernel->setAttr(tilegpu::TileGPUDialect::lanesAttrName, builder.getI64IntegerAttr(lanes));
      kernel->setAttr(tilegpu::TileGPUDialect::warpsAttrName, builder.getI64IntegerAttr(count));
      BlockShape block{int(llvm::Log2_64(uint64_t(lanes.getValue()))), int(llvm::Log2_64(uint64_t(count)))};
      rewriteOddShapes(kernel);
      if (failed(LayoutAssignment(kernel, block).run()))
        return signalPassFailure();
    }
  }
};
} // namespace
