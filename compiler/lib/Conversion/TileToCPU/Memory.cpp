// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Views: making them and their parts, and loading segments of their tiles with bounds and padding.

#include "KernelLowering.h"

#include "../Common/PadValue.h"

using namespace mlir;
using namespace tilejit;
using namespace tilejit::cpu;

//===-- loads
//------------------------------------------------------------------------------------------------------===//

Value KernelLowering::padValue(tile::Pad pad, Type element) {
  TypedAttr value = padAttr(pad, element);
  if (auto number = dyn_cast<FloatAttr>(value))
    return e.floatConstant(element, number.getValue());
  return e.intConstant(element, cast<IntegerAttr>(value).getValue());
}

static SmallVector<Segment, 3> noOperands(KernelLowering &, Operation *, const Segment &) { return {}; }

/// One element: a conditional address, so that nothing outside is touched and no branch is needed.
static Value loadElement(KernelLowering &l, const Access &a, tile::Pad pad, const Segment &segment) {
  Type memory = memoryType(a.element);
  Value inside;
  Value address = a.origin;
  for (auto [d, at] : llvm::enumerate(segment.at)) {
    inside = l.e.both(inside, l.e.less(at, a.extents[d]));
    address = l.e.address(address, l.e.mul(at, a.strides[d]), memory);
  }
  if (!inside)
    return l.fromMemory(l.e.load(memory, address), a.element);
  address = arith::SelectOp::create(l.b, l.e.loc, inside, address, l.scratch());
  Value value = l.fromMemory(l.e.load(memory, address), a.element);
  return arith::SelectOp::create(l.b, l.e.loc, inside, value, l.padValue(pad, a.element));
}

Value KernelLowering::segmentAddress(const Access &a, const Segment &segment) {
  Type memory = memoryType(a.element);
  Value address = a.origin;
  for (auto [d, at] : llvm::enumerate(segment.at))
    if (static_cast<int>(d) != segment.dim)
      address = e.address(address, e.mul(at, a.strides[d]), memory);
  return segment.dim < 0 ? address : e.address(address, e.mul(segment.at[segment.dim], a.strides[segment.dim]), memory);
}

/// Whether a view is known to be smaller than what is written past the cache.
static bool isSmall(const KernelLowering &l, const ViewValue &view) {
  int64_t bytes = byteSize(memoryType(view.element));
  for (const Index &size : view.sizes) {
    if (!size.isConstant())
      return false;
    bytes *= size.constant;
  }
  return bytes < l.model.streamBytes;
}

/// A store past the cache sees to it that the lines it needs are on their way: its reading stops at its writing.
void KernelLowering::noteSweep(Operation *load, const Segment &segment) {
  constexpr int64_t leastRowBytes = 1024, aheadBytes = 2048;
  const Access &a = loadAccess(load);
  if (segment.dim < 0 || segment.checked || !a.strides[segment.dim].is(1))
    return;
  int64_t elements = cast<RankedTensorType>(load->getResult(0).getType()).getShape()[segment.dim];
  Type memory = memoryType(a.element);
  if (elements * byteSize(memory) < leastRowBytes)
    return;
  llvm::SetVector<Operation *> &roots = sweeps[load];
  roots.insert(currentRoot);
  if (roots.size() == 2 && roots[1] == currentRoot)
    e.prefetch(e.address(segmentAddress(a, segment), elements, memory), /*level=*/1);
  if (roots.size() > 1 || !streamsAnything || !isa<tile::StoreOp>(currentRoot))
    return;
  auto argument = views.find(memoryRoot(load->getOperand(0)));
  if (argument != views.end() && !isSmall(*this, argument->second))
    e.prefetch(e.address(segmentAddress(a, segment), aheadBytes / byteSize(memory), memory), /*level=*/1);
}

static Value combineLoad(KernelLowering &l, Operation *op, const Segment &segment, ArrayRef<Value>) {
  const Access &a = l.loadAccess(op);
  tile::Pad pad = cast<tile::LoadOp>(op).getPad();
  if (segment.dim < 0)
    return loadElement(l, a, pad, segment);

  Type memory = memoryType(a.element);
  VectorType type = l.e.vector(memory, segment.width);
  Value address = l.segmentAddress(a, segment), inside, mask;
  for (auto [d, at] : llvm::enumerate(segment.at))
    if (segment.checked && static_cast<int>(d) != segment.dim)
      inside = l.e.both(inside, l.e.less(at, a.extents[d]));
  l.noteSweep(op, segment);
  Index stride = a.strides[segment.dim];
  Value other;
  if (segment.checked) {
    Index extent = l.e.select(inside, a.extents[segment.dim], 0);
    mask = l.e.laneMask(l.e.sub(extent, segment.at[segment.dim]), segment.width);
    if (mask)
      other = l.e.splat(l.toMemory(l.padValue(pad, a.element), a.element), segment.width);
  }
  if (stride.is(1))
    return l.fromMemory(l.e.load(type, address, mask, other), a.element);
  if (!other)
    other = l.e.splat(l.toMemory(l.padValue(tile::Pad::Zero, a.element), a.element), segment.width);
  Value steps = l.e.iota(l.e.vector(l.e.i64(), segment.width));
  Value offsets = arith::MulIOp::create(l.b, l.e.loc, steps, l.e.splat(l.e.value(stride), segment.width));
  Value addresses = LLVM::GEPOp::create(l.b, l.e.loc, l.e.vector(l.e.pointer(), segment.width), memory, address,
                                        ArrayRef<LLVM::GEPArg>{offsets});
  return l.fromMemory(l.e.gather(type, addresses, mask, other), a.element);
}

static LogicalResult lowerLoad(KernelLowering &l, Operation *op) {
  auto load = cast<tile::LoadOp>(op);
  l.setAccess(
      op, l.access(load.getView(), load.getCoordinates(), load.getType().getShape(), load.getPad() != tile::Pad::None));
  return l.wantsMaterialising(op) ? l.materialise(load.getResult()) : success();
}

//===-- views
//------------------------------------------------------------------------------------------------------===//

static LogicalResult lowerView(KernelLowering &l, Operation *op) {
  auto make = cast<tile::ViewOp>(op);
  tile::ViewType type = make.getResult().getType();
  ViewValue v;
  v.element = type.getElementType();
  v.base = l.scalar(make.getBase());
  auto sizes = make.getSizes().begin(), strides = make.getStrides().begin();
  int64_t rank = type.getRank();
  for (int64_t d = 0; d < rank; ++d)
    v.sizes.push_back(type.isDynamicDim(d) ? l.index(*sizes++) : Index(type.getShape()[d]));
  v.strides.resize(rank);
  for (int64_t d = 0; d < rank && !type.isDense(); ++d)
    v.strides[d] =
        ShapedType::isDynamic(type.getStaticStride(d)) ? l.index(*strides++) : Index(type.getStaticStride(d));
  for (int64_t d = rank - 1; d >= 0 && type.isDense(); --d)
    v.strides[d] = d == rank - 1 ? Index(1) : l.e.mul(v.strides[d + 1], v.sizes[d + 1]);
  l.setView(op->getResult(0), std::move(v));
  return success();
}

static LogicalResult lowerSubview(KernelLowering &l, Operation *op) {
  auto part = cast<tile::SubviewOp>(op);
  const ViewValue source = l.view(part.getSource());
  tile::ViewType type = part.getResult().getType();
  ViewValue v = source;
  auto sizes = part.getSizes().begin();
  for (int64_t d = 0; d < type.getRank(); ++d) {
    v.sizes[d] = type.isDynamicDim(d) ? l.index(*sizes++) : Index(type.getShape()[d]);
    v.base = l.e.address(v.base, l.e.mul(l.index(part.getOffsets()[d]), source.strides[d]), memoryType(v.element));
  }
  l.setView(op->getResult(0), std::move(v));
  return success();
}

static LogicalResult lowerDim(KernelLowering &l, Operation *op) {
  auto dim = cast<tile::DimOp>(op);
  l.setScalar(dim.getResult(), l.e.value(l.view(dim.getView()).sizes[dim.getDim()]));
  return success();
}

static LogicalResult lowerStride(KernelLowering &l, Operation *op) {
  auto stride = cast<tile::StrideOp>(op);
  l.setScalar(stride.getResult(), l.e.value(l.view(stride.getView()).strides[stride.getDim()]));
  return success();
}

static LogicalResult lowerBase(KernelLowering &l, Operation *op) {
  auto base = cast<tile::BaseOp>(op);
  l.setScalar(base.getResult(), l.view(base.getView()).base);
  return success();
}

/// Asks for the cache lines of rows that lie in one piece; where others are, costs more than it brings.
static LogicalResult lowerPrefetch(KernelLowering &l, Operation *op) {
  auto prefetch = cast<tile::PrefetchOp>(op);
  ArrayRef<int64_t> shape = prefetch.getShape();
  if (shape.empty())
    return success();
  Access a = l.access(prefetch.getView(), prefetch.getCoordinates(), shape, /*bounded=*/false);
  if (!a.strides.back().is(1))
    return success();
  Type memory = memoryType(a.element);
  int64_t line = 64 / byteSize(memory);
  SmallVector<Index> rows(shape);
  rows.back() = 1;
  SmallVector<Value> nothing;
  return l.forEachSegment(rows, -1, {}, nothing, [&](const Segment &row, Index, auto &) {
    Value address = l.segmentAddress(a, row);
    return l.loop(0, shape.back(), line, nothing, [&](Index at, auto &) {
      l.e.prefetch(l.e.address(address, at, memory), /*level=*/2);
      return success();
    });
  });
}

/// Advice for others.
static LogicalResult lowerNothing(KernelLowering &, Operation *) { return success(); }

void tilejit::cpu::registerMemory(OpTables &tables) {
  tables.lazy[tile::LoadOp::getOperationName()] = {noOperands, combineLoad};
  tables.eager[tile::LoadOp::getOperationName()] = lowerLoad;
  tables.eager[tile::ViewOp::getOperationName()] = lowerView;
  tables.eager[tile::SubviewOp::getOperationName()] = lowerSubview;
  tables.eager[tile::DimOp::getOperationName()] = lowerDim;
  tables.eager[tile::StrideOp::getOperationName()] = lowerStride;
  tables.eager[tile::BaseOp::getOperationName()] = lowerBase;
  tables.eager[tile::PrefetchOp::getOperationName()] = lowerPrefetch;
  tables.eager[tile::HintOp::getOperationName()] = lowerNothing;
}
