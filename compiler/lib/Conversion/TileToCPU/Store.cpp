// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// tile.store. Results that no cache would hold are written past it, so that their lines are not read first: vectors
// begin at the first address in a row that is a multiple of their size, and what lies before them is computed with what
// lies behind them. Whether an argument is that large is decided by the code where its size is not known before. There
// is one copy of the computation for both ways: it is its last instruction that differs.

#include "KernelLowering.h"

using namespace mlir;
using namespace tilejit;
using namespace tilejit::cpu;

/// Rows below are not worth the choice, nor are vectors below that fill too little of a cache line.
static constexpr int64_t leastRowBytes = 512, leastVectorBytes = 32;
/// Pieces of several rows below must begin with a line: one that begins in its middle shares two lines with pieces that
/// are written at other times, and each reads them.
static constexpr int64_t longPieceBytes = 4096;

//===-- plain stores
//-----------------------------------------------------------------------------------------------===//

namespace {
/// Writes segments of a tile into its place in a view.
class TileWriter {
public:
  TileWriter(KernelLowering &l, Access access, int dim) : l(l), access(std::move(access)), dim(dim) {}

  LogicalResult write(const Segment &segment, Value value, Index remaining) {
    value = l.toMemory(value, access.element);
    Type memory = memoryType(access.element);
    Value address = l.segmentAddress(access, segment);
    if (segment.dim < 0)
      return l.e.store(value, address), success();
    Index stride = access.strides[segment.dim];
    Value mask = l.e.laneMask(remaining, segment.width);
    if (stride.is(1))
      return l.e.store(value, address, mask), success();
    Value steps = l.e.iota(l.e.vector(l.e.i64(), segment.width));
    Value offsets = arith::MulIOp::create(l.b, l.e.loc, steps, l.e.splat(l.e.value(stride), segment.width));
    Value addresses = LLVM::GEPOp::create(l.b, l.e.loc, l.e.vector(l.e.pointer(), segment.width), memory, address,
                                          ArrayRef<LLVM::GEPArg>{offsets});
    l.e.scatter(value, addresses, mask);
    return success();
  }

  KernelLowering &l;
  Access access;
  int dim;
};
} // namespace

/// Registers of a tile that reaches beyond the view, to a CPU without masks: element by element, through memory.
static LogicalResult storeElements(TileWriter &writer, RankedTensorType type, ValueRange registers, Operation *op) {
  KernelLowering &l = writer.l;
  int64_t mark = l.scratchMark();
  FailureOr<Buffer> buffer = l.allocate(type, op);
  if (failed(buffer))
    return failure();
  l.writeRegisters(*buffer, type, registers);
  l.scratchRelease(mark);
  SmallVector<Index> limits(writer.access.extents.begin(), writer.access.extents.end());
  SmallVector<Value> nothing;
  Segment segment;
  segment.at.assign(limits.size(), Index(0));
  std::function<LogicalResult(unsigned)> nest = [&](unsigned d) -> LogicalResult {
    if (d == limits.size())
      return writer.write(segment, l.readBuffer(*buffer, type.getElementType(), segment), 1);
    return l.loop(0, limits[d], 1, nothing, [&](Index at, auto &) {
      segment.at[d] = at;
      return nest(d + 1);
    });
  };
  return nest(0);
}

/// A tile of few registers, each of which goes to a place known now.
static LogicalResult storeRegisters(TileWriter &writer, Value tile, Operation *op) {
  KernelLowering &l = writer.l;
  auto type = cast<RankedTensorType>(tile.getType());
  ArrayRef<int64_t> shape = type.getShape();
  const Access &access = writer.access;
  SmallVector<Value> registers;
  if (failed(l.evaluateRegisters(tile, registers)))
    return failure();
  auto plain = [&] {
    return l.forEachRegister(type, [&](unsigned i, const Segment &segment) {
      int64_t remaining = segment.dim < 0 ? 1 : shape[segment.dim] - segment.at[segment.dim].constant;
      return writer.write(segment, registers[i], remaining);
    });
  };
  auto masked = [&]() -> LogicalResult {
    if (!l.model.masks && l.registerLanes(type) > 1)
      return storeElements(writer, type, registers, op);
    return l.forEachRegister(type, [&](unsigned i, const Segment &segment) {
      Value inside;
      for (unsigned d = 0; d < shape.size(); ++d)
        if (static_cast<int>(d) != segment.dim)
          inside = l.e.both(inside, l.e.less(segment.at[d], access.extents[d]));
      if (segment.dim < 0)
        return l.branch(inside, [&] { return writer.write(segment, registers[i], 1); }, nullptr);
      Index extent = l.e.select(inside, access.extents[segment.dim], 0);
      return writer.write(segment, registers[i], l.e.sub(extent, segment.at[segment.dim]));
    });
  };
  Value whole;
  for (auto [size, extent] : llvm::zip(shape, access.extents))
    whole = l.e.both(whole, l.e.less(size - 1, extent));
  // One element is inside or it is not; a row that fills no vector is masked in any case.
  bool fillsVectors = l.registerLanes(type) == 1 || l.model.masks || shape.back() % l.registerLanes(type) == 0;
  if (!whole && fillsVectors)
    return plain();
  if (type.getNumElements() == 1 || !fillsVectors)
    return masked();
  return l.branch(whole, plain, masked);
}

//===-- stores past the cache
//--------------------------------------------------------------------------------------===//

std::optional<Value> KernelLowering::streams(tile::StoreOp store) {
  Value root = memoryRoot(store.getView());
  auto found = views.find(root);
  if (!model.streamBytes || writesThroughPointers || hasAtomics || found == views.end())
    return std::nullopt;
  WalkResult read = kernel.walk([&](tile::LoadOp load) {
    return memoryRoot(load.getView()) == root ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (read.wasInterrupted())
    return std::nullopt;
  Index bytes = byteSize(memoryType(found->second.element));
  for (Index size : found->second.sizes)
    bytes = e.mul(bytes, size);
  if (bytes.isConstant() && bytes.constant < model.streamBytes)
    return std::nullopt;
  return e.less(model.streamBytes - 1, bytes);
}

namespace {
/// Writes rows of a tile to memory, past the cache where `isLarge` (null: true).
class StreamedStore {
public:
  StreamedStore(TileWriter &writer, tile::StoreOp op, Value isLarge)
      : writer(writer), l(writer.l), access(writer.access), dim(writer.dim), op(op), isLarge(isLarge),
        streams(isLarge) {
    auto type = cast<RankedTensorType>(op.getValue().getType());
    int64_t columns = type.getShape()[dim], size = cast<tile::ViewType>(op.getView().getType()).getShape()[dim];
    bool isShort = columns * byteSize(memoryType(access.element)) < longPieceBytes;
    isPiece = isShort && type.getNumElements() > columns && (ShapedType::isDynamic(size) || size > columns);
  }

  LogicalResult run() {
    l.noteStreaming();
    segment.at.assign(access.extents.size(), Index(0));
    segment.dim = dim;
    segment.width = l.lanes;
    return rows(0);
  }

private:
  LogicalResult rows(unsigned d) {
    if (d == segment.at.size())
      return row();
    if (static_cast<int>(d) == dim)
      return rows(d + 1);
    return l.loop(0, access.extents[d], 1, nothing, [&](Index at, auto &) {
      segment.at[d] = at;
      return rows(d + 1);
    });
  }

  LogicalResult row() {
    Index limit = access.extents[dim], first = alignedFrom(limit);
    if (isPiece) {
      streams = l.e.both(isLarge, l.e.less(first, 1));
      first = l.e.select(streams, first, 0);
    }
    Index unchecked = l.e.max(l.e.sub(l.uncheckedLimit(segment, limit, op.getValue()), first), 0);
    Index last = l.e.add(first, l.e.roundDown(unchecked, l.lanes));
    segment.checked = false;
    if (failed(l.loop(first, last, l.lanes, nothing, [&](Index at, auto &) {
          segment.at[dim] = at;
          return whole(segment);
        })))
      return failure();
    return ends(first, last, limit);
  }

  /// The first element whose address is a multiple of a vector's size, where that matters.
  Index alignedFrom(Index limit) {
    Segment start = segment;
    start.at[dim] = 0;
    int64_t bytes = byteSize(memoryType(access.element));
    Value number = LLVM::PtrToIntOp::create(l.b, l.e.loc, l.e.i64(), l.segmentAddress(access, start));
    Value ahead = arith::SubIOp::create(l.b, l.e.loc, l.e.constant(0), number);
    ahead = arith::AndIOp::create(l.b, l.e.loc, ahead, l.e.constant(l.lanes * bytes - 1));
    return l.e.select(isLarge, l.e.max(l.e.min(l.e.divide(Index(ahead), bytes), limit), 0), 0);
  }

  LogicalResult whole(const Segment &part) {
    Value value = l.evaluate(op.getValue(), part);
    if (!value)
      return failure();
    value = l.toMemory(value, access.element);
    Value address = l.segmentAddress(access, part);
    return l.branch(
        streams, [&] { return l.e.stream(value, address), success(); },
        streams ? KernelLowering::Body([&] { return l.e.store(value, address), success(); }) : nullptr);
  }

  /// Elements [last, limit), then [0, first), computed with masks or one by one.
  LogicalResult ends(Index first, Index last, Index limit) {
    Segment part = segment;
    part.checked = true;
    if (!l.model.masks) {
      part.dim = -1;
      part.width = 1;
    }
    int64_t step = part.width;
    Index behind = l.e.roundUp(l.e.max(l.e.sub(limit, last), 0), step);
    return l.loop(0, l.e.add(behind, first), step, nothing, [&](Index count, auto &) -> LogicalResult {
      Value isBehind = l.e.less(count, behind);
      part.at[dim] = l.e.select(isBehind, l.e.add(last, count), l.e.sub(count, behind));
      Value value = l.evaluate(op.getValue(), part);
      if (!value)
        return failure();
      if (step == 1)
        return writer.write(part, value, 1);
      Index remaining = l.e.sub(l.e.select(isBehind, limit, first), part.at[dim]);
      return l.branch(
          streams, [&] { return writeApart(part, value, l.e.min(remaining, step)); },
          streams ? KernelLowering::Body([&] { return writer.write(part, value, remaining); }) : nullptr);
    });
  }

  /// Writes the first elements of a vector one by one. A store with a mask to a line that is not in the cache holds up
  /// the stores past the cache around it for longer than a row of them takes (Zen 4).
  LogicalResult writeApart(const Segment &part, Value value, Index count) {
    auto type = RankedTensorType::get(part.width, cast<VectorType>(value.getType()).getElementType());
    int64_t mark = l.scratchMark();
    FailureOr<Buffer> buffer = l.allocate(type, op);
    if (failed(buffer))
      return failure();
    l.scratchRelease(mark);
    Segment all, one;
    all.at = {Index(0)};
    all.dim = 0;
    all.width = part.width;
    l.writeBuffer(*buffer, type.getElementType(), all, value);
    return l.loop(0, count, 1, nothing, [&](Index at, auto &) {
      one.at = {at};
      Segment element = part;
      element.at[dim] = l.e.add(part.at[dim], at);
      element.dim = -1;
      element.width = 1;
      return writer.write(element, l.readBuffer(*buffer, type.getElementType(), one), 1);
    });
  }

  TileWriter &writer;
  KernelLowering &l;
  const Access &access;
  const int dim;
  tile::StoreOp op;
  Value isLarge; ///< Null: it is.
  Value streams; ///< The same for the row at hand.
  bool isPiece;
  Segment segment;
  SmallVector<Value> nothing;
};
} // namespace

static LogicalResult lowerStore(KernelLowering &l, Operation *op) {
  auto store = cast<tile::StoreOp>(op);
  auto type = cast<RankedTensorType>(store.getValue().getType());
  Access access = l.access(store.getView(), store.getCoordinates(), type.getShape(), /*bounded=*/true);
  int dim = KernelLowering::laneDimension(type.getShape());
  SmallVector<Index> limits = llvm::to_vector(access.extents);
  TileWriter writer(l, std::move(access), dim);
  if (l.registerCount(type) <= 16 && l.readsRegisters(store.getValue()))
    return storeRegisters(writer, store.getValue(), op);
  int64_t bytes = byteSize(memoryType(writer.access.element));
  bool longRows = dim >= 0 && writer.access.strides[dim].is(1) && type.getShape()[dim] * bytes >= leastRowBytes &&
                  l.lanes * bytes >= leastVectorBytes;
  if (longRows)
    if (std::optional<Value> isLarge = l.streams(store))
      return StreamedStore(writer, store, *isLarge).run();
  SmallVector<Value> nothing;
  return l.forEachSegment(
      limits, dim, store.getValue(), nothing,
      [&](const Segment &segment, Index remaining, SmallVectorImpl<Value> &) -> LogicalResult {
        Value value = l.evaluate(store.getValue(), segment);
        return value ? writer.write(segment, value, remaining) : failure();
      },
      /*elementwise=*/true);
}

void tilejit::cpu::registerStore(OpTables &tables) { tables.eager[tile::StoreOp::getOperationName()] = lowerStore; }
