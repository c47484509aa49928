// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Barriers, fences, pauses and ends. An aligned barrier must be executed by all lanes of a warp together; whether they
// did is seen when it opens, since groups of lanes that are late but on their way are no mistake.

#include "nvidia/Barriers.h"

#include "core/Block.h"
#include "nvidia/Capability.h"
#include "nvidia/Lanes.h"
#include "nvidia/Ptx.h"
#include "nvidia/State.h"

#include <algorithm>

namespace tilejit::sim {

namespace {

constexpr unsigned width = 32;

enum class Reduction : uint8_t { None, Count, And, Or };

// --- Block barriers -------------------------------------------------------------------------------------------------

/// Bits of imm.
constexpr int64_t isAligned = 1, hasCount = 2;

struct BarrierOperands {
  uint32_t number = 0, threads = 0;
  bool ok = true;
};

/// in[0]: number; in[1]: threads, with hasCount.
BarrierOperands barrierOperands(Warp &warp, const Op &op) {
  BarrierOperands result;
  result.number = uniformOperand(warp, op, op.x->in[0], "the number of the barrier");
  if (op.imm & hasCount)
    result.threads = uniformOperand(warp, op, op.x->in[1], "the number of threads at the barrier");
  Block &block = *warp.block;
  auto refuse = [&](const std::string &what, std::string_view hint) {
    block.report(ReportKind::Barrier, op.site, warp, firstLane(warp.mask), what, hint);
    result.ok = false;
  };
  if (result.number >= numBarriers)
    refuse("barrier " + std::to_string(result.number) + " used", "a block has barriers 0 to 15");
  else if ((op.imm & hasCount) && (result.threads == 0 || result.threads % width))
    refuse("barrier for " + std::to_string(result.threads) + " threads", "the number must be a multiple of 32");
  if (!result.ok)
    block.abandon(warp);
  return result;
}

void checkAligned(Warp &warp, const Op &op) {
  if ((op.imm & isAligned) && warp.mask != warp.live && warp.block->checks(Check::Divergence))
    warp.block->report(ReportKind::Divergence, op.site, warp, firstLane(warp.live & ~warp.mask),
                       "the lanes of a warp are at different barriers: another one is executed",
                       "move the barrier out of the branch, so that all threads of the warp execute it together");
}

/// in: number, threads (hasCount).
void sync(Warp &warp, const Op &op) {
  if (warp.resumed)
    return checkAligned(warp, op);
  BarrierOperands barrier = barrierOperands(warp, op);
  if (barrier.ok)
    warp.block->waitAtBarrier(warp, barrier.number, barrier.threads);
}

void arrive(Warp &warp, const Op &op) {
  BarrierOperands barrier = barrierOperands(warp, op);
  checkAligned(warp, op);
  if (barrier.ok)
    warp.block->arriveAtBarrier(warp, barrier.number, barrier.threads);
}

/// out: count or predicate; in: number, threads (hasCount), predicate last; numbers: {Reduction}.
void syncAndReduce(Warp &warp, const Op &op) {
  const OpOperands &x = *op.x;
  if (!warp.resumed) {
    BarrierOperands barrier = barrierOperands(warp, op);
    if (!barrier.ok)
      return;
    BarrierVotes::Phase &phase = warp.block->nvidia->votes[warp.rank].phases[barrier.number][0];
    phase.arrived += countLanes(warp.mask);
    phase.yes += countLanes(maskOf<width>(warp.reg<uint8_t>(x.in.back())) & warp.mask);
    return warp.block->waitAtBarrier(warp, barrier.number, barrier.threads);
  }
  checkAligned(warp, op);
  auto &phases = warp.block->nvidia->votes[warp.rank].phases[warp.uniform<uint32_t>(x.in[0]) % numBarriers];
  if (!phases[1].readers) {
    // The first to leave: all have arrived, nobody can have come again.
    phases[1] = phases[0];
    phases[1].readers = phases[1].arrived;
    phases[0] = {};
  }
  BarrierVotes::Phase &phase = phases[1];
  phase.readers -= std::min(phase.readers, countLanes(warp.mask));
  auto reduction = static_cast<Reduction>(x.numbers[0]);
  if (reduction == Reduction::Count)
    return map<width>(warp.mask, warp.reg<uint32_t>(x.out[0]), [&](unsigned) { return phase.yes; });
  bool result = reduction == Reduction::And ? phase.yes == phase.arrived : phase.yes != 0;
  map<width>(warp.mask, warp.reg<uint8_t>(x.out[0]), [&](unsigned) -> uint8_t { return result; });
}

// --- Warps ----------------------------------------------------------------------------------------------------------

/// a: members.
void syncWarp(Warp &warp, const Op &op) {
  if (!meetMembers(warp, op, op.a))
    return;
  // Lanes that do not exist, or have left, touch nothing any more: they are as good as here.
  warp.block->ordering.syncLanes(warp.index, warp.mask | ~warp.live);
}

// --- Fences, pauses, ends -------------------------------------------------------------------------------------------

constexpr int64_t isRelease = 1, isAcquire = 2;

/// imm: isRelease, isAcquire, scope << 8.
void fence(Warp &warp, const Op &op) {
  warp.block->fence(warp, op.imm & isRelease, op.imm & isAcquire, static_cast<Block::Scope>(op.imm >> 8));
}

void pause(Warp &warp, const Op &op) {
  warp.stop = true;
  warp.request = Warp::Request::Pause;
}

void leave(Warp &warp, const Op &op) { warp.block->exitLanes(warp); }

/// imm: a breakpoint.
void trap(Warp &warp, const Op &op) {
  warp.block->report(ReportKind::Trap, op.site, warp, firstLane(warp.mask),
                     op.imm ? "breakpoint (brkpt) executed" : "trap executed");
  warp.block->trap(warp);
}

// --- Decoding -------------------------------------------------------------------------------------------------------

struct Scope {
  const char *name;
  Block::Scope scope;
};
constexpr Scope scopes[] = {{"cta", Block::Scope::Block},
                            {"cluster", Block::Scope::Cluster},
                            {"gl", Block::Scope::Device},
                            {"gpu", Block::Scope::Device},
                            {"sys", Block::Scope::System}};

struct Order {
  const char *name;
  int64_t flags;
};
constexpr Order orders[] = {
    {"sc", isRelease | isAcquire}, {"acq_rel", isRelease | isAcquire}, {"acquire", isAcquire}, {"release", isRelease}};

template <class Row, size_t n> const Row *findName(const Row (&table)[n], llvm::StringRef name) {
  auto found = std::find_if(table, table + n, [&](const Row &row) { return name == row.name; });
  return found == table + n ? nullptr : found;
}

void emitFence(Decoder &decoder, int64_t flags, Block::Scope scope) {
  decoder.emit(fence).imm = flags | static_cast<int64_t>(scope) << 8;
}

void emitSyncWarp(Decoder &decoder, Reg members) {
  Op &op = decoder.emit(syncWarp);
  op.a = members;
  op.registers |= Op::HasA;
}

void emitSync(Decoder &decoder, llvm::ArrayRef<Reg> in, int64_t flags) { decoder.emitWide(sync, {}, in, flags); }

void emitReduction(Decoder &decoder, Reg d, llvm::ArrayRef<Reg> in, int64_t flags, Reduction reduction) {
  Op &op = decoder.emitWide(syncAndReduce, {d}, in, flags);
  decoder.operandsOf(op).numbers = {static_cast<int64_t>(reduction)};
}

/// llvm.nvvm.barrier.cta.{sync,arrive}{.aligned}.{all,count} and .red.OP.
template <Reduction reduction> void barrierCall(Call &call) {
  int64_t flags = (call.name.contains(".aligned.") ? isAligned : 0) | (call.name.ends_with(".count") ? hasCount : 0);
  Regs in = call.allRegs();
  if (call.name.contains(".cta.arrive."))
    call.decoder.emitWide(arrive, {}, in, flags);
  else if (reduction == Reduction::None)
    emitSync(call.decoder, in, flags);
  else
    emitReduction(call.decoder, call.result(), in, flags, reduction);
}

/// bar{.cta} and barrier{.cta}: sync, arrive, red. `bar` is aligned.
void barrierStatement(AsmStatement &s) {
  unsigned word = 1;
  if (s.words.size() > word && s.words[word] == "cta")
    ++word;
  if (s.words.size() <= word)
    return unsupportedStatement(s);
  llvm::StringRef kind = s.words[word];
  int64_t flags = s.words[0] == "bar" || s.has("aligned") ? isAligned : 0;
  auto numbers = [&](unsigned first, size_t last) {
    Regs in;
    for (unsigned i = first; i < last; ++i)
      in.push_back(s.reg(i, Kind::I32));
    if (in.size() == 2)
      flags |= hasCount;
    return in;
  };
  size_t count = s.operands.size();
  if (kind == "sync" && count >= 1 && count <= 2) {
    Regs in = numbers(0, count);
    return emitSync(s.decoder, in, flags);
  }
  if (kind == "arrive" && count == 2) {
    Regs in = numbers(0, count);
    s.decoder.emitWide(arrive, {}, in, flags);
    return;
  }
  if (kind != "red" || count < 3 || count > 4)
    return unsupportedStatement(s);
  Reduction reduction = s.has("popc") ? Reduction::Count : s.has("and") ? Reduction::And : Reduction::Or;
  Regs in = numbers(1, count - 1);
  in.push_back(s.reg(static_cast<unsigned>(count - 1), Kind::I1));
  emitReduction(s.decoder, s.reg(0, reduction == Reduction::Count ? Kind::I32 : Kind::I1), in, flags, reduction);
}

void membarCall(Call &call) {
  const Scope *scope = findName(scopes, call.name.rsplit('.').second);
  emitFence(call.decoder, isRelease | isAcquire, scope ? scope->scope : Block::Scope::System);
}
void membarStatement(AsmStatement &s) {
  const Scope *scope = findName(scopes, s.words.back());
  if (!scope)
    return unsupportedStatement(s);
  emitFence(s.decoder, isRelease | isAcquire, scope->scope);
}
/// fence{.sem}.scope; without an order it is acq_rel. The restriction to a space only weakens: it is taken as a whole.
void fenceStatement(AsmStatement &s) {
  const Order *order = nullptr;
  const Scope *scope = nullptr;
  for (llvm::StringRef word : llvm::ArrayRef(s.words).drop_front()) {
    const Order *asOrder = findName(orders, word);
    const Scope *asScope = findName(scopes, word);
    if (!asOrder && !asScope && !word.starts_with("sync_restrict"))
      return unsupportedStatement(s);
    order = asOrder ? asOrder : order;
    scope = asScope ? asScope : scope;
  }
  if (!scope)
    return unsupportedStatement(s);
  emitFence(s.decoder, order ? order->flags : isRelease | isAcquire, scope->scope);
}

void nothing(Call &) {}
void nothingStatement(AsmStatement &) {}

void addCalls(Rules &rules) {
  rules.callPrefix("llvm.nvvm.barrier.cta.sync.", barrierCall<Reduction::None>);
  rules.callPrefix("llvm.nvvm.barrier.cta.arrive.", barrierCall<Reduction::None>);
  rules.callPrefix("llvm.nvvm.barrier.cta.red.popc.", barrierCall<Reduction::Count>);
  rules.callPrefix("llvm.nvvm.barrier.cta.red.and.", barrierCall<Reduction::And>);
  rules.callPrefix("llvm.nvvm.barrier.cta.red.or.", barrierCall<Reduction::Or>);
  rules.call("llvm.nvvm.bar.warp.sync", [](Call &call) { emitSyncWarp(call.decoder, call.reg(0)); });
  rules.callPrefix("llvm.nvvm.membar.", membarCall);
  rules.call("llvm.nvvm.fence.sc.cluster",
             [](Call &call) { emitFence(call.decoder, isRelease | isAcquire, Block::Scope::Cluster); });
  rules.callPrefix("llvm.nvvm.fence.acquire.sync_restrict.",
                   [](Call &call) { emitFence(call.decoder, isAcquire, Block::Scope::Cluster); });
  rules.callPrefix("llvm.nvvm.fence.release.sync_restrict.",
                   [](Call &call) { emitFence(call.decoder, isRelease, Block::Scope::Cluster); });
  rules.call("llvm.nvvm.nanosleep", [](Call &call) { call.decoder.emit(pause); });
  rules.call("llvm.nvvm.exit", [](Call &call) { call.decoder.emit(leave); });
  rules.callPrefix("llvm.nvvm.griddepcontrol.", nothing);
  rules.callPrefix("llvm.nvvm.pm.event", nothing);
}

void addStatements(Rules &rules) {
  rules.assembly("bar", barrierStatement);
  rules.assembly("barrier", barrierStatement);
  rules.assembly("bar.warp.sync", [](AsmStatement &s) {
    if (s.operands.size() != 1)
      return unsupportedStatement(s);
    emitSyncWarp(s.decoder, s.reg(0, Kind::I32));
  });
  rules.assembly("membar", membarStatement);
  rules.assembly("fence", fenceStatement);
  rules.assembly("nanosleep", [](AsmStatement &s) {
    if (s.operands.size() != 1)
      return unsupportedStatement(s);
    s.decoder.emit(pause);
  });
  rules.assembly("exit", [](AsmStatement &s) { s.decoder.emit(leave); });
  rules.assembly("trap", [](AsmStatement &s) { s.decoder.emit(trap); });
  rules.assembly("brkpt", [](AsmStatement &s) { s.decoder.emit(trap).imm = 1; });
  rules.assembly("griddepcontrol.wait", nothingStatement);
  rules.assembly("griddepcontrol.launch_dependents", nothingStatement);
  rules.assembly("pmevent", nothingStatement);
}

} // namespace

void addNvidiaBarrierRules(Rules &rules) {
  addCalls(rules);
  addStatements(rules);
}

} // namespace tilejit::sim
