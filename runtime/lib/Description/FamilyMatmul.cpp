// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What must hold between the operands of a matrix product.

#include "Draft.h"
#include "Shapes.h"

#include <array>

namespace tilejit {
namespace {

/// Sizes of a factor: its leading dimensions, then rows and columns after the transposition.
struct Factor {
  std::vector<Dim> leading;
  Dim rows, columns;
};

Status readFactor(const Draft &draft, std::string_view name, bool transposed, Factor &factor) {
  const Operand &operand = *draft.description.findInput(name);
  if (operand.rank() < 2)
    return draft.input(name).shape.error("expected at least 2 dimensions, found " + draft.shapeText(operand.shape));
  factor.leading.assign(operand.shape.begin(), operand.shape.end() - 2);
  factor.rows = operand.shape[operand.rank() - (transposed ? 1 : 2)];
  factor.columns = operand.shape[operand.rank() - (transposed ? 2 : 1)];
  return Status::ok();
}

/// a and b have one type, or are u8 and i8 in either order.
Status checkInputTypes(const Draft &draft) {
  const Operand &a = draft.description.inputs[0], &b = draft.description.inputs[1];
  auto isByte = [](DType dtype) { return dtype == DType::I8 || dtype == DType::U8; };
  if (isByte(a.dtype)) {
    static constexpr std::array<DType, 2> bytes{DType::I8, DType::U8};
    return requireDType(draft.input("b"), b, bytes, " beside " + std::string(dtypeName(a.dtype)) + " in a");
  }
  return requireDType(draft.input("b"), b, std::array{a.dtype}, ", the type of a");
}

Status readTypes(const Draft &draft, MatmulAttributes &attributes) {
  DType dtype = draft.description.inputs[0].dtype;
  attributes.accumulate = dtype == DType::F64 ? DType::F64 : isInteger(dtype) ? DType::I32 : DType::F32;
  static constexpr std::array accumulators{DType::F32, DType::F64, DType::I32};
  std::optional<size_t> accumulate = choiceAttribute(draft, "accumulate");
  if (accumulate && accumulators[*accumulate] != attributes.accumulate)
    return attributePlace(draft, "accumulate")
        ->expected('"' + std::string(dtypeName(attributes.accumulate)) + "\" for inputs of " +
                   std::string(dtypeName(dtype)));
  attributes.precision = static_cast<Precision>(*choiceAttribute(draft, "precision"));
  if (attributes.precision != Precision::Ieee && dtype != DType::F32)
    return attributePlace(draft, "precision")
        ->expected("\"ieee\" for inputs of " + std::string(dtypeName(dtype)) + " (the others are for f32)");
  return Status::ok();
}

Status checkOutputType(const Draft &draft, bool integerProduct, bool integerResult) {
  const Operand &c = draft.description.outputs[0];
  if (isFloat(c.dtype) || (integerResult && (c.dtype == DType::I32 || c.dtype == DType::I64)))
    return Status::ok();
  return draft.output("c").dtype.expected(integerResult    ? "i32, i64 or a floating type for an integer product"
                                          : integerProduct ? "a floating type, since the epilogue makes the value f32"
                                                           : "a floating type for a floating product");
}

} // namespace

Status finishMatmul(Draft &draft) {
  Description &description = draft.description;
  MatmulAttributes attributes;
  attributes.transposeA = boolAttribute(draft, "transpose_a");
  attributes.transposeB = boolAttribute(draft, "transpose_b");
  Factor a, b;
  TILEJIT_RETURN_IF_ERROR(readFactor(draft, "a", attributes.transposeA, a));
  TILEJIT_RETURN_IF_ERROR(readFactor(draft, "b", attributes.transposeB, b));
  TILEJIT_RETURN_IF_ERROR(checkInputTypes(draft));
  TILEJIT_RETURN_IF_ERROR(readTypes(draft, attributes));
  if (a.columns != b.rows)
    return misfit(draft.input("b").shape,
                  "expected k = " + dimText(description, a.columns) + " as in a " +
                      draft.shapeText(description.inputs[0].shape) + ", found k = " + dimText(description, b.rows) +
                      " in " + draft.shapeText(description.inputs[1].shape),
                  {a.columns}, {b.rows});
  std::optional<std::vector<Dim>> result = broadcastShapes(a.leading, b.leading);
  if (!result)
    return misfit(draft.input("b").shape,
                  "expected leading dimensions that broadcast with " + draft.shapeText(a.leading) + " of a, found " +
                      draft.shapeText(b.leading),
                  a.leading, b.leading);
  result->push_back(a.rows);
  result->push_back(b.columns);
  TILEJIT_RETURN_IF_ERROR(
      requireShape(draft, draft.output("c"), description.outputs[0], *result, "the shape of the product"));
  bool integerProduct = attributes.accumulate == DType::I32, integer = integerProduct;
  TILEJIT_RETURN_IF_ERROR(readEpilogue(draft, *result, 2, integer));
  TILEJIT_RETURN_IF_ERROR(checkOutputType(draft, integerProduct, integer));
  description.attributes = attributes;
  return Status::ok();
}

} // namespace tilejit
