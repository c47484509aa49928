// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Operations on bounded values: the result in double precision together with the error that f32 or f64 arithmetic may
// have made, by the rule of Tolerance.h.

#ifndef TILEJIT_REFERENCE_ARITHMETIC_H
#define TILEJIT_REFERENCE_ARITHMETIC_H

#include "tilejit/Base/Float.h"
#include "tilejit/Description/Expression.h"
#include "tilejit/Reference/Tolerance.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tilejit::reference {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

/// x * e for an error e: no error stays none, even beside an infinite x.
inline double scaled(double x, double error) { return error == 0 ? 0 : std::fabs(x) * error; }

/// What the fast functions are promised to, as a share of the value.
constexpr double fastError = 0x1p-15;
/// A size below which they may lose a result.
constexpr double fastFloor = 0x1p-120;
inline double fastErrorOf(double value) { return std::max(fastError * std::fabs(value), fastFloor); }

/// The arithmetic of one format, f32 or f64.
class Arithmetic {
public:
  explicit Arithmetic(DType format, Accuracy accuracy = Accuracy::Full)
      : isFast(accuracy == Accuracy::Fast && format == DType::F32), unit(unitRoundoff(format)),
        tiny(floatFormat(format).smallest), largest(floatFormat(format).largest),
        smallestNormal(std::ldexp(1.0, floatFormat(format).minExponent)), format(format) {}

  const bool isFast; ///< Some functions are promised to fastError of their value only.
  const double unit, tiny, largest, smallestNormal;
  const DType format;

  /// A computed value with the error that came in and its own; overflow becomes infinity.
  Bounded settle(double value, double carried, double own) const {
    if (!(carried < infinity))
      return {value, infinity};
    if (!std::isfinite(value))
      return {value, 0};
    double error = carried + own;
    if (std::fabs(value) - error > largest)
      return {std::copysign(infinity, value), 0};
    return {value, error};
  }
  /// The same for an operation that rounds once.
  Bounded rounded(double value, double carried) const { return settle(value, carried, unit * std::fabs(value) + tiny); }
  /// The same for an operation that is exact to some ulps.
  Bounded withinUlps(double value, double carried, double ulps, double floor = 0) const;

  Bounded add(Bounded a, Bounded b) const { return rounded(a.value + b.value, a.error + b.error); }
  Bounded sub(Bounded a, Bounded b) const { return rounded(a.value - b.value, a.error + b.error); }
  Bounded mul(Bounded a, Bounded b) const;
  Bounded div(Bounded a, Bounded b) const;
  Bounded mod(Bounded a, Bounded b) const;
  Bounded pow(Bounded a, Bounded b) const;
  Bounded fma(Bounded a, Bounded b, Bounded c) const { return add(mul(a, b), c); }
  /// A function of one value: Abs to Sign, and Neg.
  Bounded apply(ExprOp function, Bounded x) const;

  /// A sum or dot product of n terms from its value and the sum of its terms' sizes.
  Bounded sum(double value, double size, double terms, double relative = 0) const;
};

Bounded minimum(Bounded a, Bounded b);
Bounded maximum(Bounded a, Bounded b);
Bounded clamp(Bounded x, double low, double high);
/// Conversion to a floating type, rounding where it can't hold all values of `from`.
Bounded castToFloat(Bounded x, DType from, DType to);

/// A function of one value in double precision, with the limits and special cases of the descriptions.
double evaluateFunction(ExprOp function, double x);
/// x % y with the sign of y.
double modulo(double x, double y);
int64_t modulo(int64_t x, int64_t y);

} // namespace tilejit::reference

#endif // TILEJIT_REFERENCE_ARITHMETIC_H
