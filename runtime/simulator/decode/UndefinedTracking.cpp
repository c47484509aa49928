// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Undefined values: constants undef and poison, and what a load finds in a local variable that was not written. They
// may be moved about and stored (the memory then counts as not written); what must not be is a branch or an address
// that depends on one. Only registers that such a value can reach get marks, one bit a lane, and only operations on
// those are followed by one that moves the marks; optimised kernels have next to none. What an intrinsic makes of
// one counts as defined: through a shuffle it is lost.

#include "decode/Undefined.h"

#include "core/Block.h"
#include "core/Handlers.h"
#include "core/Pointers.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <unordered_set>

namespace tilejit::sim {

namespace {

constexpr uint32_t noSlot = ~0u;

// --- While running --------------------------------------------------------------------------------------------------

/// offsets: slots that are written (`imm` of them), then slots that are read.
void moveMarks(Warp &warp, const Op &op) {
  const std::vector<uint32_t> &slots = op.x->offsets;
  auto written = static_cast<size_t>(op.imm);
  LaneMask undefined = 0;
  for (size_t i = written; i < slots.size(); ++i)
    undefined |= warp.marks[slots[i]];
  for (size_t i = 0; i < written; ++i)
    warp.marks[slots[i]] = (warp.marks[slots[i]] & ~warp.mask) | (undefined & warp.mask);
}

/// offsets: slots of the result and of two sources: undefined where both are. Of a masked value a part may be defined.
void meetMarks(Warp &warp, const Op &op) {
  const std::vector<uint32_t> &slots = op.x->offsets;
  LaneMask undefined = warp.marks[slots[1]] & warp.marks[slots[2]];
  warp.marks[slots[0]] = (warp.marks[slots[0]] & ~warp.mask) | (undefined & warp.mask);
}

/// offsets: slots of the result, the condition, the value where it holds, and the other; noSlot: defined. a: condition.
template <unsigned W> void selectMarks(Warp &warp, const Op &op) {
  auto marksOf = [&](uint32_t slot) { return slot == noSlot ? 0 : warp.marks[slot]; };
  const std::vector<uint32_t> &slots = op.x->offsets;
  LaneMask holds = maskOf<W>(warp.reg<uint8_t>(op.a));
  LaneMask undefined = marksOf(slots[1]) | (holds & marksOf(slots[2])) | (~holds & marksOf(slots[3]));
  warp.marks[slots[0]] = (warp.marks[slots[0]] & ~warp.mask) | (undefined & warp.mask);
}

/// offsets: slots of the results, of the elements, of the new element (noSlot: defined); a: which element is replaced.
/// Beyond the last one, the whole vector is undefined.
void putMarks(Warp &warp, const Op &op) {
  auto marksOf = [&](uint32_t slot) { return slot == noSlot ? 0 : warp.marks[slot]; };
  const std::vector<uint32_t> &slots = op.x->offsets;
  size_t count = slots.size() / 2;
  const uint64_t *index = warp.reg<uint64_t>(op.a);
  LaneMask outside = 0;
  forEachLane(warp.mask, [&](unsigned l) { outside |= LaneMask(index[l] >= count) << l; });
  for (size_t i = 0; i < count; ++i) {
    if (slots[i] == noSlot)
      continue;
    LaneMask replaced = 0;
    forEachLane(warp.mask, [&](unsigned l) { replaced |= LaneMask(index[l] == i) << l; });
    LaneMask undefined = outside | (replaced & marksOf(slots[2 * count])) | (~replaced & marksOf(slots[count + i]));
    warp.marks[slots[i]] = (warp.marks[slots[i]] & ~warp.mask) | (undefined & warp.mask);
  }
}

/// offsets: slots of the result and of the elements; a: which one is taken.
void pickMarks(Warp &warp, const Op &op) {
  const std::vector<uint32_t> &slots = op.x->offsets;
  const uint64_t *index = warp.reg<uint64_t>(op.a);
  LaneMask undefined = 0;
  forEachLane(warp.mask, [&](unsigned l) {
    bool inside = index[l] + 1 < slots.size();
    uint32_t slot = inside ? slots[index[l] + 1] : noSlot;
    undefined |= LaneMask(!inside || (slot != noSlot && (warp.marks[slot] >> l & 1))) << l;
  });
  warp.marks[slots[0]] = (warp.marks[slots[0]] & ~warp.mask) | undefined;
}

/// offsets: one slot. `imm`: 0 a branch, 1 an address.
void checkMarks(Warp &warp, const Op &op) {
  LaneMask undefined = warp.marks[op.x->offsets[0]] & warp.mask;
  if (!undefined || !warp.block->checks(Check::Uninitialized))
    return;
  warp.block->report(ReportKind::Uninitialized, op.site, warp, firstLane(undefined),
                     op.imm ? "an address depends on an undefined value" : "a branch depends on an undefined value",
                     "write the variable on every path that leads here");
}

/// Calls f(lane, flags of one element) for the lanes whose pointer is a valid place in local memory.
template <unsigned W, class F> void forEachLocalLane(Warp &warp, const Op &op, uint32_t offset, uint32_t bytes, F f) {
  uint32_t size = warp.block->program().localBytes;
  if (warp.localWritten.empty())
    return;
  forEachSpace<W>(warp, warp.reg<uint64_t>(op.a), static_cast<unsigned>(op.imm),
                  [&](Space space, const uint64_t *address, LaneMask lanes) {
                    if (space != Space::Local)
                      return;
                    forEachLane(lanes, [&](unsigned l) {
                      if (address[l] < size && address[l] + offset + bytes <= size)
                        f(l, warp.localWritten.data() + size_t(l) * size + address[l] + offset);
                    });
                  });
}

/// Beside an access: x as that of the access, the slots of its elements at the end of the numbers (noSlot: none).
uint32_t elementSlot(const OpOperands &x, size_t element) {
  return static_cast<uint32_t>(x.numbers[2 + x.offsets.size() + element]);
}

/// Before a load: marks what was not written.
template <unsigned W> void markLoaded(Warp &warp, const Op &op) {
  const OpOperands &x = *op.x;
  for (size_t i = 0; i < x.offsets.size(); ++i) {
    uint32_t slot = elementSlot(x, i);
    if (slot == noSlot)
      continue;
    LaneMask undefined = 0;
    auto bytes = static_cast<uint32_t>(x.numbers[2 + i]);
    forEachLocalLane<W>(warp, op, x.offsets[i], bytes, [&](unsigned l, const uint8_t *written) {
      // All of it: bit fields and padding make words of which a part is never looked at.
      if (!std::memchr(written, 1, bytes))
        undefined |= LaneMask(1) << l;
    });
    warp.marks[slot] = (warp.marks[slot] & ~warp.mask) | undefined;
  }
}

/// After a store: what was undefined counts as not written. A store to global or shared memory of nothing else is
/// reported; a vector may have undefined elements (three of four are what a vector of three is stored as).
template <unsigned W> void unwriteStored(Warp &warp, const Op &op) {
  const OpOperands &x = *op.x;
  Block &block = *warp.block;
  LaneMask all = warp.mask, nothingElse = all;
  for (size_t i = 0; i < x.offsets.size(); ++i) {
    uint32_t slot = elementSlot(x, i);
    nothingElse &= slot == noSlot ? 0 : warp.marks[slot];
    if (slot == noSlot || !(warp.marks[slot] & all))
      continue;
    warp.mask = all & warp.marks[slot];
    auto bytes = static_cast<uint32_t>(x.numbers[2 + i]);
    forEachSpace<W>(warp, warp.reg<uint64_t>(op.a), static_cast<unsigned>(op.imm),
                    [&](Space space, const uint64_t *address, LaneMask lanes) {
                      forEachLane(lanes,
                                  [&](unsigned l) { block.unwrite(warp, space, l, address[l] + x.offsets[i], bytes); });
                    });
    warp.mask = all;
  }
  if (!nothingElse || !block.checks(Check::Uninitialized))
    return;
  warp.mask = nothingElse;
  forEachSpace<W>(warp, warp.reg<uint64_t>(op.a), static_cast<unsigned>(op.imm),
                  [&](Space space, const uint64_t *address, LaneMask lanes) {
                    if (space != Space::Local)
                      block.reportAt(ReportKind::Uninitialized, op.site, warp, firstLane(lanes), space,
                                     address[firstLane(lanes)], "an undefined value is stored",
                                     "write the variable on every path that leads here");
                  });
  warp.mask = all;
}

// --- After decoding -------------------------------------------------------------------------------------------------

class Tracker {
public:
  Tracker(Program &program, const std::vector<Reg> &undefined) : program_(program), undefined_(undefined) {
    load_ = loadHandler(program.width);
    store_ = storeHandler(program.width);
    branch_ = branchHandler(program.width);
    switch_ = switchHandler(program.width);
    put_ = putElementHandler(program.width);
    pick_ = pickElementHandler(program.width);
    bitcast_ = bitcastHandler(program.width);
    for (Kind kind : {Kind::I8, Kind::I16, Kind::I32, Kind::I64}) {
      selects_.insert(selectHandler(kind, program.width));
      copies_.insert(copyHandler(kind, program.width));
      bitwise_.insert(integerHandler(IntegerOp::And, kind, program.width));
      bitwise_.insert(integerHandler(IntegerOp::Or, kind, program.width));
    }
  }

  /// An element beyond the end is undefined.
  bool indexesByVariable() const {
    for (const BasicBlock &block : program_.blocks)
      for (const Op &op : block.ops)
        if (op.run == put_ || op.run == pick_)
          return true;
    return false;
  }

  /// Operations of LLVM's own instructions: a result is undefined where a source is. What intrinsics make of undefined
  /// operands (the old value of a DPP move, the inactive ones of a reduction) is their business: defined, for us.
  void listPlain() {
    unsigned w = program_.width;
    constexpr Kind kinds[] = {Kind::I1,  Kind::I8,   Kind::I16, Kind::I32, Kind::I64,
                              Kind::F16, Kind::BF16, Kind::F32, Kind::F64, Kind::Pointer};
    for (Kind kind : kinds) {
      for (unsigned i = 0; i <= static_cast<unsigned>(IntegerOp::SMax); ++i)
        plain_.insert(integerHandler(static_cast<IntegerOp>(i), kind, w));
      for (unsigned i = 0; i <= static_cast<unsigned>(IntegerTest::SLe); ++i)
        plain_.insert(integerTestHandler(static_cast<IntegerTest>(i), kind, w));
      for (unsigned i = 0; i <= static_cast<unsigned>(FloatOp::Rem); ++i)
        plain_.insert(floatHandler(static_cast<FloatOp>(i), kind, w));
      for (unsigned i = 0; i < 16; ++i)
        plain_.insert(floatTestHandler(i, kind, w));
      for (Kind from : kinds)
        for (bool isSigned : {false, true})
          plain_.insert(convertHandler(kind, from, isSigned, w));
      for (Handler handler :
           {maskHandler(kind, w), signExtendHandler(kind, w), negateHandler(kind, w), fusedMultiplyAddHandler(kind, w),
            selectHandler(kind, w), copyHandler(kind, w), addressHandler(kind, w)})
        plain_.insert(handler);
    }
    for (Handler handler : {bitcast_, displacementHandler(w), addressSpaceHandler(w), put_, pick_, wideIntegerHandler(),
                            wideIntegerTestHandler()})
      plain_.insert(handler);
    plain_.erase(nullptr);
  }

  void run() {
    if (undefined_.empty() && !program_.localBytes && !indexesByVariable())
      return;
    listPlain();
    spread();
    if (slots_.empty())
      return;
    for (Reg reg : undefined_)
      if (uint32_t slot = slotOf(reg); slot != noSlot)
        program_.undefinedAtStart.push_back(slot);
    for (BasicBlock &block : program_.blocks)
      instrument(block);
  }

private:
  bool mayBeLocal(const Op &op) const {
    return program_.localBytes && (op.imm == localSpace || op.imm == genericSpace);
  }
  bool isFreeze(const Op &op) const { return copies_.count(op.run) && op.imm; }
  bool isSelect(const Op &op) const { return selects_.count(op.run); }

  template <class F> static void forEachSource(const Op &op, F f) {
    if (op.registers & Op::HasA)
      f(op.a);
    if (op.registers & Op::HasB)
      f(op.b);
    if (op.registers & Op::HasC)
      f(op.c);
    if (op.x)
      std::for_each(op.x->in.begin(), op.x->in.end(), f);
  }
  template <class F> static void forEachResult(const Op &op, F f) {
    if (op.registers & Op::HasD)
      f(op.d);
    if (op.x)
      std::for_each(op.x->out.begin(), op.x->out.end(), f);
  }

  /// Registers that an undefined value can reach.
  void spread() {
    std::unordered_set<Reg> reached(undefined_.begin(), undefined_.end());
    for (bool changed = true; changed;) {
      changed = false;
      auto reach = [&](Reg reg) { changed |= reached.insert(reg).second; };
      for (const BasicBlock &block : program_.blocks) {
        for (const Op &op : block.ops) {
          bool from = (op.run == load_ && mayBeLocal(op)) || op.run == put_ || op.run == pick_;
          if (plain_.count(op.run) && !isFreeze(op))
            forEachSource(op, [&](Reg reg) { from |= reached.count(reg) != 0; });
          if (from)
            forEachResult(op, reach);
        }
        for (const Edge &edge : block.edges)
          for (const EdgeCopy &copy : edge.copies)
            if (reached.count(copy.from))
              reach(copy.to);
      }
    }
    std::vector<Reg> order(reached.begin(), reached.end());
    std::sort(order.begin(), order.end());
    for (Reg reg : order)
      slots_[reg] = program_.undefinedSlots++;
  }

  uint32_t slotOf(Reg reg) const {
    auto found = slots_.find(reg);
    return found == slots_.end() ? noSlot : found->second;
  }

  Op &add(std::vector<Op> &ops, const Op &beside, Handler handler) {
    program_.operands.push_back(std::make_unique<OpOperands>());
    Op op;
    op.run = handler;
    op.site = beside.site;
    op.x = program_.operands.back().get();
    if (beside.registers & Op::HasPredicate) {
      op.inner = handler;
      op.run = beside.run;
      op.predicate = beside.predicate;
      op.registers = beside.registers & (Op::HasPredicate | Op::Negated);
    }
    ops.push_back(op);
    return ops.back();
  }
  OpOperands &operandsOf(Op &op) { return const_cast<OpOperands &>(*op.x); }

  void check(std::vector<Op> &ops, const Op &beside, Reg reg, bool address) {
    if (slotOf(reg) == noSlot)
      return;
    Op &op = add(ops, beside, checkMarks);
    op.imm = address ? 1 : 0;
    operandsOf(op).offsets = {slotOf(reg)};
  }

  /// Marks beside a load or store: the operands are those of the access, with slots in place of registers.
  void beside(std::vector<Op> &ops, const Op &access, const std::vector<Reg> &regs, Handler handler) {
    std::vector<Reg> slots;
    for (Reg reg : regs)
      slots.push_back(slotOf(reg));
    if (std::all_of(slots.begin(), slots.end(), [](uint32_t slot) { return slot == noSlot; }))
      return;
    Op &op = add(ops, access, handler);
    op.imm = access.imm;
    op.a = access.a;
    op.registers |= Op::HasA;
    OpOperands &x = operandsOf(op);
    x.numbers = access.x->numbers;
    x.numbers.insert(x.numbers.end(), slots.begin(), slots.end());
    x.offsets = access.x->offsets;
  }

  void follow(std::vector<Op> &ops, const Op &op) {
    std::vector<uint32_t> results, sources;
    forEachResult(op, [&](Reg reg) {
      if (slotOf(reg) != noSlot)
        results.push_back(slotOf(reg));
    });
    if (results.empty())
      return;
    if (plain_.count(op.run) && !isFreeze(op))
      forEachSource(op, [&](Reg reg) {
        if (slotOf(reg) != noSlot)
          sources.push_back(slotOf(reg));
      });
    if (bitwise_.count(op.run)) {
      if (sources.size() == 2) {
        operandsOf(add(ops, op, meetMarks)).offsets = {results[0], sources[0], sources[1]};
        return;
      }
      sources.clear();
    }
    move(ops, op, std::move(results), sources);
  }

  /// Each result is undefined where one of the sources is.
  void move(std::vector<Op> &ops, const Op &op, std::vector<uint32_t> results, const std::vector<uint32_t> &sources) {
    Op &moved = add(ops, op, moveMarks);
    moved.imm = static_cast<int64_t>(results.size());
    results.insert(results.end(), sources.begin(), sources.end());
    operandsOf(moved).offsets = std::move(results);
  }

  /// An element of the result, where one of those that it has bits of is.
  void bitcast(std::vector<Op> &ops, const Op &op) {
    const OpOperands &x = *op.x;
    int64_t from = 0;
    for (size_t i = 0; i < x.out.size(); ++i) {
      int64_t to = from + x.numbers[x.in.size() + i], at = 0;
      std::vector<uint32_t> sources;
      for (size_t j = 0; j < x.in.size(); at += x.numbers[j++])
        if (at < to && at + x.numbers[j] > from && slotOf(x.in[j]) != noSlot)
          sources.push_back(slotOf(x.in[j]));
      if (slotOf(x.out[i]) != noSlot)
        move(ops, op, {slotOf(x.out[i])}, sources);
      from = to;
    }
  }

  void select(std::vector<Op> &ops, const Op &op) {
    if (slotOf(op.d) == noSlot)
      return;
    Op &moved = add(ops, op, program_.width == 64 ? &selectMarks<64> : &selectMarks<32>);
    moved.a = op.a;
    moved.registers |= Op::HasA;
    operandsOf(moved).offsets = {slotOf(op.d), slotOf(op.a), slotOf(op.b), slotOf(op.c)};
  }

  void element(std::vector<Op> &ops, const Op &op) {
    bool puts = op.run == put_;
    std::vector<Reg> results = puts ? op.x->out : std::vector<Reg>{op.d};
    std::vector<uint32_t> slots;
    for (Reg reg : results)
      slots.push_back(slotOf(reg));
    if (std::all_of(slots.begin(), slots.end(), [](uint32_t slot) { return slot == noSlot; }))
      return;
    for (Reg reg : op.x->in)
      slots.push_back(slotOf(reg));
    if (puts)
      slots.push_back(slotOf(op.b));
    Op &moved = add(ops, op, puts ? putMarks : pickMarks);
    moved.a = op.a;
    moved.registers |= Op::HasA;
    operandsOf(moved).offsets = std::move(slots);
  }

  void instrument(BasicBlock &block) {
    bool wide = program_.width == 64;
    std::vector<Op> ops;
    for (const Op &op : block.ops) {
      if (op.run == branch_ || op.run == switch_)
        check(ops, op, op.a, false);
      if (op.run == load_ || op.run == store_)
        check(ops, op, op.a, true);
      if (op.run == load_ && mayBeLocal(op))
        beside(ops, op, op.x->out, wide ? &markLoaded<64> : &markLoaded<32>);
      ops.push_back(op);
      if (op.run == store_)
        beside(ops, op, op.x->in, wide ? &unwriteStored<64> : &unwriteStored<32>);
      else if (isSelect(op))
        select(ops, op);
      else if (op.run == put_ || op.run == pick_)
        element(ops, op);
      else if (op.run == bitcast_ && op.x->numbers.size() == op.x->in.size() + op.x->out.size())
        bitcast(ops, op);
      else if (op.run != load_)
        follow(ops, op);
    }
    block.ops = std::move(ops);
    for (Edge &edge : block.edges)
      for (const EdgeCopy &copy : edge.copies)
        if (slotOf(copy.to) != noSlot)
          edge.marks.emplace_back(slotOf(copy.to), slotOf(copy.from));
  }

  Program &program_;
  const std::vector<Reg> &undefined_;
  Handler load_, store_, branch_, switch_, put_, pick_, bitcast_;
  std::unordered_set<Handler> plain_, selects_, copies_, bitwise_;
  std::unordered_map<Reg, uint32_t> slots_;
};

} // namespace

void trackUndefined(Program &program, const std::vector<Reg> &undefined) { Tracker(program, undefined).run(); }

} // namespace tilejit::sim
