// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A description while it is being read: what has been validated so far, and where each part stood, so that the checks
// of a family can point at it.

#ifndef TILEJIT_LIB_DESCRIPTION_DRAFT_H
#define TILEJIT_LIB_DESCRIPTION_DRAFT_H

#include "Cursor.h"

#include "tilejit/Description/Description.h"
#include "tilejit/Description/Schema.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tilejit {

using Entries = std::vector<Cursor::Entry>;

/// Where the parts of an operand stood.
struct OperandPlace {
  Cursor whole, dtype, shape;
};

struct Draft {
  Cursor root;
  const OperatorSchema *schema;
  Description description;
  std::vector<OperandPlace> inputPlaces, outputPlaces; ///< Parallel to the description's operands.
  Entries attributes;
  std::optional<Cursor> attributesPlace, epilogue;

  const OperandPlace &input(std::string_view name) const { return inputPlaces[description.inputIndex(name)]; }
  const OperandPlace &output(std::string_view name) const { return outputPlaces[description.outputIndex(name)]; }
  /// Puts the inputs into another order: `order[i]` is the index of what becomes input i.
  void reorderInputs(const std::vector<int> &order);
  std::string shapeText(const std::vector<Dim> &shape) const;
};

/// Reads `dims`, `inputs` and `outputs`; operands come out in the order of the schema, then free names by name.
Status readOperands(Draft &draft, const Entries &top);
/// An error about two shapes that do not fit, with a hint where symbolic dimensions are the reason.
Status misfit(const Cursor &place, std::string message, const std::vector<Dim> &a, const std::vector<Dim> &b);
/// Checks the shape of an operand. `why` says where the expected one comes from: "that of x".
Status requireShape(const Draft &draft, const OperandPlace &place, const Operand &operand,
                    const std::vector<Dim> &expected, std::string_view why);
/// Checks the type of an operand against a list; `why` is added to the message.
Status requireDType(const OperandPlace &place, const Operand &operand, std::span<const DType> allowed,
                    std::string_view why);
/// Renumbers dimensions in the order in which operands first use them.
void orderDims(Description &description);

// Attributes, checked against the schema and filled with its defaults.

/// Reads `attributes`: known names and right types only.
Status readAttributes(Draft &draft, const Entries &top);
bool boolAttribute(const Draft &draft, std::string_view name);
int64_t integerAttribute(const Draft &draft, std::string_view name);
double numberAttribute(const Draft &draft, std::string_view name);
/// Index in the schema's choices; nothing where it was not given and has no fixed default.
std::optional<size_t> choiceAttribute(const Draft &draft, std::string_view name);
/// Where an attribute was given; null where it was not.
const Cursor *attributePlace(const Draft &draft, std::string_view name);
/// An axis list: each within the rank, none twice, negative ones counted from the end. Nothing where it was not given.
Expected<std::optional<std::vector<int>>> axesAttribute(const Draft &draft, std::string_view name, int rank);
/// One axis.
Expected<int> axisAttribute(const Draft &draft, std::string_view name, int rank);

// The families: check what relates the operands, fill in `attributes`.

Status finishMatmul(Draft &draft);
Status finishElementwise(Draft &draft);
Status finishReduce(Draft &draft);
Status finishSoftmax(Draft &draft);
Status finishNorm(Draft &draft);
Status finishTranspose(Draft &draft);
Status finishCast(Draft &draft);
Status finishAttention(Draft &draft);
Status finishAttentionDecode(Draft &draft);

/// Reads the epilogue of a result of this shape; `integer`: the accumulator is i32. Sets `integer` to whether it still
/// is an integer at the end.
Status readEpilogue(Draft &draft, const std::vector<Dim> &result, int fixedInputs, bool &integer);

} // namespace tilejit

#endif // TILEJIT_LIB_DESCRIPTION_DRAFT_H
