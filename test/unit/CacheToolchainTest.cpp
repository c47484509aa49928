// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Identity of the toolchain: build ids read from files and memory, and how long an answer of the worker is believed.

#include "CacheFixture.h"
#include "tilejit/Cache/Toolchain.h"

#include <catch2/catch.hpp>

#include <filesystem>

using namespace tilejit;
using namespace tilejit::test;
namespace fs = std::filesystem;

namespace {

/// A worker and a library that are plain files, and a count of how often the worker is asked.
struct FakeToolchain {
  TempFolder folder;
  TestSystem system;
  std::string worker = folder / "worker", library = folder / "libLLVM.so", state = folder / "state";
  int asked = 0;

  FakeToolchain() {
    CacheFixture::overwrite(worker, "worker 1");
    CacheFixture::overwrite(library, "library 1");
  }
  Expected<Toolchain> find() {
    return findToolchain(system, state, worker, [&]() -> Expected<Toolchain> {
      ++asked;
      Toolchain toolchain;
      toolchain.llvmVersion = "22.1.0";
      TILEJIT_ASSIGN_OR_RETURN(std::string libraryId, fileIdentity(system, library));
      TILEJIT_ASSIGN_OR_RETURN(std::string workerId, fileIdentity(system, worker));
      toolchain.parts = {{"libLLVM", libraryId, library}, {"worker", workerId, worker}};
      return toolchain;
    });
  }
};

} // namespace

TEST_CASE("the build id of a file is the one that is loaded", "[toolchain]") {
  Expected<Toolchain> loaded = loadedToolchain(realSystem(), "22.1.0");
  REQUIRE(loaded);
  REQUIRE(loaded->parts.size() == 1);
  CHECK(loaded->parts[0].name == "worker");
  CHECK(loaded->llvmVersion == "22.1.0");
  Expected<std::string> identity = fileIdentity(realSystem(), loaded->parts[0].path);
  REQUIRE(identity);
  CHECK(*identity == loaded->parts[0].identity);
  CHECK(identity->size() == 40); // SHA-1, as the build asks of the linker.
}

TEST_CASE("files without a build id are known by their content", "[toolchain]") {
  TempFolder folder;
  std::string elf = *readFile(realSystem(), "/proc/self/exe");
  for (const std::string &content :
       {std::string(), std::string("text"), elf.substr(0, 10), elf.substr(0, 64), elf.substr(0, 200),
        std::string(elf).replace(32, 8, 8, '\xFF'), std::string(elf).replace(54, 4, 4, '\xFF')}) {
    CacheFixture::overwrite(folder / "f", content);
    Expected<std::string> identity = fileIdentity(realSystem(), folder / "f");
    REQUIRE(identity);
    CHECK(identity->starts_with("digest-"));
  }
  CHECK(fileIdentity(realSystem(), folder / "none").status().code() == StatusCode::NotFound);
}

TEST_CASE("a worker is asked once, and again when a file changes", "[toolchain]") {
  FakeToolchain fake;
  Expected<Toolchain> first = fake.find();
  REQUIRE(first);
  CHECK(*fake.find() == *first);
  CHECK(fake.asked == 1);
  // A relinked library of the same size.
  CacheFixture::overwrite(fake.library, "library 2");
  Expected<Toolchain> second = fake.find();
  CHECK(fake.asked == 2);
  CHECK(second->parts[0].identity != first->parts[0].identity);
  CHECK(second->identities() != first->identities());
  // Content changed in place with the time put back: the time of change is not.
  fs::file_time_type time = fs::last_write_time(fake.worker);
  CHECK(*fake.find() == *second);
  {
    FileHandle file(realSystem(), realSystem().open(fake.worker, 1, 0));
    REQUIRE(writeAll(realSystem(), file.get(), "worker 3") == 0);
  }
  fs::last_write_time(fake.worker, time);
  CHECK(fake.find()->parts[1].identity != second->parts[1].identity);
  CHECK(fake.asked == 3);
  // Another way to find libraries is another question.
  fake.system.variables["LD_LIBRARY_PATH"] = "/elsewhere";
  CHECK(fake.find());
  CHECK(fake.asked == 4);
  fs::remove(fake.library);
  CHECK_FALSE(fake.find());
}

TEST_CASE("a warm look at the toolchain opens none of its files", "[toolchain]") {
  FakeToolchain fake;
  REQUIRE(fake.find());
  int opens = 0;
  fake.system.fault = [&](std::string_view call) { return opens += call == "open", 0; };
  REQUIRE(fake.find());
  CHECK(opens == 1); // The remembered answer.
}

TEST_CASE("a damaged or missing memory only means to ask", "[toolchain]") {
  FakeToolchain fake;
  Expected<Toolchain> good = fake.find();
  REQUIRE(good);
  std::string path = CacheFixture::find(fake.state, "")[0], content = *readFile(realSystem(), path);
  for (size_t at = 0; at < content.size(); at += 7) {
    std::string bad = content;
    bad[at] ^= 1;
    CacheFixture::overwrite(path, bad);
    int before = fake.asked;
    REQUIRE(fake.find());
    REQUIRE(*fake.find() == *good);
    REQUIRE(fake.asked == before + 1);
  }
  for (int error : {EIO, EACCES, EROFS, ENOSPC}) {
    fs::remove_all(fake.state);
    fake.system.fault = [&](std::string_view call) { return call == "rename" || call == "makeDirectory" ? error : 0; };
    CHECK(*fake.find() == *good);
    fake.system.fault = nullptr;
  }
  CHECK(*findToolchain(fake.system, "", fake.worker, [&] { return Expected<Toolchain>(*good); }) == *good);
}

TEST_CASE("an answer that does not fit the files is used but not remembered", "[toolchain]") {
  FakeToolchain fake;
  auto ask = [&]() -> Expected<Toolchain> {
    ++fake.asked;
    return Toolchain{{{"worker", "of a file that was replaced", fake.worker}}, "22"};
  };
  CHECK(findToolchain(fake.system, fake.state, fake.worker, ask));
  CHECK(findToolchain(fake.system, fake.state, fake.worker, ask));
  CHECK(fake.asked == 2);
}

TEST_CASE("a worker's answer is JSON that is not trusted", "[toolchain]") {
  Toolchain toolchain{{{"libLLVM", "01", "/usr/lib/x"}, {"worker", "02", "/w"}}, "22.1.0"};
  REQUIRE(parseToolchain(toolchainJson(toolchain)));
  CHECK(*parseToolchain(toolchainJson(toolchain)) == toolchain);
  for (const char *bad : {"", "{}", "[]", R"({"llvm_version":"1","parts":[]})", R"({"llvm_version":1,"parts":[{}]})",
                          R"({"llvm_version":"1","parts":[{"name":"a","identity":"","path":""}]})"})
    CHECK_FALSE(parseToolchain(bad));
}
