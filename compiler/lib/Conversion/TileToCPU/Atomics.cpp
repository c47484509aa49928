// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Atomic updates through views and tiles of pointers, one element after the other. Integers have instructions; floats
// are updated by compare and exchange, so that their arithmetic is the one that is expanded for everything else.

#include "KernelLowering.h"

#include "../Common/Atomics.h"

using namespace mlir;
using namespace tilejit;
using namespace tilejit::cpu;

static Type bitsOf(KernelLowering &l, Type element) {
  return l.b.getIntegerType(8 * static_cast<unsigned>(byteSize(memoryType(element))));
}

/// A value of the kernel as an integer of its memory's size, and back.
static Value toBits(KernelLowering &l, Value value, Type element) {
  Value memory = l.toMemory(value, element);
  Type bits = bitsOf(l, element);
  return memory.getType() == bits ? memory : Value(arith::BitcastOp::create(l.b, l.e.loc, bits, memory));
}

static Value fromBits(KernelLowering &l, Value bits, Type element) {
  Type memory = memoryType(element);
  if (bits.getType() != memory)
    bits = arith::BitcastOp::create(l.b, l.e.loc, memory, bits);
  return l.fromMemory(bits, element);
}

/// Repeats compare and exchange until no one came between; gives the bits before.
static Value addFloat(KernelLowering &l, Value value, Value address, Type element, LLVM::AtomicOrdering ordering) {
  Type bits = bitsOf(l, element);
  Value first = l.e.load(bits, address);
  auto loop = scf::WhileOp::create(l.b, l.e.loc, TypeRange(bits), ValueRange(first));
  OpBuilder::InsertionGuard guard(l.b);
  Block *before = l.b.createBlock(&loop.getBefore(), {}, {bits}, {l.e.loc});
  Value old = before->getArgument(0);
  Value sum = arith::AddFOp::create(l.b, l.e.loc, fromBits(l, old, element), value);
  Value exchanged = LLVM::AtomicCmpXchgOp::create(l.b, l.e.loc, address, old, toBits(l, sum, element), ordering,
                                                  failureOrdering(ordering));
  Value found = LLVM::ExtractValueOp::create(l.b, l.e.loc, exchanged, 0);
  Value done = LLVM::ExtractValueOp::create(l.b, l.e.loc, exchanged, 1);
  Value again = arith::XOrIOp::create(l.b, l.e.loc, done, l.e.intConstant(done.getType(), 1));
  scf::ConditionOp::create(l.b, l.e.loc, again, ValueRange(found));
  Block *after = l.b.createBlock(&loop.getAfter(), {}, {bits}, {l.e.loc});
  scf::YieldOp::create(l.b, l.e.loc, ValueRange(after->getArgument(0)));
  return loop.getResult(0);
}

/// One update; gives the value before.
static Value update(KernelLowering &l, tile::AtomicKind kind, Value value, Value address, Type element,
                    LLVM::AtomicOrdering ordering) {
  Value before;
  if (kind == tile::AtomicKind::AddF)
    before = addFloat(l, value, address, element, ordering);
  else
    before = LLVM::AtomicRMWOp::create(l.b, l.e.loc, integerKind(kind), address, toBits(l, value, element), ordering);
  return fromBits(l, before, element);
}

static LogicalResult checkElement(KernelLowering &l, Operation *op, Type element) {
  if (element.isIntOrFloat() && element.getIntOrFloatBitWidth() < 8)
    return l.refuse(op, "atomic updates need elements of at least 8 bits");
  return success();
}

/// Visits every element of a tile.
static LogicalResult forEachElement(KernelLowering &l, ArrayRef<Index> limits,
                                    llvm::function_ref<LogicalResult(const Segment &)> body) {
  SmallVector<Value> nothing;
  return l.forEachSegment(limits, -1, {}, nothing,
                          [&](const Segment &segment, Index, auto &) { return body(segment); });
}

static LogicalResult lowerAtomic(KernelLowering &l, Operation *op) {
  auto atomic = cast<tile::AtomicOp>(op);
  auto type = cast<RankedTensorType>(atomic.getValue().getType());
  Type element = type.getElementType();
  if (failed(checkElement(l, op, element)))
    return failure();
  Access access = l.access(atomic.getView(), atomic.getCoordinates(), type.getShape(), /*bounded=*/true);
  SmallVector<Index> limits = llvm::to_vector(access.extents);
  return forEachElement(l, limits, [&](const Segment &segment) -> LogicalResult {
    Value value = l.evaluate(atomic.getValue(), segment);
    if (!value)
      return failure();
    Value address = access.origin;
    for (auto [d, at] : llvm::enumerate(segment.at))
      address = l.e.address(address, l.e.mul(at, access.strides[d]), memoryType(element));
    update(l, atomic.getKind(), value, address, element, orderingOf(atomic.getOrder()));
    return success();
  });
}

/// Shared by the two forms that give back what was there: a buffer for the result, filled by `body`.
static LogicalResult collectPrevious(KernelLowering &l, Operation *op, Value pointers, Value mask,
                                     llvm::function_ref<Value(const Segment &, Value)> body) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  Type element = type.getElementType();
  if (failed(checkElement(l, op, element)))
    return failure();
  FailureOr<Buffer> buffer = l.allocate(type, op);
  if (failed(buffer))
    return failure();
  LogicalResult done =
      forEachElement(l, SmallVector<Index>(type.getShape()), [&](const Segment &segment) -> LogicalResult {
        Value number = l.evaluate(pointers, segment), isActive = mask ? l.evaluate(mask, segment) : Value();
        if (!number || (mask && !isActive))
          return failure();
        return l.branch(
            isActive,
            [&]() -> LogicalResult {
              Value address = LLVM::IntToPtrOp::create(l.b, l.e.loc, l.e.pointer(), number);
              Value before = body(segment, address);
              if (!before)
                return failure();
              l.writeBuffer(*buffer, element, segment, before);
              return success();
            },
            nullptr);
      });
  Stored place;
  place.buffer = *buffer;
  l.setStored(op->getResult(0), place);
  return done;
}

static LogicalResult lowerAtomicRmw(KernelLowering &l, Operation *op) {
  auto atomic = cast<tile::AtomicRmwOp>(op);
  Type element = atomic.getType().getElementType();
  return collectPrevious(l, op, atomic.getPointers(), atomic.getMask(),
                         [&](const Segment &segment, Value address) -> Value {
                           Value value = l.evaluate(atomic.getValue(), segment);
                           if (!value)
                             return {};
                           return update(l, atomic.getKind(), value, address, element, orderingOf(atomic.getOrder()));
                         });
}

static LogicalResult lowerAtomicCas(KernelLowering &l, Operation *op) {
  auto atomic = cast<tile::AtomicCasOp>(op);
  Type element = atomic.getType().getElementType();
  LLVM::AtomicOrdering ordering = orderingOf(atomic.getOrder());
  return collectPrevious(l, op, atomic.getPointers(), {}, [&](const Segment &segment, Value address) -> Value {
    Value expected = l.evaluate(atomic.getExpected(), segment), desired = l.evaluate(atomic.getDesired(), segment);
    if (!expected || !desired)
      return {};
    Value exchanged = LLVM::AtomicCmpXchgOp::create(l.b, l.e.loc, address, toBits(l, expected, element),
                                                    toBits(l, desired, element), ordering, failureOrdering(ordering));
    return fromBits(l, LLVM::ExtractValueOp::create(l.b, l.e.loc, exchanged, 0), element);
  });
}

void tilejit::cpu::registerAtomics(OpTables &tables) {
  tables.eager[tile::AtomicOp::getOperationName()] = lowerAtomic;
  tables.eager[tile::AtomicRmwOp::getOperationName()] = lowerAtomicRmw;
  tables.eager[tile::AtomicCasOp::getOperationName()] = lowerAtomicCas;
}
