// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Operations that put tiles together, take them apart or pick their elements: cat, join, split, gather_in_tile, pack
// and unpack. All go through scratch memory.

#include "KernelLowering.h"

using namespace mlir;
using namespace tilejit;
using namespace tilejit::cpu;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

static void storeAt(KernelLowering &l, Value result, Buffer buffer) {
  Stored place;
  place.buffer = std::move(buffer);
  l.setStored(result, std::move(place));
}

/// Memory without gaps, with room behind it for two whole vectors.
static FailureOr<Buffer> allocateDense(KernelLowering &l, RankedTensorType type, Operation *op) {
  Buffer buffer;
  buffer.strides.resize(type.getRank());
  int64_t stride = 1;
  for (int64_t d = type.getRank() - 1; d >= 0; --d) {
    buffer.strides[d] = stride;
    stride *= type.getDimSize(d);
  }
  FailureOr<Value> pointer = l.allocateBytes((stride + 2 * l.lanes) * byteSize(memoryType(type.getElementType())), op);
  if (failed(pointer))
    return failure();
  buffer.pointer = *pointer;
  return buffer;
}

/// A copy of a tile in memory without gaps.
static FailureOr<Buffer> copyDense(KernelLowering &l, Value tile, Operation *op) {
  FailureOr<Buffer> buffer = allocateDense(l, typeOf(tile), op);
  if (failed(buffer) || failed(l.assign(*buffer, tile)))
    return failure();
  return buffer;
}

static Buffer movedBy(KernelLowering &l, const Buffer &buffer, int64_t elements, Type element) {
  Buffer moved = buffer;
  moved.pointer = l.e.address(buffer.pointer, elements, memoryType(element));
  return moved;
}

/// Visits a tile of this shape in segments along `dim`, or element by element where that is negative. `evaluated` are
/// the tiles that the body evaluates there.
static LogicalResult forEachSegmentOf(KernelLowering &l, ArrayRef<int64_t> shape, int dim, ValueRange evaluated,
                                      llvm::function_ref<LogicalResult(const Segment &)> body) {
  SmallVector<Index> limits(shape);
  SmallVector<Value> nothing;
  return l.forEachSegment(limits, dim, evaluated, nothing,
                          [&](const Segment &segment, Index, auto &) { return body(segment); });
}

static int lastDimension(ArrayRef<int64_t> shape) {
  return shape.empty() || shape.back() == 1 ? -1 : static_cast<int>(shape.size()) - 1;
}

//===-- cat
//--------------------------------------------------------------------------------------------------------===//

/// Sources are written in order. A source's last vector may reach beyond it: into what the next source writes later, or
/// into the room that rows have at their end.
static LogicalResult lowerCat(KernelLowering &l, Operation *op) {
  auto cat = cast<tile::CatOp>(op);
  RankedTensorType type = cat.getType();
  int axis = cat.getAxis();
  SmallVector<int64_t> padded(type.getShape());
  padded[axis] += axis == KernelLowering::laneDimension(type.getShape()) ? l.lanes : 0;
  FailureOr<Buffer> buffer = l.allocate(RankedTensorType::get(padded, type.getElementType()), op);
  if (failed(buffer))
    return failure();
  int64_t first = 0;
  for (Value source : cat.getSources()) {
    Buffer part = movedBy(l, *buffer, first * buffer->strides[axis], type.getElementType());
    ArrayRef<int64_t> shape = typeOf(source).getShape();
    int lane = KernelLowering::laneDimension(shape);
    if (lane >= 0 && part.strides[lane] != 1)
      lane = -1;
    LogicalResult done = forEachSegmentOf(l, shape, lane, source, [&](const Segment &segment) -> LogicalResult {
      Value value = l.evaluate(source, segment);
      if (!value)
        return failure();
      l.writeBuffer(part, type.getElementType(), segment, value);
      return success();
    });
    if (failed(done))
      return failure();
    first += shape[axis];
  }
  return storeAt(l, cat.getResult(), *buffer), success();
}

//===-- join and split
//---------------------------------------------------------------------------------------------===//

/// x0 y0 x1 y1 ... in two vectors.
static std::pair<Value, Value> interleave(KernelLowering &l, Value x, Value y, int64_t lanes) {
  SmallVector<int64_t> low, high;
  for (int64_t i = 0; i < lanes; ++i) {
    low.push_back(i / 2 + i % 2 * lanes);
    high.push_back(lanes / 2 + i / 2 + i % 2 * lanes);
  }
  return {l.e.shuffle(x, y, low), l.e.shuffle(x, y, high)};
}

/// Writes x and y in turns from an address on; single values or vectors of the memory type.
static void storeInterleaved(KernelLowering &l, Value x, Value y, Value address) {
  auto vector = dyn_cast<VectorType>(x.getType());
  Type memory = getElementTypeOrSelf(x.getType());
  int64_t lanes = vector ? vector.getNumElements() : 1;
  if (vector)
    std::tie(x, y) = interleave(l, x, y, lanes);
  l.e.store(x, address);
  l.e.store(y, l.e.address(address, lanes, memory));
}

static LogicalResult lowerJoin(KernelLowering &l, Operation *op) {
  auto join = cast<tile::JoinOp>(op);
  Type element = join.getType().getElementType();
  FailureOr<Buffer> buffer = allocateDense(l, join.getType(), op);
  if (failed(buffer))
    return failure();
  ArrayRef<int64_t> shape = typeOf(join.getLhs()).getShape();
  LogicalResult done =
      forEachSegmentOf(l, shape, KernelLowering::laneDimension(shape), {join.getLhs(), join.getRhs()},
                       [&](const Segment &segment) -> LogicalResult {
                         Value x = l.evaluate(join.getLhs(), segment),
                               y = x ? l.evaluate(join.getRhs(), segment) : Value();
                         if (!y)
                           return failure();
                         SmallVector<Index> at(segment.at.begin(), segment.at.end());
                         at.push_back(0);
                         Value address = l.e.address(buffer->pointer, l.bufferOffset(*buffer, at), memoryType(element));
                         storeInterleaved(l, l.toMemory(x, element), l.toMemory(y, element), address);
                         return success();
                       });
  storeAt(l, join.getResult(), *buffer);
  return done;
}

/// Both halves are every other element of a copy.
static LogicalResult lowerSplit(KernelLowering &l, Operation *op) {
  auto split = cast<tile::SplitOp>(op);
  FailureOr<Buffer> buffer = copyDense(l, split.getSource(), op);
  if (failed(buffer))
    return failure();
  Buffer half = *buffer;
  half.strides.pop_back();
  storeAt(l, split.getLhs(), half);
  storeAt(l, split.getRhs(), movedBy(l, half, 1, typeOf(split.getLhs()).getElementType()));
  return success();
}

//===-- gather_in_tile
//---------------------------------------------------------------------------------------------===//

/// Offsets into a buffer of the elements that a segment picks, as i64.
static Value pickedOffsets(KernelLowering &l, const Buffer &buffer, const Segment &segment, int axis, Value picks) {
  SmallVector<Index> at(segment.at.begin(), segment.at.end());
  at[axis] = 0;
  int64_t lanes = segment.dim < 0 ? 1 : segment.width;
  auto spread = [&](Value scalar) { return segment.dim < 0 ? scalar : l.e.splat(scalar, lanes); };
  Type type = segment.dim < 0 ? l.e.i64() : Type(l.e.vector(l.e.i64(), lanes));
  if (picks.getType() != type)
    picks = arith::ExtUIOp::create(l.b, l.e.loc, type, picks);
  Value offsets = arith::MulIOp::create(l.b, l.e.loc, picks, l.e.intConstant(type, buffer.strides[axis]));
  offsets = arith::AddIOp::create(l.b, l.e.loc, offsets, spread(l.e.value(l.bufferOffset(buffer, at))));
  if (segment.dim < 0 || segment.dim == axis)
    return offsets;
  Value steps = arith::MulIOp::create(l.b, l.e.loc, l.e.iota(l.e.vector(l.e.i64(), lanes)),
                                      l.e.intConstant(type, buffer.strides[segment.dim]));
  return arith::AddIOp::create(l.b, l.e.loc, offsets, steps);
}

static LogicalResult lowerGatherInTile(KernelLowering &l, Operation *op) {
  auto gather = cast<tile::GatherInTileOp>(op);
  RankedTensorType type = gather.getType();
  Type element = type.getElementType(), memory = memoryType(element);
  FailureOr<Buffer> source = copyDense(l, gather.getSource(), op), buffer = l.allocate(type, op);
  if (failed(source) || failed(buffer))
    return failure();
  int lane = KernelLowering::laneDimension(type.getShape());
  LogicalResult done =
      forEachSegmentOf(l, type.getShape(), lane, gather.getIndices(), [&](const Segment &segment) -> LogicalResult {
        Value picks = l.evaluate(gather.getIndices(), segment);
        if (!picks)
          return failure();
        Value offsets = pickedOffsets(l, *source, segment, gather.getAxis(), picks), value;
        if (segment.dim < 0) {
          value = l.e.load(memory, l.e.address(source->pointer, Emitter::known(offsets), memory));
        } else {
          // Lanes beyond the tile hold no indices.
          Value mask = l.e.laneMask(l.e.sub(type.getDimSize(segment.dim), segment.at[segment.dim]), segment.width);
          Value addresses = LLVM::GEPOp::create(l.b, l.e.loc, l.e.vector(l.e.pointer(), segment.width), memory,
                                                source->pointer, ArrayRef<LLVM::GEPArg>{offsets});
          VectorType vector = l.e.vector(memory, segment.width);
          value = l.e.gather(vector, addresses, mask,
                             l.e.splat(l.toMemory(l.padValue(tile::Pad::Zero, element), element), segment.width));
        }
        l.writeBuffer(*buffer, element, segment, l.fromMemory(value, element));
        return success();
      });
  storeAt(l, gather.getResult(), *buffer);
  return done;
}

//===-- pack and unpack
//--------------------------------------------------------------------------------------------===//

static Value shifted(KernelLowering &l, Value bytes, bool left) {
  Value four = l.e.intConstant(bytes.getType(), 4);
  if (left)
    return arith::ShLIOp::create(l.b, l.e.loc, bytes, four);
  return arith::ShRUIOp::create(l.b, l.e.loc, bytes, four);
}

/// 4-bit values lie one a byte in scratch memory.
static LogicalResult lowerPack(KernelLowering &l, Operation *op) {
  auto pack = cast<tile::PackOp>(op);
  RankedTensorType type = pack.getType();
  FailureOr<Buffer> loose = copyDense(l, pack.getSource(), op), buffer = l.allocate(type, op);
  if (failed(loose) || failed(buffer))
    return failure();
  int last = type.getRank() - 1;
  int lane = lastDimension(type.getShape());
  LogicalResult done = forEachSegmentOf(l, type.getShape(), lane, {}, [&](const Segment &segment) -> LogicalResult {
    SmallVector<Index> at(segment.at.begin(), segment.at.end());
    at[last] = l.e.mul(at[last], 2);
    Type byte = l.b.getI8Type();
    Value address = l.e.address(loose->pointer, l.bufferOffset(*loose, at), byte), low, high;
    if (segment.dim < 0) {
      low = l.e.load(byte, address);
      high = l.e.load(byte, l.e.address(address, 1, byte));
    } else {
      Value x = l.e.load(l.e.vector(byte, segment.width), address);
      Value y = l.e.load(l.e.vector(byte, segment.width), l.e.address(address, segment.width, byte));
      SmallVector<int64_t> even, odd;
      for (int64_t i = 0; i < segment.width; ++i) {
        even.push_back(2 * i);
        odd.push_back(2 * i + 1);
      }
      low = l.e.shuffle(x, y, even);
      high = l.e.shuffle(x, y, odd);
    }
    low = arith::AndIOp::create(l.b, l.e.loc, low, l.e.intConstant(low.getType(), 15));
    Value bytes = arith::OrIOp::create(l.b, l.e.loc, low, shifted(l, high, true));
    l.writeBuffer(*buffer, byte, segment, bytes);
    return success();
  });
  storeAt(l, pack.getResult(), *buffer);
  return done;
}

static LogicalResult lowerUnpack(KernelLowering &l, Operation *op) {
  auto unpack = cast<tile::UnpackOp>(op);
  FailureOr<Buffer> buffer = allocateDense(l, unpack.getType(), op);
  if (failed(buffer))
    return failure();
  ArrayRef<int64_t> shape = typeOf(unpack.getSource()).getShape();
  int last = static_cast<int>(shape.size()) - 1;
  LogicalResult done = forEachSegmentOf(
      l, shape, lastDimension(shape), unpack.getSource(), [&](const Segment &segment) -> LogicalResult {
        Value bytes = l.evaluate(unpack.getSource(), segment);
        if (!bytes)
          return failure();
        SmallVector<Index> at(segment.at.begin(), segment.at.end());
        at[last] = l.e.mul(at[last], 2);
        Value low = arith::AndIOp::create(l.b, l.e.loc, bytes, l.e.intConstant(bytes.getType(), 15));
        Value address = l.e.address(buffer->pointer, l.bufferOffset(*buffer, at), l.b.getI8Type());
        storeInterleaved(l, low, shifted(l, bytes, false), address);
        return success();
      });
  storeAt(l, unpack.getResult(), *buffer);
  return done;
}

void tilejit::cpu::registerPieces(OpTables &tables) {
  tables.eager[tile::CatOp::getOperationName()] = lowerCat;
  tables.eager[tile::JoinOp::getOperationName()] = lowerJoin;
  tables.eager[tile::SplitOp::getOperationName()] = lowerSplit;
  tables.eager[tile::GatherInTileOp::getOperationName()] = lowerGatherInTile;
  tables.eager[tile::PackOp::getOperationName()] = lowerPack;
  tables.eager[tile::UnpackOp::getOperationName()] = lowerUnpack;
}
