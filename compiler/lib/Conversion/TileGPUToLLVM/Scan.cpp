// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Scans within a warp, one bit of the coordinate after the other: once blocks of 2^b elements are scanned, the upper
// block of each pair is combined with the last element of the lower one (Sklansky's network, IRE Trans. EC-9, 1960).
// Works for any layout in which no warp shares the dimension.

#include "Exchange.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilejit;
using namespace tilejit::gpu;

namespace {

class Scan {
public:
  Scan(KernelEmitter &e, tile::ScanOp op)
      : e(e), op(op), layout(tilegpu::layoutOf(op.getInputs().front())), shift(layout.shiftOf(int(op.getAxis()))),
        bits(int(llvm::Log2_64(uint64_t(layout.getShape()[op.getAxis()])))) {}

  LogicalResult run() {
    SmallVector<Value> values = llvm::map_to_vector(op.getInputs(), [&](Value value) { return e.get(value); });
    for (int bit = 0; bit < bits; ++bit) {
      FailureOr<SmallVector<Value>> next = step(bit, values);
      if (failed(next))
        return failure();
      values = *next;
    }
    for (auto [result, value] : llvm::zip(op.getResults(), values))
      e.set(result, value);
    return success();
  }

private:
  /// Where a bit of the coordinate is: in a register bit or in a lane bit.
  std::optional<std::pair<bool, int>> find(int bit) const {
    int64_t element = int64_t{1} << (shift + bit);
    auto at = [&](ArrayRef<int64_t> places) {
      auto found = llvm::find(places, element);
      return found == places.end() ? -1 : int(found - places.begin());
    };
    if (int place = at(layout.getRegisters()); place >= 0)
      return std::pair(true, place);
    if (int place = at(layout.getLanes()); place >= 0)
      return std::pair(false, place);
    return std::nullopt;
  }

  FailureOr<SmallVector<Value>> step(int bit, ArrayRef<Value> values) {
    // In direction of the scan the last element of a block has all lower bits set (cleared in reverse).
    bool reverse = op.getReverse();
    auto own = find(bit);
    if (!own)
      return FailureOr<SmallVector<Value>>(e.refuse(op, "its layout is shared between warps"));
    int64_t lowRegisters = 0, lowLanes = 0;
    for (int lower = 0; lower < bit; ++lower) {
      auto place = find(lower);
      (place->first ? lowRegisters : lowLanes) |= int64_t{1} << place->second;
    }
    int64_t ownRegister = own->first ? int64_t{1} << own->second : 0,
            ownLane = own->first ? 0 : int64_t{1} << own->second;

    // The register that holds the earlier block's last element, for each register.
    SmallVector<int64_t> source;
    for (int64_t reg = 0; reg < layout.numRegisters(); ++reg) {
      int64_t from = reverse ? (reg & ~lowRegisters) | ownRegister : (reg | lowRegisters) & ~ownRegister;
      source.push_back(from);
    }
    SmallVector<Value> earlier = llvm::map_to_vector(values, [&](Value value) { return e.pick(value, {}, source); });
    if (lowLanes != 0 || ownLane != 0) {
      Value lane = sourceLane(lowLanes, ownLane, reverse);
      for (Value &value : earlier)
        value = fromLane(e, value, lane);
    }
    SmallVector<Value> both = combine(e, op.getCombiner(), earlier, values);
    Value isLater = laterElements(ownRegister, own->first ? -1 : own->second, reverse);
    if (reverse)
      isLater = e.both(isLater, startsInside(bit));
    SmallVector<Value> next;
    for (auto [joined, value] : llvm::zip(both, values))
      next.push_back(arith::SelectOp::create(e.b, e.loc, isLater, joined, value));
    return next;
  }

  /// Of which elements the block above starts inside the tile, null where all do: in reverse, what pads the tile would
  /// come first.
  Value startsInside(int bit) {
    auto axis = int(op.getAxis());
    int64_t size = cast<RankedTensorType>(op.getInputs().front().getType()).getDimSize(axis);
    if (llvm::isPowerOf2_64(uint64_t(size)))
      return {};
    Value at = e.coordinateVector(layout, axis), low = e.integer(at.getType(), -(int64_t{2} << bit));
    Value pair = arith::AndIOp::create(e.b, e.loc, at, low);
    Value start = arith::OrIOp::create(e.b, e.loc, pair, e.integer(at.getType(), int64_t{1} << bit));
    return arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::ult, start, e.integer(at.getType(), size));
  }

  Value sourceLane(int64_t lowLanes, int64_t ownLane, bool reverse) {
    Type i32 = e.b.getI32Type();
    int64_t lanes = (int64_t{1} << e.laneBits()) - 1;
    Value lane = arith::AndIOp::create(e.b, e.loc, e.thread(), e.integer(i32, lanes));
    int64_t set = reverse ? ownLane : lowLanes, clear = reverse ? lowLanes : ownLane;
    lane = arith::OrIOp::create(e.b, e.loc, lane, e.integer(i32, set));
    return arith::AndIOp::create(e.b, e.loc, lane, e.integer(i32, lanes & ~clear));
  }

  /// Which elements lie in the later block of their pair.
  Value laterElements(int64_t ownRegister, int ownLane, bool reverse) {
    int64_t count = layout.numRegisters();
    if (ownLane >= 0) {
      Value later = laneBit(e, ownLane);
      if (reverse)
        later = arith::XOrIOp::create(e.b, e.loc, later, e.integer(later.getType(), 1));
      return e.splat(later, count);
    }
    SmallVector<bool> later;
    for (int64_t reg = 0; reg < count; ++reg)
      later.push_back(((reg & ownRegister) != 0) != reverse);
    auto type = VectorType::get({count}, e.b.getI1Type());
    return arith::ConstantOp::create(e.b, e.loc, DenseElementsAttr::get(type, later));
  }

  KernelEmitter &e;
  tile::ScanOp op;
  LayoutAttr layout;
  int shift, bits;
};

} // namespace

static LogicalResult lowerScan(KernelEmitter &e, Operation *op) { return Scan(e, cast<tile::ScanOp>(op)).run(); }

void gpu::registerScan(LoweringTable &table) { table[tile::ScanOp::getOperationName()] = lowerScan; }
