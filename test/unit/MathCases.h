// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// For tests of expanded math: the functions with their references in a wider type, arguments, and errors in units in
// the last place.

#ifndef TILEJIT_TEST_UNIT_MATHCASES_H
#define TILEJIT_TEST_UNIT_MATHCASES_H

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace tilejit::test {

using Wide = long double;
using Reference = Wide (*)(Wide, Wide);

struct MathFunction {
  const char *name;
  const char *operation; ///< Of the kernel.
  Reference reference;
  double limit32, limit64; ///< Units in the last place.
  double low, high;        ///< Where the dense sample lies.
  bool binary = false;
  bool nearZeros = false; ///< Absolute error of 1e-7 (f32) or 1e-16 (f64) is enough too.
};

/// All of them.
std::span<const MathFunction> mathFunctions();

template <typename T> struct Bits;
template <> struct Bits<float> {
  using Int = uint32_t;
  static constexpr const char *name = "f32";
};
template <> struct Bits<double> {
  using Int = uint64_t;
  static constexpr const char *name = "f64";
};

/// Special values, all exponents and signs, and a dense sample of an interval.
template <typename T> std::vector<T> samples(double low, double high, std::mt19937_64 &random, size_t count) {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values;
  for (T value : {T(0),
                  T(1),
                  T(0.5),
                  T(2),
                  T(3),
                  T(4),
                  T(10),
                  T(0.1),
                  T(1.5),
                  T(2.5),
                  T(100),
                  T(1e5),
                  Limits::min(),
                  Limits::denorm_min(),
                  Limits::max(),
                  Limits::infinity(),
                  Limits::quiet_NaN(),
                  Limits::epsilon(),
                  T(88.72283),
                  T(709.782712893384),
                  T(103.9),
                  T(745.1),
                  T(1e10),
                  T(1e30),
                  T(127.5),
                  T(1023.9)})
    for (T sign : {T(1), T(-1)}) {
      values.push_back(sign * value);
      values.push_back(std::nextafter(sign * value, T(0)));
      values.push_back(std::nextafter(sign * value, 2 * sign * value));
    }
  while (values.size() < count / 2)
    values.push_back(std::bit_cast<T>(static_cast<typename Bits<T>::Int>(random())));
  std::uniform_real_distribution<double> inside(low, high);
  while (values.size() < count)
    values.push_back(static_cast<T>(inside(random)));
  return values;
}

/// Distance in units in the last place of the wanted value; 0 where both are NaN or the same infinity.
template <typename T> double ulpError(T got, Wide wanted) {
  if (std::isnan(wanted) || std::isnan(got))
    return std::isnan(wanted) && std::isnan(got) ? 0 : 1e30;
  T rounded = static_cast<T>(wanted);
  if (std::isinf(rounded) || std::isinf(got)) {
    if (got == rounded)
      return 0;
    // One side of the overflow's border: judge by the largest number.
    Wide bound = std::isinf(got) ? static_cast<Wide>(std::copysign(std::numeric_limits<T>::max(), got)) : got;
    if (std::isinf(wanted))
      return 1e30;
    return static_cast<double>(std::fabs(bound - wanted) / std::scalbn(Wide(1), std::numeric_limits<T>::max_exponent -
                                                                                    std::numeric_limits<T>::digits)) +
           1;
  }
  int exponent = wanted == 0 ? std::numeric_limits<int>::min() / 2 : std::ilogb(wanted);
  exponent = std::max(exponent, std::numeric_limits<T>::min_exponent - 1) - std::numeric_limits<T>::digits + 1;
  return static_cast<double>(std::fabs(static_cast<Wide>(got) - wanted) / std::scalbn(Wide(1), exponent));
}

/// Arguments of a function: x and y of `count` elements.
template <typename T> struct Arguments {
  std::vector<T> x, y;

  Arguments(const MathFunction &function, uint64_t seed, size_t count) : y(count, T(0)) {
    std::mt19937_64 random(seed);
    x = samples<T>(function.low, function.high, random, count);
    if (!function.binary)
      return;
    y = samples<T>(function.low - 10, function.high, random, count);
    std::shuffle(y.begin(), y.end(), random);
    size_t special = std::min<size_t>(150, count / 32); // Special values meet special values.
    for (size_t i = 0; i < special && (i + 1) * special < count / 2; ++i)
      for (size_t j = 0; j < special; ++j)
        x[count / 32 + i * special + j] = x[i], y[count / 32 + i * special + j] = x[j];
  }
};

/// The largest error of results, and where.
struct Worst {
  double error = 0;
  size_t at = 0;
};
template <typename T>
Worst worstError(const MathFunction &function, const Arguments<T> &arguments, std::span<const T> results) {
  Worst worst;
  for (size_t i = 0; i < results.size(); ++i) {
    T got = results[i];
    Wide wanted = function.reference(arguments.x[i], arguments.y[i]);
    double error = ulpError(got, wanted);
    if (function.nearZeros && std::fabs(static_cast<Wide>(got) - wanted) < (sizeof(T) == 4 ? 1e-7L : 1e-16L))
      error = std::min(error, 0.5);
    if (got == 0 && wanted == 0 && std::signbit(got) != std::signbit(wanted) &&
        std::string_view(function.name) != "fma")
      error = 1e30;
    if (error > worst.error)
      worst = {error, i};
  }
  return worst;
}

} // namespace tilejit::test

#endif // TILEJIT_TEST_UNIT_MATHCASES_H
