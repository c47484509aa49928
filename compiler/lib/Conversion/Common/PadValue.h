// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What tile.load gives outside of a view.

#ifndef TILEJIT_CONVERSION_COMMON_PADVALUE_H
#define TILEJIT_CONVERSION_COMMON_PADVALUE_H

#include "tilejit/Dialect/Tile/IR/Tile.h"

namespace tilejit {

/// The value of padding as a number of the element type (an integer or a float; see tile.load).
mlir::TypedAttr padAttr(tile::Pad pad, mlir::Type element);

} // namespace tilejit

#endif // TILEJIT_CONVERSION_COMMON_PADVALUE_H
