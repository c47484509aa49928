// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What an expression must be so that it can be evaluated without a second look.

#include "tilejit/ABI/GpuLaunch.h"

namespace tilejit::abi {

std::string launchExprFault(const LaunchExpr &expr, size_t sizes) {
  using Op = LaunchExpr::Op;
  size_t depth = 0;
  for (const LaunchExpr::Step &step : expr.steps) {
    if (step.op == Op::Size && (step.value < 0 || static_cast<size_t>(step.value) >= sizes))
      return "uses size " + std::to_string(step.value) + " of " + std::to_string(sizes);
    bool isLeaf = step.op == Op::Constant || step.op == Op::Size;
    if (!isLeaf && (step.op > Op::Mod || depth < 2))
      return "can't be evaluated";
    depth = isLeaf ? depth + 1 : depth - 1;
    if (depth > maxLaunchExprDepth)
      return "is nested too deeply";
  }
  return depth == 1 ? "" : "can't be evaluated";
}

} // namespace tilejit::abi
