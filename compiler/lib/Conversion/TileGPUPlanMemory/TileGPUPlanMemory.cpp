// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The pass tile-gpu-plan-memory: offsets by liveness, barriers by the memory that accesses touch.

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

/// The argument that a view or a tile of pointers leads back to; null where that is not plain.
static Value rootOf(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<tile::ViewOp, tile::SubviewOp, tile::BaseOp, tile::AssumeOp, tile::SplatOp, tile::AddPtrOp,
             tile::BroadcastOp, tile::ExpandOp, tile::ReshapeOp, tile::TransposeOp, tilegpu::ConvertLayoutOp>(op))
      return {};
    value = op->getOperand(0);
  }
  return isa<tile::KernelOp>(value.getParentBlock()->getParentOp()) ? value : Value();
}

namespace {
/// An access to global memory. Different arguments lead to different memory, as the tile dialect promises.
struct GlobalAccess {
  enum Kind { Read, Write, Update };
  Kind kind;
  Value root;      ///< Null: any memory.
  Value view = {}; ///< Of a store: the view, if it is the same throughout the kernel, and the type of the tile.
  Type tile = {};

  /// Stores of tiles of one type to one view do not meet: the tiles coincide or lie apart, and the same thread writes
  /// an element each time. Loads have no such exception: at an edge, threads read elements of others in vain.
  bool meets(const GlobalAccess &later) const {
    if (kind == later.kind && (kind != Write || (view && view == later.view && tile == later.tile)))
      return false;
    return !root || !later.root || root == later.root;
  }
  bool operator==(const GlobalAccess &) const = default;
};

/// What was accessed since the last barrier.
struct Pending {
  using Ranges = std::set<std::pair<int64_t, int64_t>>;
  Ranges reads, writes; ///< Bytes of on-chip memory.
  SmallVector<GlobalAccess> global;

  static bool meets(const Ranges &ranges, std::pair<int64_t, int64_t> range) {
    return llvm::any_of(ranges, [&](auto other) { return other.first < range.second && range.first < other.second; });
  }
  void add(const GlobalAccess &access) {
    if (!llvm::is_contained(global, access))
      global.push_back(access);
  }
  void add(const Pending &other) {
    reads.insert(other.reads.begin(), other.reads.end());
    writes.insert(other.writes.begin(), other.writes.end());
    for (const GlobalAccess &access : other.global)
      add(access);
  }
  bool operator==(const Pending &) const = default;
};
} // namespace

static GlobalAccess storeAccess(tile::StoreOp store) {
  GlobalAccess access{GlobalAccess::Write, rootOf(store.getView())};
  if (isa<tile::KernelOp>(store.getView().getParentBlock()->getParentOp())) {
    access.view = store.getView();
    access.tile = store.getValue().getType();
  }
  return access;
}

static std::optional<GlobalAccess> globalAccess(Operation &op) {
  if (auto load = dyn_cast<tile::LoadOp>(op))
    return GlobalAccess{GlobalAccess::Read, rootOf(load.getView())};
  if (auto store = dyn_cast<tile::StoreOp>(op))
    return storeAccess(store);
  if (auto atomic = dyn_cast<tile::AtomicOp>(op))
    return GlobalAccess{GlobalAccess::Update, rootOf(atomic.getView())};
  if (auto gather = dyn_cast<tile::GatherOp>(op))
    return GlobalAccess{GlobalAccess::Read, rootOf(gather.getPointers())};
  if (auto scatter = dyn_cast<tile::ScatterOp>(op))
    return GlobalAccess{GlobalAccess::Write, rootOf(scatter.getPointers())};
  if (auto update = dyn_cast<tile::AtomicRmwOp>(op))
    return GlobalAccess{GlobalAccess::Update, rootOf(update.getPointers())};
  if (auto exchange = dyn_cast<tile::AtomicCasOp>(op))
    return GlobalAccess{GlobalAccess::Update, rootOf(exchange.getPointers())};
  return std::nullopt;
}

namespace {
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
    assert(alloc && "plan() asks for it");
    int64_t offset = *alloc.getOffset();
    return {offset, offset + alloc.getType().bytes()};
  }

  void barrier(Operation &before, Pending &pending) {
    OpBuilder builder(&before);
    tilegpu::BarrierOp::create(builder, before.getLoc());
    pending = {};
  }

  /// Whether an access by itself must wait for what is pending.
  static bool waits(Operation &op, const Pending &pending) {
    if (auto store = dyn_cast<tilegpu::SharedStoreOp>(op)) {
      auto range = bytesOf(store.getPlace());
      return Pending::meets(pending.reads, range) || Pending::meets(pending.writes, range);
    }
    if (isa<tilegpu::SharedLoadOp, tilegpu::SharedGatherOp>(op))
      return Pending::meets(pending.writes, bytesOf(op.getOperand(0)));
    std::optional<GlobalAccess> access = globalAccess(op);
    return access && llvm::any_of(pending.global, [&](const GlobalAccess &before) { return before.meets(*access); });
  }

  void visit(Operation &op, Pending &pending) {
    if (waits(op, pending))
      barrier(op, pending);
    if (isa<tilegpu::BarrierOp>(op)) {
      pending = {};
    } else if (auto store = dyn_cast<tilegpu::SharedStoreOp>(op)) {
      pending.writes.insert(bytesOf(store.getPlace()));
    } else if (isa<tilegpu::SharedLoadOp, tilegpu::SharedGatherOp>(op)) {
      pending.reads.insert(bytesOf(op.getOperand(0)));
    } else if (std::optional<GlobalAccess> access = globalAccess(op)) {
      pending.add(*access);
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
  static bool mustWait(Operation &op, const Pending &pending) {
    return op
        .walk(
            [&](Operation *inner) { return waits(*inner, pending) ? WalkResult::interrupt() : WalkResult::advance(); })
        .wasInterrupted();
  }

  /// Waits once before a loop rather than in each of its iterations. What is pending at the end of the body also is at
  /// its start. A while loop is left at the end of its first region.
  void visitLoop(Operation &loop, Pending &pending) {
    if (mustWait(loop, pending))
      barrier(loop, pending);
    Pending start = pending;
    while (true) {
      Pending end = start, leaving;
      for (Region &region : loop.getRegions()) {
        for (Block &block : region)
          visit(block, end);
        if (region.getRegionNumber() == 0)
          leaving = end;
      }
      Pending next = start;
      next.add(end);
      if (next == start) {
        pending = isa<scf::WhileOp>(loop) ? leaving : next;
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
  /// Places are known where they are used: none comes out of a branch.
  static LogicalResult checkPlaces(tile::KernelOp kernel) {
    WalkResult result = kernel.walk([](Operation *op) {
      for (Value operand : op->getOperands())
        if (isa<tilegpu::SharedType>(operand.getType()) && !operand.getDefiningOp<SharedAllocOp>()) {
          op->emitOpError("expected a place that tilegpu.shared_alloc gives");
          return WalkResult::interrupt();
        }
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  LogicalResult plan(tile::KernelOp kernel) {
    if (failed(checkPlaces(kernel)))
      return failure();
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
