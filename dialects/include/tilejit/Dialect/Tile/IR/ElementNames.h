// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// How the library's descriptions and manifests name MLIR's element types. One direction only; it parses nothing.

#ifndef TILEJIT_DIALECT_TILE_IR_ELEMENTNAMES_H
#define TILEJIT_DIALECT_TILE_IR_ELEMENTNAMES_H

#include "mlir/IR/Types.h"

#include <string>

namespace tilejit::tile {

/// "f32", "bf16", "f8e8m0", "bool" for i1, "i64" for index: names of tilejit/Base/DType.h where that has the type, else
/// MLIR's own spelling in lower case.
std::string elementName(mlir::Type element);

} // namespace tilejit::tile

#endif // TILEJIT_DIALECT_TILE_IR_ELEMENTNAMES_H
