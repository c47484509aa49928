// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Lane groups that part and meet inside a basic block.

#include "core/AssemblyBranch.h"

#include "core/Block.h"

namespace tilejit::sim {

namespace {

uint32_t placeOf(const Warp &warp, const Op &op) {
  return static_cast<uint32_t>(&op - warp.block->program().blocks[warp.current].ops.data());
}

template <unsigned W> void branch(Warp &warp, const Op &op) {
  LaneMask taken = warp.mask;
  if (op.b != 2) {
    LaneMask holds = maskOf<W>(warp.reg<uint8_t>(op.a));
    taken &= op.b ? ~holds : holds;
  }
  if (!taken)
    return;
  uint32_t here = placeOf(warp, op);
  LaneGroup &mine = warp.groups[warp.running];
  LaneGroup target = mine;
  target.block = warp.current;
  target.next = static_cast<uint32_t>(here + op.imm);
  target.lanes = taken;
  if (taken == warp.mask) {
    mine = target;
  } else {
    mine.block = warp.current;
    mine.next = here + 1;
    mine.lanes = warp.mask & ~taken;
    warp.groups.push_back(target);
  }
  warp.stop = true;
  warp.request = Warp::Request::Branch;
}

template <unsigned W> void label(Warp &warp, const Op &op) {
  if (warp.groups.size() == 1)
    return;
  uint32_t next = placeOf(warp, op) + 1;
  for (const LaneGroup &group : warp.groups)
    if (group.wait == Wait::Nothing && group.block == warp.current && group.next == next) {
      LaneGroup &mine = warp.groups[warp.running];
      mine.block = warp.current;
      mine.next = next;
      warp.stop = true;
      warp.request = Warp::Request::Branch;
      return;
    }
}

template <unsigned W> void nothing(Warp &, const Op &) {}

} // namespace

Handler assemblyBranchHandler(unsigned width) { return width == 64 ? &branch<64> : &branch<32>; }
Handler assemblyLabelHandler(unsigned width) { return width == 64 ? &label<64> : &label<32>; }
Handler assemblyLifetimeHandler(unsigned width) { return width == 64 ? &nothing<64> : &nothing<32>; }

} // namespace tilejit::sim
