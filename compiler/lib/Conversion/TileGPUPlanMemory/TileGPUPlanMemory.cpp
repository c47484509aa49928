// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The pass tile-gpu-plan-memory: offsets by liveness, barriers by the bytes that accesses touch.

#include "tilejit/Conversion/Passes.h"
#include "tilejit/Dialect/Tile/IR/Tile.h"
#include "tilejit/Dialect/TileGPU/IR/TileGPU.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

namespace tilejit {
#define GEN_PASS_DEF_TILEGPUPLANMEMORYPASS
#include "tilejit/Conversion/Passes.h.inc"
} // namespace tilejit

using namespace mlir;
using namespace tilejit;
using tilegpu::SharedAllocOp;

//===--- offsets ------------------------------------------------------------------------------------------------===//

namespace {
/// A place, alive from operation `begin` to operation `end` (numbers in program order).
struct Place {
  SharedAllocOp alloc;
  int64_t begin = 0, end = 0, bytes = 0, offset = 0;
};
} // namespace

/// Places with their lives. One that is made outside of a loop and used inside lives through the whole loop.
static SmallVector<Place> findPlaces(tile::KernelOp kernel) {
  llvm::DenseMap<Operation *, std::pair<int64_t, int64_t>> spans;
  int64_t number = 0;
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) { spans[op].first = number++; });
  kernel.walk<WalkOrder::PostOrder>([&](Operation *op) {
    int64_t last = spans[op].first;
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Operation &inner : block)
          last = std::max(last, spans[&inner].second);
    spans[op].second = last;
  });
  SmallVector<Place> places;
  kernel.walk([&](SharedAllocOp alloc) {
    Place place{alloc, spans[alloc].first, spans[alloc].first, alloc.getType().bytes(), 0};
    for (Operation *user : alloc->getUsers()) {
      Operation *top = alloc->getBlock()->findAncestorOpInBlock(*user);
      place.end = std::max(place.end, spans[top].second);
    }
    places.push_back(place);
  });
  return places;
}

/// First fit, the longest-lived large places first. Gives the bytes needed.
static int64_t assignOffsets(MutableArrayRef<Place> places) {
  constexpr uint64_t alignment = 16;
  SmallVector<Place *> order;
  for (Place &place : places)
    order.push_back(&place);
  llvm::stable_sort(order, [](Place *a, Place *b) { return a->bytes > b->bytes; });
  int64_t total = 0;
  SmallVector<Place *> done;
  for (Place *place : order) {
    SmallVector<std::pair<int64_t, int64_t>> taken;
    for (Place *other : done)
      if (other->begin <= place->end && place->begin <= other->end)
        taken.push_back({other->offset, other->offset + other->bytes});
    llvm::sort(taken);
    int64_t offset = 0;
    for (auto [from, to] : taken)
      if (offset + place->bytes > from)
        offset = std::max(offset, int64_t(llvm::alignTo(uint64_t(to), alignment)));
    place->offset = offset;
    total = std::max(total, offset + place->bytes);
    done.push_back(place);
  }
  return int64_t(llvm::alignTo(uint64_t(total), alignment));
}

//===--- barriers -----------------------------------------------------------------------------------------------===//

namespace {
/// Bytes that were accessed since the last barrier.
struct Pending {
  using Ranges = std::set<std::pair<int64_t, int64_t>>;
  Ranges reads, writes;

  static bool meets(const Ranges &ranges, std::pair<int64_t, int64_t> range) {
    return llvm::any_of(ranges, [&](auto other) { return other.first < range.second && range.first < other.second; });
  }
  void add(const Pending &other) {
    reads.insert(other.reads.begin(), other.reads.end());
    writes.insert(other.writes.begin(), other.writes.end());
  }
  bool operator==(const Pending &) const = default;
};

/// Walks a kernel in program order. All threads of a block take the same way through it.
class BarrierInserter {
public:
  void visit(Block &block, Pending &pending) {
    for (Operation &op : llvm::make_early_inc_range(block))
      visit(op, pending);
  }

private:
  static std::pair<int64_t, int64_t> bytesOf(Value place) {
    auto alloc = place.getDefiningOp<SharedAllocOp>();
    int64_t offset = *alloc.getOffset();
    return {offset, offset + alloc.getType().bytes()};
  }

  void barrier(Operation &before, Pending &pending) {
    OpBuilder builder(&before);
    tilegpu::BarrierOp::create(builder, before.getLoc());
    pending = {};
  }

  void visit(Operation &op, Pending &pending) {
    if (isa<tilegpu::BarrierOp>(op)) {
      pending = {};
    } else if (auto store = dyn_cast<tilegpu::SharedStoreOp>(op)) {
      auto range = bytesOf(store.getPlace());
      if (Pending::meets(pending.reads, range) || Pending::meets(pending.writes, range))
        barrier(op, pending);
      pending.writes.insert(range);
    } else if (isa<tilegpu::SharedLoadOp, tilegpu::SharedGatherOp>(op)) {
      auto range = bytesOf(op.getOperand(0));
      if (Pending::meets(pending.writes, range))
        barrier(op, pending);
      pending.reads.insert(range);
    } else if (isa<LoopLikeOpInterface>(op)) {
      visitLoop(op, pending);
    } else if (op.getNumRegions() > 0) {
      Pending after = op.getNumRegions() == 1 || op.getRegion(1).empty() ? pending : Pending();
      for (Region &region : op.getRegions())
        for (Block &block : region) {
          Pending inside = pending;
          visit(block, inside);
          after.add(inside);
        }
      pending = after;
    }
  }

  /// Whether anything inside an operation must wait for what is pending.
  bool mustWait(Operation &op, const Pending &pending) {
    return op
        .walk([&](Operation *inner) {
          bool waits = false;
          if (auto store = dyn_cast<tilegpu::SharedStoreOp>(inner)) {
            auto range = bytesOf(store.getPlace());
            waits = Pending::meets(pending.reads, range) || Pending::meets(pending.writes, range);
          } else if (isa<tilegpu::SharedLoadOp, tilegpu::SharedGatherOp>(inner)) {
            waits = Pending::meets(pending.writes, bytesOf(inner->getOperand(0)));
          }
          return waits ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  }

  /// Waits once before a loop rather than in each of its iterations. What is pending at the end of the body also is at
  /// its start.
  void visitLoop(Operation &loop, Pending &pending) {
    if (mustWait(loop, pending))
      barrier(loop, pending);
    Pending start = pending;
    while (true) {
      Pending end = start;
      for (Region &region : loop.getRegions())
        for (Block &block : region)
          visit(block, end);
      Pending next = start;
      next.add(end);
      if (next == start) {
        pending = next;
        return;
      }
      start = next;
    }
  }
};

struct TileGPUPlanMemory : tilejit::impl::TileGPUPlanMemoryPassBase<TileGPUPlanMemory> {
  using TileGPUPlanMemoryPassBase::TileGPUPlanMemoryPassBase;

  void runOnOperation() override {
    for (tile::KernelOp kernel : getOperation().getOps<tile::KernelOp>())
      if (failed(plan(kernel)))
        return signalPassFailure();
  }

private:
  LogicalResult plan(tile::KernelOp kernel) {
    SmallVector<Place> places = findPlaces(kernel);
    int64_t total = assignOffsets(places);
    OpBuilder builder(kernel.getContext());
    for (Place &place : places)
      place.alloc.setOffset(place.offset);
    kernel->setAttr(tilegpu::TileGPUDialect::sharedBytesAttrName, builder.getI64IntegerAttr(total));
    if (total > limit)
      return kernel.emitOpError("needs ") << total << " bytes of on-chip memory, the chip has " << limit.getValue()
                                          << " for a block: lower bm, bn or bk";
    Pending pending;
    BarrierInserter().visit(kernel.getBody().front(), pending);
    return success();
  }
};
} // namespace
