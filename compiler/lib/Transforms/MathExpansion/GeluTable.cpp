// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What the gelus lose at a distance d from 0: d times a tail T(d) that falls from 1/2 to nothing. Only its absolute
// error counts, so that a table of polynomials (6e-9 off at most, by the bound on the remainder of interpolation) is
// shorter than the exponential and the quotient that T is made of.

#include "Functions.h"

#include <cmath>
#include <numbers>

namespace tilejit::math {

static double normalTail(double d) { return 0.5 * std::erfc(d / std::numbers::sqrt2); }

static double logisticTail(double d) {
  return 1 / (1 + std::exp(2 * std::sqrt(2 / std::numbers::pi) * (d + 0.044715 * d * d * d)));
}

static constexpr double width = 0.4;
static constexpr IntervalTable::Last nothing = {.from = 6, .distance = 6, .value = 0};

Tabulated geluLossByTable(Num distance) {
  static const IntervalTable table = tabulate(normalTail, width, nothing);
  return evaluate(table, distance);
}

Tabulated geluTanhLossByTable(Num distance) {
  static const IntervalTable table = tabulate(logisticTail, width, nothing);
  return evaluate(table, distance);
}

} // namespace tilejit::math
