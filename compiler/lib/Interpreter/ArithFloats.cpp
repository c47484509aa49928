// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// arith on floating-point numbers: arithmetic, comparison, conversion. One rounding for each operation, none where the
// launch computes in double.

#include "Elementwise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>

using namespace mlir;

namespace tilejit::interpreter {

/// The larger number; NaN where there is one, and 0 above -0.
static double maximum(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return a + b;
  return a == b ? (std::signbit(a) ? b : a) : std::max(a, b);
}

static double minimum(double a, double b) { return -maximum(-a, -b); }

/// As above, but a NaN gives way to a number.
static double maximumNumber(double a, double b) { return std::isnan(a) ? b : std::isnan(b) ? a : maximum(a, b); }

static double minimumNumber(double a, double b) { return std::isnan(a) ? b : std::isnan(b) ? a : minimum(a, b); }

static bool compare(arith::CmpFPredicate predicate, double a, double b) {
  // The bits of a predicate are: equal, greater, less, unordered; but the enumeration is not in that order.
  bool unordered = std::isnan(a) || std::isnan(b);
  switch (predicate) {
  case arith::CmpFPredicate::AlwaysFalse:
    return false;
  case arith::CmpFPredicate::AlwaysTrue:
    return true;
  case arith::CmpFPredicate::OEQ:
    return !unordered && a == b;
  case arith::CmpFPredicate::OGT:
    return !unordered && a > b;
  case arith::CmpFPredicate::OGE:
    return !unordered && a >= b;
  case arith::CmpFPredicate::OLT:
    return !unordered && a < b;
  case arith::CmpFPredicate::OLE:
    return !unordered && a <= b;
  case arith::CmpFPredicate::ONE:
    return !unordered && a != b;
  case arith::CmpFPredicate::ORD:
    return !unordered;
  case arith::CmpFPredicate::UEQ:
    return unordered || a == b;
  case arith::CmpFPredicate::UGT:
    return unordered || a > b;
  case arith::CmpFPredicate::UGE:
    return unordered || a >= b;
  case arith::CmpFPredicate::ULT:
    return unordered || a < b;
  case arith::CmpFPredicate::ULE:
    return unordered || a <= b;
  case arith::CmpFPredicate::UNE:
    return unordered || a != b;
  case arith::CmpFPredicate::UNO:
    return unordered;
  }
  llvm_unreachable("all predicates are listed");
}

static Status runCompare(Instance &in, arith::CmpFOp op) {
  return mapCells<2>(in, op, [&](Cell a, Cell b) -> Cell { return compare(op.getPredicate(), toReal(a), toReal(b)); });
}

/// The number of a format nearest to an integer, with one rounding: 64 bits do not always fit a double.
static double fromInteger(Format format, bool negative, uint64_t magnitude) {
  double value = double(magnitude);
  if (format.getWidth() < 64 && magnitude >> 53 != 0) {
    // Keep the direction of the inexact bits in the last one, so that the second rounding can't tie wrongly.
    uint64_t sticky = magnitude & 0x7ff;
    value = double((magnitude & ~uint64_t(0x7ff)) | (sticky != 0 ? 0x800 : 0));
  }
  return negative ? -value : value;
}

template <typename OpTy> static void addFromInteger(HandlerTable &table, bool isSigned) {
  table.add<OpTy>([=](Instance &in, OpTy op) {
    Format from(getElementTypeOrSelf(op.getIn().getType())), to(getElementTypeOrSelf(op.getType()));
    return mapCells<1>(in, op, [&](Cell cell) {
      bool negative = isSigned && from.toSigned(cell) < 0;
      uint64_t magnitude = negative ? 0 - uint64_t(from.toSigned(cell)) : cell;
      return toCell(in.round(to, fromInteger(to, negative, magnitude)));
    });
  });
}

/// Toward zero; what does not fit, which upstream leaves open, becomes the nearest integer, and NaN 0.
template <typename OpTy> static void addToInteger(HandlerTable &table, bool isSigned) {
  table.add<OpTy>([=](Instance &in, OpTy op) {
    Format to(getElementTypeOrSelf(op.getType()));
    double low = isSigned ? -std::ldexp(1.0, to.getWidth() - 1) : 0;
    double high = std::ldexp(1.0, isSigned ? to.getWidth() - 1 : to.getWidth());
    return mapCells<1>(in, op, [&](Cell cell) -> Cell {
      double value = std::trunc(toReal(cell));
      if (std::isnan(value))
        return 0;
      if (value < low)
        return isSigned ? to.getSignedMin() : 0;
      if (value >= high)
        return isSigned ? to.getSignedMax() : to.wrap(~uint64_t(0));
      return to.wrap(value < 0 ? uint64_t(int64_t(value)) : uint64_t(value));
    });
  });
}

static llvm::RoundingMode roundingOf(std::optional<arith::RoundingMode> mode) {
  switch (mode.value_or(arith::RoundingMode::to_nearest_even)) {
  case arith::RoundingMode::to_nearest_even:
    return llvm::RoundingMode::NearestTiesToEven;
  case arith::RoundingMode::downward:
    return llvm::RoundingMode::TowardNegative;
  case arith::RoundingMode::upward:
    return llvm::RoundingMode::TowardPositive;
  case arith::RoundingMode::toward_zero:
    return llvm::RoundingMode::TowardZero;
  case arith::RoundingMode::to_nearest_away:
    return llvm::RoundingMode::NearestTiesToAway;
  }
  llvm_unreachable("all modes are listed");
}

static Status runTruncate(Instance &in, arith::TruncFOp op) {
  Format format(getElementTypeOrSelf(op.getType()));
  if (in.launch.options.doublePrecision || !op.getRoundingmode())
    return mapCells<1>(in, op, [&](Cell cell) { return toCell(in.round(format, toReal(cell))); });
  llvm::RoundingMode mode = roundingOf(op.getRoundingmode());
  return mapCells<1>(in, op, [&](Cell cell) { return toCell(format.round(toReal(cell), mode)); });
}

static Status runBitcast(Instance &in, arith::BitcastOp op) {
  Format from(getElementTypeOrSelf(op.getIn().getType())), to(getElementTypeOrSelf(op.getType()));
  return mapCells<1>(in, op, [&](Cell cell) { return to.decode(from.encode(cell)); });
}

void addArithFloatHandlers(HandlerTable &table) {
  addReals<arith::AddFOp, 2>(table, [](double a, double b) { return a + b; });
  addReals<arith::SubFOp, 2>(table, [](double a, double b) { return a - b; });
  addReals<arith::MulFOp, 2>(table, [](double a, double b) { return a * b; });
  addReals<arith::DivFOp, 2>(table, [](double a, double b) { return a / b; });
  addReals<arith::RemFOp, 2>(table, [](double a, double b) { return std::fmod(a, b); });
  addReals<arith::NegFOp, 1>(table, [](double a) { return -a; });
  addReals<arith::MaximumFOp, 2>(table, maximum);
  addReals<arith::MinimumFOp, 2>(table, minimum);
  addReals<arith::MaxNumFOp, 2>(table, maximumNumber);
  addReals<arith::MinNumFOp, 2>(table, minimumNumber);
  addReals<arith::ExtFOp, 1>(table, [](double a) { return a; });
  table.add<arith::TruncFOp>(runTruncate);
  table.add<arith::CmpFOp>(runCompare);
  table.add<arith::BitcastOp>(runBitcast);
  addFromInteger<arith::SIToFPOp>(table, true);
  addFromInteger<arith::UIToFPOp>(table, false);
  addToInteger<arith::FPToSIOp>(table, true);
  addToInteger<arith::FPToUIOp>(table, false);
}

} // namespace tilejit::interpreter
