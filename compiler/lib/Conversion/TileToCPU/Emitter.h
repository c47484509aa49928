// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Small steps of emitting code: i64 arithmetic that folds what is known, addresses, masks, lane shuffles. Knows the
// width of vectors and nothing of tiles. Constants are made once, at the start of the function.

#ifndef TILEJIT_CONVERSION_TILETOCPU_EMITTER_H
#define TILEJIT_CONVERSION_TILETOCPU_EMITTER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"

namespace tilejit::cpu {

/// An i64 known in part: a value (absent: 0) plus a constant.
struct Index {
  mlir::Value value;
  int64_t constant = 0;

  Index() = default;
  Index(int64_t c) : constant(c) {}
  Index(mlir::Value v) : value(v) {}
  Index(mlir::Value v, int64_t c) : value(v), constant(c) {}
  bool isConstant() const { return !value; }
  bool is(int64_t c) const { return !value && constant == c; }
  bool operator==(const Index &other) const { return value == other.value && constant == other.constant; }
};

class Emitter {
public:
  Emitter(mlir::OpBuilder &builder, mlir::Location loc, mlir::Block *constants)
      : b(builder), loc(loc), constantBlock(constants) {}

  mlir::OpBuilder &b;
  mlir::Location loc;

  mlir::Type i64() { return b.getI64Type(); }
  mlir::Type pointer() { return mlir::LLVM::LLVMPointerType::get(b.getContext()); }
  mlir::VectorType vector(mlir::Type element, int64_t lanes) { return mlir::VectorType::get({lanes}, element); }

  /// A constant, hoisted to the start of the function.
  mlir::Value constant(mlir::TypedAttr attr);
  mlir::Value constant(int64_t value) { return constant(b.getI64IntegerAttr(value)); }
  /// An integer or float constant of a scalar type, or of all lanes of a vector type.
  mlir::Value intConstant(mlir::Type type, const llvm::APInt &value);
  mlir::Value intConstant(mlir::Type type, int64_t value);
  mlir::Value floatConstant(mlir::Type type, const llvm::APFloat &value);
  mlir::Value floatConstant(mlir::Type type, double value);

  mlir::Value value(Index index);
  /// The constant behind a value, if it is one.
  static Index known(mlir::Value value);
  Index add(Index x, Index y);
  Index sub(Index x, Index y);
  Index mul(Index x, Index y);
  Index min(Index x, Index y);
  Index max(Index x, Index y);
  /// Multiple of a power of two at or below x.
  Index roundDown(Index x, int64_t power);
  /// x / y and x % y for x >= 0, y > 0.
  Index divide(Index x, Index y);
  Index remainder(Index x, Index y);
  /// Least multiple of y at or above x >= 0.
  Index roundUp(Index x, int64_t y);
  /// x < y as an i1; null where it is known to be true.
  mlir::Value less(Index x, Index y);
  /// Conjunction where null stands for true.
  mlir::Value both(mlir::Value x, mlir::Value y);
  Index select(mlir::Value condition, Index x, Index y);

  /// Address `offset` elements of `element` (a type of memory) beyond `base`.
  mlir::Value address(mlir::Value base, Index offset, mlir::Type element);
  /// Loads and stores of scalars and vectors, without assumptions on alignment beyond that of the element.
  mlir::Value load(mlir::Type type, mlir::Value address);
  void store(mlir::Value value, mlir::Value address);
  /// `mask` null: all lanes.
  mlir::Value load(mlir::VectorType type, mlir::Value address, mlir::Value mask, mlir::Value other);
  void store(mlir::Value value, mlir::Value address, mlir::Value mask);
  /// Stores a whole vector at a multiple of its size, past the cache; waits for all such stores.
  void stream(mlir::Value value, mlir::Value address);
  void streamFence();
  /// Brings the cache line at an address into the cache of a level, 1 or 2, if it can be read.
  void prefetch(mlir::Value address, int level);
  mlir::Value gather(mlir::VectorType type, mlir::Value addresses, mlir::Value mask, mlir::Value other);
  void scatter(mlir::Value value, mlir::Value addresses, mlir::Value mask);

  /// The numbers 0, 1, ... of an integer type, one a lane.
  mlir::Value iota(mlir::VectorType type);
  /// Mask of the first `count` lanes; null where that is all of them.
  mlir::Value laneMask(Index count, int64_t lanes);
  mlir::Value splat(mlir::Value scalar, int64_t lanes);
  mlir::Value shuffle(mlir::Value x, mlir::Value y, llvm::ArrayRef<int64_t> lanes);
  /// Lanes [from, valid) moved to lane 0; what the other lanes hold is not defined. A step of combining all lanes into
  /// one. (Lanes that are kept instead make LLVM 22.1 take the wrong half of integers on AVX-512.)
  mlir::Value upperLanes(mlir::Value x, int64_t from, int64_t valid);
  mlir::Value lane(mlir::Value vector, int64_t index);
  mlir::Value fromLanes(llvm::ArrayRef<mlir::Value> lanes);
  /// Transposes a square of lanes x lanes elements held in rows.
  void transposeSquare(llvm::MutableArrayRef<mlir::Value> rows);

private:
  mlir::Block *constantBlock;
  llvm::DenseMap<mlir::Attribute, mlir::Value> constants;
};

/// Bytes that a value of a type of memory takes.
int64_t byteSize(mlir::Type type);
/// How an element of a tile is moved to and from memory: floats of up to 8 bits, booleans and 4-bit integers as i8,
/// floats of 16 bits as i16, index and pointers as i64.
mlir::Type memoryType(mlir::Type element);
/// How a value is computed on: index as i64; pointers as i64 in tiles and as llvm.ptr as scalars of the kernel.
mlir::Type registerType(mlir::Type element, bool scalar);

} // namespace tilejit::cpu

#endif // TILEJIT_CONVERSION_TILETOCPU_EMITTER_H
