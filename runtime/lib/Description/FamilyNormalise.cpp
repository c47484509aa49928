// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// softmax, log_softmax, layernorm and rmsnorm: an axis, and operands whose shapes follow from it.

#include "Draft.h"

#include <array>

namespace tilejit {

Status finishSoftmax(Draft &draft) {
  const Operand &x = draft.description.inputs[0];
  TILEJIT_ASSIGN_OR_RETURN(int axis, axisAttribute(draft, "axis", x.rank()));
  TILEJIT_RETURN_IF_ERROR(
      requireShape(draft, draft.output("y"), draft.description.outputs[0], x.shape, "the shape of x"));
  draft.description.attributes =
      SoftmaxAttributes{axis, static_cast<Accuracy>(choiceAttribute(draft, "accuracy").value_or(0))};
  return Status::ok();
}

Status finishNorm(Draft &draft) {
  const Description &description = draft.description;
  const Operand &x = description.inputs[0];
  NormAttributes attributes;
  TILEJIT_ASSIGN_OR_RETURN(attributes.axis, axisAttribute(draft, "axis", x.rank()));
  attributes.epsilon = numberAttribute(draft, "epsilon");
  if (attributes.epsilon < 0)
    return attributePlace(draft, "epsilon")->expected("a number that is not negative");
  std::vector<Dim> leading(x.shape.begin(), x.shape.begin() + attributes.axis);
  std::vector<Dim> normalised(x.shape.begin() + attributes.axis, x.shape.end());
  for (std::string_view name : {"weight", "bias"})
    if (const Operand *operand = description.findInput(name)) {
      TILEJIT_RETURN_IF_ERROR(
          requireShape(draft, draft.input(name), *operand, normalised, "the normalised dimensions"));
      if (operand->dtype == DType::F64 && x.dtype != DType::F64)
        return draft.input(name).dtype.expected("a type other than f64, since x is " + std::string(dtypeName(x.dtype)));
    }
  for (const Operand &output : description.outputs) {
    bool isStatistic = output.name != "y";
    TILEJIT_RETURN_IF_ERROR(requireShape(draft, draft.output(output.name), output, isStatistic ? leading : x.shape,
                                         isStatistic ? "the leading dimensions of x" : "the shape of x"));
  }
  draft.description.attributes = attributes;
  return Status::ok();
}

} // namespace tilejit
