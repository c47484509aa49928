// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Functions of a distance d from 0 as a polynomial for each of sixteen intervals, for registers of f32 that
// scalesByInstruction(). The interval is d over its width, rounded; what is left is the polynomial's argument; each
// coefficient comes from a table of sixteen. In the last interval, which goes on to infinity, one distance stands for
// all.

#ifndef TILEJIT_LIB_TRANSFORMS_MATHEXPANSION_INTERVALTABLE_H
#define TILEJIT_LIB_TRANSFORMS_MATHEXPANSION_INTERVALTABLE_H

#include "Emit.h"

#include <array>

namespace tilejit::math {

struct IntervalTable {
  static constexpr int intervals = 16, terms = 6;
  /// What lies beyond `from`, which is at most 14.5 widths where the value is not 0: a distance from there to 15.5
  /// widths, and its value. Where `from` is the distance too, one instruction has the smaller of both.
  struct Last {
    double from, distance, value;
  };

  double width;
  Last last;
  std::array<std::array<float, intervals>, terms> coefficients; ///< From the constants up.
};

/// Interpolates `function` at the intervals' Chebyshev nodes. It is asked for values from -width / 2 on, and must be as
/// smooth around 0 as elsewhere. The multiplier 1 / width is best one that f32 holds.
IntervalTable tabulate(double (*function)(double), double width, const IntervalTable::Last &last);

struct Tabulated {
  Num distance; ///< d, or what stands for it in the last interval.
  Num value;
};
/// The function at d, which is not negative (or NaN).
Tabulated evaluate(const IntervalTable &table, Num distance);

} // namespace tilejit::math

#endif // TILEJIT_LIB_TRANSFORMS_MATHEXPANSION_INTERVALTABLE_H
