// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// tile.store. Results that no cache would hold are written past it, so that their lines are not read first: a piece of
// a row is computed into scratch memory that stays in the first-level cache and then copied by whole lines. Whether an
// argument is that large is decided by the code where its size is not known before. There is one copy of the
// computation for both ways: it is its destination that differs.

#include "KernelLowering.h"

using namespace mlir;
using namespace tilejit;
using namespace tilejit::cpu;

/// Bytes computed before they are copied: they fit the CPU's store buffer, where the copy waits while the next piece is
/// computed.
static constexpr int64_t pieceBytes = 2048;
/// Rows below are not worth the copy.
static constexpr int64_t leastRowBytes = 512;

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
  StreamedStore(KernelLowering &l, tile::StoreOp op, Access access, int dim, Value isLarge)
      : l(l), op(op), access(std::move(access)), isLarge(isLarge), dim(dim),
        shape(cast<RankedTensorType>(op.getValue().getType()).getShape()), memory(memoryType(this->access.element)),
        lanes(l.model.vectorBits / 8 / byteSize(memory)) {}

  LogicalResult run() {
    l.noteStreaming();
    pieceElements = std::min<int64_t>(pieceBytes / byteSize(memory), llvm::alignTo(shape[dim], l.lanes));
    FailureOr<Value> buffer = l.allocateBytes((pieceElements + lanes) * byteSize(memory), op);
    if (failed(buffer))
      return failure();
    scratch = *buffer;
    segment.at.assign(shape.size(), Index(0));
    segment.dim = dim;
    segment.width = l.lanes;
    return rows(0);
  }

private:
  LogicalResult rows(unsigned d) {
    if (d == shape.size())
      return row();
    if (static_cast<int>(d) == dim)
      return rows(d + 1);
    return l.loop(0, access.extents[d], 1, nothing, [&](Index at, auto &) {
      segment.at[d] = at;
      return rows(d + 1);
    });
  }

  LogicalResult row() {
    Index limit = access.extents[dim];
    if (shape[dim] <= pieceElements)
      return piece(0, limit);
    Index pieces = l.e.divide(l.e.add(l.e.max(limit, 0), pieceElements - 1), pieceElements);
    return l.loop(0, pieces, 1, nothing, [&](Index number, auto &) {
      Index from = l.e.mul(number, pieceElements);
      return piece(from, shape[dim] % pieceElements == 0 && limit.is(shape[dim])
                             ? l.e.add(from, pieceElements)
                             : l.e.min(l.e.add(from, pieceElements), limit));
    });
  }

  LogicalResult piece(Index from, Index to) {
    Value target = access.origin;
    for (auto [d, at] : llvm::enumerate(segment.at))
      target = l.e.address(target, static_cast<int>(d) == dim ? from : l.e.mul(at, access.strides[d]), memory);
    Value destination = isLarge ? arith::SelectOp::create(l.b, l.e.loc, isLarge, scratch, target) : scratch;
    auto write = [&](const Segment &part, Index remaining, SmallVectorImpl<Value> &) -> LogicalResult {
      Value value = l.evaluate(op.getValue(), part);
      if (!value)
        return failure();
      value = l.toMemory(value, access.element);
      Value address = l.e.address(destination, l.e.sub(part.at[dim], from), memory);
      if (part.dim < 0)
        return l.e.store(value, address), success();
      return l.e.store(value, address, l.e.laneMask(remaining, part.width)), success();
    };
    if (failed(l.forEachInRow(segment, from, to, op.getValue(), nothing, write, /*elementwise=*/true)))
      return failure();
    Index count = l.e.sub(to, from);
    return l.branch(isLarge, [&] { return copy(scratch, target, count); }, nullptr);
  }

  /// Plain stores up to the first address that whole vectors can go to, and from the last one on.
  LogicalResult copy(Value source, Value target, Index count) {
    int64_t bytes = byteSize(memory);
    Value number = LLVM::PtrToIntOp::create(l.b, l.e.loc, l.e.i64(), target);
    Value ahead = arith::SubIOp::create(l.b, l.e.loc, l.e.constant(0), number);
    ahead = arith::AndIOp::create(l.b, l.e.loc, ahead, l.e.constant(lanes * bytes - 1));
    Index first = l.e.min(l.e.divide(Index(ahead), bytes), count);
    Index last = l.e.add(first, l.e.roundDown(l.e.sub(count, first), lanes));
    if (failed(copyFew(source, target, 0, first)))
      return failure();
    if (failed(l.loop(first, last, lanes, nothing, [&](Index at, auto &) {
          Value value = l.e.load(l.e.vector(memory, lanes), l.e.address(source, at, memory));
          return l.e.stream(value, l.e.address(target, at, memory)), success();
        })))
      return failure();
    return copyFew(source, target, last, count);
  }

  /// Fewer elements than a vector has.
  LogicalResult copyFew(Value source, Value target, Index from, Index to) {
    if (!l.model.masks)
      return l.loop(from, to, 1, nothing, [&](Index at, auto &) {
        Value value = l.e.load(memory, l.e.address(source, at, memory));
        return l.e.store(value, l.e.address(target, at, memory)), success();
      });
    return l.branch(
        l.e.less(from, to),
        [&] {
          Value mask = l.e.laneMask(l.e.sub(to, from), lanes);
          Value value = l.e.load(l.e.vector(memory, lanes), l.e.address(source, from, memory));
          return l.e.store(value, l.e.address(target, from, memory), mask), success();
        },
        nullptr);
  }

  KernelLowering &l;
  tile::StoreOp op;
  Access access;
  Value isLarge, scratch;
  int dim;
  ArrayRef<int64_t> shape;
  Type memory;
  int64_t lanes, pieceElements = 0;
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
  bool longRows = dim >= 0 && writer.access.strides[dim].is(1) &&
                  type.getShape()[dim] * byteSize(memoryType(writer.access.element)) >= leastRowBytes;
  if (longRows) {
    int64_t mark = l.scratchMark();
    if (std::optional<Value> isLarge = l.streams(store)) {
      LogicalResult done = StreamedStore(l, store, writer.access, dim, *isLarge).run();
      l.scratchRelease(mark);
      return done;
    }
  }
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
