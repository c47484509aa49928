// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Newton's interpolation at Chebyshev nodes, and Horner's rule on coefficients from tables.

#include "IntervalTable.h"

#include <cmath>
#include <numbers>

namespace tilejit::math {

static constexpr int terms = IntervalTable::terms;

/// From the constant up the coefficients of the polynomial in (d - centre) / width that has the function's value at the
/// interval's nodes.
static std::array<double, terms> interpolate(double (*function)(double), double centre, double width) {
  std::array<double, terms> nodes, difference, result = {};
  for (int i = 0; i < terms; ++i) {
    nodes[i] = std::cos(std::numbers::pi * (i + 0.5) / terms) / 2;
    difference[i] = function(centre + nodes[i] * width);
  }
  for (int order = 1; order < terms; ++order) // Divided differences.
    for (int i = terms - 1; i >= order; --i)
      difference[i] = (difference[i] - difference[i - 1]) / (nodes[i] - nodes[i - order]);
  for (int i = terms - 1; i >= 0; --i) { // Times (x - node), plus the next.
    for (int power = terms - 1; power > 0; --power)
      result[power] = result[power - 1] - nodes[i] * result[power];
    result[0] = difference[i] - nodes[i] * result[0];
  }
  return result;
}

IntervalTable tabulate(double (*function)(double), double width, const IntervalTable::Last &last) {
  IntervalTable table = {width, last, {}};
  for (int i = 0; i < IntervalTable::intervals - 1; ++i) {
    std::array<double, terms> polynomial = interpolate(function, i * width, width);
    for (int power = 0; power < terms; ++power)
      table.coefficients[power][i] = static_cast<float>(polynomial[power]);
  }
  table.coefficients[0].back() = static_cast<float>(last.value);
  return table;
}

Tabulated evaluate(const IntervalTable &table, Num distance) {
  constexpr double magic = 0x1.8p23;
  Num near = select(distance > table.last.from, table.last.distance, distance);
  Num shifted = fma(near, 1 / table.width, near.like(magic)), interval = shifted - magic;
  Num rest = fma(near, 1 / table.width, -interval), index = bitsOf(shifted);
  Num value = lookUp(table.coefficients.back(), index);
  for (int power = terms - 2; power >= 0; --power)
    value = fma(value, rest, lookUp(table.coefficients[power], index));
  return {near, value};
}

} // namespace tilejit::math
