// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Atomic updates: one of all threads that hold an element does it. What chips lack, LLVM spells out by compare and
// exchange.

#include "KernelEmitter.h"

#include "../Common/Atomics.h"

using namespace mlir;
using namespace tilejit;
using namespace tilejit::gpu;

namespace {
/// Kind, order and scope of an update.
struct Update {
  tile::AtomicKind kind;
  tile::MemoryOrder order;
  tile::MemoryScope scope;
  Type element;
};
} // namespace

static Type bitsType(KernelEmitter &e, Type element) {
  return e.b.getIntegerType(8 * unsigned(tilegpu::storageBytes(element)));
}

/// A value in memory's form as an integer of its size, and back.
static Value toBits(KernelEmitter &e, Value memory, Type element) {
  Type bits = bitsType(e, element);
  return memory.getType() == bits ? memory : Value(arith::BitcastOp::create(e.b, e.loc, bits, memory));
}

static Value fromBits(KernelEmitter &e, Value bits, Type element) {
  Type memory = e.memoryType(element);
  return bits.getType() == memory ? bits : Value(arith::BitcastOp::create(e.b, e.loc, memory, bits));
}

/// A sum of a type without an instruction: compare and exchange until no one came between. Gives the bits before.
static Value addByExchange(KernelEmitter &e, Value value, Value address, const Update &update) {
  Type bits = bitsType(e, update.element);
  LLVM::AtomicOrdering ordering = orderingOf(update.order);
  StringRef scope = e.threads.scopeName(update.scope);
  auto first = LLVM::LoadOp::create(e.b, e.loc, bits, address, unsigned(tilegpu::storageBytes(update.element)),
                                    /*isVolatile=*/false, /*isNonTemporal=*/false, /*isInvariant=*/false,
                                    /*isInvariantGroup=*/false, LLVM::AtomicOrdering::monotonic, scope);
  auto loop = scf::WhileOp::create(e.b, e.loc, TypeRange(bits), ValueRange(first.getResult()));
  OpBuilder::InsertionGuard guard(e.b);
  Block *before = e.b.createBlock(&loop.getBefore(), {}, {bits}, {e.loc});
  Value old = before->getArgument(0);
  Value sum = arith::AddFOp::create(e.b, e.loc, e.fromMemory(fromBits(e, old, update.element), update.element), value);
  Value next = toBits(e, e.toMemory(sum, update.element), update.element);
  Value exchanged =
      LLVM::AtomicCmpXchgOp::create(e.b, e.loc, address, old, next, ordering, failureOrdering(ordering), scope);
  Value found = LLVM::ExtractValueOp::create(e.b, e.loc, exchanged, 0);
  Value done = LLVM::ExtractValueOp::create(e.b, e.loc, exchanged, 1);
  Value again = arith::XOrIOp::create(e.b, e.loc, done, e.integer(done.getType(), 1));
  scf::ConditionOp::create(e.b, e.loc, again, ValueRange(found));
  Block *after = e.b.createBlock(&loop.getAfter(), {}, {bits}, {e.loc});
  scf::YieldOp::create(e.b, e.loc, ValueRange(after->getArgument(0)));
  return loop.getResult(0);
}

/// One update of a value in the kernel's form; gives the value before, in memory's form.
static Value updateOne(KernelEmitter &e, Value value, Value address, const Update &update) {
  LLVM::AtomicOrdering ordering = orderingOf(update.order);
  StringRef scope = e.threads.scopeName(update.scope);
  if (update.kind == tile::AtomicKind::AddF) {
    if (update.element.isF32() || update.element.isF64())
      return LLVM::AtomicRMWOp::create(e.b, e.loc, LLVM::AtomicBinOp::fadd, address, value, ordering, scope);
    return fromBits(e, addByExchange(e, value, address, update), update.element);
  }
  Value bits = toBits(e, e.toMemory(value, update.element), update.element);
  Value before = LLVM::AtomicRMWOp::create(e.b, e.loc, integerKind(update.kind), address, bits, ordering, scope);
  return fromBits(e, before, update.element);
}

static LogicalResult checkElement(KernelEmitter &e, Operation *op, Type element) {
  if (element.isIntOrFloat() && element.getIntOrFloatBitWidth() < 8)
    return e.refuse(op, "atomic updates need elements of at least 8 bits");
  return success();
}

static LogicalResult lowerAtomic(KernelEmitter &e, Operation *op) {
  auto atomic = cast<tile::AtomicOp>(op);
  auto tile = tileTypeOf(atomic.getValue());
  Update update{atomic.getKind(), atomic.getOrder(), atomic.getScope(), tile.getElementType()};
  if (failed(checkElement(e, op, update.element)))
    return failure();
  SmallVector<Value> values = e.scalars(e.get(atomic.getValue()));
  return forEachInside(e, atomic.getView(), atomic.getCoordinates(), tile, [&](int64_t reg, Value address) {
    updateOne(e, values[reg], address, update);
    return success();
  });
}

/// Does something for each element that this thread is in charge of, and gives the results, zero elsewhere.
static Value forOriginals(KernelEmitter &e, RankedTensorType tile, Value mask, function_ref<Value(int64_t)> body) {
  LayoutAttr layout = tilegpu::layoutOf(tile);
  Type memory = e.memoryType(tile.getElementType());
  SmallVector<Value> conditions = elementConditions(e, tile, mask), results;
  Value original = e.isOriginal(layout);
  Value nothing = arith::ConstantOp::create(e.b, e.loc, cast<TypedAttr>(e.b.getZeroAttr(memory)));
  for (int64_t reg = 0; reg < layout.numRegisters(); ++reg)
    results.push_back(
        e.choose(e.both(original, conditions[reg]), memory, [&] { return body(reg); }, [&] { return nothing; }));
  return e.fromMemory(e.fromScalars(results), tile.getElementType());
}

static LogicalResult lowerAtomicRmw(KernelEmitter &e, Operation *op) {
  auto atomic = cast<tile::AtomicRmwOp>(op);
  auto tile = tileTypeOf(atomic.getValue());
  Update update{atomic.getKind(), atomic.getOrder(), atomic.getScope(), tile.getElementType()};
  if (failed(checkElement(e, op, update.element)))
    return failure();
  SmallVector<Value> values = e.scalars(e.get(atomic.getValue())), pointers = e.scalars(e.get(atomic.getPointers()));
  e.set(atomic.getResult(), forOriginals(e, tile, atomic.getMask(), [&](int64_t reg) {
          return updateOne(e, values[reg], addressOf(e, pointers[reg], update.element), update);
        }));
  return success();
}

static LogicalResult lowerAtomicCas(KernelEmitter &e, Operation *op) {
  auto atomic = cast<tile::AtomicCasOp>(op);
  auto tile = tileTypeOf(atomic.getResult());
  Type element = tile.getElementType();
  if (failed(checkElement(e, op, element)))
    return failure();
  LLVM::AtomicOrdering ordering = orderingOf(atomic.getOrder());
  SmallVector<Value> expected = e.scalars(e.get(atomic.getExpected())), desired = e.scalars(e.get(atomic.getDesired()));
  SmallVector<Value> pointers = e.scalars(e.get(atomic.getPointers()));
  auto bits = [&](Value value) { return toBits(e, e.toMemory(value, element), element); };
  e.set(atomic.getResult(), forOriginals(e, tile, {}, [&](int64_t reg) {
          Value pair = LLVM::AtomicCmpXchgOp::create(e.b, e.loc, addressOf(e, pointers[reg], element),
                                                     bits(expected[reg]), bits(desired[reg]), ordering,
                                                     failureOrdering(ordering), e.threads.scopeName(atomic.getScope()));
          return fromBits(e, LLVM::ExtractValueOp::create(e.b, e.loc, pair, 0), element);
        }));
  return success();
}

void gpu::registerAtomics(LoweringTable &table) {
  table[tile::AtomicOp::getOperationName()] = lowerAtomic;
  table[tile::AtomicRmwOp::getOperationName()] = lowerAtomicRmw;
  table[tile::AtomicCasOp::getOperationName()] = lowerAtomicCas;
}
