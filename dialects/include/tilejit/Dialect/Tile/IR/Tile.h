// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The tile dialect: types, attributes and operations. The .td files beside this one are the specification.

#ifndef TILEJIT_DIALECT_TILE_IR_TILE_H
#define TILEJIT_DIALECT_TILE_IR_TILE_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "tilejit/Dialect/Tile/IR/TileEnums.h.inc"

#include "tilejit/Dialect/Tile/IR/TileDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "tilejit/Dialect/Tile/IR/TileTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "tilejit/Dialect/Tile/IR/TileAttributes.h.inc"

namespace tilejit::tile {

/// What hints and prefetches write.
struct HintResource : mlir::SideEffects::Resource::Base<HintResource> {
  llvm::StringRef getName() final { return "tile.hints"; }
};

} // namespace tilejit::tile

#define GET_OP_CLASSES
#include "tilejit/Dialect/Tile/IR/TileOps.h.inc"

#endif // TILEJIT_DIALECT_TILE_IR_TILE_H
