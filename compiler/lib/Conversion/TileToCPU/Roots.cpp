// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Stores, and the small operations of a program instance: its place in the grid, assumptions, assertions.

#include "KernelLowering.h"

using namespace mlir;
using namespace tilejit;
using namespace tilejit::cpu;

//===-- tile.store
//-------------------------------------------------------------------------------------------------===//

namespace {
/// Writes segments of a tile into its place in a view.
class TileWriter {
public:
  TileWriter(KernelLowering &l, Access access, int dim) : l(l), access(std::move(access)), dim(dim) {}

  LogicalResult write(const Segment &segment, Value value, Index remaining) {
    value = l.toMemory(value, access.element);
    Type memory = memoryType(access.element);
    Value address = access.origin;
    for (auto [d, at] : llvm::enumerate(segment.at))
      if (static_cast<int>(d) != segment.dim)
        address = l.e.address(address, l.e.mul(at, access.strides[d]), memory);
    if (segment.dim < 0)
      return l.e.store(value, address), success();
    Index stride = access.strides[segment.dim];
    address = l.e.address(address, l.e.mul(segment.at[segment.dim], stride), memory);
    Value mask = l.e.laneMask(remaining, segment.width);
    if (stride.is(1))
      return l.e.store(value, address, mask), success();
    Value steps = l.e.iota(l.e.vector(l.e.i64(), segment.width));
    Value offsets = arith::MulIOp::create(l.b, l.e.loc, steps, l.e.splat(l.e.value(stride), segment.width));
    Value addresses = LLVM::GEPOp::create(l.b, l.e.loc, l.e.vector(l.e.pointer(), segment.width), memory, address,
                                          ArrayRef<LLVM::GEPArg>{offsets});
    l.e.scatter(value, addresses, mask);
    return success();
  }

  KernelLowering &l;
  Access access;
  int dim;
};
} // namespace

/// Registers of a tile that reaches beyond the view, to a CPU without masks: element by element, through memory.
static LogicalResult storeElements(TileWriter &writer, RankedTensorType type, ValueRange registers, Operation *op) {
  KernelLowering &l = writer.l;
  int64_t mark = l.scratchMark();
  FailureOr<Buffer> buffer = l.allocate(type, op);
  if (failed(buffer))
    return failure();
  l.writeRegisters(*buffer, type, registers);
  l.scratchRelease(mark);
  SmallVector<Index> limits(writer.access.extents.begin(), writer.access.extents.end());
  SmallVector<Value> nothing;
  Segment segment;
  segment.at.assign(limits.size(), Index(0));
  std::function<LogicalResult(unsigned)> nest = [&](unsigned d) -> LogicalResult {
    if (d == limits.size())
      return writer.write(segment, l.readBuffer(*buffer, type.getElementType(), segment), 1);
    return l.loop(0, limits[d], 1, nothing, [&](Index at, auto &) {
      segment.at[d] = at;
      return nest(d + 1);
    });
  };
  return nest(0);
}

/// A tile of few registers, each of which goes to a place known now.
static LogicalResult storeRegisters(TileWriter &writer, Value tile, Operation *op) {
  KernelLowering &l = writer.l;
  auto type = cast<RankedTensorType>(tile.getType());
  ArrayRef<int64_t> shape = type.getShape();
  const Access &access = writer.access;
  SmallVector<Value> registers;
  if (failed(l.evaluateRegisters(tile, registers)))
    return failure();
  auto plain = [&] {
    return l.forEachRegister(type, [&](unsigned i, const Segment &segment) {
      int64_t remaining = segment.dim < 0 ? 1 : shape[segment.dim] - segment.at[segment.dim].constant;
      return writer.write(segment, registers[i], remaining);
    });
  };
  auto masked = [&]() -> LogicalResult {
    if (!l.model.masks && l.registerLanes(type) > 1)
      return storeElements(writer, type, registers, op);
    return l.forEachRegister(type, [&](unsigned i, const Segment &segment) {
      Value inside;
      for (unsigned d = 0; d < shape.size(); ++d)
        if (static_cast<int>(d) != segment.dim)
          inside = l.e.both(inside, l.e.less(segment.at[d], access.extents[d]));
      if (segment.dim < 0)
        return l.branch(inside, [&] { return writer.write(segment, registers[i], 1); }, nullptr);
      Index extent = l.e.select(inside, access.extents[segment.dim], 0);
      return writer.write(segment, registers[i], l.e.sub(extent, segment.at[segment.dim]));
    });
  };
  Value whole;
  for (auto [size, extent] : llvm::zip(shape, access.extents))
    whole = l.e.both(whole, l.e.less(size - 1, extent));
  // One element is inside or it is not; a row that fills no vector is masked in any case.
  bool fillsVectors = l.registerLanes(type) == 1 || l.model.masks || shape.back() % l.registerLanes(type) == 0;
  if (!whole && fillsVectors)
    return plain();
  if (type.getNumElements() == 1 || !fillsVectors)
    return masked();
  return l.branch(whole, plain, masked);
}

static LogicalResult lowerStore(KernelLowering &l, Operation *op) {
  auto store = cast<tile::StoreOp>(op);
  auto type = cast<RankedTensorType>(store.getValue().getType());
  Access access = l.access(store.getView(), store.getCoordinates(), type.getShape(), /*bounded=*/true);
  int dim = KernelLowering::laneDimension(type.getShape());
  SmallVector<Index> limits = llvm::to_vector(access.extents);
  TileWriter writer(l, std::move(access), dim);
  if (l.registerCount(type) <= 16 && l.readsRegisters(store.getValue()))
    return storeRegisters(writer, store.getValue(), op);
  SmallVector<Value> nothing;
  return l.forEachSegment(
      limits, dim, store.getValue(), nothing,
      [&](const Segment &segment, Index remaining, SmallVectorImpl<Value> &) -> LogicalResult {
        Value value = l.evaluate(store.getValue(), segment);
        return value ? writer.write(segment, value, remaining) : failure();
      },
      /*elementwise=*/true);
}

//===-- program instances
//--------------------------------------------------------------------------------------------===//

static LogicalResult lowerProgramId(KernelLowering &l, Operation *op) {
  l.setScalar(op->getResult(0), l.programId(cast<tile::ProgramIdOp>(op).getAxis()));
  return success();
}

static LogicalResult lowerNumPrograms(KernelLowering &l, Operation *op) {
  l.setScalar(op->getResult(0), l.numPrograms(cast<tile::NumProgramsOp>(op).getAxis()));
  return success();
}

static LogicalResult lowerAssume(KernelLowering &l, Operation *op) {
  auto assume = cast<tile::AssumeOp>(op);
  if (std::optional<uint64_t> equal = assume.getEqual(); equal && !isa<tile::PtrType>(assume.getValue().getType()))
    l.setScalar(op->getResult(0), l.e.intConstant(l.scalar(assume.getValue()).getType(), *equal));
  else
    l.setScalar(op->getResult(0), l.scalar(assume.getValue()));
  return success();
}

static LogicalResult lowerAddPtr(KernelLowering &l, Operation *op) {
  auto add = cast<tile::AddPtrOp>(op);
  if (isa<RankedTensorType>(add.getType())) // Evaluated where it is used.
    return success();
  Value offset = l.scalar(add.getOffset());
  if (offset.getType().getIntOrFloatBitWidth() < 64)
    offset = arith::ExtSIOp::create(l.b, l.e.loc, l.e.i64(), offset);
  Type memory = memoryType(cast<tile::PtrType>(add.getType()).getPointee());
  l.setScalar(op->getResult(0), l.e.address(l.scalar(add.getBase()), Emitter::known(offset), memory));
  return success();
}

/// Notes the first assertion that failed; the program goes on, the launch reports it.
static LogicalResult lowerAssert(KernelLowering &l, Operation *op) {
  Value condition = cast<tile::AssertOp>(op).getCondition();
  Value holds;
  if (auto type = dyn_cast<RankedTensorType>(condition.getType())) {
    int64_t width = KernelLowering::laneDimension(type.getShape()) < 0 ? 1 : l.lanes;
    Type i1 = l.b.getI1Type();
    SmallVector<Value> all{l.e.intConstant(width == 1 ? i1 : Type(l.e.vector(i1, width)), 1)};
    LogicalResult result = l.forEachSegment(
        SmallVector<Index>(type.getShape()), KernelLowering::laneDimension(type.getShape()), condition, all,
        [&](const Segment &segment, Index remaining, SmallVectorImpl<Value> &carried) -> LogicalResult {
          Value value = l.evaluate(condition, segment);
          if (!value)
            return failure();
          if (Value mask = segment.dim < 0 ? Value() : l.e.laneMask(remaining, segment.width))
            value = arith::SelectOp::create(l.b, l.e.loc, mask, value, all[0]);
          carried[0] = arith::AndIOp::create(l.b, l.e.loc, carried[0], value);
          return success();
        });
    if (failed(result))
      return failure();
    holds = width == 1 ? all[0] : Value(vector::ReductionOp::create(l.b, l.e.loc, vector::CombiningKind::AND, all[0]));
  } else {
    holds = l.scalar(condition);
  }
  Value before = l.e.load(l.e.i64(), l.failureSlot());
  Value failedNow = l.e.select(holds, Index(before), l.assertionNumber(op)).value;
  Value isFirst = arith::CmpIOp::create(l.b, l.e.loc, arith::CmpIPredicate::eq, before, l.e.constant(0));
  l.e.store(arith::SelectOp::create(l.b, l.e.loc, isFirst, failedNow, before), l.failureSlot());
  return success();
}

void tilejit::cpu::registerRoots(OpTables &tables) {
  tables.eager[tile::StoreOp::getOperationName()] = lowerStore;
  tables.eager[tile::ProgramIdOp::getOperationName()] = lowerProgramId;
  tables.eager[tile::NumProgramsOp::getOperationName()] = lowerNumPrograms;
  tables.eager[tile::AssumeOp::getOperationName()] = lowerAssume;
  tables.eager[tile::AddPtrOp::getOperationName()] = lowerAddPtr;
  tables.eager[tile::AssertOp::getOperationName()] = lowerAssert;
}
