// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Padding by element type: types without zero, sign, infinity or NaN have the nearest thing that they do have.

#include "PadValue.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace tilejit;

static APFloat floatPad(tile::Pad pad, FloatType type) {
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  bool hasInfinity = APFloat::semanticsHasInf(semantics);
  // f8E8M0FNU has neither zero nor sign: its least number stands for both.
  APFloat zero = APFloat::semanticsHasZero(semantics) ? APFloat::getZero(semantics) : APFloat::getSmallest(semantics);
  switch (pad) {
  case tile::Pad::One:
    return APFloat::getOne(semantics);
  case tile::Pad::Lowest:
    if (hasInfinity)
      return APFloat::getInf(semantics, /*Negative=*/true);
    return APFloat::semanticsHasSignedRepr(semantics) ? APFloat::getLargest(semantics, /*Negative=*/true) : zero;
  case tile::Pad::Highest:
    return hasInfinity ? APFloat::getInf(semantics) : APFloat::getLargest(semantics);
  case tile::Pad::NaN:
    return APFloat::semanticsHasNaN(semantics) ? APFloat::getNaN(semantics) : zero;
  default:
    return zero;
  }
}

static APInt integerPad(tile::Pad pad, unsigned bits) {
  switch (pad) {
  case tile::Pad::One:
    return APInt(bits, 1);
  case tile::Pad::Lowest:
    return APInt::getSignedMinValue(bits);
  case tile::Pad::Highest:
    return APInt::getSignedMaxValue(bits);
  case tile::Pad::AllOnes:
    return APInt::getAllOnes(bits);
  default:
    return APInt::getZero(bits);
  }
}

TypedAttr tilejit::padAttr(tile::Pad pad, Type element) {
  if (auto type = dyn_cast<FloatType>(element))
    return FloatAttr::get(type, floatPad(pad, type));
  return IntegerAttr::get(element, integerPad(pad, element.getIntOrFloatBitWidth()));
}
