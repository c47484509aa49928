// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The canonical form: a description written so that everything that changes code is there, and nothing else is.

#include "ExpressionSyntax.h"
#include "Names.h"

#include "tilejit/Base/Json.h"
#include "tilejit/Description/Parse.h"
#include "tilejit/Description/Schema.h"

#include <array>
#include <cassert>

namespace tilejit {
namespace {

using json::Value;

/// "x03": numbered so that the order of names is the order of numbers.
std::string numbered(char letter, size_t index, size_t count) {
  std::string digits = std::to_string(index);
  size_t width = std::to_string(count ? count - 1 : 0).size();
  return letter + std::string(width - digits.size(), '0') + digits;
}

class Writer {
public:
  explicit Writer(const Description &description) : d_(description) {
    nameOperands(d_.inputs, operatorSchema(d_.family).inputs, 'x', inputNames_);
    nameOperands(d_.outputs, operatorSchema(d_.family).outputs, 'y', outputNames_);
    for (size_t i = 0; i < d_.dims.size(); ++i)
      dimNames_.push_back(numbered('d', i, d_.dims.size()));
  }

  Value whole() const {
    Value top = json::makeObject();
    top.add("tilejit",
            json::makeText(std::to_string(descriptionFormatMajor) + '.' + std::to_string(descriptionFormatMinor)));
    top.add("op", json::makeText(std::string(familyName(d_.family))));
    if (!d_.dims.empty())
      top.add("dims", dims());
    top.add("inputs", operands(d_.inputs, inputNames_));
    top.add("outputs", operands(d_.outputs, outputNames_));
    top.add("attributes", std::visit([this](const auto &attributes) { return write(attributes); }, d_.attributes));
    if (!d_.epilogue.empty())
      top.add("epilogue", epilogue());
    return top;
  }

private:
  /// Operands that the schema names keep their names; free ones are numbered.
  static void nameOperands(const std::vector<Operand> &operands, const std::vector<OperandSchema> &schemas, char letter,
                           std::vector<std::string> &names) {
    auto isFixed = [&](const Operand &operand) {
      for (const OperandSchema &schema : schemas)
        if (schema.name == operand.name)
          return true;
      return false;
    };
    size_t free = 0, count = 0;
    for (const Operand &operand : operands)
      free += !isFixed(operand);
    for (const Operand &operand : operands)
      names.push_back(isFixed(operand) ? operand.name : numbered(letter, count++, free));
  }

  Value dims() const {
    Value all = json::makeObject();
    for (size_t i = 0; i < d_.dims.size(); ++i) {
      Value range = json::makeObject();
      range.add("min", json::makeInteger(d_.dims[i].min));
      range.add("max", json::makeInteger(d_.dims[i].max));
      range.add("multiple_of", json::makeInteger(d_.dims[i].multipleOf));
      all.add(dimNames_[i], std::move(range));
    }
    return all;
  }

  Value operands(const std::vector<Operand> &list, const std::vector<std::string> &names) const {
    Value all = json::makeObject();
    for (size_t i = 0; i < list.size(); ++i)
      all.add(names[i], operand(list[i]));
    return all;
  }

  Value operand(const Operand &operand) const {
    Value value = json::makeObject();
    value.add("dtype", json::makeText(std::string(dtypeName(operand.dtype))));
    Value shape = json::makeArray();
    for (const Dim &dim : operand.shape)
      shape.items.push_back(dim.isSymbolic() ? json::makeText(dimNames_[dim.symbol]) : json::makeInteger(dim.size));
    value.add("shape", std::move(shape));
    if (operand.strides) {
      Value strides = json::makeArray();
      for (const Stride &stride : *operand.strides)
        strides.items.push_back(stride.kind == Stride::Kind::Constant ? json::makeInteger(stride.value)
                                : stride.kind == Stride::Kind::Symbol ? json::makeText(dimNames_[stride.value])
                                                                      : json::makeText("any"));
      value.add("strides", std::move(strides));
    }
    if (operand.align > 0)
      value.add("align", json::makeInteger(operand.align));
    if (operand.constant)
      value.add("constant", json::makeBool(true));
    return value;
  }

  Value epilogue() const {
    static constexpr std::array<const char *, 11> names{"add",  "sub",     "mul",  "scale", "clamp", "relu",
                                                        "silu", "sigmoid", "tanh", "gelu",  "gelu"};
    using Kind = EpilogueStep::Kind;
    Value steps = json::makeArray();
    for (const EpilogueStep &step : d_.epilogue) {
      Value value = json::makeObject();
      value.add("op", json::makeText(names[static_cast<size_t>(step.kind)]));
      if (step.input >= 0)
        value.add("input", json::makeText(inputNames_[step.input]));
      if (step.kind == Kind::Scale)
        value.add("value", json::makeNumber(step.value));
      if (step.kind == Kind::Clamp) {
        value.add("min", json::makeNumber(step.min));
        value.add("max", json::makeNumber(step.max));
      }
      if (step.kind == Kind::Gelu || step.kind == Kind::GeluTanh)
        value.add("approximate", json::makeText(step.kind == Kind::GeluTanh ? "tanh" : "none"));
      steps.items.push_back(std::move(value));
    }
    return steps;
  }

  static Value integers(const std::vector<int> &list) {
    Value value = json::makeArray();
    for (int item : list)
      value.items.push_back(json::makeInteger(item));
    return value;
  }
  Value choice(std::string_view attribute, size_t index) const {
    return json::makeText(operatorSchema(d_.family).findAttribute(attribute)->choices[index]);
  }

  /// Where it changes code.
  void addAccuracy(Value &value, Accuracy accuracy) const {
    if (accuracy != Accuracy::Full)
      value.add("accuracy", choice("accuracy", static_cast<size_t>(accuracy)));
  }

  Value write(const MatmulAttributes &attributes) const {
    Value value = json::makeObject();
    value.add("transpose_a", json::makeBool(attributes.transposeA));
    value.add("transpose_b", json::makeBool(attributes.transposeB));
    value.add("accumulate", json::makeText(std::string(dtypeName(attributes.accumulate))));
    value.add("precision", choice("precision", static_cast<size_t>(attributes.precision)));
    return value;
  }
  Value write(const ElementwiseAttributes &attributes) const {
    Value expressions = json::makeObject();
    for (size_t i = 0; i < attributes.expressions.size(); ++i)
      expressions.add(outputNames_[i], json::makeText(expression(attributes.expressions[i].text)));
    Value value = json::makeObject();
    value.add("expression", std::move(expressions));
    addAccuracy(value, attributes.accuracy);
    return value;
  }
  Value write(const ReduceAttributes &attributes) const {
    Value value = json::makeObject();
    value.add("kind", choice("kind", static_cast<size_t>(attributes.kind)));
    value.add("axes", integers(attributes.axes));
    value.add("keepdims", json::makeBool(attributes.keepdims));
    return value;
  }
  Value write(const SoftmaxAttributes &attributes) const {
    Value value = json::makeObject();
    value.add("axis", json::makeInteger(attributes.axis));
    addAccuracy(value, attributes.accuracy);
    return value;
  }
  Value write(const NormAttributes &attributes) const {
    Value value = json::makeObject();
    value.add("axis", json::makeInteger(attributes.axis));
    value.add("epsilon", json::makeNumber(attributes.epsilon));
    return value;
  }
  Value write(const TransposeAttributes &attributes) const {
    Value value = json::makeObject();
    value.add("permutation", integers(attributes.permutation));
    return value;
  }
  Value write(const CastAttributes &attributes) const {
    Value value = json::makeObject();
    value.add("rounding", choice("rounding", 0));
    value.add("saturate", json::makeBool(attributes.saturate));
    return value;
  }
  Value write(const AttentionAttributes &attributes) const {
    Value value = json::makeObject();
    value.add("scale", json::makeNumber(attributes.scale));
    value.add("causal", json::makeBool(attributes.causal));
    if (attributes.window)
      value.add("window", json::makeInteger(*attributes.window));
    if (attributes.softcap)
      value.add("softcap", json::makeNumber(*attributes.softcap));
    return value;
  }

  /// The tokens of an expression with inputs renamed; blanks only where two words would run together.
  std::string expression(const std::string &text) const {
    Value value = json::makeText(text);
    Document document{text, "expression", {}};
    Cursor cursor(document, value);
    std::vector<std::string_view> names;
    for (const Operand &input : d_.inputs)
      names.push_back(input.name);
    Expected<SyntaxTree> tree = parseSyntax(cursor, names);
    assert(tree.isOk() && "a validated expression is read again");
    Lexer lexer(cursor);
    std::string out;
    bool lastIsWord = false;
    for (size_t use = 0;;) {
      Expected<Token> token = lexer.next();
      if (!token || token->kind == Token::Kind::End)
        return out;
      bool isWord = token->kind != Token::Kind::Symbol;
      if (isWord && lastIsWord)
        out += ' ';
      bool isInput = use < tree->uses.size() && tree->uses[use].offset == token->offset;
      out += isInput ? inputNames_[tree->uses[use++].input] : std::string(token->text);
      lastIsWord = isWord;
    }
  }

  const Description &d_;
  std::vector<std::string> inputNames_, outputNames_, dimNames_;
};

} // namespace

std::string canonicalJson(const Description &description) { return json::write(Writer(description).whole()); }

} // namespace tilejit
