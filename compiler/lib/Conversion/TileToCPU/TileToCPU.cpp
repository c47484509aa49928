// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The pass convert-tile-to-cpu and the pipeline around it.

#include "KernelLowering.h"
#include "LaunchRule.h"

#include "../Common/Switches.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "tilejit/Conversion/Passes.h"

namespace tilejit {
#define GEN_PASS_DEF_TILETOCPUPASS
#include "tilejit/Conversion/Passes.h.inc"
} // namespace tilejit

using namespace mlir;
using namespace tilejit;
using namespace tilejit::cpu;

namespace {
struct TileToCPU : tilejit::impl::TileToCPUPassBase<TileToCPU> {
  using TileToCPUPassBase::TileToCPUPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<tile::KernelOp> kernels(module.getOps<tile::KernelOp>());
    if (kernels.empty())
      return;
    CpuModel model{vectorBits, vectorRegisters, fma,   masks,    scratchLimit, fmaPorts,   loadPorts,
                   pairs,      quads,           words, amxPairs, amxQuads,     streamBytes};
    if (failed(checkModel(model)) || failed(checkLaunchRules(kernels)))
      return signalPassFailure();

    OpBuilder builder(module.getBodyRegion());
    builder.setInsertionPointToEnd(module.getBody());
    SmallVector<LoweredKernel> lowered;
    SmallVector<Operation *> assertions;
    for (tile::KernelOp kernel : kernels) {
      expandSwitches(kernel);
      expandExtendedArithmetic(kernel);
      LLVM::LLVMFuncOp function = declareKernelFunction(builder, kernel);
      KernelLowering lowering(kernel, model, builder, function, assertions);
      if (failed(lowering.run()))
        return signalPassFailure();
      lowered.push_back({kernel, function, lowering.scratchBytes()});
    }
    emitPlan(builder, module.getLoc(), lowered);
    emitRun(builder, module.getLoc(), lowered);
    for (tile::KernelOp kernel : kernels)
      kernel.erase();
  }

private:
  LogicalResult checkModel(const CpuModel &model) {
    if (model.vectorBits < 64 || !llvm::isPowerOf2_64(model.vectorBits) || model.vectorRegisters < 8)
      return getOperation().emitError(
                 "expected vectors of a power of two of at least 64 bits and at least 8 registers, got ")
             << model.vectorBits << " bits and " << model.vectorRegisters << " registers";
    if (model.fmaPorts < 1 || model.loadPorts < 1)
      return getOperation().emitError("expected at least one port of each kind, got ")
             << model.fmaPorts << " for multiply-adds and " << model.loadPorts << " for loads";
    return success();
  }
};
} // namespace

/// From where on a result would push everything else out of a core's own share of the caches. A last-level cache serves
/// many cores, so a few megabytes of it count, whatever its size.
static int64_t streamBytesOf(const CpuFacts &facts) {
  constexpr int64_t share = 4 << 20;
  if (facts.arch != CpuArch::X86_64)
    return 0;
  return std::max(2 * facts.l2Bytes, std::min(facts.l3Bytes / 8, share));
}

void tilejit::buildTileToCPUPipeline(OpPassManager &manager, const CpuFacts &facts) {
  TileToCPUPassOptions options;
  options.vectorBits = facts.vectorBits;
  options.vectorRegisters = facts.vectorRegisters;
  options.fma = facts.hasFma;
  options.masks = facts.hasMasks;
  options.fmaPorts = facts.ports.fma;
  options.loadPorts = facts.ports.loads;
  options.pairs = facts.prefersBf16Dot();
  options.quads = facts.hasInt8Dot && facts.arch == CpuArch::X86_64;
  options.words = facts.arch == CpuArch::X86_64;
  options.amxPairs = facts.hasAmxBf16;
  options.amxQuads = facts.hasAmxInt8;
  options.streamBytes = streamBytesOf(facts);
  manager.addPass(createTileToCPUPass(options));
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  manager.addPass(createLoopInvariantCodeMotionPass());
}
