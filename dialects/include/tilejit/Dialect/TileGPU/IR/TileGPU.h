// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The tilegpu dialect: layouts, places in on-chip memory, operations. The .td files beside this one are the
// specification.

#ifndef TILEJIT_DIALECT_TILEGPU_IR_TILEGPU_H
#define TILEJIT_DIALECT_TILEGPU_IR_TILEGPU_H

#include "tilejit/Dialect/TileGPU/IR/LinearLayout.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "tilejit/Dialect/TileGPU/IR/TileGPUDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "tilejit/Dialect/TileGPU/IR/TileGPUAttributes.h.inc"

#define GET_TYPEDEF_CLASSES
#include "tilejit/Dialect/TileGPU/IR/TileGPUTypes.h.inc"

namespace tilejit::tilegpu {

/// The on-chip memory of a block.
struct OnChipResource : mlir::SideEffects::Resource::Base<OnChipResource> {
  llvm::StringRef getName() final { return "tilegpu.on_chip"; }
};

/// The layout of a tile; null where it has none.
LayoutAttr layoutOf(mlir::Type type);
inline LayoutAttr layoutOf(mlir::Value value) { return layoutOf(value.getType()); }

/// A tile's type with another layout.
mlir::RankedTensorType withLayout(mlir::Type tile, LayoutAttr layout);

/// What a kernel's attributes say of the block that runs an instance.
struct BlockSize {
  int64_t lanes = 32, warps = 1;
  int64_t sharedBytes = 0; ///< On-chip memory, once planned.

  int64_t threads() const { return lanes * warps; }
};
BlockSize blockSizeOf(mlir::Operation *kernel);

/// The sides of a tile, each rounded up to a power of two.
llvm::SmallVector<int64_t> paddedShape(llvm::ArrayRef<int64_t> shape);

/// Bytes that an element takes in memory: 1 for booleans and what has up to 8 bits, 8 for pointers and index.
int64_t storageBytes(mlir::Type element);

/// Whether an element fills the bytes it takes. Others are moved one by one: LLVM would make vectors of elements that
/// are no whole bytes of wider accesses.
bool hasWholeBytes(mlir::Type element);

} // namespace tilejit::tilegpu

#define GET_OP_CLASSES
#include "tilejit/Dialect/TileGPU/IR/TileGPUOps.h.inc"

#endif // TILEJIT_DIALECT_TILEGPU_IR_TILEGPU_H
