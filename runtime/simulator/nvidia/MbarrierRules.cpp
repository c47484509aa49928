// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Instructions on mbarriers: intrinsics and assembly. Waits that find a phase incomplete let others run; how long they
// may suspend is not looked at. Arrivals reach barriers of other blocks of the cluster; waits are for the block's own.

#include "core/Block.h"
#include "core/Handlers.h"
#include "nvidia/Capability.h"
#include "nvidia/Mbarrier.h"
#include "nvidia/ProxyFence.h"

#include <algorithm>

namespace tilejit::sim {

namespace {

constexpr unsigned countBits = 20; ///< Of a state: pending arrivals below, phase above.

uint64_t stateOf(const Mbarrier &barrier) { return barrier.phase << countBits | barrier.pending; }

/// Calls f(barrier, lane) for the active lanes whose mbarrier is good.
template <class F> void forEachBarrier(Warp &warp, const Op &op, F f) {
  const uint64_t *address = warp.reg<uint64_t>(op.a);
  forEachLane(warp.mask, [&](unsigned lane) {
    if (Mbarrier *barrier = findMbarrier(warp, lane, op.site, sharedOffset(address[lane])))
      f(*barrier, lane);
  });
}

/// a: address, b: count.
void init(Warp &warp, const Op &op) {
  const uint64_t *address = warp.reg<uint64_t>(op.a);
  const uint32_t *count = warp.reg<uint32_t>(op.b);
  forEachLane(warp.mask,
              [&](unsigned lane) { initMbarrier(warp, lane, op.site, sharedOffset(address[lane]), count[lane]); });
}

/// a: address.
void invalidate(Warp &warp, const Op &op) {
  const uint64_t *address = warp.reg<uint64_t>(op.a);
  forEachLane(warp.mask, [&](unsigned lane) { invalidateMbarrier(warp, lane, op.site, sharedOffset(address[lane])); });
}

/// Bits of imm of arrivals and waits.
constexpr int64_t drops = 1, noComplete = 2, expects = 4, isRelaxed = 8, byParity = 16, hasState = 32;

void drop(Warp &warp, unsigned lane, uint32_t site, Mbarrier &barrier, uint32_t count) {
  if (count > barrier.expected)
    warp.block->reportAt(ReportKind::Barrier, site, warp, lane, Space::Shared, barrier.address,
                         "more participants leave an mbarrier than it has", "each may leave once");
  barrier.expected -= std::min(count, barrier.expected);
}

/// d: the state before (hasState); a: address; b: arrivals, or with `expects` bytes.
void arrive(Warp &warp, const Op &op) {
  Block &block = *warp.block;
  const uint32_t *amount = warp.reg<uint32_t>(op.b);
  const Mbarrier *published = nullptr;
  uint64_t states[32] = {};
  if (!(op.imm & isRelaxed))
    block.ordering.release(warp.index);
  forEachBarrier(warp, op, [&](Mbarrier &barrier, unsigned lane) {
    uint32_t count = op.imm & expects ? 1 : amount[lane];
    states[lane] = stateOf(barrier);
    if (!(op.imm & isRelaxed) && published != &barrier)
      publishAt(block, barrier, warp.index);
    published = &barrier;
    if (op.imm & expects)
      countBytes(block, barrier, warp, lane, op.site, -int64_t(amount[lane]));
    if (op.imm & drops)
      drop(warp, lane, op.site, barrier, count);
    if ((op.imm & noComplete) && count >= barrier.pending)
      block.reportAt(ReportKind::Barrier, op.site, warp, lane, Space::Shared, barrier.address,
                     "an arrival that must not complete a phase completes it", "use mbarrier.arrive");
    arriveAt(block, barrier, warp, lane, op.site, count);
  });
  if (op.imm & hasState)
    blend<32>(warp.reg<uint64_t>(op.d), states, warp.mask);
}

/// a: address; b: bytes. imm: 1 for complete_tx, -1 for expect_tx.
void countTransfers(Warp &warp, const Op &op) {
  const uint32_t *bytes = warp.reg<uint32_t>(op.b);
  forEachBarrier(warp, op, [&](Mbarrier &barrier, unsigned lane) {
    countBytes(*warp.block, barrier, warp, lane, op.site, op.imm * int64_t(bytes[lane]));
  });
}

/// Whether the phase that a lane asks for is complete.
bool isComplete(Warp &warp, const Op &op, const Mbarrier &barrier, unsigned lane) {
  if (op.imm & byParity)
    return (barrier.phase & 1) != (warp.reg<uint32_t>(op.b)[lane] & 1);
  uint64_t phase = warp.reg<uint64_t>(op.b)[lane] >> countBits;
  if (phase > barrier.phase || phase + 1 < barrier.phase)
    warp.block->reportAt(ReportKind::Barrier, op.site, warp, lane, Space::Shared, barrier.address,
                         "a wait for a phase that is neither the present one nor the one before",
                         "wait with the state that the arrival of this phase gave");
  return phase != barrier.phase;
}

/// d: complete; a: address; b: parity or state.
void wait(Warp &warp, const Op &op) {
  Block &block = *warp.block;
  std::vector<uint32_t> &polled = warp.nvidia->polled;
  const Mbarrier *acquired = nullptr;
  uint8_t complete[32];
  std::fill(std::begin(complete), std::end(complete), 1); // Who waits for nothing must not wait for ever.
  polled.clear();
  forEachBarrier(warp, op, [&](Mbarrier &barrier, unsigned lane) {
    complete[lane] = isComplete(warp, op, barrier, lane);
    if (block.shared.ownerOf(barrier.address) != warp.rank)
      block.reportAt(ReportKind::Barrier, op.site, warp, lane, Space::Shared, barrier.address,
                     "a wait at an mbarrier of another block", "only the block that has an mbarrier may wait for it");
    if (!complete[lane]) {
      if (polled.empty() || polled.back() != barrier.address)
        polled.push_back(barrier.address);
    } else if (!(op.imm & isRelaxed) && acquired != &barrier) {
      block.ordering.acquire(warp.index, barrier.done, warp.mask);
      joinInto(block.ordering.proxySeen(warp.index), barrier.doneProxy);
      acquired = &barrier;
    }
  });
  blend<32>(warp.reg<uint8_t>(op.d), complete, warp.mask);
  if (polled.empty())
    return;
  warp.stop = true;
  warp.request = Warp::Request::Pause;
}

/// d: pending arrivals of the state a.
void pendingCount(Warp &warp, const Op &op) {
  const uint64_t *state = warp.reg<uint64_t>(op.a);
  map<32>(warp.mask, warp.reg<uint32_t>(op.d),
          [=](unsigned l) { return static_cast<uint32_t>(state[l] & mostArrivals); });
}

// --- Decoding -------------------------------------------------------------------------------------------------------

int64_t formOf(bool isDrop, bool isNoComplete, bool isExpect, bool relaxed) {
  return (isDrop ? drops : 0) | (isNoComplete ? noComplete : 0) | (isExpect ? expects : 0) | (relaxed ? isRelaxed : 0);
}

void emitArrive(Decoder &decoder, int64_t form, Reg address, Reg amount, const Reg *state) {
  Op &op = decoder.emit(arrive);
  op.a = address;
  op.b = amount;
  op.registers |= Op::HasA | Op::HasB;
  op.imm = form;
  if (!state)
    return;
  op.d = *state;
  op.registers |= Op::HasD;
  op.imm |= hasState;
}

void emitPair(Decoder &decoder, Handler handler, Reg address, Reg other, int64_t imm = 0) {
  Op &op = decoder.emit(handler);
  op.a = address;
  op.b = other;
  op.registers |= Op::HasA | Op::HasB;
  op.imm = imm;
}

void emitInvalidate(Decoder &decoder, Reg address) {
  Op &op = decoder.emit(invalidate);
  op.a = address;
  op.registers |= Op::HasA;
}

bool begin(Decoder &decoder, llvm::StringRef what, bool isNew) {
  decoder.noteSharedAccess(8, 8);
  return needsChip(decoder, isNew ? 90 : 80, what);
}

/// llvm.nvvm.mbarrier.*
void mbarrierCall(Call &call) {
  Decoder &decoder = call.decoder;
  llvm::SmallVector<llvm::StringRef, 12> words;
  llvm::StringRef rest = call.name;
  rest.consume_front("llvm.nvvm.mbarrier.");
  rest.split(words, '.');
  auto has = [&](llvm::StringRef word) { return llvm::is_contained(words, word); };
  llvm::StringRef verb = words[0];
  bool isNew = has("scope") || has("expect") || has("try");
  if (!begin(decoder, call.name, isNew))
    return;
  if (verb == "init")
    return emitPair(decoder, init, call.reg(0), call.reg(1));
  if (verb == "inval")
    return emitInvalidate(decoder, call.reg(0));
  if (verb == "pending") {
    decoder.emit(pendingCount, call.result(), {call.reg(0)});
    return;
  }
  if (verb == "expect" || verb == "complete")
    return emitPair(decoder, countTransfers, call.reg(0), call.reg(1), verb == "expect" ? -1 : 1);
  if (verb == "test" || verb == "try") {
    decoder.emit(wait, call.result(), {call.reg(0), call.reg(1)},
                 (has("parity") ? byParity : 0) | (has("relaxed") ? isRelaxed : 0));
    return;
  }
  if (verb != "arrive")
    return decoder.fail("unsupported intrinsic '" + call.name + "'");
  Reg amount = call.size() > 1 ? call.reg(1) : decoder.constant(Kind::I32, 1);
  int64_t form = formOf(has("drop"), has("noComplete"), has("expect"), has("relaxed"));
  if (call.call.getType()->isVoidTy())
    return emitArrive(decoder, form, call.reg(0), amount, nullptr);
  Reg state = call.result();
  emitArrive(decoder, form, call.reg(0), amount, &state);
}

void arriveStatement(AsmStatement &s) {
  bool isExpect = s.has("expect_tx");
  if (s.operands.empty())
    return s.decoder.fail("malformed assembly: '" + s.text + "' has no operands");
  const AsmOperand &sink = s.operands[0];
  unsigned first = sink.form == AsmOperand::Form::Memory ? 0 : 1; // Some leave the `_` out.
  int64_t form = formOf(s.has("arrive_drop"), s.has("noComplete"), isExpect, s.has("relaxed"));
  Reg address = s.address(first);
  Reg amount =
      s.operands.size() > first + 1 || isExpect ? s.reg(first + 1, Kind::I32) : s.decoder.constant(Kind::I32, 1);
  if (!first || sink.form == AsmOperand::Form::Ignored)
    return emitArrive(s.decoder, form, address, amount, nullptr);
  Reg state = s.reg(0, Kind::I64);
  emitArrive(s.decoder, form, address, amount, &state);
}

void mbarrierStatement(AsmStatement &s) {
  Decoder &decoder = s.decoder;
  llvm::StringRef verb = s.words.size() > 1 ? s.words[1] : "";
  bool isNew = verb == "expect_tx" || verb == "complete_tx" || verb == "try_wait" || s.has("expect_tx") ||
               s.has("shared::cluster");
  if (!begin(decoder, s.mnemonic, isNew))
    return;
  if (verb == "init")
    return emitPair(decoder, init, s.address(0), s.reg(1, Kind::I32));
  if (verb == "inval")
    return emitInvalidate(decoder, s.address(0));
  if (verb == "pending_count") {
    decoder.emit(pendingCount, s.reg(0, Kind::I32), {s.reg(1, Kind::I64)});
    return;
  }
  if (verb == "expect_tx" || verb == "complete_tx")
    return emitPair(decoder, countTransfers, s.address(0), s.reg(1, Kind::I32), verb == "expect_tx" ? -1 : 1);
  if (verb == "test_wait" || verb == "try_wait") {
    bool parity = s.has("parity");
    Reg complete = s.reg(0, Kind::I1), address = s.address(1), value = s.reg(2, parity ? Kind::I32 : Kind::I64);
    decoder.emit(wait, complete, {address, value}, (parity ? byParity : 0) | (s.has("relaxed") ? isRelaxed : 0));
    return;
  }
  if (verb == "arrive" || verb == "arrive_drop")
    return arriveStatement(s);
  decoder.fail("unsupported assembly '" + s.mnemonic + "'");
}

} // namespace

void addNvidiaMbarrierRules(Rules &rules) {
  rules.callPrefix("llvm.nvvm.mbarrier.", mbarrierCall);
  addProxyFenceRules(rules);
  rules.assembly("mbarrier", mbarrierStatement);
}

} // namespace tilejit::sim
