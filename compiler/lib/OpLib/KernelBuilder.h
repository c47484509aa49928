// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What every generator builds with: kernels with their launch rule, program indices spread over a grid, views of
// operands in an index space, loops over blocks. One KernelBuilder makes all kernels of a module.

#ifndef TILEJIT_LIB_OPLIB_KERNELBUILDER_H
#define TILEJIT_LIB_OPLIB_KERNELBUILDER_H

#include "Space.h"

#include "tilejit/Dialect/Tile/IR/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <optional>
#include <string>

namespace tilejit::oplib {

using mlir::Value;
using mlir::ValueRange;
using Values = llvm::SmallVector<Value, 4>;

/// One dimension of a grid: `size` cut into pieces of `tile`.
struct GridDim {
  Size size;
  int64_t tile = 1;
};

/// When a kernel runs and what it needs beside its operands.
struct KernelOptions {
  /// A bound on a size that must hold: size <= bound, or size >= bound.
  struct Condition {
    Size size;
    bool isUpper = true;
    int64_t bound = 0;
  };
  llvm::SmallVector<Condition, 2> when;
  int64_t phase = 0;
  std::optional<mlir::AffineExpr> workspace; ///< Bytes, over sizeExpr().
  int64_t packs = -1;                        ///< The operand that it fills the workspace from, for all other kernels.
  int64_t warps = 0;                         ///< Of an instance, a hint to the back end; 0: it has none.
};

class KernelBuilder : public mlir::ImplicitLocOpBuilder {
public:
  /// `backEnd` is the one that hints are for.
  KernelBuilder(mlir::ModuleOp module, const Description &description, llvm::StringRef backEnd);

  const Description &description() const { return *description_; }
  /// Places that name a part of the description: `inputs/a`, `epilogue/1`.
  void setPlace(llvm::StringRef part) { setLoc(mlir::NameLoc::get(getStringAttr(part))); }

  /// Builds a kernel. Its instances are spread over `grid`, the last dimension running fastest; `body` gets the index
  /// along each dimension, counted in tiles.
  void kernel(llvm::StringRef name, llvm::ArrayRef<GridDim> grid, const KernelOptions &options,
              llvm::function_ref<void(llvm::ArrayRef<Value>)> body);

  /// A size as an expression of the launch rule; ceilDiv pieces of it.
  mlir::AffineExpr sizeExpr(const Size &size);
  mlir::AffineExpr countExpr(const GridDim &dim) { return sizeExpr(dim.size).ceilDiv(dim.tile); }

  // Inside a kernel.

  Value operandView(int operand) { return entry_->getArgument(operand); }
  Value workspace() { return entry_->getArguments().back(); }
  Value index(int64_t value);
  /// The value of a size, or of the number of tiles in it.
  Value sizeValue(const Size &size);
  Value countValue(const GridDim &dim);
  Value add(Value a, Value b);
  Value mul(Value a, Value b);

  /// The view of a slot that runs along the dimensions `keep` of the space, in that order, at `position` in all others
  /// (null entries: at 0). Where the operand does not move, the view has size 1. `rows` stands for the size of the
  /// first of these dimensions.
  Value slice(const Space &space, int slot, llvm::ArrayRef<int> keep, llvm::ArrayRef<Value> position, Value rows = {});

  /// for (i = lower; i < upper; ++i) carrying values; no loop where it is known to be one step or none.
  Values loop(Value lower, Value upper, ValueRange inits, llvm::function_ref<Values(Value, ValueRange)> body);
  /// A loop over the tiles of a dimension.
  Values loop(const GridDim &dim, ValueRange inits, llvm::function_ref<Values(Value, ValueRange)> body);

private:
  struct Axis {
    llvm::SmallVector<int, 4> dims; ///< Grid dimensions it runs over, innermost first.
    mlir::AffineExpr count;
  };
  llvm::SmallVector<Axis, 3> assignAxes(llvm::ArrayRef<GridDim> grid);
  tile::LaunchAttr launchRule(llvm::ArrayRef<Axis> axes, const KernelOptions &options);
  void addHint(llvm::StringRef key, int64_t value);
  void readAxis(int number, const Axis &axis, llvm::ArrayRef<GridDim> grid, llvm::MutableArrayRef<Value> indices);
  void loopOverRest(llvm::ArrayRef<GridDim> grid, llvm::MutableArrayRef<Value> indices, size_t dim,
                    llvm::function_ref<void(llvm::ArrayRef<Value>)> body);
  Value strideValue(const Space &space, int slot, int dim);
  bool isWhole(const Space &space, int slot, llvm::ArrayRef<int> keep) const;
  Value inPrologue(llvm::function_ref<Value()> make);

  const Description *description_;
  mlir::ModuleOp module_;
  llvm::StringRef backEnd_;
  llvm::SmallVector<mlir::Type> operandTypes_;
  llvm::SmallVector<int> launchDim_;       ///< For each symbol its dimension in launch rules; -1: none.
  llvm::SmallVector<int64_t> launchSizes_; ///< Argument and dimension of each.
  // Of the kernel that is being built.
  mlir::Block *entry_ = nullptr;
  mlir::Operation *prologueEnd_ = nullptr;
  llvm::DenseMap<int64_t, Value> constants_;
  llvm::DenseMap<std::pair<int, int64_t>, Value> sizes_;
};

/// The element type that a value of a dtype has in memory: bool, i4 and u4 are bytes.
mlir::Type storageType(mlir::MLIRContext *context, DType dtype);

} // namespace tilejit::oplib

#endif // TILEJIT_LIB_OPLIB_KERNELBUILDER_H
