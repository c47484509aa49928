// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// tanh and erf of f32 where 2^-16 of the result is enough: x times a quotient of polynomials in x^2, up to where the
// result is 1 to within that. NaN stays, and what is near 0 keeps its relative accuracy and its sign.

#include "Functions.h"

namespace tilejit::math {

/// x p(x^2) / q(x^2), and 1 with the sign of x where |x| is beyond the limit.
static Num boundedRational(Num x, double limit, std::initializer_list<double> p, std::initializer_list<double> q) {
  Num square = x * x, quotient = x * polynomial(square, p) / polynomial(square, q);
  return select(abs(x) > limit, copySign(x.like(1), x), quotient);
}

// Minimax for the relative error: 2^-21 up to 6.24, where 1 - tanh is 2^-17.
Num expandFastTanh(Num x) {
  return boundedRational(x, 6.24, {0x1.fffff2p-1, 0x1.fc7632p-4, 0x1.37ae9ap-9, 0x1.29145ap-18},
                         {1.0, 0x1.d471fcp-2, 0x1.60e0e8p-6, 0x1.41ef44p-13});
}

// The same: 2^-19 up to 3.17, where 1 - erf is 2^-17.
Num expandFastErf(Num x) {
  return boundedRational(x, 3.17, {0x1.20dd94p+0, 0x1.3b56cap-3, 0x1.628f80p-5, 0x1.8b5766p-11},
                         {1.0, 0x1.e11a82p-2, 0x1.845edcp-4, 0x1.31b02cp-7});
}

} // namespace tilejit::math
