// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What must hold between the operands of attention, and what its attributes may be.

#include "Draft.h"
#include "Shapes.h"

#include <array>
#include <cmath>

namespace tilejit {
namespace {

/// An operand's shape has four dimensions, heads and the last one constants.
Status checkHeads(const Draft &draft, std::string_view name) {
  constexpr int64_t maxHeads = int64_t{1} << 20, maxDepth = 256;
  const Operand &operand = *draft.description.findInput(name);
  const Cursor &place = draft.input(name).shape;
  if (operand.rank() != 4)
    return place.error("expected 4 dimensions (batches, heads, positions, elements), found " +
                       draft.shapeText(operand.shape));
  for (auto [dim, limit, what] : {std::tuple(1, maxHeads, "heads"), std::tuple(3, maxDepth, "elements of a head")}) {
    const Dim &size = operand.shape[dim];
    if (size.isSymbolic() || size.size < 1 || size.size > limit)
      return place.at(static_cast<size_t>(dim))
          .expected("a constant number of " + std::string(what) + " from 1 to " + std::to_string(limit));
  }
  return Status::ok();
}

Status checkKeys(const Draft &draft) {
  const Operand &q = draft.description.inputs[0], &k = draft.description.inputs[1];
  const Cursor &place = draft.input("k").shape;
  if (k.shape[0] != q.shape[0] || k.shape[3] != q.shape[3]) {
    std::vector<Dim> expected{q.shape[0], k.shape[1], k.shape[2], q.shape[3]};
    return requireShape(draft, draft.input("k"), k, expected, "batches and elements of q");
  }
  if (q.shape[1].size % k.shape[1].size != 0)
    return place.at(1).expected("a divisor of " + std::to_string(q.shape[1].size) + ", the heads of q");
  return requireShape(draft, draft.input("v"), draft.description.inputs[2], k.shape, "the shape of k");
}

Status checkTypes(const Draft &draft) {
  const Description &description = draft.description;
  DType dtype = description.inputs[0].dtype;
  for (std::string_view name : {"k", "v"})
    TILEJIT_RETURN_IF_ERROR(
        requireDType(draft.input(name), *description.findInput(name), std::array{dtype}, ", the type of q"));
  const Operand *bias = description.findInput("bias");
  if (bias && bias->dtype == DType::F64 && dtype != DType::F64)
    return draft.input("bias").dtype.expected("a type other than f64, since q is " + std::string(dtypeName(dtype)));
  return Status::ok();
}

/// The bias broadcasts against the scores and does not enlarge them.
Status checkBias(const Draft &draft) {
  const Operand *bias = draft.description.findInput("bias");
  if (!bias)
    return Status::ok();
  std::vector<Dim> scores = draft.description.inputs[0].shape;
  scores[3] = draft.description.inputs[1].shape[2];
  if (bias->rank() <= 4 && broadcastShapes(bias->shape, scores) == scores)
    return Status::ok();
  return misfit(draft.input("bias").shape,
                "expected a shape that broadcasts to " + draft.shapeText(scores) + ", that of the scores, found " +
                    draft.shapeText(bias->shape),
                scores, bias->shape);
}

Status checkOutputs(const Draft &draft) {
  const Description &description = draft.description;
  const std::vector<Dim> &q = description.inputs[0].shape;
  TILEJIT_RETURN_IF_ERROR(requireShape(draft, draft.output("o"), description.outputs[0], q, "the shape of q"));
  const Operand *lse = description.findOutput("lse");
  if (!lse)
    return Status::ok();
  return requireShape(draft, draft.output("lse"), *lse, {q.begin(), q.begin() + 3}, "the shape of q but the last");
}

Status readMask(const Draft &draft, AttentionAttributes &attributes) {
  attributes.causal = boolAttribute(draft, "causal");
  const Cursor *window = attributePlace(draft, "window");
  if (!window)
    return Status::ok();
  if (!attributes.causal)
    return window->expected("no window where causal is false");
  TILEJIT_ASSIGN_OR_RETURN(attributes.window,
                           window->integer("a number of keys: an integer from 1 to 2^40", 1, maxSize));
  return Status::ok();
}

} // namespace

Status finishAttention(Draft &draft) {
  AttentionAttributes attributes;
  for (std::string_view name : {"q", "k", "v"})
    TILEJIT_RETURN_IF_ERROR(checkHeads(draft, name));
  TILEJIT_RETURN_IF_ERROR(checkKeys(draft));
  TILEJIT_RETURN_IF_ERROR(checkTypes(draft));
  TILEJIT_RETURN_IF_ERROR(checkBias(draft));
  TILEJIT_RETURN_IF_ERROR(checkOutputs(draft));
  TILEJIT_RETURN_IF_ERROR(readMask(draft, attributes));
  attributes.scale = attributePlace(draft, "scale")
                         ? numberAttribute(draft, "scale")
                         : 1 / std::sqrt(static_cast<double>(draft.description.inputs[0].shape[3].size));
  if (const Cursor *softcap = attributePlace(draft, "softcap")) {
    attributes.softcap = numberAttribute(draft, "softcap");
    if (!(*attributes.softcap > 0))
      return softcap->expected("a number above 0");
  }
  draft.description.attributes = attributes;
  return Status::ok();
}

} // namespace tilejit
