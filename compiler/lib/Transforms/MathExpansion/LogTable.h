// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Registers of f32 taken apart for a logarithm: x = 2^k * (1 + r) / c with 1 / 32 or less of r, 1 / 16 next to 1. The
// quotients c are near the reciprocals of the significands, from a table of sixteen; what they stand for is in tables
// of logarithms. Next to 1 on either side c is a power of two and the tables' sum with k is 0, so that what is left is
// the series in r and results near 0 keep their relative accuracy.

#ifndef TILEJIT_LIB_TRANSFORMS_MATHEXPANSION_LOGTABLE_H
#define TILEJIT_LIB_TRANSFORMS_MATHEXPANSION_LOGTABLE_H

#include "Emit.h"

#include <array>

namespace tilejit::math {

struct TakenApart {
  Num exponent; ///< k as a float; infinite for 0 and infinity.
  Num index;    ///< For lookUp().
  Num quotient, rest;
};

/// For numbers that scalesByInstruction(). NaN in the rest for NaN and, where `isOfPositive`, for negative numbers.
TakenApart takeApart(Num x, bool isOfPositive);

/// Logarithms of 1 / c: as they are, and in two parts of which the first is a multiple of 2^-15.
struct LogTable {
  std::array<float, 16> whole, high, low;
};

/// That of a base whose logarithm of 2 is `two`, which is ln 2, 1 or log10(2).
LogTable logTable(double two);

} // namespace tilejit::math

#endif // TILEJIT_LIB_TRANSFORMS_MATHEXPANSION_LOGTABLE_H
