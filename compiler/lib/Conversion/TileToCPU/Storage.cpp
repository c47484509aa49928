// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Values that exist as a whole: which ones, and where. Small ones are SSA values of native width, others lie in the
// thread's scratch memory, whose total is known when the kernel is compiled.

#include "KernelLowering.h"

using namespace mlir;
using namespace tilejit;
using namespace tilejit::cpu;

Stored *KernelLowering::stored(Value tile) {
  auto it = places.find(tile);
  return it == places.end() ? nullptr : &it->second;
}

//===-- registers
//--------------------------------------------------------------------------------------------------===//

int64_t KernelLowering::registerLanes(RankedTensorType type) {
  return type.getNumElements() <= 4 || type.getShape().back() == 1 ? 1 : lanes;
}

int64_t KernelLowering::registerCount(RankedTensorType type) {
  int64_t width = registerLanes(type);
  if (width == 1)
    return type.getNumElements();
  int64_t last = type.getShape().back();
  return type.getNumElements() / last * static_cast<int64_t>(llvm::divideCeil(last, width));
}

bool KernelLowering::fitsRegisters(RankedTensorType type, int64_t most) { return registerCount(type) <= most; }

Type KernelLowering::registersType(RankedTensorType type) {
  Type element = registerType(type.getElementType(), false);
  int64_t width = registerLanes(type);
  return width == 1 ? element : Type(e.vector(element, width));
}

Stored KernelLowering::registersOf(RankedTensorType type, ValueRange values) {
  Stored place;
  place.registers.assign(values.begin(), values.end());
  place.lanes = registerLanes(type);
  place.block = b.getInsertionBlock();
  if (b.getInsertionPoint() != place.block->begin())
    place.after = &*std::prev(b.getInsertionPoint());
  return place;
}

LogicalResult KernelLowering::forEachRegister(RankedTensorType type,
                                              llvm::function_ref<LogicalResult(unsigned, const Segment &)> body) {
  ArrayRef<int64_t> shape = type.getShape();
  Segment segment;
  segment.at.assign(shape.size(), Index(0));
  segment.width = registerLanes(type);
  segment.dim = segment.width == 1 ? -1 : static_cast<int>(shape.size()) - 1;
  int64_t perRow = segment.width == 1 ? 1 : llvm::divideCeil(shape.back(), segment.width);
  for (int64_t i = 0, count = registerCount(type); i < count; ++i) {
    int64_t rest = i / perRow;
    for (int d = static_cast<int>(shape.size()) - 1; d >= 0; --d) {
      if (d == segment.dim)
        continue;
      segment.at[d] = rest % shape[d];
      rest /= shape[d];
    }
    if (segment.dim >= 0)
      segment.at[segment.dim] = i % perRow * segment.width;
    if (failed(body(i, segment)))
      return failure();
  }
  return success();
}

LogicalResult KernelLowering::evaluateRegisters(Value tile, SmallVectorImpl<Value> &out) {
  auto type = cast<RankedTensorType>(tile.getType());
  auto all = [&](bool checked, SmallVectorImpl<Value> &values) {
    return forEachRegister(type, [&](unsigned, Segment segment) {
      segment.checked = checked;
      values.push_back(evaluate(tile, segment));
      return success(static_cast<bool>(values.back()));
    });
  };
  int64_t width = registerLanes(type);
  if (width == 1)
    return all(true, out);
  Segment last;
  for (int64_t size : type.getShape())
    last.at.push_back(size - 1);
  last.dim = type.getRank() - 1;
  last.width = width;
  int64_t end = llvm::alignTo(type.getShape().back(), width);
  Value inside = e.less(end - 1, uncheckedLimit(last, end, tile));
  if (!inside)
    return all(false, out);
  if (model.masks || type.getShape().back() % width)
    return all(true, out);
  // Without masks what is checked is slow: only where it has to be.
  SmallVector<Type> types(registerCount(type), registersType(type));
  auto choice = scf::IfOp::create(b, e.loc, types, inside, /*addThenBlock=*/true, /*addElseBlock=*/true);
  for (bool checked : {false, true}) {
    Block *block = checked ? choice.elseBlock() : choice.thenBlock();
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(block);
    ScopeGuard scope(*this, block, nullptr);
    SmallVector<Value> values;
    if (failed(all(checked, values)))
      return failure();
    b.setInsertionPointToEnd(block);
    scf::YieldOp::create(b, e.loc, values);
  }
  llvm::append_range(out, choice.getResults());
  return success();
}

void KernelLowering::writeRegisters(const Buffer &buffer, RankedTensorType type, ValueRange registers) {
  (void)forEachRegister(type, [&](unsigned i, const Segment &segment) {
    writeBuffer(buffer, type.getElementType(), segment, registers[i]);
    return success();
  });
}

/// Registers can't be indexed by a value of run time: gives the tile memory where its registers were made. What was
/// allocated and freed since then writes to its memory after that, so the tile lies beyond all of it.
LogicalResult KernelLowering::spill(Stored &place, RankedTensorType type) {
  if (place.buffer.pointer)
    return success();
  scratchTop = scratchHighWater;
  FailureOr<Buffer> buffer = allocate(type, kernel);
  if (failed(buffer))
    return failure();
  spillFloor = scratchTop;
  OpBuilder::InsertionGuard guard(b);
  if (place.after)
    b.setInsertionPointAfter(place.after);
  else
    b.setInsertionPointToStart(place.block);
  writeRegisters(*buffer, type, place.registers);
  place.buffer = *buffer;
  return success();
}

Value KernelLowering::readStored(Stored &place, RankedTensorType type, const Segment &segment) {
  if (!place.inRegisters())
    return readBuffer(place.buffer, type.getElementType(), segment);
  ArrayRef<int64_t> shape = type.getShape();
  bool known = true;
  for (auto [d, size] : llvm::enumerate(shape))
    known &= size == 1 || segment.at[d].isConstant();
  if (!known) {
    if (failed(spill(place, type)))
      return {};
    return readBuffer(place.buffer, type.getElementType(), segment);
  }
  int rank = shape.size();
  int64_t last = place.lanes == 1 ? 1 : shape.back(), perRow = llvm::divideCeil(last, place.lanes);
  auto position = [&](int64_t step) {
    int64_t linear = 0;
    for (int d = 0; d < rank; ++d) {
      int64_t at = shape[d] == 1 ? 0 : segment.at[d].constant + (d == segment.dim ? step : 0);
      linear = linear * shape[d] + std::min(at, shape[d] - 1);
    }
    return linear;
  };
  auto element = [&](int64_t step) -> Value {
    int64_t linear = position(step);
    if (place.lanes == 1)
      return place.registers[linear];
    int64_t column = linear % last;
    return e.lane(place.registers[linear / last * perRow + column / place.lanes], column % place.lanes);
  };
  if (segment.dim < 0)
    return element(0);
  if (place.lanes == segment.width && segment.dim == rank - 1 && segment.at[rank - 1].constant % place.lanes == 0)
    return place.registers[position(0) / last * perRow + segment.at[rank - 1].constant / place.lanes];
  SmallVector<Value> parts;
  for (int64_t i = 0; i < segment.width; ++i)
    parts.push_back(element(i));
  return e.fromLanes(parts);
}

//===-- scratch memory
//-----------------------------------------------------------------------------------------------===//

FailureOr<Value> KernelLowering::allocateBytes(int64_t bytes, Operation *op) {
  int64_t offset = scratchTop;
  scratchTop += llvm::alignTo(bytes, 64);
  scratchHighWater = std::max(scratchHighWater, scratchTop);
  if (scratchTop > model.scratchLimit)
    return refuse(op, "its tile needs " + Twine(bytes) + " bytes of scratch memory, " + Twine(scratchTop) +
                          " with what lives beside it; the limit is " + Twine(model.scratchLimit));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&function.getBody().front());
  return e.address(scratchPointer, offset, b.getI8Type());
}

int64_t KernelLowering::layOut(Buffer &buffer, RankedTensorType type, bool dense) const {
  ArrayRef<int64_t> shape = type.getShape();
  int lane = dense ? -1 : laneDimension(shape);
  buffer.strides.resize(shape.size());
  int64_t stride = 1;
  for (int d = static_cast<int>(shape.size()) - 1; d >= 0; --d) {
    buffer.strides[d] = stride;
    stride *= d == lane ? llvm::alignTo(shape[d], lanes) : shape[d];
  }
  // Whole vectors are read and written; the last may reach beyond the last row.
  return stride + lanes;
}

bool KernelLowering::hasUsualLayout(const Stored &place, RankedTensorType type) const {
  Buffer usual;
  layOut(usual, type, /*dense=*/false);
  return !place.inRegisters() && !place.isTable && place.buffer.strides == usual.strides;
}

FailureOr<Buffer> KernelLowering::allocate(RankedTensorType type, Operation *op, bool dense) {
  Buffer buffer;
  int64_t elements = layOut(buffer, type, dense);
  FailureOr<Value> pointer = allocateBytes(elements * byteSize(memoryType(type.getElementType())), op);
  if (failed(pointer))
    return failure();
  buffer.pointer = *pointer;
  return buffer;
}

Index KernelLowering::bufferOffset(const Buffer &buffer, ArrayRef<Index> at) {
  Index offset;
  for (auto [i, stride] : llvm::zip(at, buffer.strides))
    offset = e.add(offset, e.mul(i, stride));
  return offset;
}

Value KernelLowering::toMemory(Value value, Type element) {
  Type memory = memoryType(element);
  Type from = getElementTypeOrSelf(value.getType());
  if (from == memory)
    return value;
  auto shaped = [&](Type type) -> Type {
    if (auto vector = dyn_cast<VectorType>(value.getType()))
      return e.vector(type, vector.getNumElements());
    return type;
  };
  if (isa<FloatType>(from)) {
    value = arith::BitcastOp::create(b, e.loc, shaped(b.getIntegerType(from.getIntOrFloatBitWidth())), value);
    from = getElementTypeOrSelf(value.getType());
  }
  if (from == memory)
    return value;
  return arith::ExtUIOp::create(b, e.loc, shaped(memory), value);
}

Value KernelLowering::fromMemory(Value value, Type element) {
  Type to = registerType(element, false);
  if (getElementTypeOrSelf(value.getType()) == to)
    return value;
  auto shaped = [&](Type type) -> Type {
    if (auto vector = dyn_cast<VectorType>(value.getType()))
      return e.vector(type, vector.getNumElements());
    return type;
  };
  unsigned bits = to.getIntOrFloatBitWidth();
  if (bits < 8)
    value = arith::TruncIOp::create(b, e.loc, shaped(b.getIntegerType(bits)), value);
  if (isa<FloatType>(to))
    value = arith::BitcastOp::create(b, e.loc, shaped(to), value);
  return value;
}

Value KernelLowering::readBuffer(const Buffer &buffer, Type element, const Segment &segment) {
  Type memory = memoryType(element);
  Value address = e.address(buffer.pointer, bufferOffset(buffer, segment.at), memory);
  if (segment.dim < 0)
    return fromMemory(e.load(memory, address), element);
  VectorType type = e.vector(memory, segment.width);
  int64_t stride = buffer.strides[segment.dim];
  if (stride == 1)
    return fromMemory(e.load(type, address), element);
  SmallVector<Value> parts;
  for (int64_t i = 0; i < segment.width; ++i)
    parts.push_back(e.load(memory, e.address(address, i * stride, memory)));
  return fromMemory(e.fromLanes(parts), element);
}

void KernelLowering::writeBuffer(const Buffer &buffer, Type element, const Segment &segment, Value value) {
  assert((segment.dim < 0 || buffer.strides[segment.dim] == 1) && "lanes of a buffer lie side by side");
  Value address = e.address(buffer.pointer, bufferOffset(buffer, segment.at), memoryType(element));
  e.store(toMemory(value, element), address);
}

LogicalResult KernelLowering::assign(const Buffer &destination, Value tile) {
  auto type = cast<RankedTensorType>(tile.getType());
  if (Stored *place = stored(tile); place && !place->inRegisters() && place->buffer.pointer == destination.pointer)
    return success();
  if (registerCount(type) <= 16 && readsRegisters(tile)) {
    SmallVector<Value> values;
    if (failed(evaluateRegisters(tile, values)))
      return failure();
    writeRegisters(destination, type, values);
    return success();
  }
  SmallVector<Index> limits(type.getShape());
  SmallVector<Value> nothing;
  return forEachSegment(
      limits, laneDimension(type.getShape()), tile, nothing,
      [&](const Segment &segment, Index, SmallVectorImpl<Value> &) {
        Value value = evaluate(tile, segment);
        if (!value)
          return failure();
        writeBuffer(destination, type.getElementType(), segment, value);
        return success();
      },
      /*elementwise=*/true);
}

LogicalResult KernelLowering::copyBuffer(const Buffer &destination, const Buffer &source, RankedTensorType type) {
  int64_t outer = type.getRank() ? destination.strides[0] * type.getShape()[0] : 1;
  Type memory = memoryType(type.getElementType());
  SmallVector<Value> nothing;
  return loop(0, outer, lanes, nothing, [&](Index at, SmallVectorImpl<Value> &) {
    Value value = e.load(e.vector(memory, lanes), e.address(source.pointer, at, memory));
    e.store(value, e.address(destination.pointer, at, memory));
    return success();
  });
}
