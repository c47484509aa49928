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
    registerConvertLayout(all);
    registerReduce(all);
    registerScan(all);
    registerDot(all);
    registerDebug(all);
    registerPrint(all);
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
    PackedProducts products{.halfPairs = dot2, .byteQuads = dot4, .mixedSigns = mixedSigns, .pairsOfSums = packedF32};
    std::unique_ptr<Threads> threads = amd ? amdThreads(products) : nvidiaThreads();
    const tilegpu::BankModel *model = tilegpu::findBankModel(banks.getValue());
    if (!model) {
      module.emitError("expected the name of a bank model, got '") << banks.getValue() << "'";
      return signalPassFailure();
    }
    ModuleState state{*threads, products, *model, loweringTable()};
    for (auto [number, print] : llvm::enumerate(printsOf(module)))
      state.printNumbers[print] = int64_t(number);
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

/// How the chip's on-chip memory serves lanes, by the name of the model.
static std::string bankModelOf(const TargetSpec &target) {
  if (target.kind == TargetKind::Nvidia)
    return "nvidia";
  if (target.gpuFacts.warpLanes == 32)
    return "rdna";
  constexpr int cdna4 = 0x950;
  return target.gpuFacts.generation == cdna4 ? "cdna4" : "cdna";
}

void tilejit::buildTileToTileGPUPipeline(OpPassManager &manager, const TargetSpec &target, int64_t warps) {
  TileToTileGPUPassOptions layouts;
  layouts.lanes = target.gpuFacts.warpLanes;
  layouts.warps = warps;
  layouts.amd = target.kind == TargetKind::Amd;
  manager.addPass(createTileToTileGPUPass(layouts));
  TileGPUOnChipPassOptions onChip;
  onChip.banks = bankModelOf(target);
  manager.addPass(createTileGPUOnChipPass(onChip));
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  TileGPUPlanMemoryPassOptions memory;
  memory.limit = target.gpuFacts.maxBlockShared;
  manager.addPass(createTileGPUPlanMemoryPass(memory));
}

/// From it on AMD's products of bytes take the signs of both operands as they come.
constexpr int firstRdna3 = 0x1100;

void tilejit::buildTileGPUToLLVMPipeline(OpPassManager &manager, const TargetSpec &target) {
  TileGPUToLLVMPassOptions options;
  options.amd = target.kind == TargetKind::Amd;
  options.banks = bankModelOf(target);
  options.dot2 = target.gpuFacts.hasDot2;
  options.dot4 = target.gpuFacts.hasDot4;
  options.packedF32 = target.gpuFacts.hasPackedF32;
  options.mixedSigns = target.kind == TargetKind::Nvidia || target.gpuFacts.generation >= firstRdna3;
  manager.addPass(createTileGPUToLLVMPass(options));
  manager.addPass(createCSEPass());
}
