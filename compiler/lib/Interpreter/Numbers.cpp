// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Formats of numbers, by LLVM's software floating point.

#include "Numbers.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/APInt.h"

#include <cmath>
#include <limits>

using namespace mlir;
using llvm::APFloat;

namespace tilejit::interpreter {

static constexpr int offsetBits = 48;
static constexpr int64_t offsetBias = int64_t(1) << (offsetBits - 1);

Cell makePointer(unsigned buffer, int64_t offset) {
  return (uint64_t(buffer) << offsetBits) | (uint64_t(offset + offsetBias) & ((uint64_t(1) << offsetBits) - 1));
}

unsigned pointerBuffer(Cell pointer) { return pointer >> offsetBits; }

int64_t pointerOffset(Cell pointer) { return int64_t(pointer & ((uint64_t(1) << offsetBits) - 1)) - offsetBias; }

Cell movePointer(Cell pointer, int64_t bytes) {
  return makePointer(pointerBuffer(pointer), int64_t(uint64_t(pointerOffset(pointer)) + uint64_t(bytes)));
}

Format::Format(Type element) {
  if (auto type = dyn_cast<FloatType>(element)) {
    width = type.getWidth();
    semantics = &type.getFloatSemantics();
  } else {
    width = isa<IntegerType>(element) ? cast<IntegerType>(element).getWidth() : 64;
  }
}

/// The value as a double, exactly. APFloat itself would turn the NaN of f8E8M0FNU, which has no fraction, into
/// infinity.
static double widen(APFloat value) {
  if (value.isNaN())
    return std::copysign(std::numeric_limits<double>::quiet_NaN(), value.isNegative() ? -1.0 : 1.0);
  bool inexact = false;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &inexact);
  return value.convertToDouble();
}

double Format::getLargest() const { return widen(APFloat::getLargest(*semantics)); }

double Format::getLowest() const {
  if (hasInfinity())
    return -std::numeric_limits<double>::infinity();
  return APFloat::semanticsHasSignedRepr(*semantics) ? -getLargest() : getZero();
}

double Format::getZero() const {
  return APFloat::semanticsHasZero(*semantics) ? 0 : widen(APFloat::getSmallest(*semantics));
}

bool Format::hasInfinity() const { return APFloat::semanticsHasInf(*semantics); }

bool Format::hasNaN() const { return APFloat::semanticsHasNaN(*semantics); }

APFloat Format::convert(double value, llvm::RoundingMode mode) const {
  bool negative = std::signbit(value), isScale = !APFloat::semanticsHasZero(*semantics);
  if (std::isnan(value) || (isScale && (negative || value == 0)))
    return hasNaN() ? APFloat::getNaN(*semantics, negative && !isScale) : APFloat::getZero(*semantics, !negative);
  if (std::isinf(value)) {
    if (hasInfinity())
      return APFloat::getInf(*semantics, negative);
    return hasNaN() ? APFloat::getNaN(*semantics) : APFloat::getLargest(*semantics, negative);
  }
  if (!hasInfinity() && !hasNaN() && std::fabs(value) > getLargest())
    return APFloat::getLargest(*semantics, negative);
  if (isScale) {
    // Powers of two only, where "even" says nothing: ties go up, and what is too small becomes the smallest.
    double smallest = std::ldexp(1.0, -127);
    value = value < smallest ? smallest : value;
    mode = mode == llvm::RoundingMode::TowardZero ? mode : llvm::RoundingMode::NearestTiesToAway;
  }
  APFloat result(value);
  bool inexact = false;
  result.convert(*semantics, mode, &inexact);
  return result;
}

double Format::roundSlowly(double value, llvm::RoundingMode mode) const {
  if (semantics == &APFloat::IEEEdouble())
    return value;
  return widen(convert(value, mode));
}

uint64_t Format::encode(Cell cell) const {
  if (!isFloat())
    return wrap(cell);
  double value = toReal(cell);
  if (semantics == &APFloat::IEEEdouble())
    return cell;
  if (semantics == &APFloat::IEEEsingle())
    return std::bit_cast<uint32_t>(static_cast<float>(value));
  return convert(value, llvm::RoundingMode::NearestTiesToEven).bitcastToAPInt().getZExtValue();
}

Cell Format::decode(uint64_t bits) const {
  if (!isFloat())
    return width == 1 ? Cell(bits != 0) : wrap(bits);
  if (semantics == &APFloat::IEEEdouble())
    return bits;
  if (semantics == &APFloat::IEEEsingle())
    return toCell(std::bit_cast<float>(uint32_t(bits)));
  return toCell(widen(APFloat(*semantics, llvm::APInt(width, wrap(bits)))));
}

} // namespace tilejit::interpreter
