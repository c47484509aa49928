// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Typed expressions on tiles.

#ifndef TILEJIT_LIB_OPLIB_EXPRESSION_H
#define TILEJIT_LIB_OPLIB_EXPRESSION_H

#include "Values.h"

namespace tilejit::oplib {

/// The value of an expression. `input` gives the tile of an input (index in the description), of its dtype and of any
/// shape that broadcasts to `shape`; it is called once for each input.
Value buildExpression(KernelBuilder &b, const Expression &expression, llvm::ArrayRef<int64_t> shape,
                      llvm::function_ref<Value(int)> input);

} // namespace tilejit::oplib

#endif // TILEJIT_LIB_OPLIB_EXPRESSION_H
