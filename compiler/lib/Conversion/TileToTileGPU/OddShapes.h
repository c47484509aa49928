// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Shape operations that no renaming of registers can do.

#ifndef TILEJIT_CONVERSION_TILETOTILEGPU_ODDSHAPES_H
#define TILEJIT_CONVERSION_TILETOTILEGPU_ODDSHAPES_H

#include "tilejit/Dialect/Tile/IR/Tile.h"

namespace tilejit::gpu {

/// Rewrites tile.cat, and tile.extract of parts whose sides are no powers of two, to tile.gather_in_tile.
void rewriteOddShapes(tile::KernelOp kernel);

} // namespace tilejit::gpu

#endif // TILEJIT_CONVERSION_TILETOTILEGPU_ODDSHAPES_H
