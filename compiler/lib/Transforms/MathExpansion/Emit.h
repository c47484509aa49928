// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The notation in which the expansions are written: numbers with operators that build IR. A Num is a scalar or a
// one-dimensional vector of f32, f64, i1, i32 or i64; all Nums of an expansion have the same number of lanes. Constants
// take the type of the number that they meet.

#ifndef TILEJIT_LIB_TRANSFORMS_MATHEXPANSION_EMIT_H
#define TILEJIT_LIB_TRANSFORMS_MATHEXPANSION_EMIT_H

#include "tilejit/Transforms/MathExpansion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <initializer_list>
#include <span>

namespace tilejit::math {

/// Where and how an expansion builds.
struct Emit {
  mlir::OpBuilder &builder;
  mlir::Location loc;
  int64_t lanes; ///< 0: scalars.
  const MathExpansionOptions &options;

  /// `element`, or a vector of it.
  mlir::Type typeOf(mlir::Type element) const;
};

class Num {
public:
  Num() = default;
  Num(const Emit &emit, mlir::Value value) : emit_(&emit), value_(value) {}

  const Emit &emit() const { return *emit_; }
  mlir::Value value() const { return value_; }
  mlir::Type element() const;
  int width() const; ///< Bits of an element.
  bool isDouble() const { return element().isF64(); }

  /// A constant of this number's type.
  Num like(double constant) const;
  Num likeInt(int64_t constant) const;

private:
  const Emit *emit_ = nullptr;
  mlir::Value value_;
};

// Arithmetic: floats or integers, by the operands' type.
Num operator+(Num a, Num b);
Num operator-(Num a, Num b);
Num operator*(Num a, Num b);
Num operator/(Num a, Num b);
inline Num operator+(Num a, double b) { return a + a.like(b); }
inline Num operator-(Num a, double b) { return a - a.like(b); }
inline Num operator-(double a, Num b) { return b.like(a) - b; }
inline Num operator*(Num a, double b) { return a * a.like(b); }
inline Num operator/(double a, Num b) { return b.like(a) / b; }
Num operator-(Num a);
Num abs(Num a);
Num copySign(Num magnitude, Num sign);
Num sqrt(Num a);
/// a * b + c: rounded once where the target can, else twice. For sums whose rounding does not matter.
Num fma(Num a, Num b, Num c);
inline Num fma(Num a, double b, Num c) { return fma(a, a.like(b), c); }
inline Num fma(Num a, Num b, double c) { return fma(a, b, a.like(c)); }
/// Coefficients from the constant up, by Horner's rule.
Num polynomial(Num x, std::span<const double> coefficients);
inline Num polynomial(Num x, std::initializer_list<double> coefficients) {
  return polynomial(x, std::span<const double>(coefficients.begin(), coefficients.size()));
}
/// The same by pairs of coefficients: fewer steps wait for each other. `square` is x * x.
Num polynomialInPairs(Num x, Num square, std::span<const double> coefficients);

/// An unevaluated sum; |lo| is at most half an ulp of hi.
struct Pair {
  Num hi, lo;
};
/// Exact product (up to underflow), with or without fused multiply-add.
Pair exactProduct(Num a, Num b);
/// Exact sum of any two; of two with |a| >= |b|.
Pair exactSum(Num a, Num b);
Pair exactSumOrdered(Num a, Num b);

// Comparisons are false for NaN.
using Compare = mlir::arith::CmpFPredicate;
Num compare(Compare predicate, Num a, Num b);
inline Num operator<(Num a, Num b) { return compare(Compare::OLT, a, b); }
inline Num operator>(Num a, Num b) { return compare(Compare::OGT, a, b); }
inline Num operator<=(Num a, Num b) { return compare(Compare::OLE, a, b); }
inline Num operator>=(Num a, Num b) { return compare(Compare::OGE, a, b); }
inline Num operator<(Num a, double b) { return a < a.like(b); }
inline Num operator>(Num a, double b) { return a > a.like(b); }
inline Num operator<=(Num a, double b) { return a <= a.like(b); }
inline Num operator>=(Num a, double b) { return a >= a.like(b); }
inline Num isEqual(Num a, double b) { return compare(Compare::OEQ, a, a.like(b)); }
inline Num isNaN(Num a) { return compare(Compare::UNO, a, a); }
Num compareInt(mlir::arith::CmpIPredicate predicate, Num a, Num b);
Num isZeroInt(Num a);
Num isNotZeroInt(Num a);
Num select(Num condition, Num a, Num b);
inline Num select(Num condition, double a, Num b) { return select(condition, b.like(a), b); }
inline Num select(Num condition, Num a, double b) { return select(condition, a, a.like(b)); }
/// The larger and the smaller of a number and a bound; NaN stays.
Num atLeast(Num a, double low);
Num atMost(Num a, double high);
/// The nearest value in [low, high]; NaN stays.
Num clamp(Num a, double low, double high);

// Integers; of conditions too (i1).
Num operator&(Num a, Num b);
Num operator|(Num a, Num b);
Num operator^(Num a, Num b);
inline Num operator&(Num a, int64_t b) { return a & a.likeInt(b); }
inline Num operator|(Num a, int64_t b) { return a | a.likeInt(b); }
inline Num operator^(Num a, int64_t b) { return a ^ a.likeInt(b); }
inline Num addInt(Num a, int64_t b) { return a + a.likeInt(b); }
Num operator<<(Num a, int bits);
Num shiftRight(Num a, int bits);        ///< Copies the sign.
Num shiftRightLogical(Num a, int bits); ///< Fills with zeros.
Num shiftRightLogical(Num a, Num bits);
Num minUnsigned(Num a, Num b);
Num truncateInt(Num a, int width);
Num extendInt(Num a, int width, bool isSigned);

// Between types.
Num bitsOf(Num a);     ///< Integer of the same width.
Num floatOf(Num bits); ///< f32 or f64 of the same width.
Num toInt(Num a);      ///< Toward zero, to the integer of the same width; the value must fit.
Num toFloat(Num a);    ///< Signed, to the float of the same width.
Num widen(Num a);      ///< f32 to f64.
Num narrow(Num a);     ///< f64 to f32, to nearest.
Num truncate(Num a);   ///< Toward zero.
/// To the nearest integer, ties to even, of a number below 2^22 (f32) or 2^51 (f64) in magnitude.
Num roundSmall(Num a);
/// 2^n for an integer n of a normal result.
Num powerOfTwo(Num n);
/// An intrinsic of LLVM with such operands, its result of as many elements.
mlir::Value callIntrinsic(const Emit &emit, llvm::StringRef name, mlir::Type element, mlir::ValueRange operands);
/// Whether such numbers fill registers of 512 bits, one or more.
bool fillsRegisters(Num a);
/// `count` lanes from `first` on, of two vectors behind one another.
mlir::Value takeLanes(const Emit &emit, mlir::Value x, mlir::Value y, int64_t first, int64_t count);
/// Applies `body` to each register, or `group` of them, that the operands fill, and puts the results together. All
/// operands have the lanes of the first, which fillsRegisters().
mlir::Value inRegisters(const Emit &emit, mlir::ValueRange operands,
                        llvm::function_ref<mlir::Value(const Emit &, mlir::ValueRange)> body, int64_t group = 1);
/// What a table of 16 holds at the low four bits of each index, for registers of f32 that scalesByInstruction().
Num lookUp(std::span<const float, 16> table, Num index);
/// Whether scale() is one instruction on such numbers.
bool scalesByInstruction(Num a);
/// floor(log2 |a|) as a float, for registers of f32 that scalesByInstruction(): that of subnormal numbers too;
/// -infinity for 0, infinity for infinity.
Num exponentOf(Num a);
/// |a| over 2 to that exponent, so 1 or more and less than 2; 1 for 0 and infinity. Where `isOfPositive`, NaN for what
/// is negative and not 0.
Num significandOf(Num a, bool isOfPositive);
/// 1 / sqrt(a) to 2^-14, for the same registers.
Num approximateRsqrt(Num a);
/// a * 2^n, rounded once, for |n| at most twice the exponent's range; n as an integer and as a float.
Num scale(Num a, Num n, Num floatN);

} // namespace tilejit::math

#endif // TILEJIT_LIB_TRANSFORMS_MATHEXPANSION_EMIT_H
