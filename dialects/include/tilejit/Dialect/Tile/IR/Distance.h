// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A hint on exponentials that every back end may ignore: e^x of a rounded difference from something at least as large.

#ifndef TILEJIT_DIALECT_TILE_IR_DISTANCE_H
#define TILEJIT_DIALECT_TILE_IR_DISTANCE_H

#include "llvm/ADT/StringRef.h"

namespace tilejit::tile {

/// Unit attribute of a math.exp whose argument is never positive (or NaN) and was rounded, so that a result off by as
/// much as the argument's rounding makes it will do.
inline constexpr llvm::StringLiteral distanceAttrName = "tile.distance";

} // namespace tilejit::tile

#endif // TILEJIT_DIALECT_TILE_IR_DISTANCE_H
