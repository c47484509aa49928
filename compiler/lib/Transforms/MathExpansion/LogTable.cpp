// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The tables, and how numbers are taken apart for them.

#include "LogTable.h"

#include <cmath>

namespace tilejit::math {

/// The reciprocals of the middle of each sixteenth from 1 to 2, but at the ends those of 1 and 2.
static std::array<float, 16> makeQuotients() {
  std::array<float, 16> result;
  for (int i = 0; i < 16; ++i)
    result[i] = static_cast<float>(1 / (1 + (i + 0.5) / 16));
  result.front() = 1;
  result.back() = 0.5;
  return result;
}

static const std::array<float, 16> &quotients() {
  static const std::array<float, 16> table = makeQuotients();
  return table;
}

TakenApart takeApart(Num x, bool isOfPositive) {
  Num significand = significandOf(x, isOfPositive);
  // lookUp() takes the low four bits: the first of the fraction.
  Num index = shiftRightLogical(bitsOf(significand), 19);
  Num quotient = lookUp(quotients(), index);
  return {exponentOf(x), index, quotient, fma(significand, quotient, -1.0)};
}

LogTable logTable(double two) {
  LogTable result;
  for (int i = 0; i < 16; ++i) {
    double whole = -std::log2(static_cast<double>(quotients()[i])) * two, high = std::round(whole * 0x1p15) * 0x1p-15;
    result.whole[i] = static_cast<float>(whole);
    result.high[i] = static_cast<float>(high);
    result.low[i] = static_cast<float>(whole - high);
  }
  return result;
}

} // namespace tilejit::math
