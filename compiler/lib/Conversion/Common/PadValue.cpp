// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Padding by element type: types without zero, sign, infinity or NaN have the nearest thing that they do have.

#include "PadValue.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace tilejit;

static APFloat floatPad(tile::Pad pad, FloatType type) {
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  auto extreme = [&](bool negative) {
    if (APFloat::semanticsHasInf(semantics))
      return APFloat::getInf(semantics, negative);
    return APFloat::getLargest(semantics, negative && APFloat::semanticsHasSignedRepr(semantics));
  };
  switch (pad) {
  case tile::Pad::One:
    return APFloat::getOne(semantics);
  case tile::Pad::Lowest:
    return extreme(true);
  case tile::Pad::Highest:
    return extreme(false);
  case tile::Pad::NaN:
    if (APFloat::semanticsHasNaN(semantics))
      return APFloat::getNaN(semantics);
    [[fallthrough]];
  default:
    if (isa<Float8E8M0FNUType>(type)) // Has no zero; its least value is all zero bits.
      return APFloat::getSmallest(semantics);
    return APFloat::getZero(semantics);
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
