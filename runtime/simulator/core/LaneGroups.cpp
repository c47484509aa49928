// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The groups in which the lanes of a warp travel: which of them runs, and how they meet at instructions that several
// lanes execute together. The group at the lowest place runs, so that lanes which took different branches come together
// again; while it waits for its turn to touch what other blocks see, those further on wait for it. Where lanes are
// independent, one that spins lets the others run: after some looks at what they might signal, after a pause, and after
// very many instructions in any case. The lanes of an AMD wave run in step: there a lane that spins on what another one
// of its wave would have to do does so for ever, as on the chip.

#include "core/Block.h"

#include <algorithm>
#include <cstring>

namespace tilejit::sim {

namespace {

// Atomic or volatile reads of a group before the others get a turn: more than a loop needs that does not spin, so that
// groups which are about to come together are seldom kept apart.
constexpr uint32_t mostLooks = 64;
// Instructions before the others get a turn whatever the group does.
constexpr uint64_t mostSpent = 1 << 20;

uint64_t placeOf(const LaneGroup &group) {
  return uint64_t(group.hadTurn) << 63 | uint64_t(group.block) << 32 | group.next;
}

bool isRunnable(const LaneGroup &group) { return group.wait == Wait::Nothing; }
/// Whether it goes on without the help of others.
bool goesOn(const LaneGroup &group) { return isRunnable(group) || group.wait == Wait::World; }

/// The group that stands lowest among those that go on and whose turn it is.
LaneGroup *lowest(std::vector<LaneGroup> &groups) {
  LaneGroup *best = nullptr;
  for (LaneGroup &group : groups)
    if (goesOn(group) && (!best || placeOf(group) < placeOf(*best)))
      best = &group;
  return best;
}

/// Whether two operations are the same instruction with other operands.
bool isSameInstruction(const Op &one, const Op &other) {
  bool predicated = (one.registers | other.registers) & Op::HasPredicate;
  if (predicated || one.run != other.run || one.imm != other.imm || !one.x != !other.x)
    return false;
  return !one.x || (one.x->inKinds == other.x->inKinds && one.x->outKinds == other.x->outKinds &&
                    one.x->numbers == other.x->numbers && one.x->offsets == other.x->offsets);
}

/// A register of an operation, for all lanes.
struct Operand {
  Reg reg;
  unsigned bytes; ///< Of one lane.
};

/// Registers that an operation with operands reads or writes; of others its member mask, in a.
std::vector<Operand> operandsOf(const Op &op, bool results) {
  if (!op.x)
    return results ? std::vector<Operand>() : std::vector<Operand>{{op.a, 4}};
  std::vector<Operand> list;
  const std::vector<Reg> &regs = results ? op.x->out : op.x->in;
  const std::vector<Kind> &kinds = results ? op.x->outKinds : op.x->inKinds;
  for (size_t i = 0; i < regs.size(); ++i)
    list.push_back({regs[i], sizeOf(kinds[i])});
  return list;
}

/// Copies of registers, put back or elsewhere later.
class SavedRegisters {
public:
  SavedRegisters(const Warp &warp, const std::vector<Operand> &operands) : operands_(operands) {
    for (const Operand &operand : operands)
      bytes_.emplace_back(warp.registers + operand.reg, warp.registers + operand.reg + operand.bytes * warp.width);
  }
  void put(Warp &warp, const std::vector<Operand> &to, LaneMask lanes) const {
    for (size_t i = 0; i < to.size(); ++i)
      forEachLane(lanes, [&](unsigned l) {
        std::memcpy(warp.registers + to[i].reg + l * to[i].bytes, bytes_[i].data() + l * to[i].bytes, to[i].bytes);
      });
  }
  void putBack(Warp &warp, LaneMask lanes) const { put(warp, operands_, lanes); }

private:
  std::vector<Operand> operands_;
  std::vector<std::vector<uint8_t>> bytes_;
};

} // namespace

/// The group to run, if any; groups at the same place are merged into it.
LaneGroup *Block::select(Warp &warp) {
  std::vector<LaneGroup> &groups = warp.groups;
  if (groups.size() == 1)
    return isRunnable(groups[0]) ? groups.data() : nullptr;
  LaneGroup *best = lowest(groups);
  if (!best)
    return nullptr;
  if (best->hadTurn) {
    for (LaneGroup &group : groups)
      group.hadTurn = false;
    best = lowest(groups);
  }
  if (!isRunnable(*best))
    return nullptr;
  auto first = static_cast<size_t>(best - groups.data());
  for (size_t i = groups.size(); i-- > first + 1;)
    if (isRunnable(groups[i]) && placeOf(groups[i]) == placeOf(*best) && groups[i].resumed == best->resumed) {
      best->lanes |= groups[i].lanes;
      groups.erase(groups.begin() + static_cast<ptrdiff_t>(i));
    }
  return best;
}

/// Ends the turn of a group that spins, or may do so.
void Block::takeTurns(LaneGroup &group, uint64_t spent, uint32_t looks) const {
  if (program().lockStep)
    return;
  group.spent += spent;
  group.looks += looks;
  if (group.looks < mostLooks && group.spent < mostSpent)
    return;
  group.hadTurn = true;
  group.looks = 0;
  group.spent = 0;
}

bool Block::meet(Warp &warp, LaneMask expected, bool anywhere) {
  if (warp.resumed || !(expected & warp.live & ~warp.mask))
    return true;
  LaneGroup &group = retryAfter(warp, Wait::Lanes);
  group.expected = expected;
  group.anywhere = anywhere;
  return false;
}

/// Lets a group go on whose missing lanes have come or have ended.
void Block::tryMeet(Warp &warp, LaneGroup &group) {
  const Op &op = operationOf(group);
  std::vector<LaneGroup *> met;
  LaneMask here = 0;
  bool together = false;
  for (LaneGroup &other : warp.groups) {
    if (other.wait != Wait::Lanes)
      continue;
    bool samePlace = other.block == group.block && other.next == group.next;
    if (!samePlace && !(group.anywhere && other.anywhere && other.expected == group.expected &&
                        isSameInstruction(op, operationOf(other))))
      continue;
    met.push_back(&other);
    here |= other.lanes;
    together |= !samePlace;
  }
  if (group.expected & warp.live & ~here)
    return;
  for (LaneGroup *other : met) {
    other->wait = Wait::Nothing;
    other->resumed = true;
  }
  if (together)
    executeTogether(warp, met);
}

/// Executes an instruction at which groups met that stand at different places: as the first one's, with the operands
/// of the others in its registers for the time being.
void Block::executeTogether(Warp &warp, std::vector<LaneGroup *> &groups) {
  const Op &op = operationOf(*groups[0]);
  std::vector<Operand> in = operandsOf(op, false), out = operandsOf(op, true), all = in;
  all.insert(all.end(), out.begin(), out.end());
  std::vector<SavedRegisters> theirs;
  for (LaneGroup *group : groups)
    theirs.emplace_back(warp, operandsOf(operationOf(*group), false));
  SavedRegisters mine(warp, all);
  LaneMask others = 0;
  for (size_t i = 1; i < groups.size(); ++i) {
    theirs[i].put(warp, in, groups[i]->lanes);
    others |= groups[i]->lanes;
  }
  warp.mask = groups[0]->lanes | others;
  warp.current = groups[0]->block;
  warp.resumed = true;
  warp.stop = false;
  op.run(warp, op);
  SavedRegisters results(warp, out);
  mine.putBack(warp, others);
  for (LaneGroup *group : groups) {
    if (group != groups[0])
      results.put(warp, operandsOf(operationOf(*group), true), group->lanes);
    group->resumed = false;
    ++group->next;
  }
}

/// Groups that wait for lanes which will never come are reported and let go.
bool Block::meetFailed(Warp &warp) {
  bool found = false;
  for (LaneGroup &group : warp.groups) {
    if (group.wait != Wait::Lanes)
      continue;
    const Op &op = operationOf(group);
    LaneMask missing = group.expected & warp.live & ~group.lanes;
    if (missing && checks(Check::Divergence))
      report(
          ReportKind::Divergence, op.site, warp, firstLane(missing), "a lane that the member mask names does not come",
          "let all lanes of the mask execute the instruction with the same mask, or take the missing ones out of it");
    group.wait = Wait::Nothing;
    group.resumed = true;
    found = true;
  }
  return found;
}

} // namespace tilejit::sim
