// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Views: checks of the operations that make, cut, load and store views, and folders of sizes and strides.

#include "tilejit/Dialect/Tile/IR/Tile.h"

#include "Checks.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tilejit::tile;

/// Counts the entries that a type leaves to run time.
static size_t countDynamic(ArrayRef<int64_t> sizes) {
  return llvm::count_if(sizes, [](int64_t size) { return ShapedType::isDynamic(size); });
}

/// The operand that stands for entry `index` of a list whose dynamic entries are operands.
static Value getDynamic(ArrayRef<int64_t> sizes, ValueRange operands, unsigned index) {
  return operands[countDynamic(sizes.take_front(index))];
}

/// What load and store, atomics and prefetches have in common: coordinates and a tile shape that fit the view.
static LogicalResult verifyAccess(Operation *op, ViewType view, size_t coordinates, ArrayRef<int64_t> shape) {
  if (int64_t(coordinates) != view.getRank())
    return op->emitOpError("expected coordinates for rank ") << view.getRank() << ", got " << coordinates;
  if (int64_t(shape.size()) != view.getRank())
    return op->emitOpError("expected a tile of rank ") << view.getRank() << ", got " << shape.size();
  return success();
}

static LogicalResult verifyAccess(Operation *op, ViewType view, size_t coordinates, RankedTensorType tile) {
  if (failed(verifyAccess(op, view, coordinates, tile.getShape())))
    return failure();
  if (tile.getElementType() != view.getElementType())
    return op->emitOpError("expected a tile of the view's element type ")
           << view.getElementType() << ", got " << tile.getElementType();
  return success();
}

//===--- view, subview, dim, stride, base -----------------------------------------------------------------------===//

LogicalResult ViewOp::verify() {
  ViewType type = getType();
  Type pointee = getBase().getType().getPointee();
  if (pointee != type.getElementType() && !pointee.isInteger(8))
    return emitOpError("expected a pointer to ") << type.getElementType() << ", got one to " << pointee;
  if (size_t expected = countDynamic(type.getShape()); getSizes().size() != expected)
    return emitOpError("expected operands for ") << expected << " dynamic sizes, got " << getSizes().size();
  if (size_t expected = countDynamic(type.getStrides()); getStrides().size() != expected)
    return emitOpError("expected operands for ") << expected << " dynamic strides, got " << getStrides().size();
  return success();
}

LogicalResult SubviewOp::verify() {
  ViewType source = getSource().getType(), type = getType();
  if (type.getRank() != source.getRank())
    return emitOpError("expected a result of rank ") << source.getRank() << ", got " << type.getRank();
  if (type.getElementType() != source.getElementType())
    return emitOpError("expected the source's element type ")
           << source.getElementType() << ", got " << type.getElementType();
  if (int64_t(getOffsets().size()) != source.getRank())
    return emitOpError("expected offsets for rank ") << source.getRank() << ", got " << getOffsets().size();
  if (size_t expected = countDynamic(type.getShape()); getSizes().size() != expected)
    return emitOpError("expected operands for ") << expected << " dynamic sizes, got " << getSizes().size();
  for (unsigned dim = 0; dim < source.getRank(); ++dim) {
    int64_t size = type.getShape()[dim], limit = source.getShape()[dim];
    if (!ShapedType::isDynamic(size) && !ShapedType::isDynamic(limit) && size > limit)
      return emitOpError("expected a size of at most ") << limit << " in dimension " << dim << ", got " << size;
    int64_t expected = source.getStaticStride(dim), actual = type.getStaticStride(dim);
    if (!ShapedType::isDynamic(actual) && actual != expected) {
      auto error = emitOpError("expected stride ");
      ShapedType::isDynamic(expected) ? error << "?" : error << expected;
      return error << " in dimension " << dim << ", got " << actual;
    }
    if (ShapedType::isDynamic(actual) && type.getStrides().empty())
      return emitOpError("expected a stride list, as the stride of dimension ") << dim << " is the source's";
  }
  return success();
}

/// Shared by dim and stride.
template <typename OpTy> static LogicalResult verifyDim(OpTy op) {
  if (int64_t(op.getDim()) >= op.getView().getType().getRank())
    return op.emitOpError("expected a dimension within rank ")
           << op.getView().getType().getRank() << ", got " << op.getDim();
  return success();
}

LogicalResult DimOp::verify() { return verifyDim(*this); }
LogicalResult StrideOp::verify() { return verifyDim(*this); }

OpFoldResult DimOp::fold(FoldAdaptor) {
  ArrayRef<int64_t> shape = getView().getType().getShape();
  if (!ShapedType::isDynamic(shape[getDim()]))
    return IntegerAttr::get(IndexType::get(getContext()), shape[getDim()]);
  if (auto view = getView().getDefiningOp<ViewOp>())
    return getDynamic(shape, view.getSizes(), getDim());
  if (auto view = getView().getDefiningOp<SubviewOp>())
    return getDynamic(shape, view.getSizes(), getDim());
  return {};
}

OpFoldResult StrideOp::fold(FoldAdaptor) {
  ViewType type = getView().getType();
  int64_t stride = type.getStaticStride(getDim());
  if (!ShapedType::isDynamic(stride))
    return IntegerAttr::get(IndexType::get(getContext()), stride);
  auto view = getView().getDefiningOp<ViewOp>();
  if (view && !type.getStrides().empty())
    return getDynamic(type.getStrides(), view.getStrides(), getDim());
  return {};
}

LogicalResult BaseOp::verify() {
  Type expected = getView().getType().getElementType(), actual = getType().getPointee();
  if (expected != actual)
    return emitOpError("expected a pointer to ") << expected << ", got one to " << actual;
  return success();
}

OpFoldResult BaseOp::fold(FoldAdaptor) {
  auto view = getView().getDefiningOp<ViewOp>();
  return view && view.getBase().getType() == getType() ? view.getBase() : Value();
}

//===--- load, store, atomic, prefetch --------------------------------------------------------------------------===//

LogicalResult LoadOp::verify() {
  if (failed(verifyAccess(*this, getView().getType(), getCoordinates().size(), getType())))
    return failure();
  Type element = getType().getElementType();
  if (getPad() == Pad::NaN &&
      (!isa<FloatType>(element) || isa<Float4E2M1FNType, Float6E2M3FNType, Float6E3M2FNType>(element)))
    return emitOpError("expected an element type with NaN for pad 'nan', got ") << element;
  if (getPad() == Pad::AllOnes && !isa<IntegerType>(element))
    return emitOpError("expected integers for pad 'all_ones', got ") << element;
  return success();
}

LogicalResult StoreOp::verify() {
  return verifyAccess(*this, getView().getType(), getCoordinates().size(), getValue().getType());
}

LogicalResult AtomicOp::verify() {
  if (failed(verifyAccess(*this, getView().getType(), getCoordinates().size(), getValue().getType())))
    return failure();
  return verifyAtomicKind(*this, getKind(), getValue().getType().getElementType());
}

LogicalResult PrefetchOp::verify() {
  if (failed(verifyAccess(*this, getView().getType(), getCoordinates().size(), getShape())))
    return failure();
  for (int64_t size : getShape())
    if (size < 1)
      return emitOpError("expected a tile of sizes of at least 1, got ") << size;
  return success();
}
