// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Key closure: every field of the material changes the key and nothing else does; and what differs is named.

#include "CacheFixture.h"
#include "tilejit/Base/Bytes.h"

#include <catch2/catch.hpp>

#include <functional>
#include <random>
#include <set>

using namespace tilejit;
using namespace tilejit::test;

namespace {

struct Mutation {
  std::string field; ///< As keyDifferences() names it.
  std::function<void(KeyMaterial &)> apply;
};

std::vector<Mutation> mutations() {
  return {
      {"description/n", [](KeyMaterial &m) { m.description = sampleMaterial(1).description; }},
      {"config/bm", [](KeyMaterial &m) { m.config["bm"] = 33; }},
      {"config/bk", [](KeyMaterial &m) { m.config["bk"] = 1; }},
      {"config/threads", [](KeyMaterial &m) { m.config.erase("threads"); }},
      {"emit", [](KeyMaterial &m) { m.emit = "asm"; }},
      {"with_bitcode", [](KeyMaterial &m) { m.withBitcode = true; }},
      {"target", [](KeyMaterial &m) { m.target += ",-amx"; }},
      {"target_folder", [](KeyMaterial &m) { m.targetFolder = "znver5"; }},
      {"toolchain/worker", [](KeyMaterial &m) { m.toolchain[3].second = "0709"; }},
      {"toolchain/compiler", [](KeyMaterial &m) { m.toolchain[0].second = "00"; }},
      {"toolchain/libMLIR", [](KeyMaterial &m) { m.toolchain.erase(m.toolchain.begin() + 2); }},
      {"llvm_version", [](KeyMaterial &m) { m.llvmVersion = "22.1.1"; }},
      {"tilejit_version", [](KeyMaterial &m) { m.tilejitVersion = "0.1.1"; }},
      {"cache_format", [](KeyMaterial &m) { m.format = 3; }},
      {"abi_version", [](KeyMaterial &m) { m.abiVersion = 2; }},
  };
}

} // namespace

TEST_CASE("every field changes the key, and is named as the one that differs", "[key]") {
  KeyMaterial base = sampleMaterial();
  std::set<std::string> keys = {cacheKey(base)};
  for (const Mutation &mutation : mutations()) {
    KeyMaterial changed = base;
    mutation.apply(changed);
    CAPTURE(mutation.field);
    CHECK(keys.insert(cacheKey(changed)).second);
    std::vector<KeyDifference> differences = keyDifferences(base, changed);
    REQUIRE(differences.size() == 1);
    CHECK(differences[0].field == mutation.field);
    CHECK(differences[0].a != differences[0].b);
  }
  KeyMaterial file = base;
  file.kind = DescriptionKind::FileHash;
  CHECK(keys.insert(cacheKey(file)).second);
}

TEST_CASE("equal material has one key, in every process", "[key]") {
  CHECK(cacheKey(sampleMaterial()) == cacheKey(sampleMaterial()));
  CHECK(keyDifferences(sampleMaterial(), sampleMaterial()).empty());
  // Written down once: a change here is a change of the format.
  KeyMaterial material;
  material.description = "{}";
  material.target = "t";
  material.targetFolder = "f";
  material.tilejitVersion = "1";
  CHECK(cacheKey(material) == "7b83bbd5ea91e5f888c32aa248245787f6aae91e0dfd174933aa4f07f3321798");
}

TEST_CASE("text can't move between fields", "[key]") {
  KeyMaterial a = sampleMaterial(), b = sampleMaterial();
  a.llvmVersion = "22", a.tilejitVersion = "10.1.0";
  b.llvmVersion = "221", b.tilejitVersion = "0.1.0";
  CHECK(cacheKey(a) != cacheKey(b));
  a = b = sampleMaterial();
  a.toolchain = {{"ab", "c"}};
  b.toolchain = {{"a", "bc"}};
  CHECK(cacheKey(a) != cacheKey(b));
}

TEST_CASE("differences of descriptions are JSON pointers", "[key]") {
  KeyMaterial a = sampleMaterial(), b = sampleMaterial();
  b.description = R"({"dims":{"d0":{"max":512,"min":2}},"epilogue":[{"op":"sub"},{"op":"relu"}],"n":0})";
  std::vector<std::string> fields;
  for (const KeyDifference &difference : keyDifferences(a, b))
    fields.push_back(difference.field);
  CHECK(fields ==
        std::vector<std::string>{"description/dims/d0/min", "description/epilogue/0/op", "description/epilogue/1"});
  b.kind = DescriptionKind::FileHash;
  b.description = hashTileFile("module {}");
  REQUIRE(keyDifferences(a, b).size() == 1);
  CHECK(keyDifferences(a, b)[0].field == "description");
  // Values of any length come shortened.
  b.description.assign(1'000'000, 'x');
  CHECK(keyDifferences(a, b)[0].b.size() <= 200);
}

TEST_CASE("material comes back from its encoding, and only from that", "[key]") {
  KeyMaterial material = sampleMaterial();
  material.config["negative"] = -5;
  std::string bytes = encodeKeyMaterial(material);
  Expected<KeyMaterial> back = decodeKeyMaterial(bytes);
  REQUIRE(back);
  CHECK(*back == material);
  for (size_t length = 0; length < bytes.size(); ++length)
    REQUIRE_FALSE(decodeKeyMaterial(bytes.substr(0, length)));
  CHECK_FALSE(decodeKeyMaterial(bytes + '\0'));
  // A flipped byte is refused or gives other material, never the same.
  for (size_t i = 0; i < bytes.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = bytes;
      flipped[i] ^= static_cast<char>(1 << bit);
      Expected<KeyMaterial> other = decodeKeyMaterial(flipped);
      REQUIRE((!other || !(*other == material)));
    }
}

TEST_CASE("names of folders are safe", "[key]") {
  for (const char *good : {"0.1.0", "znver4", "gfx90a_sramecc-", "a"})
    CHECK(isFolderName(good));
  for (const char *bad : {"", ".", "..", ".hidden", "a/b", "a b", "a\\b", "\xC3\xA9"})
    CHECK_FALSE(isFolderName(bad));
  CHECK_FALSE(isFolderName(std::string(129, 'a')));
  CHECK_FALSE(isFolderName(std::string_view("a\0b", 3)));
  for (const char *bad : {"../../etc", "a/b", ""}) {
    KeyMaterial material = sampleMaterial();
    material.targetFolder = bad;
    CHECK_FALSE(decodeKeyMaterial(encodeKeyMaterial(material)));
  }
}
