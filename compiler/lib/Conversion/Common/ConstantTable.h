// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Constants that a module holds in memory.

#ifndef TILEJIT_CONVERSION_COMMON_CONSTANTTABLE_H
#define TILEJIT_CONVERSION_COMMON_CONSTANTTABLE_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace tilejit {

/// The elements of a constant as integers of `bits` bits, each where the strides of its dimensions put it among
/// `places` integers; those between them are zero.
mlir::DenseElementsAttr constantTable(mlir::DenseElementsAttr elements, llvm::ArrayRef<int64_t> strides, int64_t places,
                                      unsigned bits);

/// The prefix and the first number with which it is no symbol of the module yet.
std::string unusedSymbol(mlir::ModuleOp module, llvm::StringRef prefix);

} // namespace tilejit

#endif // TILEJIT_CONVERSION_COMMON_CONSTANTTABLE_H
