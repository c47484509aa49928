// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Lowers one kernel on tiles with layouts to one llvm.func: the program of one thread.
//
// A tile becomes a vector with one element for each register of its layout; elementwise operations are the same
// operations on vectors. What differs from thread to thread (coordinates, addresses) is computed from the thread's
// number by the layout's columns. The result holds scf, arith, math, vector, llvm and the maker's operations. Each
// family of operations registers how it is lowered; an operation that nobody registered is refused.

#ifndef TILEJIT_CONVERSION_TILEGPUTOLLVM_KERNELEMITTER_H
#define TILEJIT_CONVERSION_TILEGPUTOLLVM_KERNELEMITTER_H

#include "Threads.h"

#include "tilejit/Dialect/TileGPU/IR/TileGPU.h"
#include "tilejit/Transforms/BankModel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/StringMap.h"

namespace tilejit::gpu {

using mlir::Value;
using mlir::ValueRange;
using tilegpu::LayoutAttr;

class KernelEmitter;
using LowerOp = mlir::LogicalResult (*)(KernelEmitter &, mlir::Operation *);

/// How each operation is lowered, by its name.
using LoweringTable = llvm::StringMap<LowerOp>;
void registerStructure(LoweringTable &table);
void registerConversions(LoweringTable &table);
void registerShape(LoweringTable &table);
void registerGlobalMemory(LoweringTable &table);
void registerPointers(LoweringTable &table);
void registerAtomics(LoweringTable &table);
void registerOnChip(LoweringTable &table);
void registerConvertLayout(LoweringTable &table);
void registerReduce(LoweringTable &table);
void registerScan(LoweringTable &table);
void registerDot(LoweringTable &table);
void registerDebug(LoweringTable &table);
void registerPrint(LoweringTable &table);

/// A view: address of element 0, sizes and strides (index; constants where the type says them).
struct ViewValue {
  Value base;
  llvm::SmallVector<Value, 4> sizes, strides;
  mlir::Type element;
};

/// What kernels of a module share while they are lowered.
struct ModuleState {
  const Threads &threads;
  const PackedProducts &products;
  const tilegpu::BankModel &banks;
  const LoweringTable &table;
  llvm::DenseMap<mlir::Operation *, int64_t> printNumbers{}; ///< In GpuLaunch::prints.
};

class KernelEmitter {
public:
  KernelEmitter(tile::KernelOp kernel, ModuleState &state, mlir::OpBuilder &builder);
  mlir::LogicalResult run();

  tile::KernelOp kernel;
  mlir::OpBuilder &b;
  mlir::Location loc;
  const Threads &threads;
  const PackedProducts &products;
  const tilegpu::BankModel &banks;

  //===-- KernelEmitter.cpp: values and structure -----------------------------------------------------------------===//
  mlir::LogicalResult lowerBlock(mlir::Block &block);
  mlir::LogicalResult lowerOp(mlir::Operation *op);
  mlir::LogicalResult refuse(mlir::Operation *op, const llvm::Twine &why);
  Value get(Value value) const { return values_.lookup(value); }
  void set(Value value, Value lowered) { values_[value] = lowered; }
  const ViewValue &view(Value value) const { return views_.find(value)->second; }
  void setView(Value value, ViewValue v) { views_[value] = std::move(v); }
  /// The type of a lowered value: tiles as vectors, index as i64, pointers as addresses (in tiles as i64).
  mlir::Type lowered(mlir::Type type) const;
  Value programId(unsigned axis);
  Value numPrograms(unsigned axis) const { return counts_[axis]; }
  int64_t blockThreads() const { return blockThreads_; }
  int64_t laneBits() const { return laneBits_; }
  Value onChip();
  /// Where a failed assertion leaves its number: a parameter of kernels that have assertions.
  Value statusAddress() const { return status_; }
  /// The buffer for what is printed (ABI/GpuPrint.h): a parameter of kernels that print.
  Value printBuffer() const { return printBuffer_; }
  int64_t printNumber(mlir::Operation *op) const { return state_.printNumbers.lookup(op); }
  /// Number of this program instance (index).
  Value instance() const { return linearId_; }

  //===-- Values.cpp: small pieces of code ------------------------------------------------------------------------===//
  Value index(int64_t value);
  Value integer(mlir::Type type, int64_t value);
  Value add(Value x, Value y);
  Value sub(Value x, Value y);
  Value mul(Value x, Value y);
  Value min(Value x, Value y);
  Value max(Value x, Value y);
  Value both(Value x, Value y); ///< Of two conditions; null stands for true.
  Value less(Value x, Value y); ///< Signed x < y; null where that is known.
  Value equal(Value x, int64_t y);
  /// A number that an index is a multiple of, as far as constants and products tell; 1 where nothing is known.
  static int64_t divisorOf(Value x);
  /// An integer, or a vector of them, widened or narrowed to a type.
  Value resize(Value value, mlir::Type type, bool isSigned);
  /// A number of a thread or block as an index.
  Value toIndex(Value i32);
  Value splat(Value scalar, int64_t count);
  Value fromScalars(llvm::ArrayRef<Value> scalars);
  llvm::SmallVector<Value> scalars(Value vector);
  Value pick(Value x, Value y, llvm::ArrayRef<int64_t> elements); ///< vector.shuffle; y may be null.
  /// Address `offset` elements of `element` beyond `base`.
  Value address(Value base, Value offset, mlir::Type element);
  Value address(Value base, int64_t offset, mlir::Type element);
  Value loadFrom(mlir::Type type, Value address, int64_t alignment);
  void storeTo(Value value, Value address, int64_t alignment);
  /// if (condition) then(); a null condition is true.
  mlir::LogicalResult when(Value condition, llvm::function_ref<mlir::LogicalResult()> then);
  /// A value of either branch.
  Value choose(Value condition, mlir::Type type, llvm::function_ref<Value()> then,
               llvm::function_ref<Value()> otherwise);
  /// How an element is kept in memory: what has up to 8 bits as i8, index and pointers as i64.
  mlir::Type memoryType(mlir::Type element) const;
  Value toMemory(Value value, mlir::Type element);
  Value fromMemory(Value value, mlir::Type element);

  //===-- Layout arithmetic: LayoutValues.cpp ---------------------------------------------------------------------===//
  /// Number of this thread in its block (i32).
  Value thread();
  /// The xor of columns[i] over the set bits i of the thread's number (i32).
  Value threadCombination(llvm::ArrayRef<int64_t> columns);
  /// True where an odd number of the bits of `mask` are set in the thread's number (i1).
  Value threadParity(uint64_t mask);
  /// Coordinates of a tile's elements along one dimension.
  struct Coordinates {
    Value ofThread;                         ///< index.
    int64_t threadBits = 0;                 ///< Which bits of it can be set.
    llvm::SmallVector<int64_t> ofRegisters; ///< For each register what is added, or xored where bits meet.
  };
  const Coordinates &coordinates(LayoutAttr layout, int dim);
  /// The coordinate of a register's element (index).
  Value coordinate(LayoutAttr layout, int dim, int64_t reg);
  /// Coordinates of all registers as a vector of index.
  Value coordinateVector(LayoutAttr layout, int dim);
  /// Which registers hold elements of the tile itself, as a vector of i1; null: all.
  Value insideTile(LayoutAttr layout, llvm::ArrayRef<int64_t> shape);
  /// True in one of all threads that hold copies of the same elements; null: there are no copies.
  Value isOriginal(LayoutAttr layout);

private:
  void declareFunction();
  void readArguments();

  ModuleState &state_;
  mlir::LLVM::LLVMFuncOp function_;
  llvm::DenseMap<Value, Value> values_;
  llvm::DenseMap<Value, ViewValue> views_;
  llvm::DenseMap<std::pair<mlir::Attribute, int>, std::unique_ptr<Coordinates>> coordinates_;
  llvm::DenseMap<int64_t, Value> indexConstants_;
  mlir::Block *entry_ = nullptr;
  mlir::Operation *prologueEnd_ = nullptr; ///< What depends on the thread only is made before this.
  Value thread_, onChip_, status_, printBuffer_, linearId_;
  Value counts_[3], programIds_[3];
  int64_t blockThreads_ = 0, laneBits_ = 5;
  friend struct PrologueGuard;
};

/// Inserts at the kernel's start while it lives: for values that depend on nothing but thread and parameters.
struct PrologueGuard {
  explicit PrologueGuard(KernelEmitter &e);
  mlir::OpBuilder::InsertionGuard guard;
};

mlir::RankedTensorType tileTypeOf(Value value);

/// Visits the registers of a tile whose elements lie inside a view, in one thread for each: with the element's address
/// and under its condition (GlobalMemory.cpp).
mlir::LogicalResult forEachInside(KernelEmitter &e, Value view, ValueRange coordinates, mlir::RankedTensorType tile,
                                  llvm::function_ref<mlir::LogicalResult(int64_t, Value)> body);
/// The address that an i64 of a tile of pointers is (Pointers.cpp).
Value addressOf(KernelEmitter &e, Value number, mlir::Type pointee);
/// For each register whether its element belongs to the tile and is selected by a mask (a tile, or null); null: yes.
llvm::SmallVector<Value> elementConditions(KernelEmitter &e, mlir::RankedTensorType tile, Value mask);

} // namespace tilejit::gpu

#endif // TILEJIT_CONVERSION_TILEGPUTOLLVM_KERNELEMITTER_H
