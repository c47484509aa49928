// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Help texts made from the schemas.

#include "tilejit/Description/Config.h"
#include "tilejit/Description/Schema.h"

#include <algorithm>

namespace tilejit {
namespace {

constexpr size_t lineWidth = 100;

/// Appends words, with later lines indented.
void wrap(std::string_view text, size_t indent, size_t column, std::string &out) {
  while (!text.empty()) {
    std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (column + 1 + word.size() > lineWidth && column > indent) {
      out += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  out += '\n';
}

/// "  name    text": a row of a list.
void row(const std::string &name, size_t width, std::string_view text, std::string &out) {
  out += "  " + name + std::string(width - std::min(width, name.size()) + 2, ' ');
  wrap(text, width + 4, std::max(width, name.size()) + 4, out);
}

std::string displayName(const OperandSchema &operand) { return operand.name == "*" ? "(your names)" : operand.name; }

void operandRows(std::string_view title, const std::vector<OperandSchema> &operands, std::string &out) {
  size_t width = 0;
  for (const OperandSchema &operand : operands)
    width = std::max(width, displayName(operand).size());
  out += '\n' + std::string(title) + '\n';
  for (const OperandSchema &operand : operands)
    row(displayName(operand), width,
        (operand.optional ? "optional; " : "") + operand.shape + "; " + operand.dtypeText + ". " + operand.doc, out);
}

std::string attributeFacts(const AttributeSchema &attribute) {
  std::string text(attributeTypeName(attribute.type));
  if (!attribute.choices.empty()) {
    text = "one of";
    for (const std::string &choice : attribute.choices)
      text += ' ' + choice;
  }
  return text + (attribute.required ? "; required" : "; default " + attribute.defaultText) + ". " + attribute.doc;
}

json::Value operandsJson(const std::vector<OperandSchema> &operands) {
  json::Value list = json::makeArray();
  for (const OperandSchema &operand : operands) {
    json::Value value = json::makeObject();
    value.add("name", json::makeText(operand.name));
    value.add("shape", json::makeText(operand.shape));
    json::Value dtypes = json::makeArray();
    for (DType dtype : operand.dtypes)
      dtypes.items.push_back(json::makeText(std::string(dtypeName(dtype))));
    value.add("dtypes", std::move(dtypes));
    value.add("optional", json::makeBool(operand.optional));
    value.add("doc", json::makeText(operand.doc));
    list.items.push_back(std::move(value));
  }
  return list;
}

json::Value attributeJson(const AttributeSchema &attribute) {
  json::Value value = json::makeObject();
  value.add("name", json::makeText(attribute.name));
  value.add("type", json::makeText(std::string(attributeTypeName(attribute.type))));
  if (!attribute.choices.empty()) {
    json::Value choices = json::makeArray();
    for (const std::string &choice : attribute.choices)
      choices.items.push_back(json::makeText(choice));
    value.add("choices", std::move(choices));
  }
  value.add("default", attribute.defaultValue);
  value.add("default_text", json::makeText(attribute.defaultText));
  value.add("required", json::makeBool(attribute.required));
  value.add("doc", json::makeText(attribute.doc));
  return value;
}

void configRows(Family family, std::string &out) {
  size_t width = 0;
  for (const ConfigKey &key : configKeys(family))
    width = std::max(width, key.name.size());
  out += "\nConfig keys (--config key=value; a config never changes what is computed)\n";
  for (const ConfigKey &key : configKeys(family)) {
    std::string range = std::to_string(key.min) + " to " + std::to_string(key.max);
    std::string text = range + (key.notOnCpu.empty() ? ". " : "; GPUs only. ") + std::string(key.meaning);
    row(std::string(key.name), width, text, out);
  }
}

json::Value configJson(Family family) {
  json::Value list = json::makeArray();
  for (const ConfigKey &key : configKeys(family)) {
    json::Value value = json::makeObject();
    value.add("name", json::makeText(std::string(key.name)));
    value.add("min", json::makeInteger(key.min));
    value.add("max", json::makeInteger(key.max));
    value.add("cpu", json::makeBool(key.notOnCpu.empty()));
    value.add("doc", json::makeText(std::string(key.meaning)));
    list.items.push_back(std::move(value));
  }
  return list;
}

} // namespace

std::string operatorHelp(Family family) {
  const OperatorSchema &schema = operatorSchema(family);
  std::string out = std::string(familyName(family)) + ": ";
  wrap(schema.summary, 2, out.size(), out);
  operandRows("Inputs", schema.inputs, out);
  operandRows("Outputs", schema.outputs, out);
  size_t width = 0;
  for (const AttributeSchema &attribute : schema.attributes)
    width = std::max(width, attribute.name.size());
  if (!schema.attributes.empty())
    out += "\nAttributes\n";
  for (const AttributeSchema &attribute : schema.attributes)
    row(attribute.name, width, attributeFacts(attribute), out);
  if (schema.hasEpilogue)
    out += "\nEpilogue steps\n"
           "  {\"op\": \"add\" | \"sub\" | \"mul\", \"input\": NAME}   {\"op\": \"scale\", \"value\": X}\n"
           "  {\"op\": \"clamp\", \"min\": X, \"max\": Y}   {\"op\": \"relu\" | \"silu\" | \"sigmoid\" | \"tanh\"}\n"
           "  {\"op\": \"gelu\", \"approximate\": \"none\" | \"tanh\"}\n";
  configRows(family, out);
  if (!schema.notes.empty())
    out += "\nNotes\n";
  for (const std::string &note : schema.notes) {
    out += "  ";
    wrap(note, 2, 2, out);
  }
  out += "\nExample: " + schema.examples.front().first + "\n  ";
  out += json::write(schema.examples.front().second) + '\n';
  return out;
}

std::string operatorHelpJson(Family family) {
  const OperatorSchema &schema = operatorSchema(family);
  json::Value value = json::makeObject();
  value.add("op", json::makeText(std::string(familyName(family))));
  value.add("summary", json::makeText(schema.summary));
  value.add("inputs", operandsJson(schema.inputs));
  value.add("outputs", operandsJson(schema.outputs));
  json::Value attributes = json::makeArray(), notes = json::makeArray(), examples = json::makeArray();
  for (const AttributeSchema &attribute : schema.attributes)
    attributes.items.push_back(attributeJson(attribute));
  for (const std::string &note : schema.notes)
    notes.items.push_back(json::makeText(note));
  for (const auto &[title, description] : schema.examples) {
    json::Value example = json::makeObject();
    example.add("title", json::makeText(title));
    example.add("description", description);
    examples.items.push_back(std::move(example));
  }
  value.add("attributes", std::move(attributes));
  value.add("epilogue", json::makeBool(schema.hasEpilogue));
  value.add("config", configJson(family));
  value.add("notes", std::move(notes));
  value.add("examples", std::move(examples));
  return json::write(value);
}

} // namespace tilejit
