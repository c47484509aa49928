// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Places in the register file: linear scan over live intervals, so that a warp's registers fit a cache. Every write
// touches active lanes only, so the lifetime of a value is that of one thread; divergence changes nothing. A result
// never shares its place with a source of the same operation: handlers may write before they have read all lanes.

#include "decode/Decoder.h"

#include "llvm/ADT/BitVector.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace tilejit::sim {

namespace {

/// Calls use(reg&) for what an operation reads and define(reg&) for what it writes.
template <class Use, class Define> void forEachRegister(Op &op, Use use, Define define) {
  if (op.registers & Op::HasA)
    use(op.a);
  if (op.registers & Op::HasB)
    use(op.b);
  if (op.registers & Op::HasC)
    use(op.c);
  if (op.registers & Op::HasPredicate)
    use(op.predicate);
  OpOperands *x = const_cast<OpOperands *>(op.x);
  if (x)
    for (Reg &reg : x->in)
      use(reg);
  bool keeps = op.registers & Op::ReadsD;
  if (op.registers & Op::HasD) {
    if (keeps)
      use(op.d);
    define(op.d);
  }
  if (x)
    for (Reg &reg : x->out) {
      if (keeps)
        use(reg);
      define(reg);
    }
}

struct Interval {
  uint32_t begin = ~0u, end = 0;
  void cover(uint32_t position) {
    begin = std::min(begin, position);
    end = std::max(end, position);
  }
};

class Allocation {
public:
  Allocation(Program &program, const std::vector<Kind> &kinds) : program_(program), kinds_(kinds) {}

  void run() {
    findLiveness();
    findIntervals();
    place();
    rewrite();
  }

private:
  void findLiveness();
  void findIntervals();
  void place();
  void rewrite();
  uint32_t bytesOf(Reg reg) const { return sizeOf(kinds_[reg]) * program_.width; }

  Program &program_;
  const std::vector<Kind> &kinds_;
  std::vector<llvm::BitVector> liveIn_, liveOut_;
  std::vector<Interval> intervals_;
  std::vector<uint32_t> offset_;
};

void Allocation::findLiveness() {
  size_t blocks = program_.blocks.size();
  auto count = static_cast<unsigned>(kinds_.size());
  std::vector<llvm::BitVector> uses(blocks, llvm::BitVector(count)), defs = uses;
  for (size_t b = 0; b < blocks; ++b) {
    for (Op &op : program_.blocks[b].ops)
      forEachRegister(
          op,
          [&](Reg &r) {
            if (!defs[b][r])
              uses[b].set(r);
          },
          [&](Reg &r) { defs[b].set(r); });
    for (Edge &edge : program_.blocks[b].edges)
      for (EdgeCopy &copy : edge.copies)
        if (!defs[b][copy.from])
          uses[b].set(copy.from);
  }
  liveIn_ = uses;
  liveOut_.assign(blocks, llvm::BitVector(count));
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t b = blocks; b-- > 0;) {
      llvm::BitVector out(count);
      for (Edge &edge : program_.blocks[b].edges) {
        // What a phi of the target receives on this edge is written here.
        llvm::BitVector live = liveIn_[edge.target];
        for (EdgeCopy &copy : edge.copies)
          live.reset(copy.to);
        out |= live;
      }
      if (out == liveOut_[b])
        continue;
      changed = true;
      liveOut_[b] = out;
      out.reset(defs[b]);
      liveIn_[b] |= out;
    }
  }
}

void Allocation::findIntervals() {
  intervals_.resize(kinds_.size());
  uint32_t position = 1;
  std::vector<uint32_t> begins;
  for (size_t b = 0; b < program_.blocks.size(); ++b) {
    BasicBlock &block = program_.blocks[b];
    uint32_t begin = position;
    for (Op &op : block.ops) {
      auto touch = [&](Reg &r) { intervals_[r].cover(position); };
      forEachRegister(op, touch, touch);
      ++position;
    }
    for (Edge &edge : block.edges)
      for (EdgeCopy &copy : edge.copies) {
        intervals_[copy.from].cover(position);
        intervals_[copy.to].cover(position);
      }
    for (unsigned r : liveIn_[b].set_bits())
      intervals_[r].cover(begin);
    for (unsigned r : liveOut_[b].set_bits())
      intervals_[r].cover(position);
    ++position;
    begins.push_back(begin);
  }
  // A phi is written on the edges and lives from the start of its block on.
  for (BasicBlock &block : program_.blocks)
    for (Edge &edge : block.edges)
      for (EdgeCopy &copy : edge.copies)
        intervals_[copy.to].cover(begins[edge.target]);
}

void Allocation::place() {
  offset_.assign(kinds_.size(), 0);
  uint32_t next = 0;
  // The image: what has a value before the first operation keeps its place.
  std::vector<bool> fixed(kinds_.size(), false);
  auto fix = [&](Reg reg) {
    if (fixed[reg])
      return;
    fixed[reg] = true;
    next = (next + 63) & ~63u;
    offset_[reg] = next;
    next += bytesOf(reg);
  };
  for (const Constant &constant : program_.constants)
    fix(constant.reg);
  for (const Parameter &parameter : program_.parameters)
    for (Reg reg : parameter.regs)
      fix(reg);
  std::vector<Reg> order;
  for (Reg reg = 0; reg < kinds_.size(); ++reg)
    if (!fixed[reg] && intervals_[reg].begin != ~0u)
      order.push_back(reg);
  std::sort(order.begin(), order.end(),
            [&](Reg a, Reg b) { return std::tie(intervals_[a].begin, a) < std::tie(intervals_[b].begin, b); });
  std::map<uint32_t, std::vector<uint32_t>> free; // By size in bytes: offsets.
  std::multimap<uint32_t, Reg> active;            // By end of the interval.
  for (Reg reg : order) {
    while (!active.empty() && active.begin()->first < intervals_[reg].begin) {
      Reg ended = active.begin()->second;
      free[bytesOf(ended)].push_back(offset_[ended]);
      active.erase(active.begin());
    }
    std::vector<uint32_t> &places = free[bytesOf(reg)];
    if (places.empty()) {
      next = (next + 63) & ~63u;
      places.push_back(next);
      next += bytesOf(reg);
    }
    offset_[reg] = places.back();
    places.pop_back();
    active.emplace(intervals_[reg].end, reg);
  }
  program_.registerBytes = (next + 63) & ~63u;
}

void Allocation::rewrite() {
  auto move = [&](Reg &reg) { reg = offset_[reg]; };
  for (BasicBlock &block : program_.blocks) {
    for (Op &op : block.ops) {
      // Once each: forEachRegister names a kept result twice.
      uint8_t keeps = op.registers & Op::ReadsD;
      op.registers &= static_cast<uint8_t>(~Op::ReadsD);
      forEachRegister(op, move, move);
      op.registers |= keeps;
    }
    for (Edge &edge : block.edges) {
      for (EdgeCopy &copy : edge.copies) {
        move(copy.to);
        move(copy.from);
      }
      for (size_t i = 0; i < edge.copies.size(); ++i)
        for (size_t j = i + 1; j < edge.copies.size(); ++j)
          edge.overlapping |= edge.copies[j].from == edge.copies[i].to;
    }
  }
  for (Constant &constant : program_.constants)
    move(constant.reg);
  for (Parameter &parameter : program_.parameters)
    for (Reg &reg : parameter.regs)
      move(reg);
}

} // namespace

void allocateRegisters(Program &program, const std::vector<Kind> &kinds) { Allocation(program, kinds).run(); }

} // namespace tilejit::sim
