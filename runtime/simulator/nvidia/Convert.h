// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Conversions between PTX's numbers: integers, floats, and the narrow formats, which come in pairs. One general handler
// with the formats as data; plain integer and float conversions have quicker ones elsewhere.

#ifndef TILEJIT_SIMULATOR_NVIDIA_CONVERT_H
#define TILEJIT_SIMULATOR_NVIDIA_CONVERT_H

#include "core/Elementwise.h"
#include "core/NarrowFloat.h"

#include <string_view>

namespace tilejit::sim {

/// A type of numbers as cvt names it.
struct NumberType {
  enum class Class : uint8_t { Unsigned, Signed, Float, E8m0 };
  std::string_view name; ///< "s32", "f16", "e4m3x2" without the x2: "e4m3".
  Class kind;
  uint8_t bits;
  const FloatFormat *format; ///< Of floats; null for f64.
};
/// Null for an unknown name.
const NumberType *findNumberType(std::string_view name);

struct Conversion {
  const NumberType *to = nullptr, *from = nullptr;
  Rounding rounding = Rounding::Nearest; ///< To the target, or of `integral`.
  bool integral = false;                 ///< To an integral number first (.rni, .rzi, ...).
  bool flush = false, saturate = false, relu = false;
  bool finite = false; ///< .satfinite
};

/// One number: its bits in, its bits out.
uint64_t convertNumber(const Conversion &conversion, uint64_t bits);

/// Packs a conversion into an operation's number and back.
int64_t encodeConversion(const Conversion &conversion);

/// d = cvt(a). Registers are as wide as the numbers (at least 8 bits).
Handler convertNumberHandler(const Conversion &conversion);
/// d = {cvt(a), cvt(b)}: a in the upper half. Sources are numbers; the target is a pair of at most 16 bits each.
Handler convertTwoHandler(const Conversion &conversion);
/// d = both halves of a converted.
Handler convertPairHandler(const Conversion &conversion);

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_NVIDIA_CONVERT_H
