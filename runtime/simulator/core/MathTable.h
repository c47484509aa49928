// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Floating-point functions by name, for each kind of float: what LLVM's intrinsics, the vendors' libraries and assembly
// share. Results are those of the exact function, rounded once (f32 within 0.501 units in the last place).

#ifndef TILEJIT_SIMULATOR_CORE_MATHTABLE_H
#define TILEJIT_SIMULATOR_CORE_MATHTABLE_H

#include "core/Elementwise.h"

#include <string_view>

namespace tilejit::sim {

struct MathFunction {
  std::string_view name; ///< As in "llvm.<name>.f32" where LLVM has it.
  uint8_t operands;      ///< d = f(a), f(a, b), f(a, b, c); all of one kind.
  HandlerPair f16, bf16, f32, f64;

  HandlerPair of(Kind kind) const {
    switch (kind) {
    case Kind::F16:
      return f16;
    case Kind::BF16:
      return bf16;
    case Kind::F32:
      return f32;
    case Kind::F64:
      return f64;
    default:
      return {};
    }
  }
};

/// Null for a name that is not in the table.
const MathFunction *findMath(std::string_view name);

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_CORE_MATHTABLE_H
