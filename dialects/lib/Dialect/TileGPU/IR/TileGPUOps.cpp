// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Operations and types on on-chip memory: checks and folders.

#include "tilejit/Dialect/TileGPU/IR/TileGPU.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilejit::tilegpu;

#define GET_TYPEDEF_CLASSES
#include "tilejit/Dialect/TileGPU/IR/TileGPUTypes.cpp.inc"

#define GET_OP_CLASSES
#include "tilejit/Dialect/TileGPU/IR/TileGPUOps.cpp.inc"

void TileGPUDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "tilejit/Dialect/TileGPU/IR/TileGPUTypes.cpp.inc"
      >();
}

//===--- !tilegpu.shared ----------------------------------------------------------------------------------------===//

Type SharedType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type element;
  MemoryAttr memory;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/false) || parser.parseType(element) ||
      parser.parseComma() || parser.parseAttribute(memory) || parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(), shape, element, memory);
}

void SharedType::print(AsmPrinter &printer) const {
  printer << '<';
  for (int64_t size : getShape())
    printer << size << 'x';
  printer << getElementType() << ", " << getMemory() << '>';
}

LogicalResult SharedType::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> shape, Type,
                                 MemoryAttr memory) {
  if (paddedShape(shape) != llvm::to_vector(memory.getShape()))
    return emitError() << "expected memory for a shape of [" << memory.getShape() << "], got [" << shape << "]";
  return success();
}

int64_t SharedType::elementBytes() const { return storageBytes(getElementType()); }

int64_t SharedType::bytes() const { return elementBytes() << getMemory().getOffsets().size(); }

//===--- checks -------------------------------------------------------------------------------------------------===//

static LogicalResult checkLayoutShape(Operation *op, Type type) {
  auto tile = cast<RankedTensorType>(type);
  if (paddedShape(tile.getShape()) != llvm::to_vector(layoutOf(tile).getShape()))
    return op->emitOpError("expected a layout for the tile's shape, rounded up, got ") << tile;
  return success();
}

LogicalResult ConvertLayoutOp::verify() {
  auto from = getSource().getType(), to = getType();
  if (from.getShape() != to.getShape() || from.getElementType() != to.getElementType())
    return emitOpError("expected one shape and element type, got ") << from << " and " << to;
  return success(succeeded(checkLayoutShape(*this, from)) && succeeded(checkLayoutShape(*this, to)));
}

OpFoldResult ConvertLayoutOp::fold(FoldAdaptor) {
  if (getSource().getType() == getType())
    return getSource();
  return {};
}

LogicalResult SharedStoreOp::verify() {
  auto value = getValue().getType();
  SharedType place = getPlace().getType();
  auto count = [](ArrayRef<int64_t> shape) { return ShapedType::getNumElements(paddedShape(shape)); };
  if (count(value.getShape()) != count(place.getShape()) || value.getElementType() != place.getElementType())
    return emitOpError("expected as many elements of one type, got ") << value << " and " << place;
  return checkLayoutShape(*this, value);
}

LogicalResult SharedLoadOp::verify() {
  auto result = getType();
  SharedType place = getPlace().getType();
  if (result.getElementType() != place.getElementType() || result.getRank() != int64_t(place.getShape().size()))
    return emitOpError("expected one rank and element type, got ") << place << " and " << result;
  if (int64_t(getCoordinates().size()) != result.getRank())
    return emitOpError("expected ") << result.getRank() << " coordinates, got " << getCoordinates().size();
  for (auto [part, whole] : llvm::zip(paddedShape(result.getShape()), place.getMemory().getShape()))
    if (part > whole)
      return emitOpError("expected a part of ") << place << ", got " << result;
  return checkLayoutShape(*this, result);
}

LogicalResult SharedGatherOp::verify() {
  auto result = getType(), indices = getIndices().getType();
  SharedType place = getPlace().getType();
  int64_t rank = int64_t(place.getShape().size());
  if (result.getElementType() != place.getElementType() || (rank != 1 && result.getRank() != rank))
    return emitOpError("expected one element type and rank, or a place of rank 1, got ") << place << " and " << result;
  if (indices.getShape() != result.getShape() || indices.getEncoding() != result.getEncoding())
    return emitOpError("expected indices of the result's shape and layout, got ") << indices << " and " << result;
  if (int64_t(getAxis()) < 0 || int64_t(getAxis()) >= rank)
    return emitOpError("expected an axis below ") << rank << ", got " << getAxis();
  return checkLayoutShape(*this, result);
}

LogicalResult ReduceInWarpsOp::verify() {
  if (getResults().size() != getInputs().size() || getInputs().empty())
    return emitOpError("expected as many results as operands, got ")
           << getResults().size() << " and " << getInputs().size();
  auto first = cast<RankedTensorType>(getInputs().front().getType());
  if (int64_t(getAxis()) < 0 || int64_t(getAxis()) >= first.getRank())
    return emitOpError("expected an axis below ") << first.getRank() << ", got " << getAxis();
  for (auto [input, result] : llvm::zip(getInputs().getTypes(), getResults().getTypes()))
    if (layoutOf(input) != layoutOf(first) ||
        cast<RankedTensorType>(input).getRank() != cast<RankedTensorType>(result).getRank())
      return emitOpError("expected operands of one layout and results of their rank, got ")
             << input << " -> " << result;
  return success();
}
