// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Operations that rename, repeat or pick registers. Which register a result's register comes from follows from the two
// layouts: both are the same map as far as the thread is concerned.

#include "KernelEmitter.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilejit;
using namespace tilejit::gpu;

/// For each register of the result the register of the source that holds the element `project` sends it to. The source
/// layout is the projection of the result's, so that registers decide alone.
static SmallVector<int64_t> registerMap(LayoutAttr source, LayoutAttr result, function_ref<int64_t(int64_t)> project) {
  llvm::DenseMap<int64_t, int64_t> registerOf;
  for (int64_t reg = 0; reg < source.numRegisters(); ++reg)
    registerOf[source.elementOfRegister(reg)] = reg;
  SmallVector<int64_t> map;
  for (int64_t reg = 0; reg < result.numRegisters(); ++reg)
    map.push_back(registerOf.lookup(project(result.elementOfRegister(reg))));
  return map;
}

/// Splits an element's number into coordinates, and back.
static SmallVector<int64_t> split(int64_t element, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> at(shape.size());
  for (int64_t dim = int64_t(shape.size()) - 1; dim >= 0; --dim) {
    at[dim] = element % shape[dim];
    element /= shape[dim];
  }
  return at;
}

static int64_t join(ArrayRef<int64_t> at, ArrayRef<int64_t> shape) {
  int64_t element = 0;
  for (auto [coordinate, size] : llvm::zip(at, shape))
    element = element * size + coordinate;
  return element;
}

static LogicalResult lowerSplat(KernelEmitter &e, Operation *op) {
  Value scalar = e.get(op->getOperand(0));
  if (isa<LLVM::LLVMPointerType>(scalar.getType()))
    scalar = LLVM::PtrToIntOp::create(e.b, e.loc, e.b.getI64Type(), scalar);
  e.set(op->getResult(0), e.splat(scalar, tilegpu::layoutOf(op->getResult(0)).numRegisters()));
  return success();
}

static LogicalResult lowerIota(KernelEmitter &e, Operation *op) {
  Value at = e.coordinateVector(tilegpu::layoutOf(op->getResult(0)), 0);
  Type type = e.lowered(op->getResult(0).getType());
  e.set(op->getResult(0), e.resize(at, type, /*isSigned=*/false));
  return success();
}

static LogicalResult lowerBroadcast(KernelEmitter &e, Operation *op) {
  LayoutAttr from = tilegpu::layoutOf(op->getOperand(0)), to = tilegpu::layoutOf(op->getResult(0));
  auto project = [&](int64_t element) {
    SmallVector<int64_t> at = split(element, to.getShape());
    for (auto [coordinate, size] : llvm::zip(at, from.getShape()))
      coordinate = size == 1 ? 0 : coordinate;
    return join(at, from.getShape());
  };
  e.set(op->getResult(0), e.pick(e.get(op->getOperand(0)), {}, registerMap(from, to, project)));
  return success();
}

static LogicalResult lowerExpand(KernelEmitter &e, Operation *op) {
  e.set(op->getResult(0), e.get(op->getOperand(0)));
  return success();
}

static LogicalResult lowerTranspose(KernelEmitter &e, Operation *op) {
  auto transpose = cast<tile::TransposeOp>(op);
  LayoutAttr from = tilegpu::layoutOf(op->getOperand(0)), to = tilegpu::layoutOf(op->getResult(0));
  auto project = [&](int64_t element) {
    SmallVector<int64_t> at = split(element, to.getShape()), source(at.size());
    for (auto [dim, origin] : llvm::enumerate(transpose.getPermutation()))
      source[origin] = at[dim];
    return join(source, from.getShape());
  };
  e.set(op->getResult(0), e.pick(e.get(op->getOperand(0)), {}, registerMap(from, to, project)));
  return success();
}

/// Elements keep their numbers.
static LogicalResult lowerReshape(KernelEmitter &e, Operation *op) {
  LayoutAttr from = tilegpu::layoutOf(op->getOperand(0)), to = tilegpu::layoutOf(op->getResult(0));
  e.set(op->getResult(0),
        e.pick(e.get(op->getOperand(0)), {}, registerMap(from, to, [](int64_t element) { return element; })));
  return success();
}

//===--- pairs --------------------------------------------------------------------------------------------------===//

/// The lowest register bit says which side.
static LogicalResult lowerJoin(KernelEmitter &e, Operation *op) {
  Value left = e.get(op->getOperand(0)), right = e.get(op->getOperand(1));
  int64_t count = cast<VectorType>(left.getType()).getNumElements();
  SmallVector<int64_t> elements;
  for (int64_t i = 0; i < count; ++i)
    elements.append({i, count + i});
  e.set(op->getResult(0), e.pick(left, right, elements));
  return success();
}

static SmallVector<int64_t> everySecond(Value vector, int64_t first) {
  SmallVector<int64_t> elements;
  for (int64_t i = first, count = cast<VectorType>(vector.getType()).getNumElements(); i < count; i += 2)
    elements.push_back(i);
  return elements;
}

static LogicalResult lowerSplit(KernelEmitter &e, Operation *op) {
  Value pairs = e.get(op->getOperand(0));
  for (int64_t side : {0, 1})
    e.set(op->getResult(side), e.pick(pairs, {}, everySecond(pairs, side)));
  return success();
}

/// 4-bit values as integers of 4 bits.
static Value bitsOf(KernelEmitter &e, Value vector) {
  auto type = cast<VectorType>(vector.getType());
  if (!isa<FloatType>(type.getElementType()))
    return vector;
  unsigned bits = type.getElementTypeBitWidth();
  return arith::BitcastOp::create(e.b, e.loc, type.clone(e.b.getIntegerType(bits)), vector);
}

static LogicalResult lowerPack(KernelEmitter &e, Operation *op) {
  Value pairs = bitsOf(e, e.get(op->getOperand(0)));
  Type type = e.lowered(op->getResult(0).getType());
  auto bytes = cast<VectorType>(type).clone(e.b.getI8Type());
  auto half = [&](int64_t side) {
    return Value(arith::ExtUIOp::create(e.b, e.loc, bytes, e.pick(pairs, {}, everySecond(pairs, side))));
  };
  Value high = arith::ShLIOp::create(e.b, e.loc, half(1), e.integer(bytes, 4));
  e.set(op->getResult(0), arith::OrIOp::create(e.b, e.loc, half(0), high));
  return success();
}

static LogicalResult lowerUnpack(KernelEmitter &e, Operation *op) {
  Value bytes = e.get(op->getOperand(0));
  auto result = cast<VectorType>(e.lowered(op->getResult(0).getType()));
  auto half = cast<VectorType>(bytes.getType()).clone(e.b.getIntegerType(4));
  Value low = arith::TruncIOp::create(e.b, e.loc, half, bytes);
  Value high = arith::ShRUIOp::create(e.b, e.loc, bytes, e.integer(bytes.getType(), 4));
  high = arith::TruncIOp::create(e.b, e.loc, half, high);
  int64_t count = half.getNumElements();
  SmallVector<int64_t> elements;
  for (int64_t i = 0; i < count; ++i)
    elements.append({i, count + i});
  Value all = e.pick(low, high, elements);
  e.set(op->getResult(0), all.getType() == result ? all : Value(arith::BitcastOp::create(e.b, e.loc, result, all)));
  return success();
}

/// The one element that all threads have.
static LogicalResult lowerExtract(KernelEmitter &e, Operation *op) {
  auto extract = cast<tile::ExtractOp>(op);
  if (isa<RankedTensorType>(extract.getType()))
    return e.refuse(op, "parts of tiles go through on-chip memory (tile-gpu-on-chip)");
  Value element = vector::ExtractOp::create(e.b, e.loc, e.get(extract.getSource()), int64_t{0});
  if (isa<tile::PtrType>(extract.getType()))
    element = LLVM::IntToPtrOp::create(e.b, e.loc, e.lowered(extract.getType()), element);
  e.set(extract.getResult(), element);
  return success();
}

void gpu::registerShape(LoweringTable &table) {
  table[tile::SplatOp::getOperationName()] = lowerSplat;
  table[tile::IotaOp::getOperationName()] = lowerIota;
  table[tile::BroadcastOp::getOperationName()] = lowerBroadcast;
  table[tile::ExpandOp::getOperationName()] = lowerExpand;
  table[tile::TransposeOp::getOperationName()] = lowerTranspose;
  table[tile::ReshapeOp::getOperationName()] = lowerReshape;
  table[tile::JoinOp::getOperationName()] = lowerJoin;
  table[tile::SplitOp::getOperationName()] = lowerSplit;
  table[tile::PackOp::getOperationName()] = lowerPack;
  table[tile::UnpackOp::getOperationName()] = lowerUnpack;
  table[tile::ExtractOp::getOperationName()] = lowerExtract;
}
