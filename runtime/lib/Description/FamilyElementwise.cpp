// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Elementwise: one shape for all, an expression for each output, inputs in the order of their first use.

#include "Draft.h"
#include "ExpressionSyntax.h"
#include "ExpressionTypes.h"
#include "Shapes.h"

#include <algorithm>

namespace tilejit {
namespace {

Status checkShapes(const Draft &draft) {
  const Description &description = draft.description;
  std::vector<Dim> shape;
  for (size_t i = 0; i < description.inputs.size(); ++i) {
    const std::vector<Dim> &next = description.inputs[i].shape;
    std::optional<std::vector<Dim>> result = broadcastShapes(shape, next);
    if (!result)
      return misfit(draft.inputPlaces[i].shape,
                    "expected a shape that broadcasts with " + draft.shapeText(shape) +
                        " of the inputs before it, found " + draft.shapeText(next),
                    shape, next);
    shape = *result;
  }
  for (size_t i = 0; i < description.outputs.size(); ++i)
    TILEJIT_RETURN_IF_ERROR(
        requireShape(draft, draft.outputPlaces[i], description.outputs[i], shape, "the broadcast shape of all inputs"));
  return Status::ok();
}

class ExpressionReader {
public:
  explicit ExpressionReader(Draft &draft) : draft_(draft) {
    for (const Operand &input : draft.description.inputs) {
      names_.push_back(input.name);
      types_.push_back(input.dtype);
    }
  }

  Status read(const Cursor &cursor, DType output) {
    TILEJIT_RETURN_IF_ERROR(cursor.text("an expression as text").status());
    TILEJIT_ASSIGN_OR_RETURN(SyntaxTree tree, parseSyntax(cursor, names_));
    for (const InputUse &use : tree.uses)
      if (std::find(order_.begin(), order_.end(), use.input) == order_.end())
        order_.push_back(use.input);
    Expression expression;
    expression.text = cursor.value().text;
    TILEJIT_ASSIGN_OR_RETURN(expression.nodes, typeExpression(Lexer(cursor), std::move(tree), types_, output));
    expressions_.push_back(std::move(expression));
    return Status::ok();
  }

  /// Puts the inputs into canonical order and hands the expressions over.
  void finish() {
    for (size_t i = 0; i < names_.size(); ++i)
      if (std::find(order_.begin(), order_.end(), static_cast<int>(i)) == order_.end())
        order_.push_back(static_cast<int>(i));
    std::vector<int> place(order_.size());
    for (size_t i = 0; i < order_.size(); ++i)
      place[order_[i]] = static_cast<int>(i);
    for (Expression &expression : expressions_)
      for (ExprNode &node : expression.nodes)
        if (node.op == ExprOp::Input)
          node.input = place[node.input];
    draft_.reorderInputs(order_);
    draft_.description.attributes = ElementwiseAttributes{
        std::move(expressions_), static_cast<Accuracy>(choiceAttribute(draft_, "accuracy").value_or(0))};
  }

private:
  Draft &draft_;
  std::vector<std::string_view> names_;
  std::vector<DType> types_;
  std::vector<int> order_; ///< Inputs in the order of their first use.
  std::vector<Expression> expressions_;
};

} // namespace

Status finishElementwise(Draft &draft) {
  const std::vector<Operand> &outputs = draft.description.outputs;
  const Cursor &place = *attributePlace(draft, "expression");
  TILEJIT_ASSIGN_OR_RETURN(Entries entries, place.object("expressions by output name"));
  std::vector<std::string_view> names;
  for (const Operand &output : outputs)
    names.push_back(output.name);
  for (const Cursor::Entry &entry : entries)
    if (draft.description.outputIndex(entry.key) < 0)
      return entry.cursor.unknown("the name of an output", entry.key, names);
  TILEJIT_RETURN_IF_ERROR(checkShapes(draft));
  ExpressionReader reader(draft);
  for (const Operand &output : outputs) {
    const Cursor *cursor = findEntry(entries, output.name);
    if (!cursor)
      return place.missing(output.name, "an expression for the output " + output.name);
    TILEJIT_RETURN_IF_ERROR(reader.read(*cursor, output.dtype));
  }
  reader.finish();
  return Status::ok();
}

} // namespace tilejit
