// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The ELF loader: good payloads load, damaged ones are refused or load, and never break the process.

#include "ElfImage.h"
#include "RuntimeFixture.h"

#include <cstring>
#include <elf.h>
#include <random>

using namespace tilejit;
using namespace tilejit::test;

namespace {

std::string payload() {
  auto bytes = readFile(realSystem(), std::string(TILEJIT_TEST_HOME) + "/lib/fake-kernel.so");
  REQUIRE(bytes.isOk());
  return *bytes;
}

} // namespace

TEST_CASE("the loader finds a payload's functions", "[runtime]") {
  auto image = cpu::ElfImage::load(payload());
  INFO(image.status().message());
  REQUIRE(image.isOk());
  CHECK(image->function("tilejit_plan") != nullptr);
  CHECK(image->function("tilejit_run") != nullptr);
  CHECK(image->function("tilejit_ru") == nullptr);
  CHECK(image->function("") == nullptr);
}

TEST_CASE("cut payloads are refused", "[runtime]") {
  std::string bytes = payload();
  for (size_t size = 0; size < bytes.size(); size += size < 1024 ? 1 : 97) {
    auto image = cpu::ElfImage::load(std::string_view(bytes).substr(0, size));
    // Section headers at the end are not needed; everything before is.
    if (image.isOk())
      CHECK(size > bytes.size() / 2);
    else
      CHECK(image.status().code() == StatusCode::DeviceFailed);
  }
}

TEST_CASE("damaged payloads never break the loader", "[runtime]") {
  const std::string good = payload();
  unsigned seed = std::random_device{}();
  std::mt19937 random(seed);
  INFO("seed " << seed);
  Elf64_Ehdr header;
  std::memcpy(&header, good.data(), sizeof header);
  // Where structure lies: headers, and the front and the end of the file, which hold tables.
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes = good;
    int changes = 1 + static_cast<int>(random() % 3);
    for (int i = 0; i < changes; ++i) {
      size_t limit = random() % 2 ? std::min<size_t>(good.size(), 1024) : good.size();
      size_t at = random() % limit;
      if (random() % 2)
        bytes[at] = static_cast<char>(random());
      else
        for (size_t j = at; j < std::min(at + 8, bytes.size()); ++j)
          bytes[j] = static_cast<char>(random() % 3 ? 0xff : random());
    }
    auto image = cpu::ElfImage::load(bytes);
    if (image.isOk())
      (void)image->function("tilejit_run");
    else
      REQUIRE((image.status().code() == StatusCode::DeviceFailed || image.status().code() == StatusCode::OutOfMemory));
  }
}

TEST_CASE("writable and executable segments are refused", "[runtime]") {
  std::string bytes = payload();
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  for (int i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    char *place = bytes.data() + header.e_phoff + static_cast<size_t>(i) * sizeof segment;
    std::memcpy(&segment, place, sizeof segment);
    if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_X))
      continue;
    segment.p_flags |= PF_W;
    std::memcpy(place, &segment, sizeof segment);
  }
  auto image = cpu::ElfImage::load(bytes);
  REQUIRE_FALSE(image.isOk());
  CHECK(image.status().message().find("writable and executable") != std::string::npos);
}

TEST_CASE("payloads of another machine are refused by name", "[runtime]") {
  std::string bytes = payload();
  Elf64_Half machine = EM_S390;
  std::memcpy(bytes.data() + offsetof(Elf64_Ehdr, e_machine), &machine, sizeof machine);
  auto image = cpu::ElfImage::load(bytes);
  REQUIRE_FALSE(image.isOk());
  CHECK(image.status().message().find("ELF machine 22") != std::string::npos);
}
