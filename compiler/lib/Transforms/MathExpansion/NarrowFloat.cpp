// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Floats below 32 bits, by integer operations on f32. bf16 is the upper half of f32. The others are widened by placing
// exponent and fraction where f32 has them and multiplying by a power of two, which serves normal and subnormal numbers
// alike. x86's instruction for bf16 flushes subnormals, so that only registers without any go through it. f64 goes by
// way of an f32 rounded to odd, so that no value is rounded twice.

#include "Functions.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/APFloat.h"

using namespace mlir;
using llvm::APFloat;
using llvm::APFloatBase;

namespace tilejit::math {

namespace {

/// What the bits of a format mean.
struct Format {
  int bits;
  int fraction;        ///< Fraction bits; 0 for a format of powers of two.
  int minExponent;     ///< The smallest normal number is 2 to this power.
  int64_t largestCode; ///< Of a finite magnitude.
  int64_t overflow;    ///< Code of what is larger, without a sign.
  int64_t nan;         ///< Code of NaN, without a sign; -1: none.
  bool ieee;           ///< All exponent bits set: infinity and NaN.
  bool isSigned;
  bool negativeZero; ///< False: the code of -0 is the one NaN.
};

int64_t codeOf(const APFloat &value) { return static_cast<int64_t>(value.bitcastToAPInt().getZExtValue()); }

Format formatOf(FloatType type) {
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  Format format;
  format.bits = static_cast<int>(type.getWidth());
  format.fraction = static_cast<int>(APFloatBase::semanticsPrecision(semantics)) - 1;
  format.minExponent = APFloatBase::semanticsMinExponent(semantics);
  format.isSigned = APFloatBase::semanticsHasSignedRepr(semantics);
  format.largestCode = codeOf(APFloat::getLargest(semantics));
  format.ieee = APFloatBase::semanticsHasInf(semantics);
  bool hasNan = APFloatBase::semanticsHasNaN(semantics);
  format.nan = hasNan ? codeOf(APFloat::getNaN(semantics)) : -1;
  format.negativeZero = format.nan != int64_t{1} << (format.bits - 1);
  format.overflow = format.ieee ? codeOf(APFloat::getInf(semantics)) : hasNan ? format.nan : format.largestCode;
  return format;
}

double powerConstant(int exponent) { return std::ldexp(1.0, exponent); }

/// The bits of a narrow value in i32.
Num narrowBits(const Emit &emit, Value source, const Format &format) {
  OpBuilder &builder = emit.builder;
  Type narrowInt = IntegerType::get(builder.getContext(), static_cast<unsigned>(format.bits));
  Value bits = arith::BitcastOp::create(builder, emit.loc, emit.typeOf(narrowInt), source);
  return extendInt(Num(emit, bits), 32, /*isSigned=*/false);
}

Num extendPowerOfTwo(Num bits) {
  // 2^-127 is subnormal in f32.
  Num value = select(isZeroInt(bits), bits.likeInt(0x00400000), bits << 23);
  Num isNan = compareInt(arith::CmpIPredicate::eq, bits, bits.likeInt(0xff));
  return floatOf(select(isNan, bits.likeInt(0x7fc00000), value));
}

/// f32 of any narrow value.
Num extendToSingle(const Emit &emit, Value source, const Format &format) {
  Num bits = narrowBits(emit, source, format);
  if (!format.isSigned)
    return extendPowerOfTwo(bits);
  if (format.bits == 16 && format.fraction == 7)
    return floatOf(bits << 16);
  Num magnitude = bits & ((int64_t{1} << (format.bits - 1)) - 1);
  Num sign = (bits ^ magnitude) << (32 - format.bits);
  Num placed = magnitude << (23 - format.fraction);
  Num scaled = bitsOf(floatOf(placed) * powerConstant(127 - (1 - format.minExponent)));
  if (format.ieee) {
    Num special = compareInt(arith::CmpIPredicate::ugt, magnitude, magnitude.likeInt(format.largestCode));
    scaled = select(special, placed | 0x7f800000, scaled);
  } else if (format.nan >= 0) {
    Num code = format.negativeZero ? magnitude : bits;
    Num special = compareInt(arith::CmpIPredicate::eq, code, code.likeInt(format.nan));
    scaled = select(special, scaled.likeInt(0x7fc00000), scaled);
  }
  return floatOf(scaled | sign);
}

/// f64 to f32 rounded to odd (or toward zero): no later rounding to fewer bits can go wrong.
Num narrowToOdd(Num x, bool towardZero) {
  Num nearest = narrow(x), back = widen(nearest);
  Num bits = bitsOf(nearest);
  Num above = abs(back) > abs(x);
  Num below = select(above, addInt(bits, -1), bits);
  if (towardZero)
    return floatOf(below);
  Num inexact = compare(Compare::ONE, back, x);
  return floatOf(select(inexact, below | 1, bits));
}

/// The code of |x|, rounded, maybe beyond the largest. `magnitude` are the bits of |x|.
Num roundMagnitude(Num magnitude, const Format &format, bool towardZero) {
  int shift = 23 - format.fraction;
  Num rounded = magnitude;
  if (!towardZero) {
    Num lowBit = shiftRightLogical(magnitude, shift) & 1;
    rounded = addInt(magnitude + lowBit, (int64_t{1} << (shift - 1)) - 1);
  }
  Num code = shiftRightLogical(rounded, shift);
  int rebias = 127 - (1 - format.minExponent);
  Num normal = addInt(code, -(int64_t{rebias} << format.fraction));
  // Subnormal numbers of the format are multiples of its smallest one.
  Num small = floatOf(minUnsigned(magnitude, magnitude.likeInt(int64_t{127 + format.minExponent} << 23)));
  Num steps = small * powerConstant(format.fraction - format.minExponent);
  Num subnormal = toInt(towardZero ? steps : roundSmall(steps));
  Num isSmall =
      compareInt(arith::CmpIPredicate::ult, magnitude, magnitude.likeInt(int64_t{127 + format.minExponent} << 23));
  return select(isSmall, subnormal, normal);
}

/// f8E8M0: the nearest power of two, ties up, the exponents of f32 (whose subnormals lie below all of them).
Num encodePowerOfTwo(Num x, bool towardZero) {
  Num bits = bitsOf(x);
  Num code = shiftRightLogical(towardZero ? bits : addInt(bits, 0x00400000), 23);
  // 2^-127 and its surroundings are subnormal; 1.5 * 2^-127 is where 2^-126 begins.
  Num subnormal = select(x >= (towardZero ? 0x1p-126 : 0x1.8p-127), bits.likeInt(1), bits.likeInt(0));
  code = select(x < 0x1p-126, subnormal, code);
  Num valid = (x > 0.0) & compareInt(arith::CmpIPredicate::ult, code, code.likeInt(0xff));
  return select(valid, code, code.likeInt(0xff));
}

/// bf16, the upper half of f32. What rounding carries beyond the fraction is the next exponent, up to infinity, so only
/// NaN needs care: it is made quiet and not rounded.
Num encodeUpperHalf(Num x, bool towardZero) {
  Num bits = bitsOf(x), rounded = bits;
  if (!towardZero) {
    Num down = addInt(bits, 0x7fff);
    rounded = select(isNotZeroInt(bits & 0x10000), addInt(down, 1), down);
  }
  return shiftRightLogical(select(isNaN(x), bits | 0x7fc00000, rounded), 16);
}

/// The narrow float whose code is in the low bits.
Value narrowFromCode(Num code, FloatType type) {
  const Emit &emit = code.emit();
  Num bits = truncateInt(code, static_cast<int>(type.getWidth()));
  return arith::BitcastOp::create(emit.builder, emit.loc, emit.typeOf(type), bits.value());
}

/// Which numbers of a register are subnormal.
Value isSubnormal(const Emit &emit, Value x) {
  Value subnormal = arith::ConstantOp::create(emit.builder, emit.loc, emit.builder.getI32IntegerAttr(0x20));
  return callIntrinsic(emit, "llvm.x86.avx512.fpclass.ps.512", emit.builder.getI1Type(), ValueRange{x, subnormal});
}

/// bf16 where no number is subnormal. One instruction for two registers has half the steps of two for one each.
Value roundRegisters(Num x, FloatType bf16) {
  bool inPairs = x.emit().lanes % 32 == 0;
  auto round = [&](const Emit &part, ValueRange operands) -> Value {
    Value value = operands[0];
    if (!inPairs)
      return callIntrinsic(part, "llvm.x86.avx512bf16.cvtneps2bf16.512", bf16, value);
    Value low = takeLanes(part, value, value, 0, 16), high = takeLanes(part, value, value, 16, 16);
    return callIntrinsic(part, "llvm.x86.avx512bf16.cvtne2ps2bf16.512", bf16, {high, low});
  };
  return inRegisters(x.emit(), x.value(), round, inPairs ? 2 : 1);
}

/// bf16 by AVX-512's instruction, which rounds to the nearest and flushes subnormals. Where there are any, which is
/// rare, all lanes go through encodeUpperHalf().
Value narrowRegisters(Num x, FloatType bf16) {
  const Emit &emit = x.emit();
  OpBuilder &builder = emit.builder;
  Location loc = emit.loc;
  Value subnormal = inRegisters(emit, x.value(),
                                [](const Emit &part, ValueRange operands) { return isSubnormal(part, operands[0]); });
  Value any = vector::ReductionOp::create(builder, loc, vector::CombiningKind::OR, subnormal);
  auto branch = scf::IfOp::create(builder, loc, emit.typeOf(bf16), any, /*withElse=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(builder, loc, narrowFromCode(encodeUpperHalf(x, /*towardZero=*/false), bf16));
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, loc, roundRegisters(x, bf16));
  return branch.getResult(0);
}

Num encode(Num x, const Format &format, bool towardZero) {
  if (!format.isSigned)
    return encodePowerOfTwo(x, towardZero);
  Num bits = bitsOf(x), magnitude = bits & 0x7fffffff;
  Num sign = shiftRightLogical(bits ^ magnitude, 32 - format.bits);
  Num code = roundMagnitude(magnitude, format, towardZero);
  Num isInfinite = compareInt(arith::CmpIPredicate::eq, magnitude, magnitude.likeInt(0x7f800000));
  Num isLarge = compareInt(arith::CmpIPredicate::ugt, code, code.likeInt(format.largestCode));
  if (towardZero) // Only infinity leaves the finite range.
    code = select(isLarge, code.likeInt(format.largestCode), code);
  code = select(towardZero ? isInfinite : isLarge, code.likeInt(format.overflow), code);
  Num isNan = compareInt(arith::CmpIPredicate::ugt, magnitude, magnitude.likeInt(0x7f800000));
  code = select(isNan, code.likeInt(format.nan >= 0 ? format.nan : 0), code);
  if (format.nan < 0)
    sign = select(isNan, sign ^ (int64_t{1} << (format.bits - 1)), sign);
  if (format.negativeZero)
    return code | sign;
  Num unsignedCode = isZeroInt(code) | compareInt(arith::CmpIPredicate::eq, code, code.likeInt(format.nan));
  return select(unsignedCode, code, code | sign);
}

} // namespace

bool isLeftToCodeGenerator(FloatType narrow, const MathExpansionOptions &options) {
  return (narrow.isF16() && options.hasHalfConvert) || (narrow.isBF16() && options.leavesBf16);
}

Num extendNarrow(const Emit &emit, Value source, bool toDouble) {
  auto type = cast<FloatType>(getElementTypeOrSelf(source.getType()));
  Num single;
  if (isLeftToCodeGenerator(type, emit.options)) {
    Type target = emit.typeOf(Float32Type::get(emit.builder.getContext()));
    single = Num(emit, arith::ExtFOp::create(emit.builder, emit.loc, target, source));
  } else {
    single = extendToSingle(emit, source, formatOf(type));
  }
  return toDouble ? widen(single) : single;
}

Value truncateToNarrow(Num x, FloatType type, bool towardZero) {
  const Emit &emit = x.emit();
  OpBuilder &builder = emit.builder;
  if (x.isDouble())
    x = narrowToOdd(x, towardZero);
  if (isLeftToCodeGenerator(type, emit.options) && !towardZero)
    return arith::TruncFOp::create(builder, emit.loc, emit.typeOf(type), x.value());
  if (type.isBF16() && emit.options.hasBf16Convert && fillsRegisters(x) && !towardZero)
    return narrowRegisters(x, type);
  Num code = type.isBF16() ? encodeUpperHalf(x, towardZero) : encode(x, formatOf(type), towardZero);
  return narrowFromCode(code, type);
}

} // namespace tilejit::math
