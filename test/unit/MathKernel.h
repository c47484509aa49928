// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// For tests of the code generator: one operation, compiled to a loop over arrays and called. The operation is MLIR text
// on vectors of `lanes` elements (scalars for 0) named %x and %y, its result %r.

#ifndef TILEJIT_TEST_UNIT_MATHKERNEL_H
#define TILEJIT_TEST_UNIT_MATHKERNEL_H

#include "tilejit/Target/TargetSpec.h"

#include <cstdint>
#include <string>

namespace tilejit::test {

struct MathKernelText {
  std::string operation; ///< "%r = math.exp %x : $in", with $in and $out for the types.
  std::string in, out;   ///< Element types: "f32".
  int64_t lanes = 0;
};

/// Compiled code; stays loaded until the process ends.
class MathKernel {
public:
  /// Compiles; on failure ok() is false and error() says why.
  MathKernel(const MathKernelText &text, const TargetSpec &target);

  bool ok() const { return function_ != nullptr; }
  const std::string &error() const { return error_; }
  const std::string &payload() const { return payload_; }
  /// Runs over `count` elements, a multiple of the lanes.
  void run(const void *x, const void *y, void *result, int64_t count) const { function_(x, y, result, count); }

private:
  using Function = void (*)(const void *x, const void *y, void *result, int64_t count);
  std::string payload_, error_;
  Function function_ = nullptr;
};

} // namespace tilejit::test

#endif // TILEJIT_TEST_UNIT_MATHKERNEL_H
