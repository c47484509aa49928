// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What differs between the chips' makers in a lowered kernel: who a thread is, how lanes exchange words, how a block
// waits, how memory scopes are spelled, which products of packed numbers there are. Everything else of the lowering is
// common.

#ifndef TILEJIT_CONVERSION_TILEGPUTOLLVM_THREADS_H
#define TILEJIT_CONVERSION_TILEGPUTOLLVM_THREADS_H

#include "tilejit/Dialect/Tile/IR/Tile.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

#include <memory>

namespace tilejit::gpu {

/// What is multiplied, and in what it is summed up.
struct ProductTypes {
  mlir::Type left, right, sum;
  bool isLeftUnsigned = false, isRightUnsigned = false; ///< Of integers.
};

/// Instructions of a chip that add several products: to one sum, or to a sum each.
struct PackedProducts {
  bool halfPairs = false;   ///< Two products of f16 to an f32.
  bool byteQuads = false;   ///< Four products of 8-bit integers to an i32, where both are signed or both are not,
  bool mixedSigns = false;  ///< and where only one is.
  bool pairsOfSums = false; ///< Two products of f32 to two sums.

  /// How many products of a sum at once; 1: one after the other.
  int64_t termsOf(const ProductTypes &types) const;
  /// How many sums at once, a product each.
  int64_t sumsOf(const ProductTypes &types) const { return pairsOfSums && types.sum.isF32() ? 2 : 1; }
};

class Threads {
public:
  virtual ~Threads() = default;

  /// Marks a function as a kernel of blocks of so many threads.
  virtual void markKernel(mlir::LLVM::LLVMFuncOp function, int64_t threads) const = 0;
  /// The block's on-chip memory; `bytes` is how much is used.
  virtual mlir::Value onChipMemory(mlir::OpBuilder &b, mlir::Location loc, mlir::ModuleOp module,
                                   llvm::StringRef kernel, int64_t bytes) const = 0;
  /// Number of the thread in its block, of the block in the launch: i32.
  virtual mlir::Value threadId(mlir::OpBuilder &b, mlir::Location loc, int64_t threads) const = 0;
  virtual mlir::Value blockId(mlir::OpBuilder &b, mlir::Location loc) const = 0;
  /// All threads of the block wait; their accesses to on-chip memory are ordered.
  virtual void barrier(mlir::OpBuilder &b, mlir::Location loc) const = 0;
  /// The i32 of the lane whose number differs in `mask`. All lanes take part.
  virtual mlir::Value shuffleXor(mlir::OpBuilder &b, mlir::Location loc, mlir::Value word, int64_t mask) const = 0;
  /// The i32 of lane `lane` (an i32). All lanes take part.
  virtual mlir::Value shuffleFrom(mlir::OpBuilder &b, mlir::Location loc, mlir::Value word, mlir::Value lane) const = 0;
  /// Ends the warp. For failed assertions.
  virtual void endWarp(mlir::OpBuilder &b, mlir::Location loc) const = 0;
  /// `sum` and the products of as many terms as PackedProducts::termsOf() says; `left` and `right` are vectors of them.
  virtual mlir::Value addProducts(mlir::OpBuilder &b, mlir::Location loc, const ProductTypes &types, mlir::Value left,
                                  mlir::Value right, mlir::Value sum) const = 0;
  /// Whether a wide access to global memory may be at any address that is aligned to its elements.
  virtual bool movesUnaligned() const = 0;
  /// LLVM's name of a memory scope.
  virtual llvm::StringRef scopeName(tile::MemoryScope scope) const = 0;
};

std::unique_ptr<Threads> nvidiaThreads();
/// `products`: what the chip has.
std::unique_ptr<Threads> amdThreads(const PackedProducts &products);

} // namespace tilejit::gpu

#endif // TILEJIT_CONVERSION_TILEGPUTOLLVM_THREADS_H
