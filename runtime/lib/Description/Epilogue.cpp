// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Reading epilogue steps, and which operands they use.

#include "Draft.h"
#include "Shapes.h"

#include "tilejit/Base/Text.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tilejit {
namespace {

using Kind = EpilogueStep::Kind;

constexpr std::array<std::string_view, 10> stepNames{"add",  "sub",  "mul",     "scale", "clamp",
                                                     "relu", "silu", "sigmoid", "tanh",  "gelu"};

/// The keys of a step beside `op`.
std::span<const std::string_view> stepKeys(Kind kind) {
  static constexpr std::array<std::string_view, 2> input{"op", "input"}, value{"op", "value"},
      gelu{"op", "approximate"};
  static constexpr std::array<std::string_view, 3> clamp{"op", "min", "max"};
  static constexpr std::array<std::string_view, 1> none{"op"};
  switch (kind) {
  case Kind::Add:
  case Kind::Sub:
  case Kind::Mul:
    return input;
  case Kind::Scale:
    return value;
  case Kind::Clamp:
    return clamp;
  case Kind::Gelu:
    return gelu;
  default:
    return none;
  }
}

class EpilogueReader {
public:
  EpilogueReader(Draft &draft, const std::vector<Dim> &result, int fixedInputs, bool integer)
      : draft_(draft), result_(result), fixedInputs_(fixedInputs), integer_(integer) {}

  Status readStep(const Cursor &cursor);
  Status orderOperands();
  bool isInteger() const { return integer_; }

private:
  Status readOperand(const Cursor &cursor, EpilogueStep &step);
  Status checkOperand(const Operand &operand, const OperandPlace &place) const;
  Status readClamp(const Cursor &cursor, const Entries &facts, EpilogueStep &step) const;
  Status readGelu(const Entries &facts, EpilogueStep &step) const;
  void updateType(const EpilogueStep &step);

  Draft &draft_;
  const std::vector<Dim> &result_;
  int fixedInputs_;
  bool integer_;
  std::vector<int> used_; ///< Indices of operands in the order of their first use.
};

Status EpilogueReader::readStep(const Cursor &cursor) {
  TILEJIT_ASSIGN_OR_RETURN(Entries all, cursor.object("a step: an object with op"));
  const Cursor *op = findEntry(all, "op");
  if (!op)
    return cursor.missing("op", "an epilogue step");
  TILEJIT_ASSIGN_OR_RETURN(std::string name, op->text("the name of an epilogue step"));
  auto found = std::find(stepNames.begin(), stepNames.end(), name);
  if (found == stepNames.end())
    return op->unknown("an epilogue step", name, stepNames);
  EpilogueStep step{static_cast<Kind>(found - stepNames.begin())};
  std::span<const std::string_view> keys = stepKeys(step.kind);
  TILEJIT_ASSIGN_OR_RETURN(Entries facts, cursor.object("a step", keys));
  for (std::string_view key : keys)
    if (!findEntry(facts, key) && step.kind != Kind::Gelu)
      return cursor.missing(key, "the " + std::string(key) + " of " + name);
  if (const Cursor *input = findEntry(facts, "input"))
    TILEJIT_RETURN_IF_ERROR(readOperand(*input, step));
  if (const Cursor *value = findEntry(facts, "value")) {
    TILEJIT_ASSIGN_OR_RETURN(step.value, value->number("a number"));
  }
  if (step.kind == Kind::Clamp)
    TILEJIT_RETURN_IF_ERROR(readClamp(cursor, facts, step));
  if (step.kind == Kind::Gelu)
    TILEJIT_RETURN_IF_ERROR(readGelu(facts, step));
  updateType(step);
  draft_.description.epilogue.push_back(step);
  return Status::ok();
}

Status EpilogueReader::readOperand(const Cursor &cursor, EpilogueStep &step) {
  const std::vector<Operand> &inputs = draft_.description.inputs;
  TILEJIT_ASSIGN_OR_RETURN(std::string name, cursor.text("the name of an input"));
  int index = draft_.description.inputIndex(name);
  if (index < fixedInputs_) {
    std::vector<std::string_view> known;
    for (size_t i = fixedInputs_; i < inputs.size(); ++i)
      known.push_back(inputs[i].name);
    return cursor.unknown("an input of the epilogue", name, known);
  }
  if (std::find(used_.begin(), used_.end(), index) == used_.end()) {
    TILEJIT_RETURN_IF_ERROR(checkOperand(inputs[index], draft_.inputPlaces[index]));
    used_.push_back(index);
  }
  step.input = index;
  return Status::ok();
}

Status EpilogueReader::checkOperand(const Operand &operand, const OperandPlace &place) const {
  if (broadcastShapes(result_, operand.shape) != result_)
    return misfit(place.shape,
                  "expected a shape that broadcasts to the result " + draft_.shapeText(result_) + ", found " +
                      draft_.shapeText(operand.shape) + " of " + operand.name,
                  result_, operand.shape);
  return Status::ok();
}

Status EpilogueReader::readClamp(const Cursor &cursor, const Entries &facts, EpilogueStep &step) const {
  for (std::string_view key : {"min", "max"}) {
    const Cursor *bound = findEntry(facts, key);
    TILEJIT_ASSIGN_OR_RETURN(double value, bound->number("a number"));
    if (integer_ && value != std::trunc(value))
      return std::move(bound->expected("an integer bound, since the value is still an integer here"))
          .withHint("a scale step by 1 before it turns the value into f32");
    (key == "min" ? step.min : step.max) = value;
  }
  if (step.min > step.max)
    return cursor.error("expected min to be at most max, found min " + shown(findEntry(facts, "min")->value()) +
                        " and max " + shown(findEntry(facts, "max")->value()));
  return Status::ok();
}

Status EpilogueReader::readGelu(const Entries &facts, EpilogueStep &step) const {
  static constexpr std::array<std::string_view, 2> forms{"none", "tanh"};
  const Cursor *cursor = findEntry(facts, "approximate");
  if (!cursor)
    return Status::ok();
  TILEJIT_ASSIGN_OR_RETURN(std::string form, cursor->text("\"none\" or \"tanh\""));
  if (form != forms[0] && form != forms[1])
    return cursor->unknown("a form of gelu", form, forms);
  step.kind = form == "tanh" ? Kind::GeluTanh : Kind::Gelu;
  return Status::ok();
}

void EpilogueReader::updateType(const EpilogueStep &step) {
  if (step.input >= 0)
    integer_ &= !isFloat(draft_.description.inputs[step.input].dtype);
  else
    integer_ &= step.kind == Kind::Relu || step.kind == Kind::Clamp;
}

Status EpilogueReader::orderOperands() {
  std::vector<Operand> &inputs = draft_.description.inputs;
  for (size_t i = fixedInputs_; i < inputs.size(); ++i)
    if (std::find(used_.begin(), used_.end(), static_cast<int>(i)) == used_.end())
      return draft_.inputPlaces[i].whole.error("expected an input that an epilogue step uses, found \"" +
                                               inputs[i].name + "\" in none");
  std::vector<int> order, place(inputs.size());
  for (int i = 0; i < fixedInputs_; ++i)
    order.push_back(i);
  order.insert(order.end(), used_.begin(), used_.end());
  for (size_t i = 0; i < order.size(); ++i)
    place[order[i]] = static_cast<int>(i);
  for (EpilogueStep &step : draft_.description.epilogue)
    if (step.input >= 0)
      step.input = place[step.input];
  draft_.reorderInputs(order);
  return Status::ok();
}

} // namespace

Status readEpilogue(Draft &draft, const std::vector<Dim> &result, int fixedInputs, bool &integer) {
  constexpr size_t maxSteps = 256;
  EpilogueReader reader(draft, result, fixedInputs, integer);
  if (draft.epilogue) {
    TILEJIT_ASSIGN_OR_RETURN(std::vector<Cursor> steps, draft.epilogue->list("a list of steps", maxSteps));
    for (const Cursor &step : steps)
      TILEJIT_RETURN_IF_ERROR(reader.readStep(step));
  }
  integer = reader.isInteger();
  return reader.orderOperands();
}

} // namespace tilejit
