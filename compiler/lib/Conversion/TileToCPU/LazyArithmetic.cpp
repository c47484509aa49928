// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Elementwise arithmetic: arith and math on tiles become the same operations on lanes; scalars go the same way.

#include "KernelLowering.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tilejit;
using namespace tilejit::cpu;

static SmallVector<Segment, 3> sameSegment(KernelLowering &, Operation *op, const Segment &segment) {
  return SmallVector<Segment, 3>(op->getNumOperands(), segment);
}

static Type resultType(KernelLowering &l, Operation *op, const Segment &segment) {
  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  if (segment.dim < 0)
    return registerType(element, !isa<RankedTensorType>(op->getResult(0).getType()));
  return l.e.vector(registerType(element, false), segment.width);
}

/// Lowered operands: scalars of the kernel as they are, tiles from the list.
static SmallVector<Value, 3> operandsOf(KernelLowering &l, Operation *op, ArrayRef<Value> tiles) {
  SmallVector<Value, 3> operands;
  for (Value operand : op->getOperands()) {
    if (isa<RankedTensorType>(operand.getType())) {
      operands.push_back(tiles.front());
      tiles = tiles.drop_front();
    } else {
      operands.push_back(l.scalar(operand));
    }
  }
  return operands;
}

static Value combineElementwise(KernelLowering &l, Operation *op, const Segment &segment, ArrayRef<Value> tiles) {
  return l.rebuild(op, operandsOf(l, op, tiles), resultType(l, op, segment));
}

/// index_cast and index_castui: index is i64 here.
static Value combineIndexCast(KernelLowering &l, Operation *op, const Segment &segment, ArrayRef<Value> tiles) {
  Value source = operandsOf(l, op, tiles)[0];
  Type type = resultType(l, op, segment);
  unsigned from = getElementTypeOrSelf(source.getType()).getIntOrFloatBitWidth();
  unsigned to = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  if (from == to)
    return source;
  if (from > to)
    return arith::TruncIOp::create(l.b, l.e.loc, type, source);
  if (isa<arith::IndexCastUIOp>(op))
    return arith::ExtUIOp::create(l.b, l.e.loc, type, source);
  return arith::ExtSIOp::create(l.b, l.e.loc, type, source);
}

static Value scalarConstant(KernelLowering &l, Type type, Attribute value) {
  if (auto number = dyn_cast<FloatAttr>(value))
    return l.e.floatConstant(type, number.getValue());
  return l.e.intConstant(
      type, cast<IntegerAttr>(value).getValue().sextOrTrunc(getElementTypeOrSelf(type).getIntOrFloatBitWidth()));
}

static Value combineConstant(KernelLowering &l, Operation *op, const Segment &segment, ArrayRef<Value>) {
  Attribute value = cast<arith::ConstantOp>(op).getValue();
  Type type = resultType(l, op, segment);
  auto elements = dyn_cast<DenseElementsAttr>(value);
  if (!elements)
    return scalarConstant(l, type, value);
  if (elements.isSplat())
    return scalarConstant(l, type, elements.getSplatValue<Attribute>());
  // Of different elements only the registers of a small tile are made here: Tables.cpp has the others.
  ArrayRef<int64_t> shape = cast<RankedTensorType>(op->getResult(0).getType()).getShape();
  int64_t first = 0, step = 1;
  for (auto [d, size] : llvm::enumerate(shape)) {
    assert(segment.at[d].isConstant() && "a table is stored before it is read");
    first = first * size + segment.at[d].constant;
    step = static_cast<int>(d) <= segment.dim ? 1 : step * size;
  }
  auto values = elements.getValues<Attribute>();
  int64_t count = elements.getNumElements();
  if (segment.dim < 0)
    return scalarConstant(l, type, values[first]);
  SmallVector<Value> parts;
  for (int64_t i = 0; i < segment.width; ++i)
    parts.push_back(scalarConstant(l, getElementTypeOrSelf(type), values[std::min(first + i * step, count - 1)]));
  return l.e.fromLanes(parts);
}

void tilejit::cpu::registerLazyArithmetic(OpTables &tables, MLIRContext *context) {
  // Not getRegisteredOperationsByDialect(): its search finds only what happens to lie in its way.
  for (RegisteredOperationName name : context->getRegisteredOperations())
    if (isa<arith::ArithDialect, math::MathDialect>(name.getDialect()) && name.hasTrait<OpTrait::Elementwise>() &&
        name.hasTrait<OpTrait::OneResult>()) // expandExtendedArithmetic() leaves none with two.
      tables.lazy[name.getStringRef()] = {sameSegment, combineElementwise};
  tables.lazy[arith::IndexCastOp::getOperationName()] = {sameSegment, combineIndexCast};
  tables.lazy[arith::IndexCastUIOp::getOperationName()] = {sameSegment, combineIndexCast};
  tables.lazy[arith::ConstantOp::getOperationName()] = {sameSegment, combineConstant};
}
