// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Operators to operations.

#include "Emit.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinTypes.h"

#include <numeric>
#include <optional>

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
Num atLeast(Num a, double low) {
  Num floor = a.like(low);
  return select(floor > a, floor, a);
}
Num atMost(Num a, double high) {
  Num ceiling = a.like(high);
  return select(ceiling < a, ceiling, a);
}
Num clamp(Num a, double low, double high) { return atMost(atLeast(a, low), high); }

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

Value callIntrinsic(const Emit &emit, StringRef name, Type element, ValueRange operands) {
  auto call = LLVM::CallIntrinsicOp::create(emit.builder, emit.loc, emit.typeOf(element),
                                            emit.builder.getStringAttr(name), operands);
  return call->getResult(0);
}

static constexpr int64_t registerBits = 512;

bool fillsRegisters(Num a) { return a.emit().lanes && a.emit().lanes * a.width() % registerBits == 0; }

Value takeLanes(const Emit &emit, Value x, Value y, int64_t first, int64_t count) {
  SmallVector<int64_t> lanes(count);
  std::iota(lanes.begin(), lanes.end(), first);
  return vector::ShuffleOp::create(emit.builder, emit.loc, x, y, lanes);
}

Value inRegisters(const Emit &emit, ValueRange operands, function_ref<Value(const Emit &, ValueRange)> body,
                  int64_t group) {
  int64_t bits = getElementTypeOrSelf(operands[0].getType()).getIntOrFloatBitWidth();
  int64_t lanes = group * registerBits / bits;
  if (emit.lanes == lanes)
    return body(emit, operands);
  Emit part = {emit.builder, emit.loc, lanes, emit.options};
  SmallVector<Value> results;
  for (int64_t first = 0; first < emit.lanes; first += lanes) {
    SmallVector<Value> inside;
    for (Value operand : operands)
      inside.push_back(takeLanes(emit, operand, operand, first, lanes));
    results.push_back(body(part, inside));
  }
  for (; results.size() > 1; lanes *= 2) {
    for (size_t i = 0; i < results.size() / 2; ++i)
      results[i] = takeLanes(emit, results[2 * i], results[2 * i + 1], 0, 2 * lanes);
    results.resize(results.size() / 2);
  }
  return results[0];
}

/// AVX-512's instruction.
static Num scaleByInstruction(Num a, Num n) {
  bool wide = a.isDouble();
  Value result = inRegisters(a.emit(), {a.value(), n.value()}, [&](const Emit &emit, ValueRange operands) -> Value {
    OpBuilder &b = emit.builder;
    TypedAttr all = b.getIntegerAttr(wide ? b.getI8Type() : b.getI16Type(), -1);
    Value mask = arith::ConstantOp::create(b, emit.loc, all);
    Value mode = arith::ConstantOp::create(b, emit.loc, b.getI32IntegerAttr(4)); // The current rounding.
    StringRef name = wide ? "llvm.x86.avx512.mask.scalef.pd.512" : "llvm.x86.avx512.mask.scalef.ps.512";
    return callIntrinsic(emit, name, getElementTypeOrSelf(operands[0].getType()),
                         {operands[0], operands[1], operands[0], mask, mode});
  });
  return Num(a.emit(), result);
}

/// An instruction of AVX-512 on registers of f32 that takes, behind its operand and perhaps a mode of its own, what
/// lanes that are masked out keep, the mask and perhaps a rounding mode.
static Num byMaskedInstruction(Num a, StringRef name, std::optional<int32_t> mode, bool hasRounding) {
  Value result = inRegisters(a.emit(), a.value(), [&](const Emit &emit, ValueRange operands) -> Value {
    OpBuilder &b = emit.builder;
    auto number = [&](TypedAttr attribute) { return arith::ConstantOp::create(b, emit.loc, attribute).getResult(); };
    SmallVector<Value> all = {operands[0]};
    if (mode)
      all.push_back(number(b.getI32IntegerAttr(*mode)));
    all.append({operands[0], number(b.getI16IntegerAttr(-1))});
    if (hasRounding)
      all.push_back(number(b.getI32IntegerAttr(4))); // The current one.
    return callIntrinsic(emit, name, b.getF32Type(), all);
  });
  return Num(a.emit(), result);
}

Num exponentOf(Num a) { return byMaskedInstruction(a, "llvm.x86.avx512.mask.getexp.ps.512", std::nullopt, true); }

Num significandOf(Num a, bool isOfPositive) {
  constexpr int32_t positive = 4, nanOfNegative = 8; // From 1 to 2 is 0.
  int32_t mode = isOfPositive ? positive | nanOfNegative : positive;
  return byMaskedInstruction(a, "llvm.x86.avx512.mask.getmant.ps.512", mode, true);
}

Num approximateRsqrt(Num a) { return byMaskedInstruction(a, "llvm.x86.avx512.rsqrt14.ps.512", std::nullopt, false); }

Num lookUp(std::span<const float, 16> table, Num index) {
  Value result = inRegisters(index.emit(), index.value(), [&](const Emit &emit, ValueRange operands) -> Value {
    auto type = VectorType::get({16}, emit.builder.getF32Type());
    auto numbers = DenseElementsAttr::get(type, ArrayRef<float>(table.data(), table.size()));
    Value entries = arith::ConstantOp::create(emit.builder, emit.loc, numbers);
    return callIntrinsic(emit, "llvm.x86.avx512.permvar.sf.512", type.getElementType(), {entries, operands[0]});
  });
  return Num(index.emit(), result);
}

bool scalesByInstruction(Num a) { return a.emit().options.hasScalef && fillsRegisters(a); }

Num scale(Num a, Num n, Num floatN) {
  if (scalesByInstruction(a))
    return scaleByInstruction(a, floatN);
  if (a.emit().options.hasLdexp)
    return Num(a.emit(), callIntrinsic(a.emit(), "llvm.ldexp", a.element(),
                                       {a.value(), (n.width() > 32 ? truncateInt(n, 32) : n).value()}));
  Num half = shiftRight(n, 1);
  return a * powerOfTwo(half) * powerOfTwo(n - half);
}

} // namespace tilejit::math
