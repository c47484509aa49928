// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The list of a warp's reads of shared memory.

#include "core/SharedReads.h"

#include <cstring>

namespace tilejit::sim {

uint32_t *SharedReads::append(uint32_t event, LaneMask lanes, uint32_t more) {
  if (used_ + headWords + 64 > mostWords)
    settle();
  if (list_.empty())
    list_.resize(mostWords);
  uint32_t *head = list_.data() + used_;
  head[0] = event;
  head[1] = more;
  std::memcpy(head + 2, &lanes, sizeof lanes);
  newest_ = event;
  used_ += headWords + countLanes(lanes);
  return head + headWords;
}

void SharedReads::settle() {
  uint32_t *__restrict events = event_.data();
  uint8_t *__restrict laneOf = lane_.data();
  for (size_t at = 0; at < used_;) {
    uint32_t event = list_[at], more = list_[at + 1];
    LaneMask lanes;
    std::memcpy(&lanes, list_.data() + at + 2, sizeof lanes);
    at += headWords;
    forEachLane(lanes, [&](unsigned lane) {
      uint32_t first = list_[at++];
      for (uint32_t g = first; g <= first + more; ++g) {
        laneOf[g] = events[g] == event ? severalLanes : static_cast<uint8_t>(lane);
        events[g] = event;
      }
    });
  }
  used_ = 0;
}

void SharedReads::setRange(uint32_t first, uint32_t end, uint32_t event) {
  newest_ = event;
  std::fill(event_.begin() + first, event_.begin() + end, event);
  std::memset(lane_.data() + first, severalLanes, end - first);
}

} // namespace tilejit::sim
