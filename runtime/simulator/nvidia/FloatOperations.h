// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Floating-point operations as PTX knows them: with rounding modes, flushing of denormal numbers, saturation and the
// other modifiers. By name; PTX assembly and llvm.nvvm intrinsics share them. Approximations give the exact result,
// rounded once: within the error that NVIDIA documents for them.

#ifndef TILEJIT_SIMULATOR_NVIDIA_FLOATOPERATIONS_H
#define TILEJIT_SIMULATOR_NVIDIA_FLOATOPERATIONS_H

#include "core/Elementwise.h"
#include "core/NarrowFloat.h"

#include <string_view>

namespace tilejit::sim {

struct FloatFlags {
  Rounding rounding = Rounding::Nearest;
  bool flush = false;    ///< .ftz: denormal operands and results are zeros (of f32; f16 and bf16 where PTX has it).
  bool saturate = false; ///< .sat: into [0, 1], NaN becomes 0.
  bool relu = false;     ///< .relu: negative results become 0, NaN the canonical one.
  bool nan = false;      ///< .NaN of min and max: a NaN wins.
  bool xorSign = false;  ///< .xorsign.abs of min and max: of magnitudes; the sign is that of the product.

  int64_t encode() const {
    return static_cast<int64_t>(rounding) | flush << 3 | saturate << 4 | relu << 5 | nan << 6 | xorSign << 7;
  }
  static FloatFlags decode(int64_t bits) {
    FloatFlags flags;
    flags.rounding = static_cast<Rounding>(bits & 7);
    flags.flush = bits >> 3 & 1;
    flags.saturate = bits >> 4 & 1;
    flags.relu = bits >> 5 & 1;
    flags.nan = bits >> 6 & 1;
    flags.xorSign = bits >> 7 & 1;
    return flags;
  }
};

struct FloatHandlers {
  Handler handler = nullptr;
  unsigned operands = 0;
};

/// add, sub, mul, div, fma, rcp, rsqrt, sqrt, ex2, lg2, sin, cos, tanh, min, max, abs, neg, floor, ceil, trunc, round
/// (half away), rint, saturate. `pair`: two of a kind in 32 bits. The operation's number must be flags.encode(). Empty
/// for what does not exist.
FloatHandlers floatOperation(std::string_view name, Kind kind, bool pair, const FloatFlags &flags);

/// a + b, a * b + c of doubles in a rounding mode, exactly.
double addRounded(double a, double b, Rounding rounding);
double fusedRounded(double a, double b, double c, Rounding rounding);

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_NVIDIA_FLOATOPERATIONS_H
