// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The version-alignment table: ranges, rows that are none, and that the committed table has the pairs it must have.

#include "Alignment.h"

#include "tilejit/Base/File.h"

#include <catch2/catch.hpp>
#include <set>

using namespace tilejit;
using namespace tilejit::tilec;

TEST_CASE("versions lie in ranges number by number") {
  CHECK(versionFits("22.1.8", ">=22.1 <22.2"));
  CHECK(versionFits("22.1", ">=22.1 <22.2"));
  CHECK_FALSE(versionFits("22.2", ">=22.1 <22.2"));
  CHECK_FALSE(versionFits("9.9", ">=22.1"));
  CHECK(versionFits("5.15.0-91-generic", ">=5.15"));
  CHECK(versionFits("550.54.15", ">=550"));
  CHECK_FALSE(versionFits("3.9", ">=3.10"));
}

TEST_CASE("a range is bounds joined by blanks") {
  CHECK(isVersionRange(">=1.0 <2.0"));
  CHECK(isVersionRange("<3"));
  CHECK_FALSE(isVersionRange(""));
  CHECK_FALSE(isVersionRange("1.0"));
  CHECK_FALSE(isVersionRange(">=x"));
  CHECK_FALSE(isVersionRange("~1.2"));
}

TEST_CASE("a row that is no pair is refused by its place") {
  const char *whole = R"({"of": "a", "with": "b", "needs": ">=1", "required": true, "hint": "h"})";
  CHECK(parseAlignment(std::string(R"({"pairs": [)") + whole + "]}"));
  for (const char *bad :
       {"7", R"({"of": "a"})", R"({"of": "a", "with": "b", "needs": "one", "required": true, "hint": ""})",
        R"({"of": "a", "with": "b", "needs": ">=1", "required": 1, "hint": ""})"}) {
    auto pairs = parseAlignment(std::string(R"({"pairs": [)") + whole + "," + bad + "]}");
    REQUIRE_FALSE(pairs);
    CHECK(pairs.status().pointer() == "/pairs/1");
  }
  CHECK_FALSE(parseAlignment("[]"));
  CHECK_FALSE(parseAlignment("{"));
}

TEST_CASE("the committed table has the pairs that deployments rely on") {
  auto text = readFile(realSystem(), TILEJIT_TABLE);
  REQUIRE(text);
  auto pairs = parseAlignment(*text);
  REQUIRE(pairs);
  std::set<std::string> found;
  for (const AlignmentPair &pair : *pairs)
    found.insert(pair.of + "|" + pair.with);
  for (const char *pair : {"tilejit|PyTorch", "tilejit|ONNX", "tilejit|DLPack", "tilejit|Python", "tilejit|MLIR/LLVM",
                           "tilejit|NVIDIA driver", "tilejit|kernel", "tilejit|operator library",
                           "operator library|description format", "tilejit|C++ compiler", "tilejit|CMake"})
    CHECK(found.count(pair) == 1);
}

TEST_CASE("what is built in is found") {
  auto versions = findVersions("22.1.8");
  CHECK(versions["MLIR/LLVM"] == "22.1.8");
  CHECK(versions.count("kernel") == 1);
  CHECK(versions.count("description format") == 1);
  CHECK(findVersions("").count("MLIR/LLVM") == 0);
}
