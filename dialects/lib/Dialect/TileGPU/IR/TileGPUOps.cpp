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

LogicalResult SharedType::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> shape, Type element,
                                 MemoryAttr memory) {
  if (!TensorType::isValidElementType(element))
    return emitError() << "expected an element that a tile can have, got " << element;
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

/// Whether two layouts speak of as many lanes and warps.
static bool ofOneBlock(LayoutAttr x, LayoutAttr y) {
  return x.getLanes().size() == y.getLanes().size() && x.getWarps().size() == y.getWarps().size();
}

LogicalResult ConvertLayoutOp::verify() {
  auto from = getSource().getType(), to = getType();
  if (from.getShape() != to.getShape() || from.getElementType() != to.getElementType())
    return emitOpError("expected one shape and element type, got ") << from << " and " << to;
  if (failed(checkLayoutShape(*this, from)) || failed(checkLayoutShape(*this, to)))
    return failure();
  LayoutAttr source = layoutOf(from), result = layoutOf(to);
  if (!ofOneBlock(source, result))
    return emitOpError("expected layouts over the same lanes and warps, got ") << source << " and " << result;
  return success();
}

OpFoldResult ConvertLayoutOp::fold(FoldAdaptor) {
  if (getSource().getType() == getType())
    return getSource();
  return {};
}

LogicalResult SharedAllocOp::verify() {
  constexpr int64_t alignment = 16;
  if (getOffset() && (int64_t(*getOffset()) < 0 || int64_t(*getOffset()) % alignment != 0))
    return emitOpError("expected an offset that is a multiple of ") << alignment << ", got " << int64_t(*getOffset());
  return success();
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
  if (!indices.getElementType().isIntOrIndex())
    return emitOpError("expected integers as indices, got ") << indices;
  if (int64_t(getAxis()) < 0 || int64_t(getAxis()) >= rank)
    return emitOpError("expected an axis below ") << rank << ", got " << int64_t(getAxis());
  return checkLayoutShape(*this, result);
}

/// One operand and its result: of one rank and element type, with equal sides but along the axis.
static LogicalResult checkShares(ReduceInWarpsOp op, RankedTensorType input, RankedTensorType result) {
  auto refuse = [&](StringRef expected) {
    return op.emitOpError("expected ") << expected << ", got " << input << " -> " << result;
  };
  auto first = cast<RankedTensorType>(op.getInputs().front().getType());
  if (input.getShape() != first.getShape() || layoutOf(input) != layoutOf(first) || input.getRank() != result.getRank())
    return refuse("operands of one shape and layout and results of their rank");
  if (input.getElementType() != result.getElementType())
    return refuse("results of their operands' element types");
  for (int64_t dim = 0; dim < input.getRank(); ++dim)
    if (dim == int64_t(op.getAxis()) ? result.getDimSize(dim) > input.getDimSize(dim)
                                     : result.getDimSize(dim) != input.getDimSize(dim))
      return refuse("one element for each share along the axis");
  if (failed(checkLayoutShape(op, input)) || failed(checkLayoutShape(op, result)))
    return failure();
  return ofOneBlock(layoutOf(input), layoutOf(result)) ? success() : refuse("layouts over the same lanes and warps");
}

LogicalResult ReduceInWarpsOp::verify() {
  if (getResults().size() != getInputs().size() || getInputs().empty())
    return emitOpError("expected as many results as operands, got ")
           << getResults().size() << " and " << getInputs().size();
  auto first = cast<RankedTensorType>(getInputs().front().getType());
  if (int64_t(getAxis()) < 0 || int64_t(getAxis()) >= first.getRank())
    return emitOpError("expected an axis below ") << first.getRank() << ", got " << int64_t(getAxis());
  for (auto [input, result] : llvm::zip(getInputs().getTypes(), getResults().getTypes()))
    if (failed(checkShares(*this, cast<RankedTensorType>(input), cast<RankedTensorType>(result))))
      return failure();
  return success();
}

LogicalResult ReduceInWarpsOp::verifyRegions() {
  SmallVector<Type> elements;
  for (Type input : getInputs().getTypes())
    elements.push_back(cast<RankedTensorType>(input).getElementType());
  SmallVector<Type> pairs(elements);
  pairs.append(elements);
  Block &body = getCombiner().front();
  if (!llvm::equal(body.getArgumentTypes(), pairs))
    return emitOpError("expected a combining region with arguments (")
           << pairs << "), got (" << body.getArgumentTypes() << ")";
  auto yield = dyn_cast<YieldOp>(body.getTerminator());
  if (!yield || !llvm::equal(yield.getOperandTypes(), elements))
    return emitOpError("expected a combining region that yields (") << elements << ")";
  return success();
}
