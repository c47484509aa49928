// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// For tests: what the process writes to standard error, kept instead of shown.

#ifndef TILEJIT_TEST_UNIT_CAPTUREDERRORS_H
#define TILEJIT_TEST_UNIT_CAPTUREDERRORS_H

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <unistd.h>
#include <vector>

namespace tilejit::test {

/// From its begin until take() or its end standard error is a file of its own.
class CapturedErrors {
public:
  CapturedErrors() {
    char path[] = "/tmp/tilejit-errors-XXXXXX";
    file_ = mkstemp(path);
    REQUIRE(file_ >= 0);
    unlink(path);
    before_ = dup(STDERR_FILENO);
    dup2(file_, STDERR_FILENO);
  }
  CapturedErrors(const CapturedErrors &) = delete;
  CapturedErrors &operator=(const CapturedErrors &) = delete;
  ~CapturedErrors() {
    restore();
    close(file_);
  }

  /// What was written since the begin.
  std::string take() {
    restore();
    std::string text(static_cast<size_t>(std::max<off_t>(0, lseek(file_, 0, SEEK_END))), '\0');
    REQUIRE(pread(file_, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()));
    return text;
  }

private:
  void restore() {
    if (before_ < 0)
      return;
    dup2(before_, STDERR_FILENO);
    close(before_);
    before_ = -1;
  }

  int file_ = -1, before_ = -1;
};

} // namespace tilejit::test

#endif // TILEJIT_TEST_UNIT_CAPTUREDERRORS_H
