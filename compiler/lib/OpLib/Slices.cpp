// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Views of operands along chosen dimensions of an index space.

#include "KernelBuilder.h"

using namespace mlir;

namespace tilejit::oplib {

/// The stride of a slot along a dimension of the space, along which it moves.
Value KernelBuilder::strideValue(const Space &space, int slot, int dim) {
  const Access &access = space.accesses[slot];
  const AxisAccess &axis = access.axes[dim];
  if (axis.stride && axis.stride->isStatic())
    return index(axis.stride->factor);
  Value stride =
      inPrologue([&] { return tile::StrideOp::create(*this, operandView(access.operand), axis.dim).getResult(); });
  if (axis.times == 1)
    return stride;
  Value times = index(axis.times);
  return inPrologue([&] { return arith::MulIOp::create(*this, stride, times).getResult(); });
}

/// Whether the view of a slot along `keep` is the operand itself.
bool KernelBuilder::isWhole(const Space &space, int slot, ArrayRef<int> keep) const {
  const Access &access = space.accesses[slot];
  const Operand &operand = space.operand(access.operand);
  if (operand.rank() != int(keep.size()))
    return false;
  for (auto [place, dim] : llvm::enumerate(keep)) {
    const AxisAccess &axis = access.axes[dim];
    if (axis.dim != int(place) || Size::of(operand.shape[place]) != space.dims[dim].size)
      return false;
  }
  return true;
}

namespace {
/// Sizes and strides of a view that is being made: static parts for its type, values for the rest.
struct ViewShape {
  SmallVector<int64_t> sizes, strides;
  SmallVector<Value> sizeValues, strideValues;

  /// Whether the strides are what they are without a stride list.
  bool isDense() const {
    int64_t expected = 1;
    for (auto [size, stride] : llvm::zip(llvm::reverse(sizes), llvm::reverse(strides))) {
      if (size != 1 && (ShapedType::isDynamic(expected) || stride != expected))
        return false;
      expected =
          ShapedType::isDynamic(size) || ShapedType::isDynamic(expected) ? ShapedType::kDynamic : expected * size;
    }
    return true;
  }
};
} // namespace

Value KernelBuilder::slice(const Space &space, int slot, ArrayRef<int> keep, ArrayRef<Value> position, Value rows) {
  const Access &access = space.accesses[slot];
  Value view = operandView(access.operand), offset = index(0);
  for (int d = 0; d < space.rank(); ++d)
    if (!llvm::is_contained(keep, d) && access.axes[d].moves() && position[d])
      offset = add(offset, mul(position[d], strideValue(space, slot, d)));
  bool atStart = getConstantIntValue(offset) == 0;
  if (atStart && !rows && isWhole(space, slot, keep))
    return view;

  ViewShape shape;
  for (int d : keep) {
    const AxisAccess &axis = access.axes[d];
    const Size size = axis.moves() ? space.dims[d].size : Size{};
    bool isGiven = rows && d == keep.front();
    shape.sizes.push_back(size.isStatic() && !isGiven ? size.factor : ShapedType::kDynamic);
    if (isGiven)
      shape.sizeValues.push_back(rows);
    else if (!size.isStatic())
      shape.sizeValues.push_back(sizeValue(size));
    bool isStatic = !axis.moves() || (axis.stride && axis.stride->isStatic());
    shape.strides.push_back(!axis.moves() ? 1 : isStatic ? axis.stride->factor : ShapedType::kDynamic);
    if (!isStatic)
      shape.strideValues.push_back(strideValue(space, slot, d));
  }
  Type element = cast<tile::ViewType>(view.getType()).getElementType();
  bool isDense = shape.isDense();
  auto type = tile::ViewType::get(shape.sizes, element, isDense ? ArrayRef<int64_t>() : ArrayRef(shape.strides),
                                  atStart ? space.operand(access.operand).align : 0);
  auto pointerType = tile::PtrType::get(getContext(), element);
  Value base = inPrologue([&] { return tile::BaseOp::create(*this, pointerType, view).getResult(); });
  if (!atStart)
    base = tile::AddPtrOp::create(*this, base, offset);
  return tile::ViewOp::create(*this, type, base, shape.sizeValues,
                              isDense ? ValueRange() : ValueRange(shape.strideValues));
}

} // namespace tilejit::oplib
