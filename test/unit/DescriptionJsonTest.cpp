// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The strict JSON reader and the writer.

#include "tilejit/Base/Json.h"

#include <catch2/catch.hpp>

#include <limits>
#include <random>
#include <string>

using namespace tilejit;

namespace {

json::Value read(std::string_view text) {
  Expected<json::Value> value = json::parse(text, "t.json");
  INFO(text);
  INFO(value.status().pointer() << ": " << value.status().message());
  REQUIRE(value.isOk());
  return *std::move(value);
}

/// Place and message of a refusal.
std::string refusal(std::string_view text) {
  Expected<json::Value> value = json::parse(text, "t.json");
  INFO(text.substr(0, 200));
  REQUIRE_FALSE(value.isOk());
  return value.status().pointer() + ": " + value.status().message();
}

json::Value randomValue(std::mt19937_64 &random, int depth) {
  switch (random() % (depth > 0 ? 7 : 5)) {
  case 0:
    return json::makeBool(random() & 1);
  case 1:
    return json::makeInteger(static_cast<int64_t>(random()) >> (random() % 64));
  case 2:
    return json::makeNumber(std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 1000) - 500));
  case 3:
    return json::makeText(std::string(random() % 9, static_cast<char>(random() % 127 + 1)) +
                          "\xc3\xa9\xf0\x9f\x98\x80");
  case 4:
    return json::Value();
  case 5: {
    json::Value list = json::makeArray();
    for (size_t i = random() % 5; i > 0; --i)
      list.items.push_back(randomValue(random, depth - 1));
    return list;
  }
  default:
    json::Value object = json::makeObject();
    for (size_t i = random() % 5; i > 0; --i)
      object.add("k" + std::to_string(i), randomValue(random, depth - 1));
    return object;
  }
}

} // namespace

TEST_CASE("JSON values know their kind, order and place", "[json]") {
  json::Value value = read(" {\"b\": [1, -2.5, true, null], \"a\": \"x\\u00e9\\ud83d\\ude00\\n\"}\n");
  REQUIRE(value.isObject());
  REQUIRE(value.members.size() == 2);
  CHECK(value.members[0].key == "b");
  CHECK(value.members[1].value.text == "x\xc3\xa9\xf0\x9f\x98\x80\n");
  const json::Value &list = value.members[0].value;
  CHECK(list.offset == 7);
  CHECK((list.items[0].isInteger && list.items[0].integer == 1));
  CHECK((!list.items[1].isInteger && list.items[1].number == -2.5));
  CHECK(list.items[2].boolean);
  CHECK(list.items[3].kind == json::Kind::Null);
  CHECK(value.find("a") == &value.members[1].value);
  CHECK(value.find("c") == nullptr);
}

TEST_CASE("JSON integers are exact where int64 holds them", "[json]") {
  CHECK(read("9223372036854775807").integer == std::numeric_limits<int64_t>::max());
  CHECK(read("-9223372036854775808").integer == std::numeric_limits<int64_t>::min());
  CHECK_FALSE(read("9223372036854775808").isInteger);
  CHECK(read("1" + std::string(30, '0')).number == 1e30);
  CHECK_FALSE(read("4.0").isInteger);
  CHECK_FALSE(read("1e3").isInteger);
}

TEST_CASE("JSON that is not quite JSON is refused with line and column", "[json]") {
  CHECK(refusal("").find("t.json:1:1: expected a JSON value, found an empty text") == 0);
  CHECK(refusal("{\n  \"a\": 1,\n}").find("t.json:3:1: ") == 0);
  CHECK(refusal("[\"\xc3\xa9\", x]").find("t.json:1:7: ") == 0);
  for (const char *text : {"  ",
                           "{",
                           "[1,]",
                           "[1 2]",
                           "{\"a\"}",
                           "{\"a\":}",
                           "{a:1}",
                           "{'a':1}",
                           "[1] x",
                           "// c\n1",
                           "[1] // c",
                           "NaN",
                           "Infinity",
                           "-",
                           "+1",
                           "01",
                           "1.",
                           ".5",
                           "1e",
                           "0x10",
                           "tru",
                           "nul",
                           "\"a",
                           "\"\\x\"",
                           "\"\\u12\"",
                           "\"\\ud800\"",
                           "\"\\ud800\\u0041\"",
                           "\"\\udc00\"",
                           "\"\n\"",
                           "\"\t\"",
                           "1e999",
                           "\xef\xbb\xbf{}",
                           "\x7f",
                           "\"\xff\"",
                           "\"\xc0\x80\"",
                           "\"\xed\xa0\x80\"",
                           "\"\xf4\x90\x80\x80\"",
                           "\"\xe2\x82\""})
    CHECK(refusal(text).find("t.json:1:") == 0);
  CHECK(refusal(std::string_view("\0\0", 2)).find("t.json:1:1") == 0);
  CHECK(refusal(std::string_view("\"\0\"", 3)).find("t.json:1:2") == 0);
}

TEST_CASE("JSON keys occur once", "[json]") {
  CHECK(refusal(R"({"a": {"x~/y": [{"k": 1, "k": 2}]}})").find("/a/x~0~1y/0/k: expected each key once") == 0);
  CHECK(refusal(R"({"k": 1, "\u006b": 2})").find("/k: ") == 0);
  CHECK(read(R"({"a": {"k": 1}, "b": {"k": 1}})").members.size() == 2);
}

TEST_CASE("JSON nesting and size are limited", "[json]") {
  std::string deep = std::string(64, '[') + std::string(64, ']');
  CHECK(read(deep).isArray());
  CHECK(refusal('[' + deep + ']').find("t.json:1:65: expected at most 64 levels") == 0);
  CHECK(refusal(std::string(1000000, '[')).find("t.json:1:65: ") == 0);
  CHECK(refusal(std::string(5 << 20, ' ')).find("t.json: expected at most 4194304 bytes") == 0);
}

TEST_CASE("JSON pointers escape and stay short", "[json]") {
  CHECK(json::pointerToken("a~b/c") == "/a~0b~1c");
  CHECK(json::pointerToken(size_t{7}) == "/7");
  CHECK(json::pointerToken(std::string(100000, 'k')).size() <= 160);
}

TEST_CASE("JSON is written compactly with sorted keys and read back the same", "[json]") {
  CHECK(json::write(read("{\"b\": [1, 2.5], \"a\": {\"z\": null, \"y\": \"q\\\"\"}}")) ==
        "{\"a\":{\"y\":\"q\\\"\",\"z\":null},\"b\":[1,2.5]}");
  auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 300; ++i) {
    std::string text = json::write(randomValue(random, 4));
    CHECK(json::write(read(text)) == text);
  }
}

TEST_CASE("JSON cut or flipped anywhere never does worse than refuse", "[json]") {
  std::string text = R"({"tilejit": "1.0", "a": [1, 2.5e3, {"b": "\ud83d\ude00 x"}], "c": {"d": true}})";
  for (size_t i = 0; i < text.size(); ++i) {
    CHECK_FALSE(json::parse(text.substr(0, i), "t.json").isOk());
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = text;
      flipped[i] = static_cast<char>(flipped[i] ^ (1 << bit));
      (void)json::parse(flipped, "t.json").isOk();
    }
  }
}
