// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The one rule by which results are accepted. Nothing here is tuned until a test passes.
//
// A result is right where it lies in [round(r - e), round(r + e)]: r is the value in double precision, e bounds the
// error of the arithmetic that the description promises, round() is the conversion to the output's type. Rounding is
// monotonic, so the output's own rounding needs no allowance, and what is exact (copies, casts, max, integers) has
// e = 0 and must agree in every bit.
//
// e follows the computation, operation by operation. u is the unit roundoff of the arithmetic, 2^-24 for f32.
// - One operation: u |r|, and the smallest subnormal number. Division and the functions exp exp2 log log2 sqrt rsqrt:
//   4 ulp of r; tanh erf sigmoid gelu silu softplus log1p expm1 pow sin cos tan: 6 ulp. Near the zeros of sin, cos and
//   tan other than 0, and for negative arguments of gelu, 1e-7 for f32 (the same share of u for f64). A result of a
//   function below the smallest normal number may be off by that number.
// - A sum or dot product of n terms, in any order: (min(n, 6 sqrt(n)) + 1) u times the sum of |terms|. n u is the worst
//   case of any order; rounding errors of mean zero exceed 6 sqrt(n) u with a probability below 2n exp(-18) (Higham,
//   Accuracy and Stability of Numerical Algorithms, 3.1; Higham and Mary, doi:10.1137/18M1226312). The 1 is the
//   product. The sum of |a b| is computed for each element, so a row of small numbers has a small bound.
//   f64: twice that, since the reference rounds as well.
// - A product of n factors (prod), in any order: (1 + u)^n - 1, the worst case. Relative errors add up there, and those
//   of equal factors are equal, so that they do not have mean zero.
// - Products of tf32 round both operands to 11 bits: 2 * 2^-11 + 2^-22. bf16x3 keeps 16 bits of each operand and leaves
//   out the smallest of four products: 3 * 2^-16.
// - A softmax follows x - max, exp, sum and quotient; a layernorm the mean, then the squares of what is left of each
//   element, then rsqrt; each with the roundings of its steps, doubled where a single pass over a row has more of them.
//   A variance from a difference of two sums is not within the bound.
// - Attention: a score has the error e of its product, scale, tanh and bias. The weight exp(s - max) has the relative
//   error e + u |s - max|, and 4 ulp of an exp and a rounding for itself and for each time that the largest score grows
//   on the way through the keys, from whichever it starts, and when parts are merged; rounding to a 16-bit type adds
//   that type's. Their sum and the sums of weighted values have n terms, then there is a quotient (4 ulp) and a
//   product.
// - Errors of operands go through an operation by its extremes over [x - e, x + e] where it is monotonic, else by a
//   bound on its slope. Where they may lie on both sides of a jump (floor, comparison, %), e is the jump.
// - Where finite operands may overflow in some order of summation, or an uncertain operand may leave the domain of a
//   function, there is no bound: e is infinite and every result is accepted.

#ifndef TILEJIT_REFERENCE_TOLERANCE_H
#define TILEJIT_REFERENCE_TOLERANCE_H

#include "tilejit/Base/DType.h"
#include "tilejit/Description/Description.h"

#include <cstdint>
#include <string>

namespace tilejit {

/// A value and how far a right result may be from it, before the result is rounded to its type.
struct Bounded {
  double value = 0;
  double error = 0; ///< Infinite: no bound. Zero for NaN and infinities that must be there.
};

/// Factor of u times the sum of |terms| for a sum of n terms.
double growth(double terms);
/// Relative error of one product by the rounding of its operands.
double operandRounding(Precision precision);

/// Whether a result, already decoded, is right.
bool isAccepted(double got, Bounded wanted, DType dtype);
bool isAccepted(int64_t got, int64_t wanted, double error);
/// The largest distance from the value at which a result is accepted.
double allowance(Bounded wanted, DType dtype);

/// The parts of the rule that a description's outputs are judged by, in one line.
std::string toleranceRule(const Description &description);

} // namespace tilejit

#endif // TILEJIT_REFERENCE_TOLERANCE_H
