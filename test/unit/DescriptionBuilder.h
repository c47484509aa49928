// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Short ways to write descriptions in tests, and to break them at one place.

#ifndef TILEJIT_TEST_UNIT_DESCRIPTIONBUILDER_H
#define TILEJIT_TEST_UNIT_DESCRIPTIONBUILDER_H

#include "tilejit/Base/Json.h"
#include "tilejit/Description/Parse.h"

#include <catch2/catch.hpp>

#include <string>
#include <string_view>

namespace tilejit::test {

/// JSON as tests write it: single quotes stand for double ones.
inline std::string json(std::string_view text) {
  std::string result(text);
  for (char &c : result)
    if (c == '\'')
      c = '"';
  return result;
}

/// A description's text around its parts, which are single-quoted JSON members.
inline std::string describe(std::string_view op, std::string_view members) {
  return json("{'tilejit': '1.0', 'op': '" + std::string(op) + "', " + std::string(members) + "}");
}

/// An elementwise description of y = text over f32 inputs a and b.
inline std::string elementwise(std::string_view text) {
  return describe("elementwise",
                  "'inputs': {'a': {'dtype': 'f32', 'shape': [4]}, 'b': {'dtype': 'f32', 'shape': [4]}}, "
                  "'outputs': {'y': {'dtype': 'f32', 'shape': [4]}}, "
                  "'attributes': {'expression': {'y': '" +
                      std::string(text) + "'}}");
}

/// A right matmul with a bias and two steps.
inline std::string matmulText() {
  return describe("matmul",
                  "'inputs': {'a': {'dtype': 'f32', 'shape': [4, 6]}, 'b': {'dtype': 'f32', 'shape': [6, 5]}, "
                  "'bias': {'dtype': 'f32', 'shape': [5]}}, "
                  "'outputs': {'c': {'dtype': 'f32', 'shape': [4, 5]}}, "
                  "'epilogue': [{'op': 'add', 'input': 'bias'}, {'op': 'relu'}]");
}

/// A text with its first occurrence of `what` replaced; both in single quotes.
inline std::string replaced(std::string text, std::string_view what, std::string_view by) {
  size_t place = text.find(json(what));
  INFO(what << " in " << text);
  REQUIRE(place != std::string::npos);
  return text.replace(place, what.size(), json(by));
}

/// The description of a text that must be right.
inline Description parsed(std::string_view text) {
  Expected<Description> description = parseDescription(text, "test.json");
  INFO(text);
  INFO(description.status().pointer() << ": " << description.status().message());
  REQUIRE(description.isOk());
  return *std::move(description);
}

/// The error of a text that must be refused.
inline Status refused(std::string_view text) {
  Expected<Description> description = parseDescription(text, "test.json");
  INFO(text.substr(0, 500));
  REQUIRE_FALSE(description.isOk());
  Status status = description.status();
  CHECK(status.code() == StatusCode::BadDescription);
  CHECK(status.message().size() <= 400);
  CHECK(status.message().find('\n') == std::string::npos);
  return status;
}

} // namespace tilejit::test

#endif // TILEJIT_TEST_UNIT_DESCRIPTIONBUILDER_H
