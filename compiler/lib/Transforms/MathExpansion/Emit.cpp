// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Operators to operations.

#include "Emit.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace tilejit::math {

namespace {

OpBuilder &builderOf(Num a) { return a.emit().builder; }
Location locOf(Num a) { return a.emit().loc; }
bool isFloat(Num a) { return isa<FloatType>(a.element()); }

template <typename Op> Num binary(Num a, Num b) {
  return Num(a.emit(), Op::create(builderOf(a), locOf(a), a.value(), b.value()));
}
template <typename Op> Num unary(Num a) { return Num(a.emit(), Op::create(builderOf(a), locOf(a), a.value())); }
template <typename Op> Num convert(Num a, Type element) {
  return Num(a.emit(), Op::create(builderOf(a), locOf(a), a.emit().typeOf(element), a.value()));
}
Type intType(Num a, int width) { return IntegerType::get(a.value().getContext(), width); }
Type floatType(Num a, int width) {
  MLIRContext *context = a.value().getContext();
  return width == 64 ? Type(Float64Type::get(context)) : Type(Float32Type::get(context));
}
Num constantOf(Num a, Attribute scalar) {
  Type type = a.value().getType();
  auto attribute = isa<VectorType>(type) ? cast<TypedAttr>(DenseElementsAttr::get(cast<VectorType>(type), scalar))
                                         : cast<TypedAttr>(scalar);
  return Num(a.emit(), arith::ConstantOp::create(builderOf(a), locOf(a), attribute));
}
int significandBits(Num a) { return a.width() == 64 ? 52 : 23; }
int exponentBias(Num a) { return a.width() == 64 ? 1023 : 127; }

} // namespace

Type Emit::typeOf(Type element) const { return lanes ? Type(VectorType::get({lanes}, element)) : element; }

Type Num::element() const { return getElementTypeOrSelf(value_.getType()); }
int Num::width() const { return static_cast<int>(element().getIntOrFloatBitWidth()); }
Num Num::like(double constant) const { return constantOf(*this, FloatAttr::get(element(), constant)); }
Num Num::likeInt(int64_t constant) const {
  APInt bits(static_cast<unsigned>(width()), static_cast<uint64_t>(constant), /*isSigned=*/true,
             /*implicitTrunc=*/true);
  return constantOf(*this, IntegerAttr::get(element(), bits));
}

Num operator+(Num a, Num b) { return isFloat(a) ? binary<arith::AddFOp>(a, b) : binary<arith::AddIOp>(a, b); }
Num operator-(Num a, Num b) { return isFloat(a) ? binary<arith::SubFOp>(a, b) : binary<arith::SubIOp>(a, b); }
Num operator*(Num a, Num b) { return isFloat(a) ? binary<arith::MulFOp>(a, b) : binary<arith::MulIOp>(a, b); }
Num operator/(Num a, Num b) { return binary<arith::DivFOp>(a, b); }
Num operator-(Num a) { return isFloat(a) ? unary<arith::NegFOp>(a) : a.likeInt(0) - a; }
Num abs(Num a) { return unary<mlir::math::AbsFOp>(a); }
Num copySign(Num magnitude, Num sign) { return binary<mlir::math::CopySignOp>(magnitude, sign); }
Num sqrt(Num a) { return unary<mlir::math::SqrtOp>(a); }

Num fma(Num a, Num b, Num c) {
  if (!a.emit().options.hasFma)
    return a * b + c;
  return Num(a.emit(), mlir::math::FmaOp::create(builderOf(a), locOf(a), a.value(), b.value(), c.value()));
}

Num polynomial(Num x, std::span<const double> coefficients) {
  Num sum = x.like(coefficients.back());
  for (size_t i = coefficients.size() - 1; i-- > 0;)
    sum = fma(sum, x, coefficients[i]);
  return sum;
}

Num polynomialInPairs(Num x, Num square, std::span<const double> coefficients) {
  Num sum;
  for (size_t i = (coefficients.size() + 1) / 2; i-- > 0;) {
    Num pair = x.like(coefficients[2 * i]);
    if (2 * i + 1 < coefficients.size())
      pair = fma(x, coefficients[2 * i + 1], pair);
    sum = sum.value() ? fma(square, sum, pair) : pair;
  }
  return sum;
}

Pair exactProduct(Num a, Num b) {
  Num hi = a * b;
  if (a.emit().options.hasFma)
    return {hi, fma(a, b, -hi)};
  // Split both factors into halves whose products are exact.
  double splitter = a.isDouble() ? 134217729.0 : 4097.0;
  auto split = [&](Num x) {
    Num scaled = x * splitter, high = scaled - (scaled - x);
    return Pair{high, x - high};
  };
  Pair x = split(a), y = split(b);
  Num lo = x.lo * y.lo - (((hi - x.hi * y.hi) - x.lo * y.hi) - x.hi * y.lo);
  return {hi, lo};
}

Pair exactSum(Num a, Num b) {
  Num hi = a + b, part = hi - a;
  return {hi, (a - (hi - part)) + (b - part)};
}

Pair exactSumOrdered(Num a, Num b) {
  Num hi = a + b;
  return {hi, b - (hi - a)};
}

Num compare(Compare predicate, Num a, Num b) {
  return Num(a.emit(), arith::CmpFOp::create(builderOf(a), locOf(a), predicate, a.value(), b.value()));
}
Num compareInt(arith::CmpIPredicate predicate, Num a, Num b) {
  return Num(a.emit(), arith::CmpIOp::create(builderOf(a), locOf(a), predicate, a.value(), b.value()));
}
Num isZeroInt(Num a) { return compareInt(arith::CmpIPredicate::eq, a, a.likeInt(0)); }
Num isNotZeroInt(Num a) { return compareInt(arith::CmpIPredicate::ne, a, a.likeInt(0)); }
Num select(Num condition, Num a, Num b) {
  return Num(a.emit(), arith::SelectOp::create(builderOf(a), locOf(a), condition.value(), a.value(), b.value()));
}
Num clamp(Num a, double low, double high) {
  Num floor = a.like(low), ceiling = a.like(high);
  Num raised = select(floor > a, floor, a);
  return select(ceiling < raised, ceiling, raised);
}

Num operator&(Num a, Num b) { return binary<arith::AndIOp>(a, b); }
Num operator|(Num a, Num b) { return binary<arith::OrIOp>(a, b); }
Num operator^(Num a, Num b) { return binary<arith::XOrIOp>(a, b); }
Num operator<<(Num a, int bits) { return binary<arith::ShLIOp>(a, a.likeInt(bits)); }
Num shiftRight(Num a, int bits) { return binary<arith::ShRSIOp>(a, a.likeInt(bits)); }
Num shiftRightLogical(Num a, int bits) { return binary<arith::ShRUIOp>(a, a.likeInt(bits)); }
Num shiftRightLogical(Num a, Num bits) { return binary<arith::ShRUIOp>(a, bits); }
Num minUnsigned(Num a, Num b) { return binary<arith::MinUIOp>(a, b); }
Num truncateInt(Num a, int width) { return convert<arith::TruncIOp>(a, intType(a, width)); }
Num extendInt(Num a, int width, bool isSigned) {
  Type type = intType(a, width);
  return isSigned ? convert<arith::ExtSIOp>(a, type) : convert<arith::ExtUIOp>(a, type);
}

Num bitsOf(Num a) { return convert<arith::BitcastOp>(a, intType(a, a.width())); }
Num floatOf(Num bits) { return convert<arith::BitcastOp>(bits, floatType(bits, bits.width())); }
Num toInt(Num a) { return convert<arith::FPToSIOp>(a, intType(a, a.width())); }
Num toFloat(Num a) { return convert<arith::SIToFPOp>(a, floatType(a, a.width())); }
Num widen(Num a) { return convert<arith::ExtFOp>(a, floatType(a, 64)); }
Num narrow(Num a) { return convert<arith::TruncFOp>(a, floatType(a, 32)); }

Num truncate(Num a) {
  if (a.emit().options.hasFma)
    return unary<mlir::math::TruncOp>(a);
  // Below 2^23 (2^52) an integer holds the result; what is larger, infinite or NaN is its own.
  Num small = abs(a) < (a.isDouble() ? 0x1p52 : 0x1p23);
  Num whole = toFloat(toInt(select(small, a, 0.0)));
  return select(small, copySign(whole, a), a);
}

Num roundSmall(Num a) {
  double magic = a.isDouble() ? 0x1.8p52 : 0x1.8p23;
  return (a + magic) - magic;
}

Num powerOfTwo(Num n) { return floatOf(addInt(n, exponentBias(n)) << significandBits(n)); }

/// AVX-512's instruction for registers of 512 bits.
static Num scaleByInstruction(Num a, Num n) {
  OpBuilder &builder = builderOf(a);
  Location loc = locOf(a);
  bool wide = a.isDouble();
  Value mask = arith::ConstantOp::create(builder, loc,
                                         builder.getIntegerAttr(wide ? builder.getI8Type() : builder.getI16Type(), -1));
  Value mode = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(4)); // The current rounding.
  auto name = builder.getStringAttr(wide ? "llvm.x86.avx512.mask.scalef.pd.512" : "llvm.x86.avx512.mask.scalef.ps.512");
  auto call = LLVM::CallIntrinsicOp::create(builder, loc, a.value().getType(), name,
                                            ValueRange{a.value(), n.value(), a.value(), mask, mode});
  return Num(a.emit(), call->getResult(0));
}

bool scalesByInstruction(Num a) { return a.emit().options.hasScalef && a.emit().lanes * a.width() == 512; }

Num scale(Num a, Num n, Num floatN) {
  if (scalesByInstruction(a))
    return scaleByInstruction(a, floatN);
  Num half = shiftRight(n, 1);
  return a * powerOfTwo(half) * powerOfTwo(n - half);
}

} // namespace tilejit::math
