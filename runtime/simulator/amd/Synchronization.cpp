// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Barriers of the work-group, waits for memory, and hints to the hardware. A wait matters here for loads to LDS only:
// all other results are there at once. Barriers order no memory by themselves on AMD; fences do, and they are plain
// LLVM.

#include "amd/Waits.h"

#include "amd/Rules.h"
#include "amd/State.h"
#include "core/Block.h"

#include <algorithm>
#include <cstring>

namespace tilejit::sim {

void landLdsCopies(Warp &warp, unsigned left) {
  Block &block = *warp.block;
  std::deque<LdsCopy> &copies = warp.amd->copies;
  while (copies.size() > left) {
    const LdsCopy &copy = copies.front();
    forEachLane(copy.lanes, [&](unsigned l) {
      std::memcpy(block.shared.data() + copy.address[l], copy.data.data() + size_t(l) * copy.size, copy.size);
    });
    block.shared.settleLanes(block, warp.index, copy.site, copy.address.data(), copy.lanes, copy.size, false);
    copies.pop_front();
    ++block.progress;
  }
}

namespace {

/// The barrier of the work-group. imm: copies to LDS land first, as the compiler waits there for the chip.
void barrier(Warp &warp, const Op &op) {
  if (op.imm && !warp.resumed)
    landLdsCopies(warp, 0);
  if (!warp.resumed)
    warp.block->waitAtBarrier(warp, 0, 0);
}

/// First half of the split barrier. d (I1, imm 1): the wave is the first one of the work-group to signal.
template <unsigned W> void signalBarrier(Warp &warp, const Op &op) {
  AmdWarpState &state = *warp.amd;
  if (state.signals != state.waits && warp.block->checks(Check::Divergence))
    warp.block->report(ReportKind::Barrier, op.site, warp, firstLane(warp.mask),
                       "the split barrier is signalled twice without a wait in between",
                       "put s.barrier.wait between the two signals");
  ++state.signals;
  if (!op.imm)
    return;
  bool first = std::all_of(warp.block->warps.begin(), warp.block->warps.end(),
                           [&](const Warp &other) { return &other == &warp || other.amd->signals < state.signals; });
  map<W>(warp.mask, warp.reg<uint8_t>(op.d), [&](unsigned) { return static_cast<uint8_t>(first); });
}

/// Second half. All waves wait here; what a wave does between the halves is not ordered, since only the fence before
/// the signal releases.
void waitBarrier(Warp &warp, const Op &op) {
  if (warp.resumed)
    return;
  AmdWarpState &state = *warp.amd;
  if (state.signals == state.waits && warp.block->checks(Check::Divergence))
    warp.block->report(ReportKind::Barrier, op.site, warp, firstLane(warp.mask),
                       "a wait at the split barrier without a signal", "put s.barrier.signal before the wait");
  state.waits = state.signals;
  warp.block->waitAtBarrier(warp, 0, 0);
}

/// At most imm loads to LDS stay on their way.
void waitForLoads(Warp &warp, const Op &op) {
  if (!warp.amd->copies.empty())
    landLdsCopies(warp, static_cast<unsigned>(op.imm));
}

void pause(Warp &warp, const Op &) {
  warp.stop = true;
  warp.request = Warp::Request::Pause;
}

void endProgram(Warp &warp, const Op &) { warp.block->exitLanes(warp); }

void halt(Warp &warp, const Op &op) {
  warp.block->report(ReportKind::Trap, op.site, warp, firstLane(warp.mask), "the wave was halted");
  warp.block->trap(warp);
}

void trap(Warp &warp, const Op &op) {
  warp.block->report(ReportKind::Trap, op.site, warp, firstLane(warp.mask),
                     "trap " + std::to_string(op.imm) + " executed");
  warp.block->trap(warp);
}

void emitPlain(Decoder &decoder, Handler handler, int64_t imm = 0) { decoder.emit(handler).imm = imm; }

/// Calls that have no meaning here; results, where there are some, are 0.
void ignore(Call &call) {
  if (call.call.getType()->isVoidTy())
    return;
  Regs zeros;
  for (const Leaf &leaf : call.decoder.leaves(call.call.getType()))
    zeros.push_back(call.decoder.constant(leaf.kind, 0));
  call.decoder.define(&call.call, zeros);
}

constexpr const char *hints[] = {
    "wave.barrier",
    "sched.barrier",
    "sched.group.barrier",
    "iglp.opt",
    "s.setprio",
    "s.setprio.inc.wg",
    "s.nop",
    "s.sendmsg",
    "s.dcache.inv",
    "s.dcache.inv.vol",
    "s.dcache.wb",
    "s.dcache.wb.vol",
    "buffer.wbinvl1",
    "buffer.wbinvl1.sc",
    "buffer.wbinvl1.vol",
    "s.incperflevel",
    "s.decperflevel",
    "s.ttracedata",
    "s.ttracedata.imm",
    "s.wait.bvhcnt",
    "s.wait.dscnt",
    "s.wait.expcnt",
    "s.wait.kmcnt",
    "s.wait.samplecnt",
    "s.wait.storecnt",
    "s.wait.event.export.ready",
    "s.buffer.prefetch.data",
    "flat.prefetch",
    "global.prefetch",
};

/// The only barrier of a work-group without names.
bool isWorkGroupBarrier(Call &call) {
  if (!requireChips(call, chipsRdna4))
    return false;
  int64_t which = call.constant(0);
  if (static_cast<int16_t>(which) == -1)
    return true;
  call.decoder.fail(llvm::Twine("unsupported barrier ") + llvm::Twine(which) + " of " + call.name);
  return false;
}

void signalRule(Call &call) {
  if (!isWorkGroupBarrier(call))
    return;
  if (call.call.getType()->isVoidTy())
    emitAmdSignal(call.decoder);
  else
    call.decoder.emit(call.decoder.pick(TILEJIT_BOTH(signalBarrier)), call.result(), {}, 1);
}

} // namespace

// --- Shared with assembly
// ---------------------------------------------------------------------------------------------

void emitAmdBarrier(Decoder &decoder) {
  // Chips that trap in a barrier with memory in flight get a full wait from the compiler.
  emitPlain(decoder, barrier, chipIsAmong(decoder, chipsGcn5 | chipsCdna1));
}

void emitAmdSignal(Decoder &decoder) { emitPlain(decoder, decoder.pick(TILEJIT_BOTH(signalBarrier))); }
void emitAmdSignalWait(Decoder &decoder) { emitPlain(decoder, waitBarrier); }

void emitAmdWaitLoads(Decoder &decoder, unsigned left) { emitPlain(decoder, waitForLoads, left); }

unsigned vectorLoadsOf(const Decoder &decoder, int64_t waitcnt) {
  auto bits = static_cast<unsigned>(waitcnt);
  if (chipIsAmong(decoder, chipsSinceRdna3))
    return bits >> 10 & 63;
  return (bits & 15) | (bits >> 14 & 3) << 4;
}

void emitAmdTrap(Decoder &decoder, int64_t number) { emitPlain(decoder, trap, number); }
void emitAmdPause(Decoder &decoder) { emitPlain(decoder, pause); }
void emitAmdEnd(Decoder &decoder) { emitPlain(decoder, endProgram); }

void addAmdSynchronizationRules(Rules &rules) {
  for (const char *hint : hints)
    rules.call(std::string("llvm.amdgcn.") + hint, ignore);
  rules.callPrefix("llvm.amdgcn.s.prefetch.data.", ignore);
  rules.callPrefix("llvm.amdgcn.s.sendmsg.rtn.", ignore);
  rules.call("llvm.amdgcn.s.barrier", [](Call &call) { emitAmdBarrier(call.decoder); });
  rules.call("llvm.amdgcn.s.barrier.signal", signalRule);
  rules.call("llvm.amdgcn.s.barrier.signal.isfirst", signalRule);
  rules.call("llvm.amdgcn.s.barrier.wait", [](Call &call) {
    if (isWorkGroupBarrier(call))
      emitAmdSignalWait(call.decoder);
  });
  rules.call("llvm.amdgcn.s.waitcnt", [](Call &call) {
    if (requireChips(call, chipsAll & ~chipsRdna4))
      emitAmdWaitLoads(call.decoder, vectorLoadsOf(call.decoder, call.constant(0)));
  });
  rules.call("llvm.amdgcn.s.wait.loadcnt", [](Call &call) {
    if (requireChips(call, chipsRdna4))
      emitAmdWaitLoads(call.decoder, static_cast<unsigned>(call.constant(0)));
  });
  rules.call("llvm.amdgcn.s.sleep", [](Call &call) { emitAmdPause(call.decoder); });
  rules.call("llvm.amdgcn.s.sleep.var", [](Call &call) { emitAmdPause(call.decoder); });
  rules.call("llvm.amdgcn.endpgm", [](Call &call) { emitAmdEnd(call.decoder); });
  rules.call("llvm.amdgcn.s.sethalt", [](Call &call) {
    if (call.constant(0) & 1)
      emitPlain(call.decoder, halt);
  });
}

} // namespace tilejit::sim
