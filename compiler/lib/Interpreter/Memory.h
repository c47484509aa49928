// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What the operations on views and on pointers share: one atomic update of one element.

#ifndef TILEJIT_INTERPRETER_MEMORY_H
#define TILEJIT_INTERPRETER_MEMORY_H

#include "Instance.h"

#include "tilejit/Dialect/Tile/IR/Tile.h"

namespace tilejit::interpreter {

/// Updates one element in memory and gives its previous value. Floating-point sums are rounded to the element's format.
Expected<Cell> updateAtomically(Instance &in, mlir::Operation *op, tile::AtomicKind kind, Cell pointer,
                                const Format &format, Cell value);

} // namespace tilejit::interpreter

#endif // TILEJIT_INTERPRETER_MEMORY_H
