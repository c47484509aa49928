// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Values of every element type as doubles and 64-bit integers, and back. Encoding rounds exactly once, to nearest even,
// whatever the format; what happens beyond its range is said at each function. Bytes are host memory as DType.h lays
// it out: little endian, one byte for types of 4 bits. Says nothing about files (Npy.h) or tensors (HostTensor.h).

#ifndef TILEJIT_BASE_FLOAT_H
#define TILEJIT_BASE_FLOAT_H

#include "tilejit/Base/DType.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace tilejit {

/// What a floating format can hold.
struct FloatFormat {
  int precision;        ///< Significand bits with the hidden one.
  int minExponent;      ///< The smallest normal number is 2 to this power.
  double largest;       ///< Largest finite number.
  double smallest;      ///< Smallest positive number, subnormal where the format has these.
  bool hasInfinity;     ///< False: overflow gives NaN, or in a format without NaN the largest number.
  bool hasNan;          ///< False for f4e2m1 only.
  bool hasNegativeZero; ///< False for the fnuz formats and f8e8m0.
};

/// The format of a floating type.
const FloatFormat &floatFormat(DType dtype);
/// Half the distance between 1 and the next number: 2^-24 for f32.
double unitRoundoff(DType dtype);
/// The distance between neighbouring numbers of the format at `value` (finite).
double ulpAt(double value, DType dtype);

/// The bits of a value in a floating type. Overflow gives infinity, NaN or the largest number, as the format has them;
/// with `saturate` it and infinity give the largest finite number. NaN keeps its sign where the format has two. In
/// f8e8m0, which holds powers of two only, ties go up, positive numbers below the range give its smallest, and zero
/// and negative numbers give NaN. f4e2m1 turns NaN into zero of the opposite sign, as ml_dtypes does.
uint64_t encodeFloat(double value, DType dtype, bool saturate = false);
/// The value of bits of a floating type.
double decodeFloat(uint64_t bits, DType dtype);
/// The nearest number of the format: decodeFloat(encodeFloat(...)).
double roundToFloat(double value, DType dtype, bool saturate = false);

/// Floating to integer or bool: toward zero, saturating, NaN to 0; to bool: value != 0, NaN is true.
int64_t floatToInteger(double value, DType dtype);
/// The low bits of an integer, extended by the type's sign; for bool: value != 0.
int64_t wrapInteger(int64_t value, DType dtype);
/// A double whose rounding to `dtype` is the correctly rounded integer: for types narrower than f64 a double that
/// keeps the direction in which the integer was inexact.
double integerToFloat(int64_t value, DType dtype);

/// One element from memory as a double; 64-bit integers are rounded to the nearest double.
double loadAsDouble(const void *element, DType dtype);
/// One element of an integer type or bool from memory.
int64_t loadAsInteger(const void *element, DType dtype);
/// Writes one element: floating types round, integer types and bool convert as floatToInteger.
void storeDouble(void *element, DType dtype, double value, bool saturate = false);
/// Writes one element: floating types round, integer types wrap.
void storeInteger(void *element, DType dtype, int64_t value);

/// The same for dense arrays. `values.size()` elements are read or written at `elements`.
void loadDoubles(const void *elements, DType dtype, std::span<double> values);
void loadIntegers(const void *elements, DType dtype, std::span<int64_t> values);
void storeDoubles(void *elements, DType dtype, std::span<const double> values, bool saturate = false);
void storeIntegers(void *elements, DType dtype, std::span<const int64_t> values);
/// Converts a dense array to another type, with the meaning of the `cast` family. The arrays may not overlap.
void convertElements(const void *from, DType fromType, void *to, DType toType, size_t count, bool saturate = false);

} // namespace tilejit

#endif // TILEJIT_BASE_FLOAT_H
