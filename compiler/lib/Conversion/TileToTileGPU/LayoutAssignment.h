// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Gives every tile of a kernel a layout.
//
// First each value's *natural* layout is found: what its producer would choose, and nothing for what can be made in any
// layout at no cost (constants, splats, index ranges, broadcasts, and arithmetic on only those). Loads, products and
// scans are the anchors; elementwise and shape operations follow their operands; loop-carried values follow what the
// loop yields. Then types are set in program order, and where a user needs another layout, the value is made again in
// that layout if that is cheap (free values, loads that stay coalesced) and converted otherwise.

#ifndef TILEJIT_CONVERSION_TILETOTILEGPU_LAYOUTASSIGNMENT_H
#define TILEJIT_CONVERSION_TILETOTILEGPU_LAYOUTASSIGNMENT_H

#include "LayoutRules.h"
#include "tilejit/Dialect/Tile/IR/Tile.h"

namespace tilejit::gpu {

class LayoutAssignment {
public:
  LayoutAssignment(tile::KernelOp kernel, BlockShape block) : kernel_(kernel), block_(block) {}
  mlir::LogicalResult run();

private:
  //===-- NaturalLayouts.cpp: what producers choose ---------------------------------------------------------------===//
  /// The natural layout; null for a value that is free.
  LayoutAttr natural(mlir::Value tile);
  LayoutAttr naturalOfArgument(mlir::BlockArgument argument);
  LayoutAttr naturalOfResult(mlir::OpResult result);
  LayoutAttr naturalOfAny(mlir::ValueRange values);
  LayoutAttr naturalOfLoad(tile::LoadOp load);
  LayoutAttr naturalOrRows(mlir::Value tile);
  LayoutAttr scanLayout(llvm::ArrayRef<int64_t> shape, int axis);
  LayoutAttr pairLayout(mlir::Value source);

  //===-- LayoutAssignment.cpp: setting types ---------------------------------------------------------------------===//
  mlir::LogicalResult assignBlock(mlir::Block &block);
  mlir::LogicalResult assignOp(mlir::Operation *op);
  mlir::LogicalResult assignFor(mlir::Operation *op);
  mlir::LogicalResult assignIf(mlir::Operation *op);
  mlir::LogicalResult assignWhile(mlir::Operation *op);
  void assignDot(tile::DotOp dot);
  void assignStore(mlir::Operation *store, mlir::OpOperand &value, tile::ViewType view);
  void assignTogether(mlir::Operation *op, LayoutAttr layout);
  /// Makes an operand have a layout.
  void require(mlir::OpOperand &operand, LayoutAttr layout);
  mlir::Value inLayout(mlir::Value tile, LayoutAttr layout);
  mlir::Operation *cloneFree(mlir::Operation *op, LayoutAttr layout);
  LayoutAttr operandLayoutOf(mlir::Operation *freeOp, mlir::Value operand, LayoutAttr layout);
  bool isCheapLoad(mlir::Value tile, LayoutAttr layout);
  void setLayout(mlir::Value tile, LayoutAttr layout);

  tile::KernelOp kernel_;
  BlockShape block_;
  llvm::DenseMap<mlir::Value, LayoutAttr> natural_;
  llvm::DenseSet<mlir::Value> inProgress_;
  llvm::DenseMap<std::pair<mlir::Value, mlir::Attribute>, mlir::Value> made_;
};

/// Whether an operation computes each element of its results from the same element of its operands.
bool isElementwise(mlir::Operation *op);
/// Whether the results of an operation can be made in any layout at no cost, given that its operands can.
bool isFreeOp(mlir::Operation *op);
/// The dimensions of a view, the one with the smallest static stride first.
llvm::SmallVector<int> accessOrder(tile::ViewType view);
/// The binary logarithm of how many neighbours along the first dimension of accessOrder() one access moves where the
/// memory turns out to be aligned: up to 16 bytes, less where static strides rule that out.
int accessVectorBits(tile::ViewType view, llvm::ArrayRef<int64_t> tileShape);
/// Whether the type alone says that such accesses are aligned.
bool isKnownAligned(tile::ViewType view, int vectorBits);

} // namespace tilejit::gpu

#endif // TILEJIT_CONVERSION_TILETOTILEGPU_LAYOUTASSIGNMENT_H
