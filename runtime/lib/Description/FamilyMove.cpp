// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// transpose and cast: families that move values without computing with several of them.

#include "Draft.h"

#include <array>

namespace tilejit {

Status finishTranspose(Draft &draft) {
  const Operand &x = draft.description.inputs[0], &y = draft.description.outputs[0];
  TILEJIT_ASSIGN_OR_RETURN(std::optional<std::vector<int>> given, axesAttribute(draft, "permutation", x.rank()));
  if (given && given->size() != x.shape.size())
    return attributePlace(draft, "permutation")
        ->expected("each of the " + std::to_string(x.rank()) + " dimensions of x once");
  TransposeAttributes attributes;
  for (int i = 0; i < x.rank(); ++i)
    attributes.permutation.push_back(given ? (*given)[i] : x.rank() - 1 - i);
  std::vector<Dim> shape;
  for (int axis : attributes.permutation)
    shape.push_back(x.shape[axis]);
  TILEJIT_RETURN_IF_ERROR(requireShape(draft, draft.output("y"), y, shape, "the permuted shape of x"));
  TILEJIT_RETURN_IF_ERROR(requireDType(draft.output("y"), y, std::array{x.dtype}, ", the type of x"));
  draft.description.attributes = attributes;
  return Status::ok();
}

Status finishCast(Draft &draft) {
  const Operand &x = draft.description.inputs[0];
  TILEJIT_RETURN_IF_ERROR(
      requireShape(draft, draft.output("y"), draft.description.outputs[0], x.shape, "the shape of x"));
  draft.description.attributes = CastAttributes{boolAttribute(draft, "saturate")};
  return Status::ok();
}

} // namespace tilejit
