// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Reductions: axes, the shape of the result, and which types it may have.

#include "Draft.h"
#include "Shapes.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

namespace tilejit {
namespace {

bool isArg(ReduceKind kind) { return kind == ReduceKind::ArgMax || kind == ReduceKind::ArgMin; }

Status checkType(const Draft &draft, ReduceKind kind) {
  const Operand &x = draft.description.inputs[0], &y = draft.description.outputs[0];
  const OperandPlace &place = draft.output("y");
  if (isArg(kind))
    return requireDType(place, y, std::array{DType::I32, DType::I64}, " for an index");
  if (kind == ReduceKind::Mean || isFloat(x.dtype))
    return isFloat(y.dtype) ? Status::ok()
                            : place.dtype.expected(kind == ReduceKind::Mean ? "a floating type for a mean"
                                                                            : "a floating type for a floating x");
  bool boolOfBool =
      y.dtype == DType::Bool && x.dtype == DType::Bool && (kind == ReduceKind::Max || kind == ReduceKind::Min);
  return isInteger(y.dtype) || boolOfBool ? Status::ok()
                                          : place.dtype.expected("an integer type for an integer or bool x");
}

/// What can be refused before sizes are known: extremes of nothing, and indices that i32 can't hold.
Status checkCount(const Draft &draft, const ReduceAttributes &attributes) {
  if (attributes.kind == ReduceKind::Sum || attributes.kind == ReduceKind::Prod || attributes.kind == ReduceKind::Mean)
    return Status::ok();
  const Operand &x = draft.description.inputs[0], &y = draft.description.outputs[0];
  int64_t count = 1;
  for (int axis : attributes.axes) {
    const Dim &dim = x.shape[axis];
    if (dim == Dim{0, -1})
      return draft.input("x").shape.error("expected at least one element to choose from, found none along axis " +
                                          std::to_string(axis) + " of " + draft.shapeText(x.shape));
    if (!dim.isSymbolic())
      count *= dim.size;
  }
  if (isArg(attributes.kind) && y.dtype == DType::I32 && count - 1 > std::numeric_limits<int32_t>::max())
    return draft.output("y").dtype.expected("i64 for an index into " + std::to_string(count) + " elements");
  return Status::ok();
}

} // namespace

Status finishReduce(Draft &draft) {
  const Operand &x = draft.description.inputs[0];
  ReduceAttributes attributes;
  attributes.kind = static_cast<ReduceKind>(*choiceAttribute(draft, "kind"));
  attributes.keepdims = boolAttribute(draft, "keepdims");
  TILEJIT_ASSIGN_OR_RETURN(std::optional<std::vector<int>> axes, axesAttribute(draft, "axes", x.rank()));
  if (axes && axes->empty() && x.rank() > 0)
    return attributePlace(draft, "axes")->expected("at least one axis");
  if (axes) {
    attributes.axes = *axes;
    std::sort(attributes.axes.begin(), attributes.axes.end());
  } else {
    attributes.axes.resize(x.rank());
    std::iota(attributes.axes.begin(), attributes.axes.end(), 0);
  }
  std::vector<Dim> shape;
  for (int i = 0; i < x.rank(); ++i) {
    bool isReduced = std::binary_search(attributes.axes.begin(), attributes.axes.end(), i);
    if (!isReduced)
      shape.push_back(x.shape[i]);
    else if (attributes.keepdims)
      shape.push_back(Dim{1, -1});
  }
  std::string_view why = attributes.keepdims ? "x with size 1 in the reduced axes" : "x without the reduced axes";
  TILEJIT_RETURN_IF_ERROR(requireShape(draft, draft.output("y"), draft.description.outputs[0], shape, why));
  TILEJIT_RETURN_IF_ERROR(checkType(draft, attributes.kind));
  TILEJIT_RETURN_IF_ERROR(checkCount(draft, attributes));
  draft.description.attributes = attributes;
  return Status::ok();
}

} // namespace tilejit
