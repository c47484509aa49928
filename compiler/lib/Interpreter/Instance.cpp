// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Running blocks and operations, and reading and writing memory with checks.

#include "Instance.h"

#include "mlir/IR/Block.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <cstring>

using namespace mlir;

namespace tilejit::interpreter {

HandlerTable::HandlerTable() {
  addArithIntegerHandlers(*this);
  addArithFloatHandlers(*this);
  addMathHandlers(*this);
  addControlHandlers(*this);
  addStructureHandlers(*this);
  addViewHandlers(*this);
  addPointerHandlers(*this);
  addShapeHandlers(*this);
  addContractionHandlers(*this);
  addConversionHandlers(*this);
}

const Handler *HandlerTable::find(OperationName name) const {
  auto it = handlers.find(name.getTypeID());
  return it == handlers.end() ? nullptr : &it->second;
}

/// "file:line:col", or the name of what the operation comes from; empty where nothing is known.
static std::string describePlace(Location loc) {
  if (auto file = dyn_cast<FileLineColRange>(loc))
    return (file.getFilename().getValue() + ":" + Twine(file.getStartLine()) + ":" + Twine(file.getStartColumn()))
        .str();
  if (auto name = dyn_cast<NameLoc>(loc)) {
    std::string child = describePlace(name.getChildLoc());
    return child.empty() ? name.getName().str() : child;
  }
  if (auto call = dyn_cast<CallSiteLoc>(loc))
    return describePlace(call.getCallee());
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location part : fused.getLocations())
      if (std::string place = describePlace(part); !place.empty())
        return place;
  return {};
}

Status failAt(Operation *op, const Twine &message, StatusCode code) {
  return Status(code, ("'" + Twine(op->getName().getStringRef()) + "': " + message).str())
      .at(describePlace(op->getLoc()));
}

void forEachIndex(ArrayRef<int64_t> shape, function_ref<void(ArrayRef<int64_t>)> fn) {
  int64_t count = countElements(shape);
  SmallVector<int64_t, 4> index(shape.size(), 0);
  for (int64_t i = 0; i < count; ++i) {
    fn(index);
    for (size_t dim = shape.size(); dim-- > 0;) {
      if (++index[dim] < shape[dim])
        break;
      index[dim] = 0;
    }
  }
}

int64_t linearIndex(ArrayRef<int64_t> shape, ArrayRef<int64_t> index) {
  int64_t linear = 0;
  for (auto [size, position] : llvm::zip(shape, index))
    linear = linear * size + position;
  return linear;
}

int64_t countElements(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

int64_t Instance::getInteger(Value value) {
  const Tile &tile = getTile(value);
  return Format(tile.element).toSigned(tile.cells.front());
}

SmallVector<int64_t> Instance::getIntegers(ValueRange operands) {
  return llvm::map_to_vector(operands, [&](Value value) { return getInteger(value); });
}

Status Instance::runBlock(Block &block, SmallVectorImpl<Datum> &results) {
  for (Operation &op : block) {
    if (op.hasTrait<OpTrait::IsTerminator>()) {
      if (op.getNumSuccessors() != 0)
        return failAt(&op, "expected structured control flow, got a branch", StatusCode::BadDescription);
      results.clear();
      for (Value operand : op.getOperands())
        results.push_back(get(operand));
      return Status::ok();
    }
    TILEJIT_RETURN_IF_ERROR(runOperation(op));
  }
  return Status::ok();
}

Status Instance::runOperation(Operation &op) {
  const Handler *handler = launch.handlers.find(&op);
  if (!handler)
    return failAt(&op, "expected an operation that the interpreter knows", StatusCode::BadDescription);
  uint64_t limit = launch.options.maxSteps;
  if (limit != 0 && launch.steps.fetch_add(1, std::memory_order_relaxed) >= limit)
    return failAt(&op, "expected at most " + Twine(limit) + " operations in a launch");
  TILEJIT_RETURN_IF_ERROR((*handler)(*this, &op));
  return launch.options.checkNaN ? checkNaN(op) : Status::ok();
}

/// Whether a value holds a NaN.
static bool holdsNaN(const Datum &datum) {
  return datum.tile && isa<FloatType>(datum.tile->element) &&
         llvm::any_of(datum.tile->cells, [](Cell cell) { return std::isnan(toReal(cell)); });
}

Status Instance::checkNaN(Operation &op) {
  // What reads memory or bits may well find a NaN there; it did not make it.
  bool takesFloats =
      llvm::any_of(op.getOperandTypes(), [](Type type) { return isa<FloatType>(getElementTypeOrSelf(type)); });
  bool takesNaN = llvm::any_of(op.getOperands(), [&](Value value) { return holdsNaN(get(value)); });
  if (op.getNumRegions() != 0 || !takesFloats || takesNaN)
    return Status::ok();
  for (Value result : op.getResults())
    if (holdsNaN(get(result)))
      return failAt(&op, "expected a number, got NaN from operands without NaN");
  return Status::ok();
}

Expected<std::byte *> Instance::access(Operation *op, Cell pointer, int64_t bytes) {
  unsigned index = pointerBuffer(pointer);
  int64_t offset = pointerOffset(pointer);
  if (index < launch.buffers.size()) {
    const Buffer &buffer = launch.buffers[index];
    if (offset >= 0 && offset <= buffer.bytes - bytes)
      return buffer.data + offset;
    if (!launch.options.checkBounds)
      return static_cast<std::byte *>(nullptr);
    return failAt(op, "expected an access inside the " + Twine(buffer.bytes) + " bytes of '" + buffer.name + "', got " +
                          Twine(bytes) + " bytes at offset " + Twine(offset));
  }
  if (!launch.options.checkBounds)
    return static_cast<std::byte *>(nullptr);
  return failAt(op, "expected a pointer into an argument's memory");
}

Expected<Cell> Instance::loadCell(Operation *op, Cell pointer, const Format &format) {
  TILEJIT_ASSIGN_OR_RETURN(std::byte * memory, access(op, pointer, format.getBytes()));
  uint64_t bits = 0;
  if (memory)
    std::memcpy(&bits, memory, format.getBytes());
  return format.decode(bits);
}

Status Instance::storeCell(Operation *op, Cell pointer, const Format &format, Cell cell) {
  TILEJIT_ASSIGN_OR_RETURN(std::byte * memory, access(op, pointer, format.getBytes()));
  uint64_t bits = format.encode(cell);
  if (memory)
    std::memcpy(memory, &bits, format.getBytes());
  return Status::ok();
}

} // namespace tilejit::interpreter
