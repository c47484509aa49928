// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The pass convert-tilegpu-to-llvm, and the pipeline from tiles to it.

#include "KernelEmitter.h"
#include "LaunchRules.h"
#include "tilejit/Conversion/GpuLaunchRules.h"
#include "tilejit/Conversion/Passes.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace tilejit {
#define GEN_PASS_DEF_TILEGPUTOLLVMPASS
#include "tilejit/Conversion/Passes.h.inc"
} // namespace tilejit

using namespace mlir;
using namespace tilejit;
using namespace tilejit::gpu;

static const LoweringTable &loweringTable() {
  static const LoweringTable table = [] {
    LoweringTable all;
    registerStructure(all);
    registerConversions(all);
    registerShape(all);
    registerGlobalMemory(all);
    registerPointers(all);
    registerAtomics(all);
    registerOnChip(all);
    registerReduce(all);
    registerScan(all);
    registerDot(all);
    registerDebug(all);
    return all;
  }();
  return table;
}

namespace {
struct TileGPUToLLVM : tilejit::impl::TileGPUToLLVMPassBase<TileGPUToLLVM> {
  using TileGPUToLLVMPassBase::TileGPUToLLVMPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<tile::KernelOp> kernels(module.getOps<tile::KernelOp>());
    if (kernels.empty())
      return;
    std::unique_ptr<Threads> threads = amd ? amdThreads() : nvidiaThreads();
    ModuleState state{*threads, loweringTable(), {}};
    OpBuilder builder(module.getBodyRegion());
    for (tile::KernelOp kernel : kernels) {
      builder.setInsertionPoint(kernel);
      if (failed(KernelEmitter(kernel, state, builder).run()))
        return signalPassFailure();
      kernel.erase();
    }
  }
};
} // namespace

LogicalResult tilejit::checkGpuKernels(ModuleOp module) {
  SmallVector<tile::KernelOp> kernels(module.getOps<tile::KernelOp>());
  return kernels.empty() ? success() : checkKernels(kernels);
}

void tilejit::buildTileToTileGPUPipeline(OpPassManager &manager, const GpuFacts &facts, int64_t warps) {
  TileToTileGPUPassOptions layouts;
  layouts.lanes = facts.warpLanes;
  layouts.warps = warps;
  manager.addPass(createTileToTileGPUPass(layouts));
  manager.addPass(createTileGPUOnChipPass());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  TileGPUPlanMemoryPassOptions memory;
  memory.limit = facts.maxBlockShared;
  manager.addPass(createTileGPUPlanMemoryPass(memory));
}

void tilejit::buildTileGPUToLLVMPipeline(OpPassManager &manager, TargetKind kind) {
  TileGPUToLLVMPassOptions options;
  options.amd = kind == TargetKind::Amd;
  manager.addPass(createTileGPUToLLVMPass(options));
  manager.addPass(createCSEPass());
}
