// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The schemas: one for each family, valid, with examples that parse and attributes that the parser knows.

#include "DescriptionBuilder.h"

#include "tilejit/Description/Schema.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

using namespace tilejit;
using namespace tilejit::test;

namespace {

const char *const minimal = R"({"op": "cast", "summary": "s", "inputs": {"x": {"shape": "any", "dtypes": ["any"],
"doc": "d"}}, "outputs": {}, "attributes": {"saturate": {"type": "bool", "default": false, "doc": "d"}},
"examples": {"t": {}}})";

std::string fileText(const std::filesystem::path &path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

} // namespace

TEST_CASE("every schema file is valid and describes the family it is named after", "[schema]") {
  std::set<std::string> families;
  for (const auto &entry : std::filesystem::directory_iterator(TILEJIT_SCHEMAS)) {
    Expected<OperatorSchema> schema = parseOperatorSchema(fileText(entry.path()), entry.path().filename().string());
    INFO(entry.path() << " " << schema.status().pointer() << ": " << schema.status().message());
    REQUIRE(schema.isOk());
    CHECK(entry.path().stem() == familyName(schema->family));
    families.insert(entry.path().stem());
  }
  CHECK(families.size() == operatorSchemas().size());
}

TEST_CASE("every family has its schema embedded, with examples that parse", "[schema]") {
  for (size_t i = 0; i < operatorSchemas().size(); ++i) {
    const OperatorSchema &schema = operatorSchemas()[i];
    REQUIRE(schema.family == static_cast<Family>(i));
    CHECK_FALSE(schema.summary.empty());
    for (const auto &[title, example] : schema.examples) {
      INFO(title);
      Description description = parsed(json::write(example));
      CHECK(description.family == schema.family);
    }
  }
}

TEST_CASE("defaults of the schemas are what the parser fills in", "[schema]") {
  for (const OperatorSchema &schema : operatorSchemas()) {
    json::Value example = schema.examples.front().second;
    const json::Value *given = example.find("attributes");
    json::Value attributes = given ? *given : json::makeObject();
    for (const AttributeSchema &attribute : schema.attributes)
      if (attribute.defaultValue.kind != json::Kind::Null && !attributes.find(attribute.name))
        attributes.add(attribute.name, attribute.defaultValue);
    std::string plain = canonicalJson(parsed(json::write(example)));
    std::erase_if(example.members, [](const json::Member &member) { return member.key == "attributes"; });
    example.add("attributes", attributes);
    CHECK(canonicalJson(parsed(json::write(example))) == plain);
  }
}

TEST_CASE("help names every operand and attribute", "[schema]") {
  for (const OperatorSchema &schema : operatorSchemas()) {
    std::string help = operatorHelp(schema.family), text = operatorHelpJson(schema.family);
    CHECK(help.find(std::string(familyName(schema.family)) + ": ") == 0);
    for (const AttributeSchema &attribute : schema.attributes)
      CHECK(help.find("\n  " + attribute.name + " ") != std::string::npos);
    for (size_t begin = 0, end; begin < help.size(); begin = end + 1) {
      end = help.find('\n', begin);
      CHECK((end - begin <= 110 || help.find("Example: ") < begin));
    }
    Expected<json::Value> value = json::parse(text, "help");
    REQUIRE(value.isOk());
    CHECK(value->find("op")->text == familyName(schema.family));
    CHECK(value->find("attributes")->items.size() == schema.attributes.size());
  }
}

TEST_CASE("schemas that say too little or too much are refused", "[schema]") {
  REQUIRE(parseOperatorSchema(minimal, "s.json").isOk());
  auto refusal = [](std::string_view what, std::string_view by) {
    std::string text = minimal;
    size_t place = text.find(what);
    REQUIRE(place != std::string::npos);
    Expected<OperatorSchema> schema = parseOperatorSchema(text.replace(place, what.size(), by), "s.json");
    REQUIRE_FALSE(schema.isOk());
    return schema.status().pointer();
  };
  CHECK(refusal("\"cast\"", "\"kast\"") == "/op");
  CHECK(refusal("\"summary\": \"s\", ", "") == "/summary");
  CHECK(refusal("\"summary\": \"s\"", "\"summary\": \"\"") == "/summary");
  CHECK(refusal("\"summary\": \"s\"", "\"summary\": \"s\", \"more\": 1") == "/more");
  CHECK(refusal("[\"any\"]", "[\"f31\"]") == "/inputs/x/dtypes/0");
  CHECK(refusal("[\"any\"]", "[]") == "/inputs/x/dtypes");
  CHECK(refusal("\"bool\"", "\"boolean\"") == "/attributes/saturate/type");
  CHECK(refusal("\"bool\"", "\"choice\"") == "/attributes/saturate");
  CHECK(refusal("\"default\": false", "\"required\": false") == "/attributes/saturate");
  CHECK(refusal("\"default\": false", "\"required\": true, \"default\": false") == "/attributes/saturate");
  CHECK(refusal("{\"t\": {}}", "{}") == "/examples");
}
