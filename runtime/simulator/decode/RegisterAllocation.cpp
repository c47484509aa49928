// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Places in the register file: linear scan over live intervals, so that a warp's registers fit a cache. Every write
// touches active lanes only, so the lifetime of a value is that of one thread; divergence changes nothing. A result
// never shares its place with a source of the same operation: handlers may write before they have read all lanes. Only
// copies do where they can, and vanish.

#include "core/AssemblyBranch.h"
#include "decode/Decoder.h"
#include "decode/Registers.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace tilejit::sim {

namespace {

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
    dropCopies();
  }

private:
  void findLiveness();
  void findIntervals();
  void place();
  void scan(std::vector<Reg> &order, uint32_t next);
  void rewrite();
  void dropCopies();
  uint32_t bytesOf(Reg reg) const { return sizeOf(kinds_[reg]) * program_.width; }

  Program &program_;
  const std::vector<Kind> &kinds_;
  Liveness live_;
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
  live_.in = uses;
  live_.out.assign(blocks, llvm::BitVector(count));
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t b = blocks; b-- > 0;) {
      llvm::BitVector out(count);
      for (Edge &edge : program_.blocks[b].edges) {
        // What a phi of the target receives on this edge is written here.
        llvm::BitVector live = live_.in[edge.target];
        for (EdgeCopy &copy : edge.copies)
          live.reset(copy.to);
        out |= live;
      }
      if (out == live_.out[b])
        continue;
      changed = true;
      live_.out[b] = out;
      out.reset(defs[b]);
      live_.in[b] |= out;
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
    for (unsigned r : live_.in[b].set_bits())
      intervals_[r].cover(begin);
    for (unsigned r : live_.out[b].set_bits())
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
  SharedPlaces places(program_, kinds_, live_, fixed);
  std::vector<Reg> order;
  for (Reg reg = 0; reg < kinds_.size(); ++reg) {
    if (fixed[reg] || intervals_[reg].begin == ~0u)
      continue;
    if (Reg standIn = places[reg]; standIn != reg) {
      intervals_[standIn].cover(intervals_[reg].begin);
      intervals_[standIn].cover(intervals_[reg].end);
    } else {
      order.push_back(reg);
    }
  }
  scan(order, next);
  for (Reg reg = 0; reg < kinds_.size(); ++reg)
    offset_[reg] = offset_[places[reg]];
}

/// Gives each register a place, beyond `next` where no old one is free.
void Allocation::scan(std::vector<Reg> &order, uint32_t next) {
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

/// Copies whose source and result share a place do nothing.
void Allocation::dropCopies() {
  for (BasicBlock &block : program_.blocks) {
    for (Edge &edge : block.edges) {
      std::erase_if(edge.copies, [](const EdgeCopy &copy) { return copy.to == copy.from; });
      for (size_t i = 0; i < edge.copies.size(); ++i)
        for (size_t j = i + 1; j < edge.copies.size(); ++j)
          edge.overlapping |= edge.copies[j].from == edge.copies[i].to;
    }
    // Branches of assembly count operations.
    bool branches = std::any_of(block.ops.begin(), block.ops.end(),
                                [&](const Op &op) { return op.run == assemblyBranchHandler(program_.width); });
    if (!branches)
      std::erase_if(block.ops, [&](const Op &op) { return isPlainCopy(op, program_.width) && op.d == op.a; });
  }
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
