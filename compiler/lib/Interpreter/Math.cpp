// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// math: functions evaluated in double by the C library and rounded once, which is well within what the dialect asks of
// every back end.

#include "Elementwise.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/bit.h"

#include <cmath>

using namespace mlir;

namespace tilejit::interpreter {

/// One rounding: in double the product of two shorter numbers is exact, but not always the sum.
static Status runFma(Instance &in, math::FmaOp op) {
  Format format(getElementTypeOrSelf(op.getType()));
  bool single = format.getWidth() == 32 && !in.launch.options.doublePrecision;
  return mapCells<3>(in, op, [&](Cell a, Cell b, Cell c) {
    if (single)
      return toCell(std::fma(float(toReal(a)), float(toReal(b)), float(toReal(c))));
    return toCell(in.round(format, std::fma(toReal(a), toReal(b), toReal(c))));
  });
}

/// A power of an integer by a non-negative one; a negative exponent gives what rounds to zero, except for 1 and -1.
static uint64_t integerPower(const Format &format, Cell base, Cell exponent) {
  int64_t b = format.toSigned(base), e = format.toSigned(exponent);
  if (e < 0)
    return b == 1 ? 1 : b == -1 ? (e % 2 == 0 ? 1 : ~uint64_t(0)) : 0;
  uint64_t result = 1, factor = uint64_t(b);
  for (; e != 0; e >>= 1, factor *= factor)
    if (e & 1)
      result *= factor;
  return result;
}

static Status runRealToInteger(Instance &in, math::FPowIOp op) {
  Format format(getElementTypeOrSelf(op.getType())), exponent(getElementTypeOrSelf(op.getRhs().getType()));
  return mapCells<2>(in, op, [&](Cell a, Cell b) {
    return toCell(in.round(format, std::pow(toReal(a), double(exponent.toSigned(b)))));
  });
}

template <typename OpTy, typename Fn> static void addTest(HandlerTable &table, Fn fn) {
  table.add<OpTy>(
      [fn](Instance &in, OpTy op) { return mapCells<1>(in, op, [&](Cell cell) -> Cell { return fn(toReal(cell)); }); });
}

static Status runSincos(Instance &in, math::SincosOp op) {
  Format format(getElementTypeOrSelf(op.getOperand().getType()));
  Tile sine = in.getTile(op.getOperand()), cosine = sine;
  for (auto [s, c] : llvm::zip(sine.cells, cosine.cells)) {
    double angle = toReal(s);
    s = toCell(in.round(format, std::sin(angle)));
    c = toCell(in.round(format, std::cos(angle)));
  }
  in.setTile(op.getSin(), std::move(sine));
  in.setTile(op.getCos(), std::move(cosine));
  return Status::ok();
}

static void addExponentials(HandlerTable &table) {
  addReals<math::ExpOp, 1>(table, [](double x) { return std::exp(x); });
  addReals<math::Exp2Op, 1>(table, [](double x) { return std::exp2(x); });
  addReals<math::ExpM1Op, 1>(table, [](double x) { return std::expm1(x); });
  addReals<math::LogOp, 1>(table, [](double x) { return std::log(x); });
  addReals<math::Log2Op, 1>(table, [](double x) { return std::log2(x); });
  addReals<math::Log10Op, 1>(table, [](double x) { return std::log10(x); });
  addReals<math::Log1pOp, 1>(table, [](double x) { return std::log1p(x); });
  addReals<math::PowFOp, 2>(table, [](double x, double y) { return std::pow(x, y); });
  addReals<math::SqrtOp, 1>(table, [](double x) { return std::sqrt(x); });
  addReals<math::RsqrtOp, 1>(table, [](double x) { return 1 / std::sqrt(x); });
  addReals<math::CbrtOp, 1>(table, [](double x) { return std::cbrt(x); });
  addReals<math::ErfOp, 1>(table, [](double x) { return std::erf(x); });
  addReals<math::ErfcOp, 1>(table, [](double x) { return std::erfc(x); });
}

static void addTrigonometry(HandlerTable &table) {
  addReals<math::SinOp, 1>(table, [](double x) { return std::sin(x); });
  addReals<math::CosOp, 1>(table, [](double x) { return std::cos(x); });
  addReals<math::TanOp, 1>(table, [](double x) { return std::tan(x); });
  addReals<math::AsinOp, 1>(table, [](double x) { return std::asin(x); });
  addReals<math::AcosOp, 1>(table, [](double x) { return std::acos(x); });
  addReals<math::AtanOp, 1>(table, [](double x) { return std::atan(x); });
  addReals<math::Atan2Op, 2>(table, [](double y, double x) { return std::atan2(y, x); });
  addReals<math::SinhOp, 1>(table, [](double x) { return std::sinh(x); });
  addReals<math::CoshOp, 1>(table, [](double x) { return std::cosh(x); });
  addReals<math::TanhOp, 1>(table, [](double x) { return std::tanh(x); });
  addReals<math::AsinhOp, 1>(table, [](double x) { return std::asinh(x); });
  addReals<math::AcoshOp, 1>(table, [](double x) { return std::acosh(x); });
  addReals<math::AtanhOp, 1>(table, [](double x) { return std::atanh(x); });
  table.add<math::SincosOp>(runSincos);
}

static void addRounding(HandlerTable &table) {
  addReals<math::AbsFOp, 1>(table, [](double x) { return std::fabs(x); });
  addReals<math::CeilOp, 1>(table, [](double x) { return std::ceil(x); });
  addReals<math::FloorOp, 1>(table, [](double x) { return std::floor(x); });
  addReals<math::RoundOp, 1>(table, [](double x) { return std::round(x); });
  addReals<math::RoundEvenOp, 1>(table, [](double x) { return std::nearbyint(x); });
  addReals<math::TruncOp, 1>(table, [](double x) { return std::trunc(x); });
  addReals<math::CopySignOp, 2>(table, [](double x, double sign) { return std::copysign(x, sign); });
  addReals<math::ClampFOp, 3>(table,
                              [](double x, double low, double high) { return std::fmin(std::fmax(x, low), high); });
}

static void addIntegerMath(HandlerTable &table) {
  addIntegers<math::AbsIOp, 1>(table, [](const Format &f, Cell a) { return f.toSigned(a) < 0 ? 0 - a : a; });
  addIntegers<math::IPowIOp, 2>(table, integerPower);
  addIntegers<math::CountLeadingZerosOp, 1>(
      table, [](const Format &f, Cell a) -> uint64_t { return llvm::countl_zero(a) - (64 - f.getWidth()); });
  addIntegers<math::CountTrailingZerosOp, 1>(
      table, [](const Format &f, Cell a) -> uint64_t { return a == 0 ? f.getWidth() : llvm::countr_zero(a); });
  addIntegers<math::CtPopOp, 1>(table, [](const Format &, Cell a) -> uint64_t { return llvm::popcount(a); });
}

void addMathHandlers(HandlerTable &table) {
  addExponentials(table);
  addTrigonometry(table);
  addRounding(table);
  addIntegerMath(table);
  table.add<math::FmaOp>(runFma);
  table.add<math::FPowIOp>(runRealToInteger);
  addTest<math::IsNaNOp>(table, [](double x) { return std::isnan(x); });
  addTest<math::IsInfOp>(table, [](double x) { return std::isinf(x); });
  addTest<math::IsFiniteOp>(table, [](double x) { return std::isfinite(x); });
  table.add<math::IsNormalOp>([](Instance &in, math::IsNormalOp op) {
    const auto &type = cast<FloatType>(getElementTypeOrSelf(op.getOperand().getType()));
    APFloat smallest = APFloat::getSmallestNormalized(type.getFloatSemantics());
    bool inexact = false;
    smallest.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &inexact);
    double limit = smallest.convertToDouble();
    return mapCells<1>(
        in, op, [&](Cell cell) -> Cell { return std::isfinite(toReal(cell)) && std::fabs(toReal(cell)) >= limit; });
  });
}

} // namespace tilejit::interpreter
