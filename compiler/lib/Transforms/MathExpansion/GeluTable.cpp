// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What the gelus lose at a distance d from 0, for registers of f32: d times a tail T(d) that falls from 1/2 to nothing.
// Only its absolute error counts, so that a polynomial for each of sixteen intervals is shorter than the exponential
// and the quotient that T is made of. The interval is d over its width, rounded; what is left is the polynomial's
// argument; each coefficient comes from a table of sixteen. The last interval's are 0, which holds from there to
// infinity.

#include "Functions.h"

#include <array>
#include <cmath>
#include <numbers>

namespace tilejit::math {
namespace {

using Tail = double (*)(double);

double normalTail(double d) { return 0.5 * std::erfc(d / std::numbers::sqrt2); }

double logisticTail(double d) {
  return 1 / (1 + std::exp(2 * std::sqrt(2 / std::numbers::pi) * (d + 0.044715 * d * d * d)));
}

constexpr double width = 0.4;
constexpr int intervals = 16, terms = 6;

using Coefficients = std::array<std::array<float, intervals>, terms>;

/// From the constant up those of the polynomial in (d - centre) / width that has the tail's value at the interval's
/// Chebyshev nodes: 6e-9 off at most, by the bound on the remainder of interpolation.
std::array<double, terms> interpolate(Tail tail, double centre) {
  std::array<double, terms> nodes, difference, result = {};
  for (int i = 0; i < terms; ++i) {
    nodes[i] = std::cos(std::numbers::pi * (i + 0.5) / terms) / 2;
    difference[i] = tail(centre + nodes[i] * width);
  }
  for (int order = 1; order < terms; ++order) // Newton's divided differences.
    for (int i = terms - 1; i >= order; --i)
      difference[i] = (difference[i] - difference[i - 1]) / (nodes[i] - nodes[i - order]);
  for (int i = terms - 1; i >= 0; --i) { // Times (x - node), plus the next.
    for (int power = terms - 1; power > 0; --power)
      result[power] = result[power - 1] - nodes[i] * result[power];
    result[0] = difference[i] - nodes[i] * result[0];
  }
  return result;
}

Coefficients makeCoefficients(Tail tail) {
  Coefficients table = {};
  for (int i = 0; i < intervals - 1; ++i) {
    std::array<double, terms> polynomial = interpolate(tail, i * width);
    for (int power = 0; power < terms; ++power)
      table[power][i] = static_cast<float>(polynomial[power]);
  }
  return table;
}

Loss lossOf(Num distance, const Coefficients &table) {
  constexpr double magic = 0x1.8p23, beyond = (intervals - 1) * width;
  Num near = select(distance > beyond, beyond, distance);
  Num shifted = fma(near, 1 / width, near.like(magic)), interval = shifted - magic;
  Num rest = fma(near, 1 / width, -interval), index = bitsOf(shifted);
  Num tail = lookUp(table.back(), index);
  for (int power = terms - 2; power >= 0; --power)
    tail = fma(tail, rest, lookUp(table[power], index));
  return {near, tail};
}

} // namespace

Loss geluLossByTable(Num distance) {
  static const Coefficients table = makeCoefficients(normalTail);
  return lossOf(distance, table);
}

Loss geluTanhLossByTable(Num distance) {
  static const Coefficients table = makeCoefficients(logisticTail);
  return lossOf(distance, table);
}

} // namespace tilejit::math
