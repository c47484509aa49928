// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Logging: levels, the two formats, and files that keep their size.

#include "TestSystem.h"
#include "tilejit/Base/Log.h"

#include <catch2/catch.hpp>

#include <cerrno>
#include <thread>

using namespace tilejit;
using namespace tilejit::test;

namespace {

int64_t sizeOf(const std::string &path) {
  FileInfo info;
  return realSystem().stat(path, true, info) == 0 ? info.size : -1;
}

/// All files of a log together; checks that each keeps the bound.
int64_t totalSize(const TempFolder &folder, int64_t bound) {
  std::vector<std::string> names;
  REQUIRE(realSystem().list(folder.path(), names) == 0);
  int64_t total = 0;
  for (const std::string &name : names) {
    CHECK(sizeOf(folder / name) <= bound);
    total += sizeOf(folder / name);
  }
  return total;
}

} // namespace

TEST_CASE("a logger passes what its level allows, and a default one nothing", "[log]") {
  std::vector<std::string> seen;
  Logger logger(LogLevel::Info, [&](const LogRecord &record) { seen.emplace_back(record.message); });
  logger.error("a", "one");
  logger.info("a", "two");
  logger.debug("a", "three");
  CHECK(seen == std::vector<std::string>{"one", "two"});
  CHECK_FALSE(Logger().enabled(LogLevel::Error));
  Logger().error("a", "nowhere");
}

TEST_CASE("levels and formats have their names", "[log]") {
  for (const char *name : {"error", "warn", "info", "debug", "trace"})
    CHECK(logLevelName(*parseLogLevel(name)) == name);
  CHECK_FALSE(parseLogLevel("Warn"));
  CHECK(parseLogFormat("json") == LogFormat::Json);
  CHECK_FALSE(parseLogFormat("xml"));
}

TEST_CASE("records are one line in both formats", "[log]") {
  std::vector<LogField> fields = {{"entry", "/a b"}, {"n", "5"}};
  LogRecord record{LogLevel::Warn, 1'769'860'800'123'000'000, "cache", "two\nlines", fields};
  CHECK(formatText(record) == "2026-01-31T12:00:00.123Z warn cache: two\\x0alines entry=\"/a b\" n=5");
  CHECK(formatJson(record) == "{\"time\":\"2026-01-31T12:00:00.123Z\",\"level\":\"warn\",\"area\":\"cache\","
                              "\"message\":\"two\\nlines\",\"entry\":\"/a b\",\"n\":\"5\"}");
}

TEST_CASE("a million lines stay under the bound", "[log]") {
  TempFolder folder;
  constexpr int64_t bound = 256 << 10;
  auto file = std::make_shared<RotatingFile>(realSystem(), folder / "log", bound, 4);
  REQUIRE(file->open());
  LogSink sink = fileSink(file, LogFormat::Text);
  Logger logger(LogLevel::Info, sink);
  for (int i = 0; i < 1'000'000; ++i)
    logger.info("test", "line");
  CHECK(file->failures() == 0);
  CHECK(totalSize(folder, bound) <= 4 * bound);
  CHECK(sizeOf(folder / "log.3") > 0);
  CHECK(sizeOf(folder / "log.4") == -1);
  // The last line is there, and whole.
  std::string content = *readFile(realSystem(), folder / "log");
  CHECK(content.ends_with(" info test: line\n"));
}

TEST_CASE("threads and several writers of one file do not split lines", "[log]") {
  TempFolder folder;
  constexpr int64_t bound = 64 << 10;
  RotatingFile first(realSystem(), folder / "log", bound, 50), second(realSystem(), folder / "log", bound, 50);
  auto write = [](RotatingFile &file, char letter) {
    for (int i = 0; i < 2000; ++i)
      file.write(std::string(50, letter));
  };
  std::thread threads[] = {std::thread(write, std::ref(first), 'a'), std::thread(write, std::ref(first), 'b'),
                           std::thread(write, std::ref(second), 'c'), std::thread(write, std::ref(second), 'd')};
  for (std::thread &thread : threads)
    thread.join();
  std::vector<std::string> names;
  REQUIRE(realSystem().list(folder.path(), names) == 0);
  int lines = 0;
  for (const std::string &name : names) {
    std::string content = *readFile(realSystem(), folder / name);
    for (size_t at = 0; at < content.size(); at += 51, ++lines) {
      REQUIRE(content.substr(at, 51) == std::string(50, content[at]) + "\n");
    }
  }
  // A line may be dropped, and is counted then, where the other writer is kept from finishing its rotation.
  CHECK(lines + first.failures() + second.failures() == 8000);
}

TEST_CASE("a log that can't be written or rotated never grows or throws", "[log]") {
  TempFolder folder;
  TestSystem system;
  RotatingFile file(system, folder / "log", 10'000, 3);
  system.fault = [](std::string_view call) { return call == "rename" ? EACCES : 0; };
  for (int i = 0; i < 10'000; ++i)
    file.write("a line of some length");
  CHECK(file.failures() > 0);
  CHECK(sizeOf(folder / "log") <= 10'000);
  system.fault = [](std::string_view) { return EIO; };
  file.write("nowhere");
  RotatingFile missing(realSystem(), folder / "none/log", 100, 2);
  CHECK(missing.open().code() == StatusCode::NotFound);
  missing.write("nowhere");
  CHECK(missing.failures() == 1);
}
