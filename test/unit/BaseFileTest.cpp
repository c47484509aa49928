// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Whole-file operations: what they promise when calls are cut short, interrupted or fail.

#include "TestSystem.h"

#include <catch2/catch.hpp>

#include <cerrno>
#include <fcntl.h>

using namespace tilejit;
using namespace tilejit::test;

TEST_CASE("paths join and split", "[file]") {
  CHECK(joinPath("a", "b") == "a/b");
  CHECK(joinPath("a/", "b") == "a/b");
  CHECK(joinPath("a", "/b") == "/b");
  CHECK(joinPath("", "b") == "b");
  CHECK(parentPath("/a/b/") == "/a");
  CHECK(parentPath("/a") == "/");
  CHECK(parentPath("a") == ".");
  CHECK(parentPath("/") == "/");
  CHECK(fileName("/a/b.c") == "b.c");
  CHECK(fileName("b") == "b");
  CHECK(fileName("/a/b/") == "b");
}

TEST_CASE("a file comes back as it was written, in short and interrupted calls too", "[file]") {
  TempFolder folder;
  TestSystem system;
  system.largestWrite = 1000;
  int calls = 0;
  system.fault = [&](std::string_view call) {
    bool repeatable = call == "read" || call == "write";
    return repeatable && ++calls % 3 == 0 ? EINTR : 0;
  };
  std::string content(200'000, 'x');
  content[70'000] = '\0';
  REQUIRE(writeFileAtomically(system, folder / "f", content, 0600, true));
  Expected<std::string> back = readFile(system, folder / "f");
  REQUIRE(back);
  CHECK(*back == content);
  std::vector<std::string> names;
  REQUIRE(system.list(folder.path(), names) == 0);
  CHECK(names == std::vector<std::string>{"f"});
}

TEST_CASE("reading is bounded", "[file]") {
  TempFolder folder;
  REQUIRE(writeFileAtomically(realSystem(), folder / "f", std::string(1000, 'x'), 0600));
  CHECK(readFile(realSystem(), folder / "f", 1000));
  CHECK(readFile(realSystem(), folder / "f", 999).status().code() == StatusCode::InvalidArgument);
  CHECK(readFile(realSystem(), folder / "none").status().code() == StatusCode::NotFound);
  CHECK(readFile(realSystem(), "/dev/zero", 100'000).status().code() == StatusCode::InvalidArgument);
  CHECK(readFile(realSystem(), "/proc/self/status"));
}

TEST_CASE("a failed write leaves the old content and no other file", "[file]") {
  TempFolder folder;
  REQUIRE(writeFileAtomically(realSystem(), folder / "f", "old", 0600));
  for (std::string_view name : {"open", "write", "fsync", "close", "rename"})
    for (int error : {ENOSPC, EIO, ESTALE, EROFS, EMFILE, EACCES}) {
      TestSystem system;
      bool failed = false;
      system.fault = [&](std::string_view call) { return call == name && !std::exchange(failed, true) ? error : 0; };
      Status status = writeFileAtomically(system, folder / "f", "new", 0600, true);
      CAPTURE(name, error, status.message());
      CHECK(status.code() == StatusCode::IoError);
      CHECK(*readFile(realSystem(), folder / "f") == "old");
      std::vector<std::string> names;
      REQUIRE(realSystem().list(folder.path(), names) == 0);
      CHECK(names == std::vector<std::string>{"f"});
    }
}

TEST_CASE("folders are made with what is missing above them", "[file]") {
  TempFolder folder;
  CHECK(makeDirectories(realSystem(), folder / "a/b/c", 0700) == 0);
  CHECK(makeDirectories(realSystem(), folder / "a/b/c", 0700) == 0);
  FileInfo info;
  REQUIRE(realSystem().stat(folder / "a/b", true, info) == 0);
  CHECK(info.isDirectory());
  CHECK((info.mode & 0777) == 0700);
  REQUIRE(writeFileAtomically(realSystem(), folder / "file", "", 0600));
  CHECK(makeDirectories(realSystem(), folder / "file/x", 0700) == -ENOTDIR);
}

TEST_CASE("network file systems are known by their number", "[file]") {
  TestSystem system;
  system.fakeMagic = 0x6969;
  CHECK(isOnNetwork(system, "/"));
  system.fakeMagic = 0xFF534D42;
  CHECK(isOnNetwork(system, "/"));
  system.fakeMagic = 0xEF53;
  CHECK_FALSE(isOnNetwork(system, "/"));
  system.fault = [](std::string_view) { return EIO; };
  system.fakeMagic = 0;
  CHECK_FALSE(isOnNetwork(system, "/"));
}
