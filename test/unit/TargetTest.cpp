// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Names, text forms and keys of targets.

#include "tilejit/Target/TargetSpec.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

using namespace tilejit;

TEST_CASE("every known target parses under its name and survives its text form") {
  std::set<std::string> names;
  for (const TargetSpec &spec : knownTargets()) {
    INFO(spec.name);
    CHECK(names.insert(spec.name).second);
    CHECK_FALSE(spec.description.empty());
    CHECK(std::is_sorted(spec.features.begin(), spec.features.end()));
    auto parsed = parseTarget(spec.name);
    REQUIRE(parsed);
    CHECK(parsed->keyText() == spec.keyText());
    auto decoded = decodeTarget(encodeTarget(spec));
    REQUIRE(decoded);
    CHECK(decoded->name == spec.name);
    CHECK(decoded->keyText() == spec.keyText());
    CHECK(decoded->folderName() == spec.folderName());
    CHECK(decoded->description == spec.description);
    CHECK(decoded->cpuFacts.arch == spec.cpuFacts.arch);
    CHECK(decoded->kind == spec.kind);
    CHECK(decoded->simulated == spec.simulated);
    CHECK(encodeTarget(*decoded) == encodeTarget(spec));
  }
  CHECK(knownTargets().front().name == "native");
  for (const char *name : {"x86-64-v2", "x86-64-v3", "x86-64-v4", "znver4", "sapphirerapids", "neoverse-v2", "rv64gcv"})
    CHECK(names.count(name) == 1);
}

TEST_CASE("unknown targets are refused with a near name where there is one") {
  for (const char *name : {"sm_1", "gfx0", "nosuch", "", "X86-64-V3", "sm_91a", "sim:", "sim:sm_81"}) {
    INFO(name);
    auto parsed = parseTarget(name);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.status().code() == StatusCode::InvalidArgument);
    std::string plain(name);
    CHECK(parsed.status().message().find(plain.substr(plain.find(':') + 1)) != std::string::npos);
    CHECK_FALSE(parsed.status().hint().empty());
  }
  CHECK(parseTarget("znver44").status().hint().find("znver4") != std::string::npos);
  CHECK(parseTarget("sm90a").status().hint().find("sm_90a") != std::string::npos);
  CHECK(parseTarget("sim:gfx_942").status().hint().find("gfx942") != std::string::npos);
}

TEST_CASE("cpu stands for native") {
  REQUIRE(parseTarget("cpu"));
  CHECK(parseTarget("cpu")->keyText() == parseTarget("native")->keyText());
}

TEST_CASE("keys tell targets apart and ignore names") {
  std::set<std::string> keys;
  for (const TargetSpec &spec : knownTargets().subspan(1))
    if (!spec.simulated) {
      CHECK(keys.insert(spec.keyText()).second);
      CHECK((spec.name == targetNameOf(spec.keyText()) || spec.keyText() == hostTarget().keyText()));
    }
  CHECK(targetNameOf("nonsense") == "nonsense");
  TargetSpec renamed = *parseTarget("znver4");
  renamed.name = "mine";
  renamed.description = "else";
  CHECK(renamed.keyText() == parseTarget("znver4")->keyText());
  TargetSpec bigger = renamed;
  bigger.cpuFacts.l2Bytes *= 2;
  CHECK(bigger.keyText() != renamed.keyText());
  CHECK(bigger.folderName() != renamed.folderName());
}

TEST_CASE("folder names are safe and short") {
  TargetSpec odd = *parseTarget("sapphirerapids");
  for (int i = 0; i < 40; ++i)
    odd.features.push_back("+feature" + std::to_string(i));
  for (const TargetSpec &spec : {odd, hostTarget(), *parseTarget("rv64gcv")}) {
    std::string folder = spec.folderName();
    CHECK(folder.size() < 48);
    CHECK(folder.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") ==
          std::string::npos);
  }
  CHECK(parseTarget("x86-64-v3")->folderName() == "x86-64-v3");
}

TEST_CASE("facts follow from the features") {
  CHECK(parseTarget("x86-64")->cpuFacts.vectorBits == 128);
  CHECK_FALSE(parseTarget("x86-64-v2")->cpuFacts.hasFma);
  CpuFacts avx2 = parseTarget("x86-64-v3")->cpuFacts;
  CHECK(avx2.vectorBits == 256);
  CHECK(avx2.vectorRegisters == 16);
  CHECK(avx2.hasFma);
  CHECK(avx2.hasF16Convert);
  CHECK_FALSE(avx2.hasMasks);
  CpuFacts zen4 = parseTarget("znver4")->cpuFacts;
  CHECK(zen4.vectorBits == 512);
  CHECK(zen4.vectorRegisters == 32);
  CHECK(zen4.hasMasks);
  CHECK(zen4.hasBf16Dot);
  CHECK(zen4.hasInt8Dot);
  CHECK_FALSE(parseTarget("skylake-avx512")->cpuFacts.hasBf16Dot);
  CHECK(zen4.ports.fma == 1);
  CHECK(zen4.prefersBf16Dot());
  CHECK(parseTarget("sapphirerapids")->cpuFacts.hasBf16Dot);
  CHECK(parseTarget("sapphirerapids")->cpuFacts.hasAmxBf16);
  CHECK(parseTarget("graniterapids")->cpuFacts.hasAmxInt8);
  CHECK(parseTarget("sapphirerapids")->cpuFacts.prefersBf16Dot()); // In matrix registers.
  CHECK_FALSE(parseTarget("neoverse-v2")->cpuFacts.prefersBf16Dot());
  CHECK(parseTarget("neoverse-v2")->cpuFacts.arch == CpuArch::AArch64);
  CHECK(parseTarget("sifive-x280")->cpuFacts.vectorBits == 512);
}

TEST_CASE("damaged target lines are refused") {
  std::string line = encodeTarget(*parseTarget("znver4"));
  REQUIRE(decodeTarget(line));
  for (size_t length = 0; length < line.rfind(';'); ++length)
    CHECK_FALSE(decodeTarget(line.substr(0, length)));
  auto replaced = [&](std::string from, std::string to) {
    std::string text = line;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  CHECK_FALSE(decodeTarget(replaced("znver4;;x86", "zn ver;;x86")));
  CHECK_FALSE(decodeTarget(replaced("512x32", "384x32")));
  CHECK_FALSE(decodeTarget(replaced("512x32x1", "512x32x0")));
  CHECK_FALSE(decodeTarget(replaced("512x32x1", "512x32x99")));
  CHECK_FALSE(decodeTarget(replaced("512x32x1x1x1", "512x32")));
  CHECK_FALSE(decodeTarget(replaced("x86_64-unknown-linux-gnu;znver4", "x86_64-unknown-linux-gnu;z80")));
  CHECK_FALSE(decodeTarget(replaced("x86_64-unknown-linux-gnu", "mips-unknown-linux-gnu")));
  CHECK_FALSE(decodeTarget(replaced("znver4;;", "znver4;avx;")));
  CHECK_FALSE(decodeTarget(replaced("tilejit-target-3", "tilejit-target-9")));
}
