// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Registers that products write, or that feed them, through copies, phis and the tied operands of assembly. They get
// slots: beside each copy its slot is copied, beside each other use it is looked whether a product in flight writes the
// register, beside each other write the register is marked as touched. Slots are of whole warps, as products are.

#include "nvidia/WarpgroupProduct.h"

#include "core/Block.h"
#include "core/Handlers.h"
#include "nvidia/State.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

namespace tilejit::sim {

namespace {

constexpr uint32_t noSlot = ~0u;

// --- While running --------------------------------------------------------------------------------------------------

/// offsets: slots that are read.
void checkSlots(Warp &warp, const Op &op) {
  const NvidiaWarpState &state = *warp.nvidia;
  for (uint32_t slot : op.x->offsets)
    if (state.inFlight[slot] > state.doneGroups && warp.block->checks(Check::Async)) {
      warp.block->report(ReportKind::Async, op.site, warp, firstLane(warp.mask),
                         "use of a register that a product in flight writes",
                         "wait with wgmma.wait_group before accumulators are used");
      return;
    }
}

/// offsets: slots that are written.
void touchSlots(Warp &warp, const Op &op) {
  NvidiaWarpState &state = *warp.nvidia;
  for (uint32_t slot : op.x->offsets) {
    state.inFlight[slot] = 0;
    state.touched[slot] = 1;
  }
}

void copySlot(NvidiaWarpState &state, uint32_t to, uint32_t from) {
  state.inFlight[to] = from == noSlot ? 0 : state.inFlight[from];
  state.touched[to] = from == noSlot ? 0 : state.touched[from];
}

/// offsets: pairs of slots, to and from, one after the other.
void copySlots(Warp &warp, const Op &op) {
  NvidiaWarpState &state = *warp.nvidia;
  const std::vector<uint32_t> &slots = op.x->offsets;
  for (size_t i = 0; i < slots.size(); i += 2)
    copySlot(state, slots[i], slots[i + 1]);
}

enum class Taken : int64_t { Always, WhereTrue, WhereFalse };

/// The same for the phis of an edge, all at once, if some lane takes it: imm: Taken, by the condition a.
void copySlotsOnEdge(Warp &warp, const Op &op) {
  if (auto taken = static_cast<Taken>(op.imm); taken != Taken::Always) {
    LaneMask holds = maskOf<32>(warp.reg<uint8_t>(op.a));
    if (!(warp.mask & (taken == Taken::WhereTrue ? holds : ~holds)))
      return;
  }
  NvidiaWarpState &state = *warp.nvidia;
  const std::vector<uint32_t> &slots = op.x->offsets;
  thread_local std::vector<std::pair<uint64_t, uint8_t>> values;
  values.clear();
  for (size_t i = 0; i < slots.size(); i += 2) {
    uint32_t from = slots[i + 1];
    values.emplace_back(from == noSlot ? 0 : state.inFlight[from], from == noSlot ? 0 : state.touched[from]);
  }
  for (size_t i = 0; i < values.size(); ++i) {
    state.inFlight[slots[2 * i]] = values[i].first;
    state.touched[slots[2 * i]] = values[i].second;
  }
}

// --- After decoding -------------------------------------------------------------------------------------------------

class Tracker {
public:
  explicit Tracker(Program &program) : program_(program) {
    constexpr Kind kinds[] = {Kind::I8, Kind::I16, Kind::I32, Kind::I64};
    std::transform(std::begin(kinds), std::end(kinds), copies_.begin(),
                   [&](Kind kind) { return copyHandler(kind, program.width); });
    bitcast_ = bitcastHandler(program.width);
    branch_ = branchHandler(program.width);
  }

  void run() {
    findProducts();
    if (written_.empty())
      return;
    spread();
    for (BasicBlock &block : program_.blocks)
      instrument(block);
  }

private:
  using Pair = std::pair<Reg, Reg>; ///< To, from.

  /// Copies that an operation makes, if that is all it does.
  std::vector<Pair> copiesOf(const Op &op) const {
    std::vector<Pair> pairs;
    if (std::find(copies_.begin(), copies_.end(), op.run) != copies_.end())
      pairs.emplace_back(op.d, op.a);
    else if (op.run == bitcast_ && op.imm == 0 && op.x->in.size() == op.x->out.size())
      for (size_t i = 0; i < op.x->in.size(); ++i)
        pairs.emplace_back(op.x->out[i], op.x->in[i]);
    return pairs;
  }

  void findProducts() {
    for (const BasicBlock &block : program_.blocks)
      for (const Op &op : block.ops) {
        if (!isWarpgroupProduct(op))
          continue;
        ProductSpec spec = productSpec(*op.x);
        written_.insert(op.x->out.begin(), op.x->out.end());
        feeding_.insert(op.x->out.begin(), op.x->out.end());
        auto first = op.x->in.begin() + firstOperand(spec);
        feeding_.insert(op.x->in.begin(), first);
        if (spec.aInRegisters)
          feeding_.insert(first, first + 4);
      }
  }

  /// Results through copies forward, operands through copies backward.
  void spread() {
    std::vector<Pair> all;
    for (const BasicBlock &block : program_.blocks) {
      for (const Op &op : block.ops)
        for (Pair pair : copiesOf(op))
          all.push_back(pair);
      for (const Edge &edge : block.edges)
        for (const EdgeCopy &copy : edge.copies)
          all.emplace_back(copy.to, copy.from);
    }
    std::unordered_multimap<Reg, Reg> forward, backward;
    for (auto [to, from] : all) {
      forward.emplace(from, to);
      backward.emplace(to, from);
    }
    close(written_, forward);
    close(feeding_, backward);
    for (Reg reg : written_)
      slots_.emplace(reg, 0);
    for (Reg reg : feeding_)
      slots_.emplace(reg, 0);
    // In order of registers, so that equal programs get equal slots.
    std::vector<Reg> order;
    for (const auto &[reg, slot] : slots_)
      order.push_back(reg);
    std::sort(order.begin(), order.end());
    for (Reg reg : order)
      slots_[reg] = program_.trackedRegisters++;
  }

  static void close(std::unordered_set<Reg> &set, const std::unordered_multimap<Reg, Reg> &next) {
    std::vector<Reg> work(set.begin(), set.end());
    while (!work.empty()) {
      Reg reg = work.back();
      work.pop_back();
      for (auto [at, end] = next.equal_range(reg); at != end; ++at)
        if (set.insert(at->second).second)
          work.push_back(at->second);
    }
  }

  uint32_t slotOf(Reg reg) const {
    auto found = slots_.find(reg);
    return found == slots_.end() ? noSlot : found->second;
  }

  Op &add(std::vector<Op> &ops, Handler handler, uint32_t site, std::vector<uint32_t> slots) {
    program_.operands.push_back(std::make_unique<OpOperands>());
    program_.operands.back()->offsets = std::move(slots);
    Op op;
    op.run = handler;
    op.site = site;
    op.x = program_.operands.back().get();
    ops.push_back(op);
    return ops.back();
  }

  void addPair(std::vector<uint32_t> &slots, Reg to, Reg from) const {
    if (uint32_t slot = slotOf(to); slot != noSlot) {
      slots.push_back(slot);
      slots.push_back(slotOf(from));
    }
  }

  /// Slots of results that an operation reads.
  std::vector<uint32_t> reads(const Op &op) const {
    std::vector<uint32_t> slots;
    auto add = [&](Reg reg) {
      if (written_.count(reg))
        slots.push_back(slotOf(reg));
    };
    if (op.registers & Op::HasA)
      add(op.a);
    if (op.registers & Op::HasB)
      add(op.b);
    if (op.registers & Op::HasC)
      add(op.c);
    if (op.x)
      std::for_each(op.x->in.begin(), op.x->in.end(), add);
    return slots;
  }
  std::vector<uint32_t> writes(const Op &op) const {
    std::vector<uint32_t> slots;
    auto add = [&](Reg reg) {
      if (uint32_t slot = slotOf(reg); slot != noSlot)
        slots.push_back(slot);
    };
    if (op.registers & Op::HasD)
      add(op.d);
    if (op.x)
      std::for_each(op.x->out.begin(), op.x->out.end(), add);
    return slots;
  }

  void instrumentProduct(Op &op) {
    auto &x = const_cast<OpOperands &>(*op.x);
    ProductSpec spec = productSpec(x);
    x.offsets.clear();
    for (Reg reg : x.out)
      x.offsets.push_back(slotOf(reg));
    if (spec.aInRegisters)
      for (unsigned i = 0; i < 4; ++i)
        x.offsets.push_back(slotOf(x.in[firstOperand(spec) + i]));
  }

  void instrument(BasicBlock &block) {
    std::vector<Op> ops;
    std::vector<uint32_t> pairs; // Of copies that follow each other.
    uint32_t pairSite = 0;
    auto flush = [&] {
      if (!pairs.empty())
        add(ops, copySlots, pairSite, std::move(pairs));
      pairs.clear();
    };
    for (Op &op : block.ops) {
      if (std::vector<Pair> copies = copiesOf(op); !copies.empty()) {
        for (auto [to, from] : copies)
          addPair(pairs, to, from);
        pairSite = op.site;
        ops.push_back(op);
        continue;
      }
      flush();
      if (isWarpgroupProduct(op)) {
        instrumentProduct(op);
        ops.push_back(op);
        continue;
      }
      if (std::vector<uint32_t> slots = reads(op); !slots.empty())
        add(ops, checkSlots, op.site, std::move(slots));
      if (&op == &block.ops.back())
        instrumentEdges(block, op, ops);
      ops.push_back(op);
      if (std::vector<uint32_t> slots = writes(op); !slots.empty())
        add(ops, touchSlots, op.site, std::move(slots));
    }
    block.ops = std::move(ops);
  }

  void instrumentEdges(const BasicBlock &block, const Op &terminator, std::vector<Op> &ops) {
    for (size_t i = 0; i < block.edges.size(); ++i) {
      std::vector<uint32_t> pairs;
      for (const EdgeCopy &copy : block.edges[i].copies)
        addPair(pairs, copy.to, copy.from);
      if (pairs.empty())
        continue;
      Op &op = add(ops, copySlotsOnEdge, terminator.site, std::move(pairs));
      op.imm = static_cast<int64_t>(Taken::Always); // Of switches too: which edge is taken is not looked at.
      if (terminator.run != branch_)
        continue;
      op.a = terminator.a;
      op.registers |= Op::HasA;
      op.imm = static_cast<int64_t>(i == 0 ? Taken::WhereTrue : Taken::WhereFalse);
    }
  }

  Program &program_;
  std::array<Handler, 4> copies_{};
  Handler bitcast_ = nullptr, branch_ = nullptr;
  std::unordered_set<Reg> written_, feeding_; ///< By products; and read by them.
  std::unordered_map<Reg, uint32_t> slots_;
};

} // namespace

void trackProducts(Program &program) { Tracker(program).run(); }

} // namespace tilejit::sim
