// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A subject over its sizes: compiles what it needs and launches it, many times where a size is no constant.

#ifndef TILEJIT_TEST_SWEEP_SWEEPER_H
#define TILEJIT_TEST_SWEEP_SWEEPER_H

#include "Subject.h"

#include "tilejit/Runtime/Context.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tilejit::sweep {

struct SweepOptions {
  uint64_t seed = 1;
  int64_t rounds = 1;  ///< Of the subject's launches.
  bool isFull = false; ///< All combinations of sizes instead.
  bool isLoud = false; ///< A line for each subject when it is done.
  std::string sizes;   ///< "m=1,n=2": this launch only, of the data and guards of `seed`.
};

/// What the subjects' launches did wrong, each with the words that repeat it. Works on all processors; a launch that
/// touches a guard ends the program, with the same words.
std::vector<std::string> sweepAll(Context &context, const std::vector<const Subject *> &subjects,
                                  const SweepOptions &options);

} // namespace tilejit::sweep

#endif // TILEJIT_TEST_SWEEP_SWEEPER_H
