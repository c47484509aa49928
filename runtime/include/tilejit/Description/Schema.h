// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The schemas of the operator families (runtime/operators/*.json, embedded in the library): which operands and
// attributes a family has, their types, defaults and meaning. The parser reads names, types and defaults from here;
// help texts and documentation pages are made from here. What relates operands to each other (shapes that must agree)
// is code.

#ifndef TILEJIT_DESCRIPTION_SCHEMA_H
#define TILEJIT_DESCRIPTION_SCHEMA_H

#include "tilejit/Base/DType.h"
#include "tilejit/Base/Json.h"
#include "tilejit/Base/Status.h"
#include "tilejit/Description/Description.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tilejit {

/// An operand of a family. The name "*" stands for operands with names of the user's choice.
struct OperandSchema {
  std::string name;
  std::string shape; ///< For people: "[..., m, k]".
  std::vector<DType> dtypes;
  std::string dtypeText; ///< As the schema spells it: "float, i8, u8".
  bool optional = false;
  std::string doc;
};

enum class AttributeType : uint8_t { Bool, Integer, Number, Choice, IntegerList, Expressions };
/// "bool", "integer", "number", "choice", "integer list", "expressions".
std::string_view attributeTypeName(AttributeType type);

struct AttributeSchema {
  std::string name;
  AttributeType type = AttributeType::Bool;
  std::vector<std::string> choices; ///< Choice: the allowed texts.
  json::Value defaultValue;         ///< Null: the default depends on the operands, `defaultText` says how.
  std::string defaultText;
  bool required = false;
  std::string doc;
};

struct OperatorSchema {
  Family family = Family::Matmul;
  std::string summary;
  std::vector<OperandSchema> inputs, outputs;
  std::vector<AttributeSchema> attributes;
  bool hasEpilogue = false;
  std::vector<std::string> notes;
  std::vector<std::pair<std::string, json::Value>> examples; ///< Title and description.

  const AttributeSchema *findAttribute(std::string_view name) const;
};

/// All families, in the order of the enumeration.
std::span<const OperatorSchema> operatorSchemas();
const OperatorSchema &operatorSchema(Family family);
/// Reads one schema text; BadDescription with a pointer where it is none.
Expected<OperatorSchema> parseOperatorSchema(std::string_view text, std::string_view source);

/// What `tilec ops NAME` prints: operands, attributes with defaults, notes, an example.
std::string operatorHelp(Family family);
/// The same as one JSON object.
std::string operatorHelpJson(Family family);

} // namespace tilejit

#endif // TILEJIT_DESCRIPTION_SCHEMA_H
