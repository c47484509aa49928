// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Groups of copies: each lane has its own sequence of groups; usually all lanes of a warp commit together and share
// them.

#ifndef TILEJIT_SIMULATOR_NVIDIA_COPYGROUPS_H
#define TILEJIT_SIMULATOR_NVIDIA_COPYGROUPS_H

#include "nvidia/State.h"

#include <algorithm>
#include <utility>

namespace tilejit::sim {

/// Closes a group for the lanes: it gets those of their copies that are open.
template <class Copy> auto &commitCopies(CopyGroups<Copy> &all, LaneMask lanes) {
  auto &group = all.groups.emplace_back();
  group.lanes = lanes;
  // Nearly always the whole warp commits what the whole warp copied.
  if (std::none_of(all.open.begin(), all.open.end(), [&](const Copy &copy) { return copy.lanes & ~lanes; })) {
    group.copies = std::exchange(all.open, std::move(all.spare));
    all.spare.clear();
    return group;
  }
  size_t kept = 0;
  for (Copy &copy : all.open) {
    if (LaneMask mine = copy.lanes & lanes; mine == copy.lanes) {
      group.copies.push_back(std::move(copy));
      continue;
    } else if (mine) {
      group.copies.push_back(copy);
      group.copies.back().lanes = mine;
      copy.lanes &= ~mine;
    }
    if (&all.open[kept] != &copy)
      all.open[kept] = std::move(copy);
    ++kept;
  }
  all.open.resize(kept);
  return group;
}

/// Calls f(group, lanes) for each group, oldest first, with those of the lanes for which it is not among the newest
/// `left` groups.
template <class Copy, class F> void forEachOldGroup(CopyGroups<Copy> &all, LaneMask lanes, unsigned left, F f) {
  auto &groups = all.groups;
  std::vector<LaneMask> old(groups.size(), 0);
  uint32_t newer[32] = {};
  for (size_t i = groups.size(); i-- > 0;) {
    LaneMask here = groups[i].lanes & lanes;
    forEachLane(here, [&](unsigned l) { old[i] |= LaneMask(newer[l]++ >= left) << l; });
  }
  for (size_t i = 0; i < groups.size(); ++i)
    if (old[i])
      f(groups[i], old[i]);
}

/// Takes lanes out of a group that was waited for, and empty groups out of the queue.
template <class Copy> void dropWaited(CopyGroups<Copy> &all, LaneMask lanes, unsigned left) {
  forEachOldGroup(all, lanes, left, [&](auto &group, LaneMask old) {
    group.lanes &= ~old;
    if (group.lanes || group.copies.capacity() <= all.spare.capacity())
      return;
    all.spare = std::move(group.copies);
    all.spare.clear();
  });
  std::erase_if(all.groups, [](const auto &group) { return !group.lanes; });
}

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_NVIDIA_COPYGROUPS_H
