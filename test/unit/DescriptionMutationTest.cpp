// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Random damage to right descriptions: whatever comes out is either refused with one clear error, or is a description
// whose canonical form is stable and whose sizes can be bound.

#include "DescriptionBuilder.h"

#include "tilejit/Description/Cost.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

using namespace tilejit;
using namespace tilejit::test;

namespace {

std::vector<std::string> exampleTexts() {
  std::vector<std::string> texts;
  for (const auto &entry : std::filesystem::directory_iterator(TILEJIT_EXAMPLES)) {
    if (entry.path().extension() != ".json")
      continue;
    std::ifstream file(entry.path());
    texts.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return texts;
}

/// Pieces that descriptions are made of, and some that they are not.
const char *const pieces[] = {"0",
                              "1",
                              "-1",
                              "4096",
                              "1e30",
                              "9223372036854775807",
                              "1099511627776",
                              "0.5",
                              "null",
                              "true",
                              "[]",
                              "{}",
                              "\"m\"",
                              "\"any\"",
                              "\"f64\"",
                              "\"i8\"",
                              "\"u4\"",
                              "\"bool\"",
                              "\"x\"",
                              "\"y\"",
                              "\"a\"",
                              ",",
                              ":",
                              "\"//\":",
                              "[",
                              "}",
                              "\\u0000",
                              "**",
                              "(",
                              ")",
                              " not ",
                              "cast(",
                              "where(",
                              "\"strides\":[1,1],",
                              "\"min\":"};

void mutate(std::string &text, std::mt19937_64 &random) {
  size_t place = random() % (text.size() + 1), length = random() % 12;
  switch (random() % 6) {
  case 0:
    text.erase(place, length);
    return;
  case 1:
    text.insert(place, pieces[random() % std::size(pieces)]);
    return;
  case 2:
    text.replace(place, std::min(length, text.size() - place), pieces[random() % std::size(pieces)]);
    return;
  case 3:
    text.insert(place, text.substr(random() % (text.size() + 1), length * 4));
    return;
  case 4:
    if (place < text.size())
      text[place] = static_cast<char>(random());
    return;
  default: { // Another value in the place of a number.
    size_t digit = text.find_first_of("0123456789", place);
    if (digit != std::string::npos)
      text.replace(digit, text.find_first_not_of("0123456789.", digit) - digit, pieces[random() % std::size(pieces)]);
  }
  }
}

void checkAccepted(const Description &description) {
  std::string canonical = canonicalJson(description);
  Expected<Description> again = parseDescription(canonical, "canonical");
  INFO(canonical);
  INFO(again.status().pointer() << ": " << again.status().message());
  REQUIRE(again.isOk());
  CHECK(canonicalJson(*again) == canonical);
  Binding binding;
  bindRest(description, 64, binding);
  if (checkBinding(description, binding).isOk()) {
    CHECK(bytesMoved(description, binding) >= 0);
    CHECK(flops(description, binding) >= 0);
  }
}

} // namespace

TEST_CASE("damaged descriptions are refused or mean something", "[mutation]") {
  auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  std::vector<std::string> examples = exampleTexts();
  REQUIRE_FALSE(examples.empty());
  int accepted = 0;
  for (int i = 0; i < 4000; ++i) {
    std::string text = examples[random() % examples.size()];
    for (size_t count = random() % 4 + 1; count > 0; --count)
      mutate(text, random);
    Expected<Description> description = parseDescription(text, "damaged.json");
    INFO(text);
    if (description) {
      checkAccepted(*description);
      ++accepted;
      continue;
    }
    Status status = description.status();
    CHECK(status.code() == StatusCode::BadDescription);
    CHECK_FALSE(status.pointer().empty());
    CHECK(status.message().find("expected ") != std::string::npos);
    CHECK(status.pointer().size() + status.message().size() <= 700);
  }
  CHECK(accepted > 0);
}
