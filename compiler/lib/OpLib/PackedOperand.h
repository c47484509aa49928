// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A right operand of a product in the form that the CPU's register tiles take, see PackedForm. A kernel of its own
// brings it there; those of the product read it from the workspace.

#ifndef TILEJIT_LIB_OPLIB_PACKEDOPERAND_H
#define TILEJIT_LIB_OPLIB_PACKEDOPERAND_H

#include "Schedule.h"
#include "Values.h"

namespace tilejit::oplib {

class PackedOperand {
public:
  PackedOperand(KernelBuilder &b, const MatmulShape &shape, PackedForm form);

  /// Of all matrices of the operand.
  int64_t bytes() const { return matrices_ * matrixBytes_; }
  /// The kernel that fills the workspace, in phase 0: where the operand is constant for all others, else for those that
  /// run on the same conditions.
  void buildKernel(llvm::ArrayRef<KernelOptions::Condition> when);
  /// The tile [bk x bn] at tile coordinates (k, column) of the matrix at `position` among the batches.
  Value load(Value k, Value column, int64_t bk, int64_t bn, llvm::ArrayRef<Value> position);

private:
  const Operand &operand() const { return shape_.operand(shape_.right); }
  Value matrix(llvm::ArrayRef<Value> position);
  void pack(Value panel, Value k, int64_t depth, llvm::ArrayRef<Value> position);
  Value view(llvm::ArrayRef<Value> position, llvm::ArrayRef<int64_t> sizes);
  bool hasTerms() const { return form_.terms > 1; }

  KernelBuilder &b_;
  const MatmulShape &shape_;
  PackedForm form_;
  int64_t panels_, steps_, matrices_ = 1, matrixBytes_;
};

/// Loads a tile of an operand of a product along two dimensions of the space, as it lies in memory, and turns it where
/// they lie the other way.
Value loadMatrix(KernelBuilder &b, const MatmulShape &shape, int slot, std::array<int, 2> dims,
                 std::array<Value, 2> coordinates, std::array<int64_t, 2> tile, llvm::ArrayRef<Value> position);

} // namespace tilejit::oplib

#endif // TILEJIT_LIB_OPLIB_PACKEDOPERAND_H
