// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Shapes: checks of the operations that make and rearrange tiles, and their folders.

#include "tilejit/Dialect/Tile/IR/Tile.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tilejit::tile;

/// Checks that a result has the operand's element type.
static LogicalResult verifyElement(Operation *op, Type expected, Type actual) {
  if (expected != actual)
    return op->emitOpError("expected element type ") << expected << ", got " << actual;
  return success();
}

/// Checks that a result has a shape.
static LogicalResult verifyShape(Operation *op, ArrayRef<int64_t> expected, ArrayRef<int64_t> actual,
                                 const char *what = "a result") {
  if (expected == actual)
    return success();
  auto error = op->emitOpError("expected ") << what << " of shape [";
  llvm::interleaveComma(expected, error);
  error << "], got [";
  llvm::interleaveComma(actual, error);
  return error << "]";
}

/// Checks an axis against a rank.
static LogicalResult verifyAxis(Operation *op, int64_t axis, int64_t limit) {
  if (axis >= limit)
    return op->emitOpError("expected an axis below ") << limit << ", got " << axis;
  return success();
}

/// The same single element under another shape; null for anything but a splat.
static Attribute resizeSplat(Attribute value, RankedTensorType type) {
  auto splat = dyn_cast_if_present<SplatElementsAttr>(value);
  return splat ? splat.resizeSplat(type) : Attribute();
}

//===--- splat, iota --------------------------------------------------------------------------------------------===//

LogicalResult SplatOp::verify() {
  if (!getType().hasStaticShape() || getType().getNumElements() == 0)
    return emitOpError("expected a static, non-empty shape, got ") << getType();
  return verifyElement(*this, getValue().getType(), getType().getElementType());
}

OpFoldResult SplatOp::fold(FoldAdaptor adaptor) {
  if (isa_and_present<IntegerAttr, FloatAttr>(adaptor.getValue()))
    return DenseElementsAttr::get(cast<ShapedType>(getType()), adaptor.getValue());
  return {};
}

LogicalResult IotaOp::verify() {
  if (getType().getRank() != 1)
    return emitOpError("expected a result of rank 1, got ") << getType().getRank();
  auto element = dyn_cast<IntegerType>(getType().getElementType());
  if (element && element.getWidth() < 63 && getType().getNumElements() > (int64_t(1) << element.getWidth()))
    return emitOpError("expected at most ")
           << (int64_t(1) << element.getWidth()) << " numbers of " << element << ", got " << getType().getNumElements();
  return success();
}

//===--- broadcast, expand, reshape, transpose ------------------------------------------------------------------===//

LogicalResult BroadcastOp::verify() {
  RankedTensorType source = getSource().getType(), type = getType();
  if (source.getRank() != type.getRank())
    return emitOpError("expected a result of rank ") << source.getRank() << ", got " << type.getRank();
  for (auto [dim, sizes] : llvm::enumerate(llvm::zip(source.getShape(), type.getShape()))) {
    auto [from, to] = sizes;
    if (from != to && from != 1)
      return emitOpError("expected size ") << from << " in dimension " << dim << ", got " << to;
  }
  return verifyElement(*this, source.getElementType(), type.getElementType());
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getSource().getType() == getType())
    return getSource();
  if (auto inner = getSource().getDefiningOp<BroadcastOp>()) {
    getSourceMutable().assign(inner.getSource());
    return getResult();
  }
  return resizeSplat(adaptor.getSource(), getType());
}

LogicalResult ExpandOp::verify() {
  RankedTensorType source = getSource().getType();
  if (failed(verifyAxis(*this, getAxis(), source.getRank() + 1)))
    return failure();
  SmallVector<int64_t> expected(source.getShape());
  expected.insert(expected.begin() + getAxis(), 1);
  if (failed(verifyShape(*this, expected, getType().getShape())))
    return failure();
  return verifyElement(*this, source.getElementType(), getType().getElementType());
}

OpFoldResult ExpandOp::fold(FoldAdaptor adaptor) { return resizeSplat(adaptor.getSource(), getType()); }

LogicalResult ReshapeOp::verify() {
  RankedTensorType source = getSource().getType();
  if (source.getNumElements() != getType().getNumElements())
    return emitOpError("expected ") << source.getNumElements() << " elements, got " << getType().getNumElements();
  return verifyElement(*this, source.getElementType(), getType().getElementType());
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getSource().getType() == getType())
    return getSource();
  if (auto inner = getSource().getDefiningOp<ReshapeOp>()) {
    getSourceMutable().assign(inner.getSource());
    return getResult();
  }
  return resizeSplat(adaptor.getSource(), getType());
}

/// Whether the numbers are 0, 1, ..., rank - 1 in some order.
static bool isPermutation(ArrayRef<int64_t> numbers, int64_t rank) {
  if (int64_t(numbers.size()) != rank)
    return false;
  SmallVector<bool> seen(rank, false);
  for (int64_t number : numbers) {
    if (number < 0 || number >= rank || seen[number])
      return false;
    seen[number] = true;
  }
  return true;
}

LogicalResult TransposeOp::verify() {
  RankedTensorType source = getSource().getType();
  if (!isPermutation(getPermutation(), source.getRank())) {
    auto error = emitOpError("expected a permutation of ") << source.getRank() << " dimensions, got [";
    llvm::interleaveComma(getPermutation(), error);
    return error << "]";
  }
  SmallVector<int64_t> expected;
  for (int64_t dim : getPermutation())
    expected.push_back(source.getDimSize(dim));
  if (failed(verifyShape(*this, expected, getType().getShape())))
    return failure();
  return verifyElement(*this, source.getElementType(), getType().getElementType());
}

OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) {
  if (llvm::is_sorted(getPermutation()))
    return getSource();
  if (auto inner = getSource().getDefiningOp<TransposeOp>()) {
    SmallVector<int64_t> permutation;
    for (int64_t dim : getPermutation())
      permutation.push_back(inner.getPermutation()[dim]);
    setPermutation(permutation);
    getSourceMutable().assign(inner.getSource());
    return getResult();
  }
  return resizeSplat(adaptor.getSource(), getType());
}

//===--- cat, join, split ---------------------------------------------------------------------------------------===//

LogicalResult CatOp::verify() {
  if (getSources().empty())
    return emitOpError("expected at least 1 tile, got 0");
  auto first = cast<RankedTensorType>(getSources().front().getType());
  if (failed(verifyAxis(*this, getAxis(), first.getRank())))
    return failure();
  SmallVector<int64_t> expected(first.getShape());
  expected[getAxis()] = 0;
  for (Type sourceType : getSources().getTypes()) {
    auto source = cast<RankedTensorType>(sourceType);
    if (source.getRank() != first.getRank())
      return emitOpError("expected tiles of rank ") << first.getRank() << ", got " << source.getRank();
    SmallVector<int64_t> like(first.getShape());
    like[getAxis()] = source.getDimSize(getAxis());
    if (failed(verifyShape(*this, like, source.getShape(), "a tile")) ||
        failed(verifyElement(*this, first.getElementType(), source.getElementType())))
      return failure();
    expected[getAxis()] += source.getDimSize(getAxis());
  }
  if (failed(verifyShape(*this, expected, getType().getShape())))
    return failure();
  return verifyElement(*this, first.getElementType(), getType().getElementType());
}

LogicalResult JoinOp::verify() {
  RankedTensorType source = getLhs().getType();
  SmallVector<int64_t> expected(source.getShape());
  expected.push_back(2);
  if (failed(verifyShape(*this, expected, getType().getShape())))
    return failure();
  return verifyElement(*this, source.getElementType(), getType().getElementType());
}

LogicalResult SplitOp::verify() {
  RankedTensorType source = getSource().getType(), half = getLhs().getType();
  if (source.getRank() == 0 || source.getShape().back() != 2)
    return emitOpError("expected a last dimension of size 2, got ") << source;
  if (failed(verifyShape(*this, source.getShape().drop_back(), half.getShape())))
    return failure();
  return verifyElement(*this, source.getElementType(), half.getElementType());
}

//===--- extract, gather_in_tile --------------------------------------------------------------------------------===//

LogicalResult ExtractOp::verify() {
  RankedTensorType source = getSource().getType();
  if (int64_t(getCoordinates().size()) != source.getRank())
    return emitOpError("expected coordinates for rank ") << source.getRank() << ", got " << getCoordinates().size();
  auto part = dyn_cast<RankedTensorType>(getType());
  if (!part)
    return verifyElement(*this, source.getElementType(), getType());
  if (part.getRank() != source.getRank())
    return emitOpError("expected a result of rank ") << source.getRank() << ", got " << part.getRank();
  for (auto [dim, sizes] : llvm::enumerate(llvm::zip(source.getShape(), part.getShape()))) {
    auto [whole, size] = sizes;
    if (whole % size != 0)
      return emitOpError("expected a size that divides ") << whole << " in dimension " << dim << ", got " << size;
  }
  return verifyElement(*this, source.getElementType(), part.getElementType());
}

LogicalResult GatherInTileOp::verify() {
  RankedTensorType source = getSource().getType(), indices = getIndices().getType();
  if (failed(verifyAxis(*this, getAxis(), source.getRank())))
    return failure();
  if (indices.getRank() != source.getRank())
    return emitOpError("expected indices of rank ") << source.getRank() << ", got " << indices.getRank();
  SmallVector<int64_t> expected(source.getShape());
  expected[getAxis()] = indices.getDimSize(getAxis());
  if (failed(verifyShape(*this, expected, indices.getShape(), "indices")))
    return failure();
  return verifyElement(*this, source.getElementType(), getType().getElementType());
}
