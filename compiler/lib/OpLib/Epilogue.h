// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Epilogue steps on a tile of results, for the families that keep their result in registers.

#ifndef TILEJIT_LIB_OPLIB_EPILOGUE_H
#define TILEJIT_LIB_OPLIB_EPILOGUE_H

#include "Values.h"

namespace tilejit::oplib {

/// Where the tile of results lies.
struct EpilogueTile {
  const Space &space;
  llvm::ArrayRef<int> dims;       ///< Dimensions of the space that the tile runs along.
  llvm::ArrayRef<Value> position; ///< Index along each other dimension.
  llvm::ArrayRef<Value> coordinates;
  llvm::ArrayRef<int64_t> shape;
  int firstSlot = 0; ///< Slot of input 0, if the inputs that steps read were that many and in order.
};

/// Loads what lies at the tile of an operand that broadcasts against the results, in another type, and repeats it.
Value loadBroadcast(KernelBuilder &b, const EpilogueTile &tile, int slot, DType compute);

/// A tile of numbers and the type they are computed in.
struct TypedValue {
  Value value;
  DType dtype;
};

/// Applies all steps; input i of the description is slot firstSlot + i of the space. Integer results stay integers
/// until a step needs f32.
TypedValue applyEpilogue(KernelBuilder &b, const EpilogueTile &tile, TypedValue result);

} // namespace tilejit::oplib

#endif // TILEJIT_LIB_OPLIB_EPILOGUE_H
