// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Runs a program to its end with files for input and output and a limit on its time.

#ifndef TILEJIT_BACKENDS_NVVM_CHILDPROCESS_H
#define TILEJIT_BACKENDS_NVVM_CHILDPROCESS_H

#include <string>
#include <vector>

namespace tilejit::nvvm {

struct ChildRequest {
  std::vector<std::string> command; ///< Path of the program, then its arguments.
  int input = -1, output = -1;      ///< Descriptors that become its standard input and output.
  int timeLimitMs = 0;
};

struct ChildEnd {
  bool started = false, timedOut = false;
  int exitCode = 0;     ///< 128 + the signal's number where a signal ended it.
  std::string messages; ///< What it wrote to standard error; where it did not start: why.
};

/// Blocks until the program has ended; one that takes too long is killed.
ChildEnd runChild(const ChildRequest &request);

} // namespace tilejit::nvvm

#endif // TILEJIT_BACKENDS_NVVM_CHILDPROCESS_H
