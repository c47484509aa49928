// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Reading operator schemas. An embedded one is read when its family is first asked for: a process pays for the families
// that it uses.

#include "tilejit/Description/Schema.h"

#include "Cursor.h"
#include "Names.h"
#include "SchemaText.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <mutex>

namespace tilejit {
namespace {

using Entries = std::vector<Cursor::Entry>;

constexpr std::array<std::string_view, 6> typeNames{"bool",   "integer",      "number",
                                                    "choice", "integer list", "expressions"};

/// The types that a word of a schema's dtype list stands for.
std::vector<DType> dtypesOf(std::string_view word) {
  std::vector<DType> types;
  for (DType dtype : allDTypes()) {
    bool isScale = dtype == DType::F8E8M0 || dtype == DType::F4E2M1;
    if (word == "any" || word == dtypeName(dtype) || (word == "float" && isFloat(dtype) && !isScale) ||
        (word == "integer" && isInteger(dtype)))
      types.push_back(dtype);
  }
  return types;
}

Status readDTypes(const Cursor &cursor, OperandSchema &operand) {
  TILEJIT_ASSIGN_OR_RETURN(std::vector<Cursor> items, cursor.list("a list of types"));
  for (const Cursor &item : items) {
    TILEJIT_ASSIGN_OR_RETURN(std::string word, item.text("a type or class of types"));
    std::vector<DType> types = dtypesOf(word);
    if (types.empty())
      return item.expected("a type, \"any\", \"float\" or \"integer\"");
    operand.dtypes.insert(operand.dtypes.end(), types.begin(), types.end());
    operand.dtypeText += (operand.dtypeText.empty() ? "" : ", ") + word;
  }
  return items.empty() ? cursor.expected("at least one type") : Status::ok();
}

/// The text of a required or optional key.
Status readText(const Cursor &place, const Entries &entries, std::string_view key, bool required, std::string &out) {
  const Cursor *cursor = findEntry(entries, key);
  if (!cursor)
    return required ? place.missing(key, "a text") : Status::ok();
  TILEJIT_ASSIGN_OR_RETURN(out, cursor->text("a text"));
  return out.empty() ? cursor->expected("a text that says something") : Status::ok();
}

Status readFlag(const Entries &entries, std::string_view key, bool &out) {
  if (const Cursor *cursor = findEntry(entries, key)) {
    TILEJIT_ASSIGN_OR_RETURN(out, cursor->boolean("true or false"));
  }
  return Status::ok();
}

Status readOperands(const Cursor &place, const Entries &entries, std::string_view key,
                    std::vector<OperandSchema> &out) {
  static constexpr std::array<std::string_view, 4> keys{"shape", "dtypes", "optional", "doc"};
  const Cursor *cursor = findEntry(entries, key);
  if (!cursor)
    return place.missing(key, "the operands");
  TILEJIT_ASSIGN_OR_RETURN(Entries operands, cursor->object("operands by name"));
  for (const Cursor::Entry &entry : operands) {
    OperandSchema operand;
    operand.name = entry.key;
    TILEJIT_ASSIGN_OR_RETURN(Entries facts, entry.cursor.object("an operand", keys));
    TILEJIT_RETURN_IF_ERROR(readText(entry.cursor, facts, "shape", true, operand.shape));
    TILEJIT_RETURN_IF_ERROR(readText(entry.cursor, facts, "doc", true, operand.doc));
    TILEJIT_RETURN_IF_ERROR(readFlag(facts, "optional", operand.optional));
    const Cursor *dtypes = findEntry(facts, "dtypes");
    if (!dtypes)
      return entry.cursor.missing("dtypes", "a list of types");
    TILEJIT_RETURN_IF_ERROR(readDTypes(*dtypes, operand));
    out.push_back(std::move(operand));
  }
  return Status::ok();
}

Status readChoices(const Entries &facts, AttributeSchema &attribute) {
  const Cursor *cursor = findEntry(facts, "choices");
  if (!cursor)
    return Status::ok();
  TILEJIT_ASSIGN_OR_RETURN(std::vector<Cursor> items, cursor->list("a list of texts"));
  for (const Cursor &item : items) {
    TILEJIT_ASSIGN_OR_RETURN(std::string choice, item.text("a text"));
    attribute.choices.push_back(std::move(choice));
  }
  return Status::ok();
}

Status readAttribute(const Cursor::Entry &entry, AttributeSchema &attribute) {
  static constexpr std::array<std::string_view, 6> keys{"type",         "choices",  "default",
                                                        "default_text", "required", "doc"};
  attribute.name = entry.key;
  TILEJIT_ASSIGN_OR_RETURN(Entries facts, entry.cursor.object("an attribute", keys));
  std::string type;
  TILEJIT_RETURN_IF_ERROR(readText(entry.cursor, facts, "type", true, type));
  auto found = std::find(typeNames.begin(), typeNames.end(), type);
  if (found == typeNames.end())
    return findEntry(facts, "type")->unknown("an attribute type", type, typeNames);
  attribute.type = static_cast<AttributeType>(found - typeNames.begin());
  TILEJIT_RETURN_IF_ERROR(readText(entry.cursor, facts, "doc", true, attribute.doc));
  TILEJIT_RETURN_IF_ERROR(readText(entry.cursor, facts, "default_text", false, attribute.defaultText));
  TILEJIT_RETURN_IF_ERROR(readFlag(facts, "required", attribute.required));
  TILEJIT_RETURN_IF_ERROR(readChoices(facts, attribute));
  if ((attribute.type == AttributeType::Choice) == attribute.choices.empty())
    return entry.cursor.error("expected choices for the type \"choice\" and for no other");
  if (const Cursor *value = findEntry(facts, "default"))
    attribute.defaultValue = value->value();
  if (attribute.defaultText.empty() && attribute.defaultValue.kind != json::Kind::Null)
    attribute.defaultText =
        attribute.defaultValue.isText() ? attribute.defaultValue.text : json::write(attribute.defaultValue);
  if (attribute.required == !attribute.defaultText.empty())
    return entry.cursor.error("expected a default, a text that says how it follows from the operands, or required");
  return Status::ok();
}

Status readNotes(const Entries &entries, std::vector<std::string> &out) {
  const Cursor *cursor = findEntry(entries, "notes");
  if (!cursor)
    return Status::ok();
  TILEJIT_ASSIGN_OR_RETURN(std::vector<Cursor> items, cursor->list("a list of texts"));
  for (const Cursor &item : items) {
    TILEJIT_ASSIGN_OR_RETURN(std::string note, item.text("a text"));
    out.push_back(std::move(note));
  }
  return Status::ok();
}

Status readExamples(const Cursor &place, const Entries &entries, OperatorSchema &schema) {
  const Cursor *cursor = findEntry(entries, "examples");
  if (!cursor)
    return place.missing("examples", "examples");
  TILEJIT_ASSIGN_OR_RETURN(Entries examples, cursor->object("descriptions by title"));
  for (const Cursor::Entry &entry : examples)
    schema.examples.emplace_back(entry.key, entry.cursor.value());
  return examples.empty() ? cursor->expected("at least one example") : Status::ok();
}

Expected<OperatorSchema> readSchema(const Cursor &root) {
  static constexpr std::array<std::string_view, 8> keys{"op",         "summary",  "inputs", "outputs",
                                                        "attributes", "epilogue", "notes",  "examples"};
  OperatorSchema schema;
  TILEJIT_ASSIGN_OR_RETURN(Entries entries, root.object("an operator schema", keys));
  std::string op;
  TILEJIT_RETURN_IF_ERROR(readText(root, entries, "op", true, op));
  auto names = familyNames();
  auto found = std::find(names.begin(), names.end(), op);
  if (found == names.end())
    return findEntry(entries, "op")->unknown("an operator family", op, names);
  schema.family = static_cast<Family>(found - names.begin());
  TILEJIT_RETURN_IF_ERROR(readText(root, entries, "summary", true, schema.summary));
  TILEJIT_RETURN_IF_ERROR(readOperands(root, entries, "inputs", schema.inputs));
  TILEJIT_RETURN_IF_ERROR(readOperands(root, entries, "outputs", schema.outputs));
  if (const Cursor *attributes = findEntry(entries, "attributes")) {
    TILEJIT_ASSIGN_OR_RETURN(Entries members, attributes->object("attributes by name"));
    for (const Cursor::Entry &entry : members)
      TILEJIT_RETURN_IF_ERROR(readAttribute(entry, schema.attributes.emplace_back()));
  }
  TILEJIT_RETURN_IF_ERROR(readFlag(entries, "epilogue", schema.hasEpilogue));
  TILEJIT_RETURN_IF_ERROR(readNotes(entries, schema.notes));
  TILEJIT_RETURN_IF_ERROR(readExamples(root, entries, schema));
  return schema;
}

/// The embedded schemas. Never destroyed: at exit() another thread may still read them.
class EmbeddedSchemas {
public:
  static EmbeddedSchemas &get() {
    static auto *const schemas = new EmbeddedSchemas();
    return *schemas;
  }

  const OperatorSchema &read(Family family) {
    auto index = static_cast<size_t>(family);
    std::call_once(isRead_[index], [&] {
      auto texts = schemaTexts();
      auto text = std::find_if(texts.begin(), texts.end(),
                               [&](const SchemaText &candidate) { return candidate.name == familyName(family); });
      assert(text != texts.end());
      Expected<OperatorSchema> schema = parseOperatorSchema(text->text, text->name);
      assert(schema.isOk() && "the embedded schemas are valid: a test reads them");
      schemas_[index] = *std::move(schema);
    });
    return schemas_[index];
  }

  std::span<const OperatorSchema> readAll() {
    for (size_t i = 0; i < schemas_.size(); ++i)
      read(static_cast<Family>(i));
    return schemas_;
  }

private:
  std::vector<OperatorSchema> schemas_ = std::vector<OperatorSchema>(familyNames().size());
  std::vector<std::once_flag> isRead_ = std::vector<std::once_flag>(familyNames().size());
};

} // namespace

std::string_view attributeTypeName(AttributeType type) { return typeNames[static_cast<size_t>(type)]; }

const AttributeSchema *OperatorSchema::findAttribute(std::string_view name) const {
  for (const AttributeSchema &attribute : attributes)
    if (attribute.name == name)
      return &attribute;
  return nullptr;
}

Expected<OperatorSchema> parseOperatorSchema(std::string_view text, std::string_view source) {
  TILEJIT_ASSIGN_OR_RETURN(json::Value value, json::parse(text, source));
  Document document{text, source, {}};
  return readSchema(Cursor(document, value));
}

std::span<const OperatorSchema> operatorSchemas() { return EmbeddedSchemas::get().readAll(); }

const OperatorSchema &operatorSchema(Family family) { return EmbeddedSchemas::get().read(family); }

} // namespace tilejit
