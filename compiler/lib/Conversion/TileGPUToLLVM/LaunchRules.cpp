// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Affine maps and sets of launch rules to postfix expressions.

#include "LaunchRules.h"

#include "../Common/KernelArguments.h"
#include "../Common/PrintedValues.h"

#include "tilejit/Conversion/GpuLaunchRules.h"
#include "tilejit/Dialect/TileGPU/IR/TileGPU.h"

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/IntegerSet.h"

using namespace mlir;
using namespace tilejit;

bool gpu::hasAssertions(tile::KernelOp kernel) {
  return kernel.walk([](tile::AssertOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

bool gpu::doesPrint(tile::KernelOp kernel) {
  return kernel.walk([](tile::PrintOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

SmallVector<tile::PrintOp> gpu::printsOf(ModuleOp module) {
  SmallVector<tile::PrintOp> prints;
  module.walk([&](tile::PrintOp print) { prints.push_back(print); });
  return prints;
}

LogicalResult gpu::checkKernels(ArrayRef<tile::KernelOp> kernels) {
  if (failed(checkSameOperands(kernels)))
    return failure();
  for (tile::KernelOp kernel : kernels)
    if (!llvm::hasSingleElement(kernel.getBody()))
      return kernel.emitOpError("has more than one block: branches between blocks have no lowering to a GPU; use scf");
  return success();
}

namespace {

class RuleWriter {
public:
  explicit RuleWriter(abi::GpuLaunch &launch) : launch_(launch) {}

  abi::GpuKernel write(tile::KernelOp kernel) {
    abi::GpuKernel result;
    result.symbol = kernel.getName().str();
    tilegpu::BlockSize block = tilegpu::blockSizeOf(kernel);
    result.threads = block.threads();
    result.sharedBytes = block.sharedBytes;
    result.takesStatus = gpu::hasAssertions(kernel);
    result.takesPrinter = gpu::doesPrint(kernel);
    tile::LaunchAttr rule = kernel.getLaunchAttr();
    if (!rule)
      return result;
    readSizes(kernel);
    result.phase = rule.getPhase();
    for (AffineExpr count : rule.getGrid().getValue().getResults())
      result.grid.push_back(expression(count));
    if (rule.getWhen()) {
      IntegerSet set = rule.getWhen().getValue();
      for (unsigned i = 0; i < set.getNumConstraints(); ++i)
        result.when.push_back({expression(set.getConstraint(i)), set.isEq(i)});
    }
    if (rule.getWorkspace()) {
      result.takesWorkspace = true;
      result.workspace = expression(rule.getWorkspace().getValue().getResult(0));
    }
    return result;
  }

private:
  /// The sizes that a rule counts as d0, d1, ... in the launch's list.
  void readSizes(tile::KernelOp kernel) {
    dims_.clear();
    for (RuleSize size : ruleSizes(kernel)) {
      std::pair<int64_t, int64_t> entry{size.slot, size.known};
      auto found = llvm::find(launch_.sizes, entry);
      dims_.push_back(found - launch_.sizes.begin());
      if (found == launch_.sizes.end())
        launch_.sizes.push_back(entry);
    }
  }

  abi::LaunchExpr expression(AffineExpr expr) {
    abi::LaunchExpr result;
    append(expr, result);
    return result;
  }

  void append(AffineExpr expr, abi::LaunchExpr &out) {
    using Op = abi::LaunchExpr::Op;
    if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
      out.steps.push_back({Op::Size, dims_[dim.getPosition()]});
      return;
    }
    if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
      out.steps.push_back({Op::Constant, constant.getValue()});
      return;
    }
    auto binary = cast<AffineBinaryOpExpr>(expr);
    append(binary.getLHS(), out);
    append(binary.getRHS(), out);
    switch (expr.getKind()) {
    case AffineExprKind::Add:
      out.steps.push_back({Op::Add, 0});
      return;
    case AffineExprKind::Mul:
      out.steps.push_back({Op::Mul, 0});
      return;
    case AffineExprKind::Mod:
      out.steps.push_back({Op::Mod, 0});
      return;
    case AffineExprKind::FloorDiv:
      out.steps.push_back({Op::FloorDiv, 0});
      return;
    default:
      out.steps.push_back({Op::CeilDiv, 0});
      return;
    }
  }

  abi::GpuLaunch &launch_;
  SmallVector<int64_t> dims_; ///< For d0, d1, ... of the present rule, its place in the launch's sizes.
};

} // namespace

abi::GpuLaunch tilejit::describeGpuLaunch(ModuleOp module, bool sharedAtLaunch) {
  abi::GpuLaunch launch;
  RuleWriter writer(launch);
  for (tile::KernelOp kernel : module.getOps<tile::KernelOp>()) {
    launch.kernels.push_back(writer.write(kernel));
    if (!sharedAtLaunch)
      launch.kernels.back().sharedBytes = 0;
  }
  for (tile::PrintOp print : gpu::printsOf(module))
    launch.prints.push_back({print.getText().str(), printedTypes(print)});
  return launch;
}
