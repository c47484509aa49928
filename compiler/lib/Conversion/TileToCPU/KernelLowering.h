// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Lowers one tile kernel to one private llvm.func that runs the program instances [begin, end) of a grid.
//
// A tile is an expression until something consumes it. Consumers ("roots": stores, reductions, products, values that
// cross the edge of a loop or branch) walk their own loop nest and ask for one *segment* at a time: some lanes along
// one dimension at given coordinates. Where a value must exist as a whole it is *stored*: in registers where it is
// small, in the thread's scratch memory otherwise. Each op family registers what it does in one of the two tables
// below; an operation in neither is refused.

#ifndef TILEJIT_CONVERSION_TILETOCPU_KERNELLOWERING_H
#define TILEJIT_CONVERSION_TILETOCPU_KERNELLOWERING_H

#include "Emitter.h"
#include "tilejit/Dialect/Tile/IR/Tile.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"

#include <map>

namespace tilejit::cpu {

/// What the choices rest on; the pass' options.
struct CpuModel {
  int64_t vectorBits = 512, vectorRegisters = 32;
  bool fma = true, masks = true;
  int64_t scratchLimit = 64 << 20;
  int64_t fmaPorts = 2, loadPorts = 2; ///< Whole vectors in a cycle.
  bool pairs = false;                  ///< x86 products of bf16 pairs, where they beat multiply-adds.
  bool quads = false; ///< x86 products of 8-bit quadruples, for vectors of any width up to the register's.
  bool words = false; ///< x86 products of pairs of 16-bit integers.
  bool amxPairs = false, amxQuads = false; ///< The same of both in matrix registers, for vectors of 512 bits.
  int64_t streamBytes = 0;                 ///< Size from which an argument is written past the cache; 0: none is.
};

/// Elements of a tile: `width` of them along dimension `dim` from `at` on. dim < 0: the one element at `at`. Where not
/// `checked`, all loads behind the value are known to lie inside their views and tiles.
struct Segment {
  llvm::SmallVector<Index, 4> at;
  int dim = -1;
  int64_t width = 1;
  bool checked = true;
};

/// A tile in scratch memory; strides in elements of the memory type.
struct Buffer {
  mlir::Value pointer;
  llvm::SmallVector<int64_t, 4> strides;
};

/// Where a value that exists as a whole lies.
struct Stored {
  llvm::SmallVector<mlir::Value> registers; ///< Row by row, `lanes` elements each (1: scalars); empty: in the buffer.
  int64_t lanes = 0;
  Buffer buffer;
  mlir::Block *block = nullptr; ///< Where the registers came to be: after `after` in `block`.
  mlir::Operation *after = nullptr;
  bool isTable = false;              ///< In the module, for reading only.
  bool isPaired = false;             ///< Of bf16: a row of the buffer holds two rows, by lanes of 32 bits.
  mlir::Value holdsSubnormals;       ///< Whether it does, of such.
  mlir::Operation *source = nullptr; ///< The load whose elements these are, made wide; null: another value.
  bool inRegisters() const { return !registers.empty(); }
};

/// A view: address, sizes and strides as far as known.
struct ViewValue {
  mlir::Value base;
  llvm::SmallVector<Index, 4> sizes, strides;
  mlir::Type element;
};

/// A tile's worth of a view: address of the tile's element 0, and how many elements of each dimension are inside.
struct Access {
  mlir::Value origin;
  llvm::SmallVector<Index, 4> extents, strides;
  mlir::Type element;
};

/// A bound that a segment's lanes must respect for unchecked evaluation: fewer than `lanes` lanes from coordinate 0 of
/// the lane dimension on, given that `condition` (null: true) holds.
struct Bound {
  mlir::Value condition;
  Index lanes;
  bool hasLanes = false;
};

class KernelLowering;

/// An operation whose result is evaluated where it is used.
struct LazyOp {
  /// The segment of each tile operand, in order, that a segment of the result needs.
  llvm::SmallVector<Segment, 3> (*operands)(KernelLowering &, mlir::Operation *, const Segment &);
  /// The result from the evaluated tile operands.
  mlir::Value (*combine)(KernelLowering &, mlir::Operation *, const Segment &, llvm::ArrayRef<mlir::Value>);
};
/// An operation that emits code where it stands.
using EagerOp = mlir::LogicalResult (*)(KernelLowering &, mlir::Operation *);

struct OpTables {
  llvm::StringMap<LazyOp> lazy;
  llvm::StringMap<EagerOp> eager;
};
/// Spells operations with two results out by such with one (ExtendedArithmetic.cpp).
void expandExtendedArithmetic(tile::KernelOp kernel);
void registerLazyArithmetic(OpTables &tables, mlir::MLIRContext *context);
void registerLazyConversions(OpTables &tables);
void registerLazyShape(OpTables &tables);
void registerMemory(OpTables &tables);
void registerStore(OpTables &tables);
void registerRoots(OpTables &tables);
void registerReduce(OpTables &tables);
void registerControlFlow(OpTables &tables);
void registerDot(OpTables &tables);
void registerScan(OpTables &tables);
void registerPieces(OpTables &tables);
void registerPointers(OpTables &tables);
void registerAtomics(OpTables &tables);
const OpTables &opTables(mlir::MLIRContext *context);

class KernelLowering {
public:
  KernelLowering(tile::KernelOp kernel, const CpuModel &model, mlir::OpBuilder &builder,
                 mlir::LLVM::LLVMFuncOp function, llvm::SmallVectorImpl<mlir::Operation *> &assertions);
  mlir::LogicalResult run();
  int64_t scratchBytes() const { return scratchHighWater; }

  tile::KernelOp kernel;
  const CpuModel &model;
  mlir::OpBuilder &b;
  Emitter e;
  const OpTables &tables;
  int64_t lanes; ///< Lanes of this kernel's vectors: the register's width in its widest element type.

  //===-- KernelLowering.cpp: structure
  //----------------------------------------------------------------------------===//
  /// Emits the operations of a block, terminator excluded.
  mlir::LogicalResult lowerBlock(mlir::Block &block);
  mlir::LogicalResult lowerOp(mlir::Operation *op);
  /// Runs `body` as a consumer of its own: nothing evaluated before is reused, nothing is moved out of where it starts.
  mlir::LogicalResult beginRoot(llvm::function_ref<mlir::LogicalResult()> body);
  /// The lowered form of a scalar of the kernel.
  mlir::Value scalar(mlir::Value value) { return scalars.lookup(value); }
  void setScalar(mlir::Value value, mlir::Value lowered) { scalars[value] = lowered; }
  /// The same as i64, folded if constant.
  Index index(mlir::Value value) { return Emitter::known(scalar(value)); }
  const ViewValue &view(mlir::Value value) { return views.find(value)->second; }
  void setView(mlir::Value value, ViewValue v) { views[value] = std::move(v); }
  Access access(mlir::Value view, mlir::ValueRange coordinates, llvm::ArrayRef<int64_t> shape, bool bounded);
  mlir::Type scalarType(mlir::Type type) { return registerType(type, true); }
  /// Copies an operation of arith or math onto lowered operands and result type.
  mlir::Value rebuild(mlir::Operation *op, mlir::ValueRange operands, mlir::Type resultType);
  mlir::Value programId(unsigned axis) { return programIds[axis]; }
  mlir::Value numPrograms(unsigned axis) { return gridCounts[axis]; }
  /// Number of an assertion, counted over the module; an address that holds 0 until one fails.
  int64_t assertionNumber(mlir::Operation *op);
  mlir::Value failureSlot();

  //===-- Evaluate.cpp: lazy values
  //---------------------------------------------------------------------------------===//
  /// The segment of a tile as a vector of `width` lanes, or a scalar for dim < 0. Null after a diagnostic.
  mlir::Value evaluate(mlir::Value tile, const Segment &segment);
  /// What must hold for evaluating the segments of `tile` at `segment` (lanes counted from its lane coordinate).
  void collectBounds(mlir::Value tile, const Segment &segment, llvm::SmallVectorImpl<Bound> &bounds);
  /// Whether the expression of a value reads scratch memory at `buffer`; `elsewhere` restricts that to reads at other
  /// coordinates than the value's own.
  bool readsBuffer(mlir::Value tile, mlir::Value buffer, bool elsewhere);
  /// Whether the value's expression reads values in registers that hold more than one of its segments.
  bool readsRegisters(mlir::Value tile);
  const LazyOp *lazyOp(mlir::Value tile);
  mlir::LogicalResult refuse(mlir::Operation *op, const llvm::Twine &why);

  //===-- Storage.cpp: values that exist as a whole
  //------------------------------------------------------------------===//
  Stored *stored(mlir::Value tile);
  void setStored(mlir::Value tile, Stored place) { places[tile] = std::move(place); }
  bool fitsRegisters(mlir::RankedTensorType type, int64_t most = 16);
  int64_t registerLanes(mlir::RankedTensorType type);
  int64_t registerCount(mlir::RankedTensorType type);
  Stored registersOf(mlir::RankedTensorType type, mlir::ValueRange values);
  /// Visits the segments that the registers of a tile of this type hold, row by row.
  mlir::LogicalResult forEachRegister(mlir::RankedTensorType type,
                                      llvm::function_ref<mlir::LogicalResult(unsigned, const Segment &)> body);
  /// All segments of a tile as registers.
  mlir::LogicalResult evaluateRegisters(mlir::Value tile, llvm::SmallVectorImpl<mlir::Value> &out);
  mlir::Type registersType(mlir::RankedTensorType type);
  void writeRegisters(const Buffer &buffer, mlir::RankedTensorType type, mlir::ValueRange registers);
  /// Scratch memory for a tile; null after a diagnostic at `op` if the limit is passed. `dense`: rows follow each other
  /// without gaps.
  mlir::FailureOr<Buffer> allocate(mlir::RankedTensorType type, mlir::Operation *op, bool dense = false);
  /// Whether a place is in scratch memory and as one that is allocated for the tile, so that it can be taken for
  /// another.
  bool hasUsualLayout(const Stored &place, mlir::RankedTensorType type) const;
  /// Gives the buffer the strides of such memory; how many elements it needs.
  int64_t layOut(Buffer &buffer, mlir::RankedTensorType type, bool dense) const;
  mlir::FailureOr<mlir::Value> allocateBytes(int64_t bytes, mlir::Operation *op);
  /// Scratch memory allocated after a mark is free again at its release, except for what was spilled meanwhile.
  int64_t scratchMark() const { return scratchTop; }
  void scratchRelease(int64_t mark) { scratchTop = std::max(mark, spillFloor); }
  mlir::LogicalResult assign(const Buffer &destination, mlir::Value tile);
  mlir::LogicalResult copyBuffer(const Buffer &destination, const Buffer &source, mlir::RankedTensorType type);
  //===-- Materialise.cpp: which values to store
  //-------------------------------------------------------------------===//
  /// Stores the value where it stands, in registers where it is small; or has the reduction that reads it first store
  /// it on its way.
  mlir::LogicalResult materialise(mlir::Value tile);
  /// Called when a root is done: what it stored on its way is there.
  void finishKept(mlir::Operation *root);
  mlir::LogicalResult materialiseTransposed(mlir::Value tile);
  bool wantsMaterialising(mlir::Operation *op);
  /// Tables.cpp: makes a constant whose elements differ part of the module.
  mlir::LogicalResult placeTable(mlir::arith::ConstantOp op);
  mlir::Value readStored(Stored &place, mlir::RankedTensorType type, const Segment &segment);
  mlir::Value readBuffer(const Buffer &buffer, mlir::Type element, const Segment &segment);
  void writeBuffer(const Buffer &buffer, mlir::Type element, const Segment &segment, mlir::Value value);
  Index bufferOffset(const Buffer &buffer, llvm::ArrayRef<Index> at);
  mlir::Value toMemory(mlir::Value value, mlir::Type element);
  mlir::Value fromMemory(mlir::Value value, mlir::Type element);
  mlir::Value scratch() { return scratchPointer; }

  //===-- Memory.cpp: views
  //--------------------------------------------------------------------------------------------===//
  const Access &loadAccess(mlir::Operation *load) { return accesses.find(load)->second; }
  void setAccess(mlir::Operation *op, Access a) { accesses[op] = std::move(a); }
  mlir::Value padValue(tile::Pad pad, mlir::Type element);
  /// The kernel's argument that a view or pointer leads back to.
  static mlir::Value memoryRoot(mlir::Value value);
  /// Whether what the store writes to is so large that it is better written past the cache: nothing where that is known
  /// not to be the case or the kernel reads it again, null where it is known to be.
  std::optional<mlir::Value> streams(tile::StoreOp store);
  /// Called where a root reads a segment of a load. The second root that sweeps over a row finds it in the cache and
  /// asks for what lies behind it instead, which the next program instance will want.
  void noteSweep(mlir::Operation *load, const Segment &segment);
  mlir::Value segmentAddress(const Access &access, const Segment &segment);
  void noteStreaming() { streamsAnything = true; }

  //===-- Combine.cpp
  //-----------------------------------------------------------------------------------------------===//
  /// The combining region of a reduction or scan on scalars, or on all lanes at once. False after a diagnostic.
  bool combineRegion(mlir::Region &region, llvm::ArrayRef<mlir::Value> left, llvm::ArrayRef<mlir::Value> right,
                     llvm::SmallVectorImpl<mlir::Value> &out);

  //===-- Loops.cpp
  //----------------------------------------------------------------------------------------------------===//
  using LoopBody = llvm::function_ref<mlir::LogicalResult(Index, llvm::SmallVectorImpl<mlir::Value> &)>;
  /// for i = low to high step step: body(i, carried). One iteration known in advance becomes no loop.
  mlir::LogicalResult loop(Index low, Index high, int64_t step, llvm::SmallVectorImpl<mlir::Value> &carried,
                           LoopBody body);
  using Body = llvm::function_ref<mlir::LogicalResult()>;
  mlir::LogicalResult branch(mlir::Value condition, Body then, Body otherwise);
  using SegmentBody =
      llvm::function_ref<mlir::LogicalResult(const Segment &, Index remaining, llvm::SmallVectorImpl<mlir::Value> &)>;
  /// Visits [0, limits) in segments of `lanes` along `dim`. Segments where all `tiles` can be evaluated unchecked come
  /// first in each row. `remaining` is how many of the segment's lanes lie below the limit, or at least `lanes`.
  mlir::LogicalResult forEachSegment(llvm::ArrayRef<Index> limits, int dim, mlir::ValueRange tiles,
                                     llvm::SmallVectorImpl<mlir::Value> &carried, SegmentBody body,
                                     bool elementwise = false);
  /// One row of the above: segments from `from` on along `row.dim`. An `elementwise` body also takes single elements,
  /// which it gets for what is left of a row where the CPU has no masks.
  mlir::LogicalResult forEachInRow(Segment row, Index from, Index limit, mlir::ValueRange tiles,
                                   llvm::SmallVectorImpl<mlir::Value> &carried, SegmentBody body,
                                   bool elementwise = false);
  /// Coordinate along row.dim below which all tiles evaluate unchecked.
  Index uncheckedLimit(const Segment &row, Index limit, mlir::ValueRange tiles);
  /// The dimension along which lanes lie for a tile of this shape: the last with more than one element, or -1.
  static int laneDimension(llvm::ArrayRef<int64_t> shape);

  //===-- Pack.cpp
  //-----------------------------------------------------------------------------------------------------===//
  using Convert = llvm::function_ref<mlir::Value(mlir::Value)>;
  /// Copies rows [0, rows) and columns [column, column + columns) of a matrix to `destination` with the given row
  /// stride, converting on the way. Columns are counted up to whole vectors of `width` lanes (0: as many as the
  /// kernel's vectors have; transposed matrices know no other).
  mlir::LogicalResult packMatrix(mlir::Value tile, Index rows, Index column, Index columns, int64_t mostColumns,
                                 mlir::Value destination, int64_t rowStride, Convert convert, int64_t width = 0);
  /// The same for elements of which `terms` neighbours of a column fill 32 bits, bytes or bf16 or what `convert` makes
  /// of an element, if there is one: rows [0, terms groups) to [groups][columns]. Rows beyond the tile count as 0. For
  /// pairs, a lower bound of the magnitudes in each lane, as bits, goes to `smallestAt`, one register of them.
  mlir::LogicalResult packGroups(mlir::Value tile, int64_t terms, Index groups, Index column, int64_t columns,
                                 mlir::Value destination, mlir::Value smallestAt = {}, Convert convert = {});
  /// Asks for rows [first, first + rows) and columns [column, column + columns) of the matrix in memory that a value is
  /// computed from elementwise, if there is one. Never touches memory, so bounds don't matter.
  void prefetchMatrix(mlir::Value tile, Index first, Index rows, Index column, int64_t columns);
  /// Asks for the line that holds the last of the 64 bytes from an element of a matrix in memory on. (Where vectors
  /// begin in the middle of lines, the line of the first byte comes with the vector before.)
  void prefetchFrom(const Access &matrix, Index row, Index column, int level);
  /// The matrix whose transpose this value is, if it is written that way.
  mlir::Value transposeSource(mlir::Value tile);

private:
  struct Scope {
    mlir::Block *block;
    mlir::Operation *loop;
    std::map<std::tuple<void *, llvm::SmallVector<std::pair<void *, int64_t>, 4>, int, int64_t, bool>, mlir::Value>
        memo;
  };
  friend class ScopeGuard;
  mlir::LogicalResult dispatch(mlir::Operation *op);
  void setUpArguments();
  mlir::LogicalResult checkTypes();
  mlir::Value evaluateHere(mlir::Value tile, const Segment &segment);
  bool isHazardousLoad(mlir::Operation *op);
  mlir::LogicalResult spill(Stored &place, mlir::RankedTensorType type);
  bool movesLanes(mlir::Operation *op);
  mlir::LogicalResult materialiseReshape(mlir::Value tile);
  mlir::LogicalResult materialiseGroups(mlir::Value tile, mlir::Value matrix);

  mlir::LLVM::LLVMFuncOp function;
  llvm::SmallVectorImpl<mlir::Operation *> &assertions;
  llvm::DenseMap<mlir::Value, mlir::Value> scalars;
  llvm::DenseMap<mlir::Value, ViewValue> views;
  llvm::DenseMap<mlir::Value, Stored> places;
  /// Values that a reduction stores while it reads them.
  llvm::DenseMap<mlir::Value, std::pair<mlir::Operation *, Stored>> keptOnTheWay;
  llvm::DenseMap<mlir::Operation *, Access> accesses;
  llvm::SmallVector<mlir::Value, 2> writtenRoots;
  mlir::Operation *currentRoot = nullptr;
  llvm::DenseMap<mlir::Operation *, llvm::SetVector<mlir::Operation *>> sweeps; ///< Roots that read a load.
  llvm::SmallVector<Scope> scopes;
  mlir::Value programIds[3], gridCounts[3], scratchPointer;
  int64_t scratchTop = 64, scratchHighWater = 64, spillFloor = 0;
  unsigned rootDepth = 0; ///< Scopes that stood when the current operation began.
  bool asserts = false, writesThroughPointers = false, hasAtomics = false, streamsAnything = false;
};

/// Opens a scope of remembered evaluations for the loop or branch whose body is being emitted.
class ScopeGuard {
public:
  ScopeGuard(KernelLowering &lowering, mlir::Block *block, mlir::Operation *loop) : l(lowering) {
    l.scopes.push_back({block, loop, {}});
  }
  ~ScopeGuard() { l.scopes.pop_back(); }

private:
  KernelLowering &l;
};

} // namespace tilejit::cpu

#endif // TILEJIT_CONVERSION_TILETOCPU_KERNELLOWERING_H
