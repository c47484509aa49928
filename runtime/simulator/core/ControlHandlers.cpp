// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Terminators: where the lanes of a group go, and the copies of phis on the way.

#include "core/Block.h"
#include "core/ElementSize.h"
#include "core/Handlers.h"

#include <cstring>

namespace tilejit::sim {

namespace {

template <unsigned W> void copyLanes(uint8_t *to, const uint8_t *from, unsigned bytes, LaneMask lanes) {
  if (lanes == allLanes<W>) {
    std::memcpy(to, from, W * bytes);
    return;
  }
  forElementSize(bytes, [&](auto t) {
    using T = decltype(t);
    blend<W>(reinterpret_cast<T *>(to), reinterpret_cast<const T *>(from), lanes);
  });
}

void copyMarks(Warp &warp, const Edge &edge, LaneMask lanes) {
  thread_local std::vector<LaneMask> saved;
  saved.clear();
  for (auto [to, from] : edge.marks)
    saved.push_back(from == ~0u ? 0 : warp.marks[from]);
  for (size_t i = 0; i < saved.size(); ++i) {
    LaneMask &marks = warp.marks[edge.marks[i].first];
    marks = (marks & ~lanes) | (saved[i] & lanes);
  }
}

template <unsigned W> void copyPhis(Warp &warp, const Edge &edge, LaneMask lanes) {
  uint8_t *r = warp.registers;
  if (!edge.marks.empty())
    copyMarks(warp, edge, lanes);
  if (!edge.overlapping) {
    for (const EdgeCopy &copy : edge.copies)
      copyLanes<W>(r + copy.to, r + copy.from, copy.bytes, lanes);
    return;
  }
  thread_local std::vector<uint8_t> saved;
  saved.resize(edge.copies.size() * W * 8);
  for (size_t i = 0; i < edge.copies.size(); ++i)
    std::memcpy(saved.data() + i * W * 8, r + edge.copies[i].from, W * edge.copies[i].bytes);
  for (size_t i = 0; i < edge.copies.size(); ++i)
    copyLanes<W>(r + edge.copies[i].to, saved.data() + i * W * 8, edge.copies[i].bytes, lanes);
}

const BasicBlock &here(const Warp &warp) { return warp.block->program().blocks[warp.current]; }

/// The whole group takes an edge.
template <unsigned W> void take(Warp &warp, const Edge &edge) {
  copyPhis<W>(warp, edge, warp.mask);
  LaneGroup &group = warp.groups[warp.running];
  group.block = edge.target;
  group.next = 0;
  warp.stop = true;
  warp.request = Warp::Request::Branch;
}

template <unsigned W> void jump(Warp &warp, const Op &op) { take<W>(warp, here(warp).edges[op.imm]); }

/// A part of the group leaves on an edge.
template <unsigned W> void split(Warp &warp, const Edge &edge, LaneMask lanes, bool first) {
  copyPhis<W>(warp, edge, lanes);
  LaneGroup group = warp.groups[warp.running];
  group.block = edge.target;
  group.next = 0;
  group.lanes = lanes;
  if (first)
    warp.groups[warp.running] = group;
  else
    warp.groups.push_back(group);
  warp.stop = true;
  warp.request = Warp::Request::Branch;
}

template <unsigned W> void branch(Warp &warp, const Op &op) {
  LaneMask taken = maskOf<W>(warp.reg<uint8_t>(op.a)) & warp.mask;
  const BasicBlock &block = here(warp);
  if (taken == warp.mask)
    return take<W>(warp, block.edges[0]);
  if (!taken)
    return take<W>(warp, block.edges[1]);
  split<W>(warp, block.edges[0], taken, true);
  split<W>(warp, block.edges[1], warp.mask & ~taken, false);
}

template <unsigned W> void switchTo(Warp &warp, const Op &op) {
  const BasicBlock &block = here(warp);
  LaneMask rest = warp.mask;
  bool first = true;
  auto bytes = static_cast<unsigned>(op.imm);
  while (rest) {
    auto valueOf = [&](unsigned l) {
      uint64_t value = 0;
      std::memcpy(&value, warp.registers + op.a + size_t(l) * bytes, bytes);
      return value;
    };
    auto edgeOf = [&](unsigned l) {
      for (const auto &[value, edge] : block.cases)
        if (value == valueOf(l))
          return edge;
      return 0u;
    };
    uint32_t edge = edgeOf(firstLane(rest));
    LaneMask same = 0;
    forEachLane(rest, [&](unsigned l) { same |= LaneMask(edgeOf(l) == edge) << l; });
    if (same == warp.mask)
      return take<W>(warp, block.edges[edge]);
    split<W>(warp, block.edges[edge], same, first);
    first = false;
    rest &= ~same;
  }
}

template <unsigned W> void leave(Warp &warp, const Op &op) { warp.block->exitLanes(warp); }

template <unsigned W> void unreachable(Warp &warp, const Op &op) {
  warp.block->report(ReportKind::Trap, op.site, warp, firstLane(warp.mask),
                     "a place was reached that the program says can't be", "an earlier call promised not to return");
  warp.block->exitLanes(warp);
}

} // namespace

#define TILEJIT_BOTH(name) (width == 64 ? &name<64> : &name<32>)

Handler jumpHandler(unsigned width) { return TILEJIT_BOTH(jump); }
Handler branchHandler(unsigned width) { return TILEJIT_BOTH(branch); }
Handler switchHandler(unsigned width) { return TILEJIT_BOTH(switchTo); }
Handler returnHandler(unsigned width) { return TILEJIT_BOTH(leave); }
Handler unreachableHandler(unsigned width) { return TILEJIT_BOTH(unreachable); }

#undef TILEJIT_BOTH

} // namespace tilejit::sim
