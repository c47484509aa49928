// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Combining regions: their operations are evaluated on single values or on vectors, with values from outside the region
// spread over the lanes.

#include "KernelLowering.h"

using namespace mlir;
using namespace tilejit;
using namespace tilejit::cpu;

bool KernelLowering::combineRegion(Region &region, ArrayRef<Value> left, ArrayRef<Value> right,
                                   SmallVectorImpl<Value> &out) {
  Block &body = region.front();
  auto type = dyn_cast<VectorType>(left[0].getType());
  Segment segment;
  if (type) {
    segment.dim = 0;
    segment.width = type.getNumElements();
  }
  SmallVector<Value> operands(left.begin(), left.end());
  operands.append(right.begin(), right.end());
  for (auto [argument, value] : llvm::zip(body.getArguments(), operands))
    setScalar(argument, value);
  SmallVector<std::pair<Value, Value>> captured; // Scalars from outside, to be put back.
  bool good = true;
  auto lanesOf = [&](Value outer) {
    Value known = scalar(outer);
    if (type && known && !isa<VectorType>(known.getType())) {
      captured.push_back({outer, known});
      setScalar(outer, e.splat(known, segment.width));
    }
  };
  for (Operation &inner : body.without_terminator()) {
    auto lazy = tables.lazy.find(inner.getName().getStringRef());
    if (lazy == tables.lazy.end() || inner.getNumRegions()) {
      (void)refuse(&inner, "this back end does not support the operation in a combining region");
      good = false;
      break;
    }
    llvm::for_each(inner.getOperands(), lanesOf);
    Value result = lazy->second.combine(*this, &inner, segment, {});
    if (!result) {
      good = false;
      break;
    }
    setScalar(inner.getResult(0), result);
  }
  if (good) {
    llvm::for_each(body.getTerminator()->getOperands(), lanesOf);
    out.clear();
    for (Value yielded : body.getTerminator()->getOperands())
      out.push_back(scalar(yielded));
  }
  for (auto [outer, known] : captured)
    setScalar(outer, known);
  return good;
}
