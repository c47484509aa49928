// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The rows of Fragments.h.

#ifndef TILEJIT_LIB_DIALECT_TILEGPU_IR_FRAGMENTTABLE_H
#define TILEJIT_LIB_DIALECT_TILEGPU_IR_FRAGMENTTABLE_H

#include "tilejit/Dialect/TileGPU/IR/Fragments.h"

namespace tilejit::tilegpu {

std::span<const MatrixInstruction> fragmentTable();

} // namespace tilejit::tilegpu

#endif // TILEJIT_LIB_DIALECT_TILEGPU_IR_FRAGMENTTABLE_H
