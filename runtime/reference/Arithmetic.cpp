// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Operations of two bounded values, and conversions.

#include "Arithmetic.h"

#include <algorithm>

namespace tilejit::reference {
namespace {

/// Distance between two results of which one may be infinite; the same infinity twice is no distance.
double distance(double a, double b) { return a == b ? 0 : std::fabs(a - b); }

constexpr double divisionUlps = 4, powerUlps = 6;

/// Change of x^y over [x - e, x + e] for a whole exponent, by the steepest slope.
double powerSlope(Bounded x, double y) {
  double farthest = std::fabs(x.value) + x.error;
  if (y == 0)
    return 0;
  if (y >= 1)
    return y * std::pow(farthest, y - 1) * x.error;
  double nearest = std::fabs(x.value) - x.error;
  return nearest > 0 ? -y * std::pow(nearest, y - 1) * x.error : infinity;
}

} // namespace

Bounded Arithmetic::withinUlps(double value, double carried, double ulps, double floor) const {
  if (!std::isfinite(value))
    return settle(value, carried, 0);
  // The functions of the host that gave `value` are within an ulp of f64 themselves.
  if (format == DType::F64)
    ulps += 1;
  double own = std::max(ulps * ulpAt(std::fabs(value) + (carried < infinity ? carried : 0), format), floor);
  if (std::fabs(value) < smallestNormal)
    own = std::max(own, smallestNormal);
  return settle(value, carried, own);
}

Bounded Arithmetic::mul(Bounded a, Bounded b) const {
  double value = a.value * b.value;
  if (!std::isfinite(a.value) || !std::isfinite(b.value)) {
    // Infinity times a number is certain where the number's sign is.
    bool unsure = (std::isinf(a.value) && b.error > 0 && std::fabs(b.value) <= b.error) ||
                  (std::isinf(b.value) && a.error > 0 && std::fabs(a.value) <= a.error);
    bool open = (std::isinf(a.error) && !std::isnan(b.value)) || (std::isinf(b.error) && !std::isnan(a.value));
    return {value, unsure || open ? infinity : 0};
  }
  return rounded(value, scaled(a.value, b.error) + scaled(b.value, a.error) + scaled(a.error, b.error));
}

Bounded Arithmetic::div(Bounded a, Bounded b) const {
  double value = a.value / b.value;
  if (std::isinf(a.error) || std::isinf(b.error) || (b.error > 0 && std::fabs(b.value) <= b.error))
    return {value, infinity};
  double carried = 0;
  if (std::isfinite(value) && (a.error > 0 || b.error > 0))
    carried = (a.error + scaled(value, b.error)) / (std::fabs(b.value) - b.error);
  return withinUlps(value, carried, divisionUlps);
}

Bounded Arithmetic::mod(Bounded a, Bounded b) const {
  double value = modulo(a.value, b.value);
  if (std::isinf(a.error) || std::isinf(b.error))
    return {value, infinity};
  if (!std::isfinite(value) || std::isinf(b.value))
    return settle(value, a.error, 0);
  // Computed as a - b floor(a / b): the quotient may be off by its ulps, and with it on the other side of a jump.
  double quotient = std::fabs(a.value / b.value);
  double slack = a.error + scaled(quotient, b.error) + 4 * unit * (std::fabs(a.value) + std::fabs(b.value));
  bool nearJump = std::fabs(quotient - std::nearbyint(quotient)) * std::fabs(b.value) <= slack;
  return rounded(value, slack + (nearJump ? std::fabs(b.value) : 0));
}

Bounded Arithmetic::pow(Bounded a, Bounded b) const {
  double value = std::pow(a.value, b.value);
  if ((b.value == 0 && b.error == 0) || (a.value == 1 && a.error == 0))
    return {1, 0};
  if (std::isinf(a.error) || std::isinf(b.error))
    return {value, infinity};
  double carried = 0;
  if (a.value - a.error > 0 || (a.error == 0 && a.value == 0 && b.error == 0)) {
    for (double x : {a.value - a.error, a.value + a.error})
      for (double y : {b.value - b.error, b.value + b.error})
        if (a.error > 0 || b.error > 0)
          carried = std::max(carried, distance(std::pow(x, y), value));
  } else if (b.error == 0) {
    if (a.error > 0)
      carried = b.value == std::nearbyint(b.value) ? powerSlope(a, b.value) : infinity;
  } else {
    carried = infinity;
  }
  if (std::isnan(carried))
    carried = infinity;
  return withinUlps(value, carried, powerUlps, isFast ? fastErrorOf(value) : 0);
}

Bounded Arithmetic::sum(double value, double size, double terms, double relative) const {
  double factor = format == DType::F64 ? 2 : 1;
  double error = (factor * growth(terms) * unit + relative) * size + (terms + 1) * tiny;
  if (!std::isfinite(value))
    return {value, 0};
  // Terms of both signs whose partial sums may overflow: infinity or NaN, as the order has it.
  if (size >= largest && size != std::fabs(value))
    return {value, infinity};
  return settle(value, 0, error);
}

Bounded minimum(Bounded a, Bounded b) {
  if (std::isnan(a.value) || std::isnan(b.value))
    return {std::isnan(a.value) ? a.value : b.value, 0};
  if (a.value + a.error <= b.value - b.error)
    return a;
  if (b.value + b.error <= a.value - a.error)
    return b;
  return {std::min(a.value, b.value), std::max(a.error, b.error)};
}

Bounded maximum(Bounded a, Bounded b) {
  Bounded negated = minimum({-a.value, a.error}, {-b.value, b.error});
  return {-negated.value, negated.error};
}

Bounded clamp(Bounded x, double low, double high) { return minimum(maximum(x, {low, 0}), {high, 0}); }

Bounded castToFloat(Bounded x, DType from, DType to) {
  if (to == from || to == DType::F64 || (to == DType::F32 && from != DType::F64))
    return x;
  double value = roundToFloat(x.value, to);
  if (x.error == 0 || std::isinf(x.error))
    return {value, x.error};
  double low = roundToFloat(x.value - x.error, to), high = roundToFloat(x.value + x.error, to);
  if (std::isnan(low) && std::isnan(high) && std::isnan(value))
    return {value, 0};
  if (low == high)
    return {value, 0};
  double error = std::max(high - value, value - low);
  return {value, std::isfinite(error) ? error : infinity};
}

double modulo(double x, double y) {
  double rest = std::fmod(x, y);
  if (rest == 0)
    return std::copysign(0.0, y);
  return (rest < 0) != (y < 0) ? rest + y : rest;
}

int64_t modulo(int64_t x, int64_t y) {
  if (y == 0 || y == -1)
    return 0; // NumPy's answer to a zero divisor; -1 would overflow for the smallest number.
  int64_t rest = x % y;
  return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

} // namespace tilejit::reference
