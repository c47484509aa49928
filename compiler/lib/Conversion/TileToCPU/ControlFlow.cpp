// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// scf.for, scf.if and scf.while. Scalars and small tiles cross their edges as SSA values, other tiles in scratch
// memory that belongs to the edge: every path writes its value there.

#include "KernelLowering.h"

using namespace mlir;
using namespace tilejit;
using namespace tilejit::cpu;

namespace {
/// The places of the values that cross one edge.
class Edge {
public:
  /// `preferMemory(i)`: whether tile i is to lie in memory even where it is small.
  Edge(KernelLowering &l, TypeRange types, llvm::function_ref<bool(unsigned)> preferMemory) : l(l), types(types) {
    for (auto [i, type] : llvm::enumerate(types)) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      bool memory = tensor && (!l.fitsRegisters(tensor) || preferMemory(i));
      inMemory.push_back(memory);
      buffers.emplace_back();
      int64_t count = memory ? 0 : tensor ? l.registerCount(tensor) : 1;
      flatTypes.append(count, tensor ? l.registersType(tensor) : l.scalarType(type));
      counts.push_back(count);
    }
  }

  LogicalResult allocate(Operation *op) {
    for (auto [i, type] : llvm::enumerate(types)) {
      if (!inMemory[i] || buffers[i].pointer)
        continue;
      FailureOr<Buffer> buffer = l.allocate(cast<RankedTensorType>(type), op);
      if (failed(buffer))
        return failure();
      buffers[i] = *buffer;
    }
    return success();
  }

  /// Evaluates the values that cross now: memory is written, the others are appended to `flat`.
  LogicalResult send(ValueRange values, SmallVectorImpl<Value> &flat, Operation *op);

  /// Binds the values on the far side to what crossed.
  void receive(ValueRange values, ValueRange flat) {
    for (auto [i, value] : llvm::enumerate(values)) {
      ValueRange part = flat.take_front(counts[i]);
      flat = flat.drop_front(counts[i]);
      auto tensor = dyn_cast<RankedTensorType>(value.getType());
      if (!tensor) {
        l.setScalar(value, part[0]);
        continue;
      }
      Stored place;
      if (inMemory[i])
        place.buffer = buffers[i];
      else
        place = l.registersOf(tensor, part);
      l.setStored(value, place);
    }
  }

  KernelLowering &l;
  TypeRange types;
  SmallVector<bool> inMemory;
  SmallVector<Buffer> buffers;
  SmallVector<int64_t> counts;
  SmallVector<Type> flatTypes;
};
} // namespace

LogicalResult Edge::send(ValueRange values, SmallVectorImpl<Value> &flat, Operation *op) {
  // What goes into registers may read memory that is about to be overwritten, so it comes first.
  for (auto [i, value] : llvm::enumerate(values)) {
    if (inMemory[i])
      continue;
    if (!isa<RankedTensorType>(value.getType()))
      flat.push_back(l.scalar(value));
    else if (failed(l.evaluateRegisters(value, flat)))
      return failure();
  }
  // A value that others, or itself at other coordinates, still read takes a detour.
  SmallVector<Buffer> detours(values.size());
  int64_t mark = l.scratchMark();
  auto clashes = [&](unsigned i) {
    if (l.readsBuffer(values[i], buffers[i].pointer, /*elsewhere=*/true))
      return true;
    for (unsigned j = 0; j < values.size(); ++j)
      if (j != i && inMemory[j] && l.readsBuffer(values[j], buffers[i].pointer, /*elsewhere=*/false))
        return true;
    return false;
  };
  for (unsigned i = 0; i < values.size(); ++i) {
    if (!inMemory[i] || !clashes(i))
      continue;
    FailureOr<Buffer> detour = l.allocate(cast<RankedTensorType>(values[i].getType()), op);
    if (failed(detour) || failed(l.assign(*detour, values[i])))
      return failure();
    detours[i] = *detour;
  }
  for (unsigned i = 0; i < values.size(); ++i)
    if (inMemory[i] && !detours[i].pointer && failed(l.assign(buffers[i], values[i])))
      return failure();
  for (unsigned i = 0; i < values.size(); ++i)
    if (detours[i].pointer)
      if (failed(l.copyBuffer(buffers[i], detours[i], cast<RankedTensorType>(values[i].getType()))))
        return failure();
  l.scratchRelease(mark);
  return success();
}

static bool neverMemory(unsigned) { return false; }

/// Emits a region's block into `target` and its crossing values; the terminator is made by `finish`.
static LogicalResult lowerRegion(KernelLowering &l, Block &source, Block *target, Edge &out, ValueRange leaving,
                                 Operation *op, llvm::function_ref<void(ValueRange)> finish) {
  OpBuilder::InsertionGuard guard(l.b);
  l.b.setInsertionPointToEnd(target);
  ScopeGuard scope(l, target, nullptr);
  int64_t mark = l.scratchMark();
  SmallVector<Value> flat;
  if (failed(l.lowerBlock(source)) || failed(l.beginRoot([&] { return out.send(leaving, flat, op); })))
    return failure();
  l.b.setInsertionPointToEnd(target);
  finish(flat);
  l.scratchRelease(mark);
  return success();
}

static LogicalResult lowerFor(KernelLowering &l, Operation *op) {
  auto loop = cast<scf::ForOp>(op);
  // Accumulators of products are memory: the product reads and writes them a register tile at a time.
  auto accumulates = [&](unsigned i) {
    return isa_and_nonnull<tile::DotOp>(loop.getYieldedValues()[i].getDefiningOp()) ||
           llvm::any_of(loop.getRegionIterArgs()[i].getUsers(), [](Operation *user) { return isa<tile::DotOp>(user); });
  };
  Edge edge(l, loop.getResultTypes(), accumulates);
  SmallVector<Value> flat;
  if (failed(edge.allocate(op)) || failed(edge.send(loop.getInitArgs(), flat, op)))
    return failure();
  Value low = l.scalar(loop.getLowerBound()), high = l.scalar(loop.getUpperBound()), step = l.scalar(loop.getStep());
  auto made = scf::ForOp::create(l.b, l.e.loc, low, high, step, flat, [](OpBuilder &, Location, Value, ValueRange) {});
  Location loc = l.e.loc;
  {
    OpBuilder::InsertionGuard guard(l.b);
    l.b.setInsertionPointToEnd(made.getBody());
    l.setScalar(loop.getInductionVar(), made.getInductionVar());
    edge.receive(loop.getRegionIterArgs(), made.getRegionIterArgs());
    if (failed(lowerRegion(l, *loop.getBody(), made.getBody(), edge, loop.getYieldedValues(), op,
                           [&](ValueRange values) { scf::YieldOp::create(l.b, loc, values); })))
      return failure();
  }
  edge.receive(loop.getResults(), made.getResults());
  return success();
}

/// Where one way only passes on a tile in memory that nobody reads afterwards, the result takes its place.
static void takePlaces(KernelLowering &l, scf::IfOp branch, Edge &edge) {
  llvm::SmallDenseSet<Value> taken;
  for (Region *region : {&branch.getThenRegion(), &branch.getElseRegion()}) {
    if (region->empty())
      continue;
    for (auto [i, value] : llvm::enumerate(region->front().getTerminator()->getOperands())) {
      Stored *place = edge.inMemory[i] ? l.stored(value) : nullptr;
      bool isLast = value.getParentBlock() == branch->getBlock() &&
                    llvm::all_of(value.getUsers(), [&](Operation *user) { return branch->isProperAncestor(user); });
      if (place && isLast && !edge.buffers[i].pointer &&
          l.hasUsualLayout(*place, cast<RankedTensorType>(value.getType())) &&
          taken.insert(place->buffer.pointer).second)
        edge.buffers[i] = place->buffer;
    }
  }
}

static LogicalResult lowerIf(KernelLowering &l, Operation *op) {
  auto branch = cast<scf::IfOp>(op);
  Edge edge(l, branch.getResultTypes(), neverMemory);
  takePlaces(l, branch, edge);
  if (failed(edge.allocate(op)))
    return failure();
  bool hasElse = !branch.getElseRegion().empty();
  Location loc = l.e.loc;
  auto made = scf::IfOp::create(l.b, loc, edge.flatTypes, l.scalar(branch.getCondition()), /*addThenBlock=*/true,
                                /*addElseBlock=*/hasElse);
  auto emit = [&](Block *source, Block *target) {
    return lowerRegion(l, *source, target, edge, source->getTerminator()->getOperands(), op,
                       [&](ValueRange values) { scf::YieldOp::create(l.b, loc, values); });
  };
  if (failed(emit(branch.thenBlock(), made.thenBlock())) ||
      (hasElse && failed(emit(branch.elseBlock(), made.elseBlock()))))
    return failure();
  edge.receive(branch.getResults(), made.getResults());
  return success();
}

static LogicalResult lowerWhile(KernelLowering &l, Operation *op) {
  auto loop = cast<scf::WhileOp>(op);
  Edge back(l, loop.getInits().getTypes(), neverMemory), forth(l, loop.getResultTypes(), neverMemory);
  SmallVector<Value> flat;
  if (failed(back.allocate(op)) || failed(forth.allocate(op)) || failed(back.send(loop.getInits(), flat, op)))
    return failure();
  Location loc = l.e.loc;
  auto made = scf::WhileOp::create(l.b, loc, forth.flatTypes, flat);
  auto addBlock = [&](Region &region, Edge &edge) {
    OpBuilder::InsertionGuard guard(l.b);
    return l.b.createBlock(&region, {}, edge.flatTypes, SmallVector<Location>(edge.flatTypes.size(), loc));
  };
  Block *before = addBlock(made.getBefore(), back), *after = addBlock(made.getAfter(), forth);
  {
    OpBuilder::InsertionGuard guard(l.b);
    l.b.setInsertionPointToEnd(before);
    back.receive(loop.getBeforeArguments(), before->getArguments());
    scf::ConditionOp condition = loop.getConditionOp();
    if (failed(lowerRegion(l, *loop.getBeforeBody(), before, forth, condition.getArgs(), op, [&](ValueRange values) {
          scf::ConditionOp::create(l.b, loc, l.scalar(condition.getCondition()), values);
        })))
      return failure();
    l.b.setInsertionPointToEnd(after);
    forth.receive(loop.getAfterArguments(), after->getArguments());
    if (failed(lowerRegion(l, *loop.getAfterBody(), after, back, loop.getYieldOp().getOperands(), op,
                           [&](ValueRange values) { scf::YieldOp::create(l.b, loc, values); })))
      return failure();
  }
  forth.receive(loop.getResults(), made.getResults());
  return success();
}

void tilejit::cpu::registerControlFlow(OpTables &tables) {
  tables.eager[scf::ForOp::getOperationName()] = lowerFor;
  tables.eager[scf::IfOp::getOperationName()] = lowerIf;
  tables.eager[scf::WhileOp::getOperationName()] = lowerWhile;
}
