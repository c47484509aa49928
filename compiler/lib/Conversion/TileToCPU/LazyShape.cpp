// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Shapes: making tiles from scalars and moving coordinates. None of these moves an element by itself; where lanes
// would come to lie apart (a transposition, a true reshape), Storage.cpp stores the tile first.

#include "KernelLowering.h"

using namespace mlir;
using namespace tilejit;
using namespace tilejit::cpu;

static ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

/// The value as the segment wants it: one element spread over the lanes where the operand had no lanes.
static Value widened(KernelLowering &l, const Segment &segment, Value value) {
  if (segment.dim >= 0 && !isa<VectorType>(value.getType()))
    return l.e.splat(value, segment.width);
  return value;
}

static Value combineFirst(KernelLowering &l, Operation *, const Segment &segment, ArrayRef<Value> tiles) {
  return widened(l, segment, tiles[0]);
}

static void dropLanes(Segment &segment) {
  segment.dim = -1;
  segment.width = 1;
}

static SmallVector<Segment, 3> noOperands(KernelLowering &, Operation *, const Segment &) { return {}; }

static Value combineSplat(KernelLowering &l, Operation *op, const Segment &segment, ArrayRef<Value>) {
  Value value = l.scalar(cast<tile::SplatOp>(op).getValue());
  if (isa<LLVM::LLVMPointerType>(value.getType()))
    value = LLVM::PtrToIntOp::create(l.b, l.e.loc, l.e.i64(), value);
  return widened(l, segment, value);
}

static Value combineIota(KernelLowering &l, Operation *op, const Segment &segment, ArrayRef<Value>) {
  Type element = registerType(getElementTypeOrSelf(op->getResult(0).getType()), true);
  Value first = l.e.value(segment.at[0]);
  if (element.getIntOrFloatBitWidth() < 64)
    first = arith::TruncIOp::create(l.b, l.e.loc, element, first);
  if (segment.dim < 0)
    return first;
  Value steps = l.e.iota(l.e.vector(element, segment.width));
  return arith::AddIOp::create(l.b, l.e.loc, steps, l.e.splat(first, segment.width));
}

static SmallVector<Segment, 3> broadcastOperands(KernelLowering &, Operation *op, const Segment &segment) {
  Segment source = segment;
  for (auto [d, size] : llvm::enumerate(shapeOf(op->getOperand(0)))) {
    if (size != 1 || shapeOf(op->getResult(0))[d] == 1)
      continue;
    source.at[d] = 0;
    if (static_cast<int>(d) == segment.dim)
      dropLanes(source);
  }
  return {source};
}

static SmallVector<Segment, 3> expandOperands(KernelLowering &, Operation *op, const Segment &segment) {
  int axis = cast<tile::ExpandOp>(op).getAxis();
  Segment source = segment;
  source.at.erase(source.at.begin() + axis);
  if (segment.dim == axis)
    dropLanes(source);
  else if (segment.dim > axis)
    --source.dim;
  return {source};
}

static SmallVector<Segment, 3> transposeOperands(KernelLowering &, Operation *op, const Segment &segment) {
  Segment source = segment;
  for (auto [i, d] : llvm::enumerate(cast<tile::TransposeOp>(op).getPermutation())) {
    source.at[d] = segment.at[i];
    if (static_cast<int>(i) == segment.dim)
      source.dim = d;
  }
  return {source};
}

/// A reshape that keeps lanes, see keepsLanes(). All others have a stored operand, whose memory is dense.
static SmallVector<Segment, 3> reshapeOperands(KernelLowering &l, Operation *op, const Segment &segment) {
  ArrayRef<int64_t> from = shapeOf(op->getOperand(0)), to = shapeOf(op->getResult(0));
  Segment source = segment;
  source.at.assign(from.size(), Index(0));
  if (segment.dim >= 0)
    dropLanes(source);
  unsigned i = 0;
  for (auto [d, size] : llvm::enumerate(from)) {
    for (int64_t covered = 1; covered < size && i < to.size(); ++i) {
      covered *= to[i];
      source.at[d] = l.e.add(l.e.mul(source.at[d], to[i]), segment.at[i]);
      if (static_cast<int>(i) == segment.dim && to[i] != 1) {
        source.dim = d;
        source.width = segment.width;
      }
    }
  }
  return {source};
}

static Value combineReshape(KernelLowering &l, Operation *op, const Segment &segment, ArrayRef<Value> tiles) {
  return widened(l, segment, tiles[0]);
}

static SmallVector<Segment, 3> extractOperands(KernelLowering &l, Operation *op, const Segment &segment) {
  auto extract = cast<tile::ExtractOp>(op);
  Segment source = segment;
  bool isScalar = !isa<RankedTensorType>(extract.getType());
  if (isScalar)
    source.at.assign(extract.getCoordinates().size(), Index(0));
  for (auto [d, coordinate] : llvm::enumerate(extract.getCoordinates())) {
    int64_t size = isScalar ? 1 : shapeOf(extract.getResult())[d];
    source.at[d] = l.e.add(source.at[d], l.e.mul(l.index(coordinate), size));
  }
  return {source};
}

/// An element of a tile as a scalar of the kernel is evaluated where it stands.
static Value combineExtract(KernelLowering &l, Operation *op, const Segment &segment, ArrayRef<Value> tiles) {
  if (!tiles.empty())
    return tiles[0];
  return l.evaluate(op->getOperand(0), extractOperands(l, op, segment)[0]);
}

void tilejit::cpu::registerLazyShape(OpTables &tables) {
  tables.lazy[tile::SplatOp::getOperationName()] = {noOperands, combineSplat};
  tables.lazy[tile::IotaOp::getOperationName()] = {noOperands, combineIota};
  tables.lazy[tile::BroadcastOp::getOperationName()] = {broadcastOperands, combineFirst};
  tables.lazy[tile::ExpandOp::getOperationName()] = {expandOperands, combineFirst};
  tables.lazy[tile::TransposeOp::getOperationName()] = {transposeOperands, combineFirst};
  tables.lazy[tile::ReshapeOp::getOperationName()] = {reshapeOperands, combineReshape};
  tables.lazy[tile::ExtractOp::getOperationName()] = {extractOperands, combineExtract};
}
