// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The file format against damage: every byte flipped, every length cut, random changes, and files that are well made
// but not what is looked for.

#include "CacheFixture.h"
#include "tilejit/Base/Bytes.h"
#include "tilejit/Base/Hash.h"

#include <catch2/catch.hpp>

#include <random>

using namespace tilejit;
using namespace tilejit::test;

namespace {

/// The same bytes with a right length and checksum: what damage by a wrong writer would look like.
std::string resealed(std::string bytes) {
  std::string body = bytes.substr(0, bytes.size() - 16);
  body.replace(16, 8, ByteWriter().u64(bytes.size()).result());
  Checksum sum = checksum(body);
  return body + ByteWriter().u64(sum.low).u64(sum.high).result();
}

} // namespace

TEST_CASE("packages come back as they were", "[entry]") {
  CachedKernel first = sampleKernel(1), second = sampleKernel(2, 0);
  second.payloads.push_back({"bitcode", "t", std::string("\0BC", 3)});
  second.payloads.push_back({"ptx", "", ""});
  Expected<std::vector<CachedKernel>> back = decodePackage(encodePackage({first, second}));
  REQUIRE(back);
  REQUIRE(back->size() == 2);
  CHECK(same((*back)[0], first));
  CHECK(same((*back)[1], second));
  CHECK(encodePackage(first) == encodePackage(first));
}

TEST_CASE("every flipped byte and bit is found", "[entry]") {
  CachedKernel kernel = sampleKernel();
  std::string good = encodePackage(kernel);
  REQUIRE(decodeEntry(good, kernel.material));
  for (size_t i = 0; i < good.size(); ++i)
    for (int mask : {0xFF, 0x01, 0x80}) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ mask);
      REQUIRE_FALSE(decodeEntry(bad, kernel.material));
      REQUIRE_FALSE(decodePackage(bad));
    }
}

TEST_CASE("every cut and some growth is found", "[entry]") {
  CachedKernel kernel = sampleKernel();
  std::string good = encodePackage(kernel);
  for (size_t length = 0; length < good.size(); ++length)
    REQUIRE_FALSE(decodeEntry(good.substr(0, length), kernel.material));
  CHECK_FALSE(decodeEntry(good + '\0', kernel.material));
  CHECK_FALSE(decodeEntry(good + good, kernel.material));
  CHECK_FALSE(decodeEntry('\0' + good, kernel.material));
  CHECK_FALSE(decodeEntry(std::string(good.size(), '\0'), kernel.material));
}

TEST_CASE("random damage never crashes, with a right checksum either", "[entry]") {
  uint32_t seed = std::random_device()();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  CachedKernel kernel = sampleKernel();
  std::string good = encodePackage(kernel);
  for (int round = 0; round < 20'000; ++round) {
    std::string bad = good;
    for (int i = 0, count = 1 + random() % 8; i < count; ++i)
      bad[random() % bad.size()] = static_cast<char>(random());
    if (random() % 4 == 0)
      bad.resize(40 + random() % bad.size());
    if (bad != good)
      REQUIRE_FALSE(decodeEntry(bad, kernel.material));
    // A sealed file may be valid with other content; it must not crash, nor pass for the kernel with other material.
    std::string sealed = resealed(bad);
    Expected<CachedKernel> other = decodeEntry(sealed, kernel.material);
    if (other)
      REQUIRE(other->material == kernel.material);
    Expected<std::vector<CachedKernel>> package = decodePackage(sealed);
    (void)package;
  }
}

TEST_CASE("lengths that lie are refused before anything is allocated", "[entry]") {
  std::string good = encodePackage(sampleKernel());
  for (size_t at : {12ul, 28ul}) { // Number of kernels, length of the key material.
    std::string bad = good;
    bad.replace(at, 4, "\xFF\xFF\xFF\xFF");
    CHECK_FALSE(decodePackage(resealed(bad)));
    bad.replace(at, 4, std::string(4, '\0'));
    CHECK_FALSE(decodePackage(resealed(bad)));
  }
}

TEST_CASE("well-made files of another kernel, target or kind are no entry", "[entry]") {
  CachedKernel kernel = sampleKernel();
  CHECK_FALSE(decodeEntry(encodePackage(sampleKernel(1)), kernel.material));
  CHECK_FALSE(decodeEntry(encodePackage({kernel, sampleKernel(1)}), kernel.material));
  CachedKernel otherArch = kernel;
  otherArch.payloads[0].target = "sm_121";
  CHECK_FALSE(decodeEntry(encodePackage(otherArch), kernel.material));
  CachedKernel empty = kernel;
  empty.payloads.clear();
  CHECK_FALSE(decodeEntry(encodePackage(empty), kernel.material));
  CHECK_FALSE(decodePackage(encodePackage(std::vector<CachedKernel>{})));
}
