// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A System for tests: the real one, with environment, user and clock of the test's choice, and with any call made to
// fail. Also a folder that goes away with its test.

#ifndef TILEJIT_TEST_UNIT_TESTSYSTEM_H
#define TILEJIT_TEST_UNIT_TESTSYSTEM_H

#include "tilejit/Base/File.h"
#include "tilejit/Base/System.h"

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <string>

namespace tilejit::test {

/// A fresh folder under the system's place for temporary files.
class TempFolder {
public:
  TempFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tilejit-test-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string &path() const { return path_; }
  std::string operator/(std::string_view name) const { return joinPath(path_, name); }

private:
  std::string path_;
};

/// Calls by the name of System's function.
class TestSystem : public System {
public:
  /// Asked before each call, with its name: 0 lets it happen, a positive errno makes it fail.
  std::function<int(std::string_view call)> fault;
  std::map<std::string, std::string> variables;
  uint32_t user = realSystem().userId();
  int64_t clockOffsetNs = 0;
  int64_t pausedNs = 0; ///< pause() only moves the clocks.
  int64_t fakeMagic = 0;
  size_t largestWrite = SIZE_MAX; ///< Longer writes are cut short.

  std::optional<std::string> environment(const std::string &name) const override {
    auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  }
  uint32_t userId() const override { return user; }
  int64_t processId() const override { return real_.processId(); }
  std::string currentFolder() const override { return real_.currentFolder(); }
  int64_t wallNanoseconds() const override { return real_.wallNanoseconds() + clockOffsetNs; }
  int64_t monotonicNanoseconds() const override { return real_.monotonicNanoseconds() + pausedNs; }
  uint64_t random() override { return real_.random(); }
  void pause(int64_t ns) override { pausedNs += ns; }

  int open(const std::string &path, int flags, uint32_t mode) override {
    return call("open", [&] { return real_.open(path, flags, mode); });
  }
  int64_t read(int fd, void *buffer, size_t bytes) override {
    return call("read", [&] { return real_.read(fd, buffer, bytes); });
  }
  int64_t readAt(int fd, void *buffer, size_t bytes, int64_t offset) override {
    return call("readAt", [&] { return real_.readAt(fd, buffer, bytes, offset); });
  }
  int64_t write(int fd, const void *buffer, size_t bytes) override {
    return call("write", [&] { return real_.write(fd, buffer, std::min(bytes, largestWrite)); });
  }
  int fsync(int fd) override {
    return call("fsync", [] { return 0; }); // No test can tell, but by the time it takes.
  }
  int close(int fd) override {
    int result = real_.close(fd); // Closed either way, as by Linux.
    return call("close", [&] { return result; });
  }
  int stat(int fd, FileInfo &out) override {
    return call("fstat", [&] { return real_.stat(fd, out); });
  }
  int lock(int fd, int operation) override {
    return call("lock", [&] { return real_.lock(fd, operation); });
  }
  int touch(int fd) override {
    return call("touch", [&] { return real_.touch(fd); });
  }
  int stat(const std::string &path, bool followLinks, FileInfo &out) override {
    return call("stat", [&] { return real_.stat(path, followLinks, out); });
  }
  int fileSystem(const std::string &path, FileSystemInfo &out) override {
    int result = call("fileSystem", [&] { return real_.fileSystem(path, out); });
    if (fakeMagic)
      out.magic = fakeMagic;
    return result;
  }
  int readLink(const std::string &path, std::string &out) override {
    return call("readLink", [&] { return real_.readLink(path, out); });
  }
  int makeDirectory(const std::string &path, uint32_t mode) override {
    return call("makeDirectory", [&] { return real_.makeDirectory(path, mode); });
  }
  int changeMode(const std::string &path, uint32_t mode) override {
    return call("changeMode", [&] { return real_.changeMode(path, mode); });
  }
  int rename(const std::string &from, const std::string &to) override {
    return call("rename", [&] { return real_.rename(from, to); });
  }
  int unlink(const std::string &path) override {
    return call("unlink", [&] { return real_.unlink(path); });
  }
  int removeDirectory(const std::string &path) override {
    return call("removeDirectory", [&] { return real_.removeDirectory(path); });
  }
  int list(const std::string &path, std::vector<std::string> &out) override {
    return call("list", [&] { return real_.list(path, out); });
  }

private:
  template <typename Real> auto call(std::string_view name, Real real) -> decltype(real()) {
    if (int error = fault ? fault(name) : 0)
      return -error;
    return real();
  }
  System &real_ = realSystem();
};

} // namespace tilejit::test

#endif // TILEJIT_TEST_UNIT_TESTSYSTEM_H
