// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Operands and slots of kernels, see KernelArguments.h.

#include "KernelArguments.h"

using namespace mlir;
using namespace tilejit;

static ArrayRef<Type> operandTypes(tile::KernelOp kernel) {
  tile::LaunchAttr launch = kernel.getLaunchAttr();
  ArrayRef<Type> types = kernel.getArgumentTypes();
  return launch && launch.getWorkspace() ? types.drop_back() : types;
}

LogicalResult tilejit::checkSameOperands(ArrayRef<tile::KernelOp> kernels) {
  tile::KernelOp first = kernels.front();
  for (tile::KernelOp kernel : kernels) {
    if (operandTypes(kernel) == operandTypes(first))
      continue;
    InFlightDiagnostic diagnostic = kernel.emitOpError("expected the arguments of the module's first kernel");
    diagnostic.attachNote(first.getLoc()) << "the first kernel";
    return diagnostic;
  }
  return success();
}

SmallVector<RuleSize> tilejit::ruleSizes(tile::KernelOp kernel) {
  SmallVector<RuleSize> sizes;
  ArrayRef<int64_t> pairs = kernel.getLaunchAttr().getSizes();
  for (size_t i = 0; i + 1 < pairs.size(); i += 2) {
    int64_t slot = 0;
    for (int64_t argument = 0; argument < pairs[i]; ++argument) {
      auto before = dyn_cast<tile::ViewType>(kernel.getArgumentTypes()[argument]);
      slot += before ? 1 + 2 * before.getRank() : 1;
    }
    auto view = cast<tile::ViewType>(kernel.getArgumentTypes()[pairs[i]]);
    int64_t dim = pairs[i + 1];
    if (view.isDynamicDim(dim))
      sizes.push_back({slot + 1 + dim, 0});
    else
      sizes.push_back({-1, view.getShape()[dim]});
  }
  return sizes;
}
