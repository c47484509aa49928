// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Hints on operations of arith and math: what an operation is for, where that lets a back end do it in another way.
// Each is a unit attribute that every back end may ignore.

#ifndef TILEJIT_DIALECT_TILE_IR_HINTS_H
#define TILEJIT_DIALECT_TILE_IR_HINTS_H

#include "llvm/ADT/StringRef.h"

namespace tilejit::tile {

/// Of a math.exp whose argument is never positive (or NaN) and was rounded, so that a result off by as much as the
/// argument's rounding makes it will do.
inline constexpr llvm::StringLiteral distanceAttrName = "tile.distance";

/// Of an arith.mulf in f32 whose product is what a gelu loses at the distance d from 0, its left factor, which is not
/// negative (or NaN): d erfc(d / sqrt(2)) / 2. An absolute error of 2^-25 of d in the product will do, and so will 0
/// from 5.8 on. The right factor may be of no use to anything else.
inline constexpr llvm::StringLiteral geluLossAttrName = "tile.gelu_loss";
/// The same of a gelu by tanh: d / (1 + exp(2 u)), u = sqrt(2 / pi) (d + 0.044715 d^3).
inline constexpr llvm::StringLiteral geluTanhLossAttrName = "tile.gelu_tanh_loss";

} // namespace tilejit::tile

#endif // TILEJIT_DIALECT_TILE_IR_HINTS_H
