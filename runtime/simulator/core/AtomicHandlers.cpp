// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Execution of atomic operations: sorts the lanes' pointers by space, waits for the turn of the block where others may
// see it, then lets the lanes act one after the other.

#include "core/AtomicHandlers.h"

#include "core/Block.h"
#include "core/GlobalShadow.h"
#include "core/NarrowFloat.h"
#include "core/Pointers.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>

namespace tilejit::sim {

namespace {

constexpr unsigned mostElements = maxAtomicElements;
constexpr uint64_t untouchedPattern = 0xbdbdbdbdbdbdbdbdull;

uint64_t loadBits(const uint8_t *from, unsigned bytes) {
  uint64_t bits = 0;
  std::memcpy(&bits, from, bytes);
  return bits;
}

int64_t signedValue(uint64_t bits, unsigned bytes) {
  unsigned shift = 64 - 8 * bytes;
  return static_cast<int64_t>(bits << shift) >> shift;
}

/// What a read-modify-write of integers leaves in memory; only the low bytes count.
uint64_t integerResult(AtomicOp op, unsigned bytes, uint64_t old, uint64_t value) {
  switch (op) {
  case AtomicOp::Add:
    return old + value;
  case AtomicOp::Sub:
    return old - value;
  case AtomicOp::And:
    return old & value;
  case AtomicOp::Nand:
    return ~(old & value);
  case AtomicOp::Or:
    return old | value;
  case AtomicOp::Xor:
    return old ^ value;
  case AtomicOp::Max:
    return signedValue(old, bytes) > signedValue(value, bytes) ? old : value;
  case AtomicOp::Min:
    return signedValue(old, bytes) < signedValue(value, bytes) ? old : value;
  case AtomicOp::UMax:
    return std::max(old, value);
  case AtomicOp::UMin:
    return std::min(old, value);
  case AtomicOp::IncrementWrap:
    return old >= value ? 0 : old + 1;
  case AtomicOp::DecrementWrap:
    return old == 0 || old > value ? value : old - 1;
  case AtomicOp::SubConditional:
    return old >= value ? old - value : old;
  case AtomicOp::SubSaturating:
    return old >= value ? old - value : 0;
  default: // Exchange.
    return value;
  }
}

template <class T> T floatResult(AtomicOp op, T old, T value) {
  bool isMax = op == AtomicOp::FMax || op == AtomicOp::FMaximum;
  switch (op) {
  case AtomicOp::FAdd:
    return old + value;
  case AtomicOp::FSub:
    return old - value;
  case AtomicOp::FMax:
  case AtomicOp::FMin:
    if (std::isnan(old) || std::isnan(value))
      return std::isnan(old) ? value : old;
    break;
  case AtomicOp::FMaximum:
  case AtomicOp::FMinimum:
    if (std::isnan(old) || std::isnan(value))
      return std::numeric_limits<T>::quiet_NaN();
    break;
  default: // Exchange.
    return value;
  }
  if (old == value) // Zeros: the signed one is smaller.
    return std::signbit(old) == isMax ? value : old;
  return (old > value) == isMax ? old : value;
}

uint64_t rmwResult(AtomicOp op, Kind kind, unsigned bytes, uint64_t old, uint64_t value) {
  if (op == AtomicOp::Exchange)
    return value;
  switch (kind) {
  case Kind::F32:
    return std::bit_cast<uint32_t>(floatResult(op, std::bit_cast<float>(static_cast<uint32_t>(old)),
                                               std::bit_cast<float>(static_cast<uint32_t>(value))));
  case Kind::F64:
    return std::bit_cast<uint64_t>(floatResult(op, std::bit_cast<double>(old), std::bit_cast<double>(value)));
  case Kind::F16:
    return floatToF16(
        floatResult(op, f16ToFloat(static_cast<uint16_t>(old)), f16ToFloat(static_cast<uint16_t>(value))));
  case Kind::BF16:
    return floatToBf16(
        floatResult(op, bf16ToFloat(static_cast<uint16_t>(old)), bf16ToFloat(static_cast<uint16_t>(value))));
  default:
    return integerResult(op, bytes, old, value);
  }
}

template <class T> void updateTogether(uint8_t *place, AtomicOp op, uint64_t value) {
  std::atomic_ref<T> cell(*reinterpret_cast<T *>(place));
  T old = cell.load(std::memory_order_relaxed);
  while (!cell.compare_exchange_weak(old, static_cast<T>(integerResult(op, sizeof(T), old, value)),
                                     std::memory_order_relaxed)) {
  }
}

/// Without a result, these leave the same behind in whatever order blocks do them: they need no turn.
bool isCommutative(AtomicOp op, Kind kind) {
  bool isFloat = kind == Kind::F16 || kind == Kind::BF16 || kind == Kind::F32 || kind == Kind::F64;
  return !isFloat && (op == AtomicOp::Add || op == AtomicOp::Sub || op == AtomicOp::And || op == AtomicOp::Or ||
                      op == AtomicOp::Xor || op == AtomicOp::Max || op == AtomicOp::Min || op == AtomicOp::UMax ||
                      op == AtomicOp::UMin);
}

/// Whether bytes that a read-modify-write is about to read were written.
bool wasWritten(Block &block, Warp &warp, Space space, unsigned lane, uint64_t address, uint32_t size) {
  if (space == Space::Shared)
    return !block.shared.holds(address, size) || block.shared.written(address, size);
  const uint8_t *flags = nullptr;
  if (space == Space::Global) {
    const Allocation *allocation = block.launch().memory->find(address, size);
    if (allocation && !allocation->written.empty())
      flags = allocation->written.data() + (address - allocation->base);
  } else if (!warp.localWritten.empty() && address + size <= block.program().localBytes) {
    flags = warp.localWritten.data() + size_t(lane) * block.program().localBytes + address;
  }
  return !flags || !std::memchr(flags, 0, size);
}

/// One execution by the active lanes of a warp.
class Execution {
public:
  Execution(Warp &warp, const Op &op)
      : warp_(warp), block_(*warp.block), op_(op), x_(*op.x), spec_(AtomicCode::unpack(op.imm)) {
    access_.size = static_cast<uint32_t>(x_.numbers[0]);
    access_.alignment = static_cast<uint32_t>(x_.numbers[1]);
    access_.site = op.site;
    access_.atomic = true;
    access_.write = spec_.op != AtomicOp::Load;
    elements_ =
        spec_.op == AtomicOp::Load ? x_.out.size() : x_.in.size() / (spec_.op == AtomicOp::CompareExchange ? 2 : 1);
    // The blocks of a cluster run as one.
    isWide_ = spec_.scope > AtomicScope::Cluster;
    access_.narrow = !isWide_;
  }

  template <unsigned W> void run() {
    const uint64_t *pointer = warp_.reg<uint64_t>(op_.a);
    if (isWide_ && pointsToGlobal<W>(pointer) && !(isAtOnce_ = canActAtOnce(pointer)) && !block_.inWorld(warp_))
      return;
    readOperands();
    if (spec_.release)
      block_.ordering.release(warp_.index);
    forEachSpace<W>(warp_, pointer, spec_.addressSpace,
                    [&](Space space, const uint64_t *address, LaneMask lanes) { act(space, address, lanes); });
    if (spec_.resultUsed) {
      ++warp_.looks;
      writeResults();
    }
  }

private:
  bool reads() const { return spec_.op != AtomicOp::Store; }
  bool writes() const { return spec_.op != AtomicOp::Load; }
  unsigned bytesOf(size_t element) const { return static_cast<unsigned>(x_.numbers[2 + element]); }

  template <unsigned W> bool pointsToGlobal(const uint64_t *pointer) {
    bool found = false;
    forEachSpace<W>(warp_, pointer, spec_.addressSpace,
                    [&](Space space, const uint64_t *, LaneMask) { found |= space == Space::Global; });
    return found;
  }

  bool canActAtOnce(const uint64_t *pointer) const {
    if (spec_.resultUsed || spec_.acquire || spec_.release || !writes() || !reads() || block_.launch().alone ||
        !isCommutative(spec_.op, x_.inKinds[0]))
      return false;
    if (block_.launch().globalShadow && block_.launch().globalShadow->hasReleased(block_, warp_))
      return false;
    uint64_t low = 0;
    forEachLane(warp_.mask, [&](unsigned l) { low |= pointer[l]; });
    return low % bytesOf(0) == 0;
  }

  // Registers of results may be those of operands, so all are read before any is written.
  void readOperands() {
    for (size_t i = 0; i < x_.in.size(); ++i) {
      unsigned bytes = sizeOf(x_.inKinds[i]);
      const uint8_t *from = warp_.registers + x_.in[i];
      forEachLane(warp_.mask, [&](unsigned l) { operand_[i][l] = loadBits(from + l * bytes, bytes); });
    }
  }

  void writeResults() {
    for (size_t i = 0; i < x_.out.size(); ++i) {
      unsigned bytes = sizeOf(x_.outKinds[i]);
      uint8_t *to = warp_.registers + x_.out[i];
      forEachLane(warp_.mask, [&](unsigned l) { std::memcpy(to + l * bytes, &result_[i][l], bytes); });
      if (x_.outKinds[i] == Kind::I1)
        forEachLane(warp_.mask, [&](unsigned l) { to[l] &= 1; });
    }
  }

  void act(Space space, const uint64_t *address, LaneMask lanes) {
    if (reads() && writes() && block_.checks(Check::Uninitialized))
      forEachLane(lanes, [&](unsigned l) {
        if (!wasWritten(block_, warp_, space, l, address[l], access_.size))
          block_.reportAt(ReportKind::Uninitialized, op_.site, warp_, l, space, address[l],
                          "atomic operation on memory that nobody wrote", "set it before the first atomic operation");
      });
    LaneMask ok = block_.access(warp_, space, address, lanes, access_);
    block_.counters[op_.site].atomics += countLanes(ok);
    order(space, address, ok);
    forEachLane(lanes & ~ok, [&](unsigned l) {
      for (size_t i = 0; i < x_.out.size(); ++i)
        result_[i][l] = untouchedPattern;
    });
    forEachLane(ok, [&](unsigned l) { actLane(block_.at(warp_, space, l, address[l]), space, l); });
  }

  /// What the operation hands over and takes over.
  void order(Space space, const uint64_t *address, LaneMask lanes) {
    if (space == Space::Local || !block_.checks(Check::Race))
      return;
    GlobalShadow *shadow = space == Space::Global && isWide_ ? block_.launch().globalShadow : nullptr;
    bool alone = block_.program().lockStep && block_.warps.size() == 1 && (!shadow || block_.launch().alone);
    bool nothing =
        !spec_.acquire && !spec_.release && block_.handed.empty() && !block_.ordering.hasUnseenRelease(warp_.index);
    if (shadow && isAtOnce_) {
      shadow->noteSignal(block_);
      shadow = nullptr;
    }
    if (alone || (nothing && !shadow))
      return;
    uint64_t last = ~0ull;
    forEachLane(lanes, [&](unsigned l) {
      if (address[l] == last)
        return;
      last = address[l];
      if (shadow)
        shadow->atomic(block_, warp_, last, reads(), writes(), spec_.acquire, spec_.release);
      block_.handed.act(block_.ordering, warp_.index, warp_.mask, windowOf(space) + last, reads(), writes(),
                        spec_.acquire, spec_.release);
    });
  }

  void actLane(uint8_t *place, Space space, unsigned lane) {
    for (size_t i = 0; i < elements_; ++i) {
      uint8_t *at = place + x_.offsets[i];
      unsigned bytes = bytesOf(i);
      if (isAtOnce_ && space == Space::Global) {
        updateAtOnce(at, bytes, operand_[i][lane]);
        continue;
      }
      uint64_t old = loadBits(at, bytes), next = operand_[i][lane];
      if (i < x_.out.size())
        result_[i][lane] = old;
      if (spec_.op == AtomicOp::Load)
        continue;
      if (spec_.op == AtomicOp::CompareExchange) {
        if (old != loadBits(reinterpret_cast<const uint8_t *>(&operand_[i][lane]), bytes))
          continue;
        next = operand_[i + elements_][lane];
      } else if (spec_.op != AtomicOp::Store) {
        next = rmwResult(spec_.op, x_.inKinds[i], bytes, old, next);
      }
      std::memcpy(at, &next, bytes);
    }
  }

  void updateAtOnce(uint8_t *at, unsigned bytes, uint64_t value) const {
    if (bytes == 1)
      updateTogether<uint8_t>(at, spec_.op, value);
    else if (bytes == 2)
      updateTogether<uint16_t>(at, spec_.op, value);
    else if (bytes == 4)
      updateTogether<uint32_t>(at, spec_.op, value);
    else
      updateTogether<uint64_t>(at, spec_.op, value);
  }

  Warp &warp_;
  Block &block_;
  const Op &op_;
  const OpOperands &x_;
  AtomicCode spec_;
  Access access_;
  size_t elements_ = 1;
  bool isWide_ = false, isAtOnce_ = false;
  uint64_t operand_[2 * mostElements][64];
  uint64_t result_[mostElements][64];
};

template <unsigned W> void atomicOperation(Warp &warp, const Op &op) { Execution(warp, op).run<W>(); }

void fenceOperation(Warp &warp, const Op &op) {
  AtomicCode code = AtomicCode::unpack(op.imm);
  warp.block->fence(warp, code.release, code.acquire, static_cast<Block::Scope>(code.scope));
}

} // namespace

int64_t AtomicCode::pack() const {
  return static_cast<int64_t>(static_cast<uint64_t>(op) | uint64_t(acquire) << 8 | uint64_t(release) << 9 |
                              uint64_t(resultUsed) << 10 | uint64_t(scope) << 16 | uint64_t(addressSpace) << 32);
}

AtomicCode AtomicCode::unpack(int64_t code) {
  auto bits = static_cast<uint64_t>(code);
  AtomicCode result;
  result.op = static_cast<AtomicOp>(bits & 0xff);
  result.acquire = bits >> 8 & 1;
  result.release = bits >> 9 & 1;
  result.resultUsed = bits >> 10 & 1;
  result.scope = static_cast<AtomicScope>(bits >> 16 & 0xff);
  result.addressSpace = static_cast<unsigned>(bits >> 32);
  return result;
}

Handler atomicHandler(unsigned width) { return width == 64 ? &atomicOperation<64> : &atomicOperation<32>; }
Handler fenceHandler() { return &fenceOperation; }

void PlaceClocks::act(Ordering &ordering, unsigned warp, LaneMask lanes, uint64_t place, bool reads, bool writes,
                      bool acquire, bool release) {
  auto found = clocks_.find(place);
  VectorClock before = found == clocks_.end() ? VectorClock() : found->second;
  if (writes) {
    VectorClock after = release ? ordering.seen(warp) : ordering.releasedClock(warp);
    if (reads)
      joinInto(after, before); // A read-modify-write continues the release sequence.
    if (std::any_of(after.begin(), after.end(), [](uint32_t clock) { return clock != 0; }))
      clocks_[place] = std::move(after);
    else if (found != clocks_.end())
      clocks_.erase(found);
  }
  if (!reads || before.empty())
    return;
  if (acquire)
    ordering.acquire(warp, before, lanes);
  else
    ordering.offer(warp, before);
}

} // namespace tilejit::sim
