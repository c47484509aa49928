// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What a warp has read of shared memory: the newest read of each granule. Hardly anybody asks, because a barrier
// mostly stands between the reads and the next write. So reads are kept as a list that whoever does ask works off, and
// that is thrown away once everybody has met at a barrier.

#ifndef TILEJIT_SIMULATOR_CORE_SHAREDREADS_H
#define TILEJIT_SIMULATOR_CORE_SHAREDREADS_H

#include "core/Lanes.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tilejit::sim {

class SharedReads {
public:
  static constexpr uint8_t severalLanes = 255;

  explicit SharedReads(uint32_t granules) : event_(granules, 0), lane_(granules, 0) {}

  /// A new block begins. `numbersBeganAnew`: events of the last one would look like its own.
  void restart(bool numbersBeganAnew) {
    newest_ = 0;
    used_ = 0;
    if (numbersBeganAnew)
      std::fill(event_.begin(), event_.end(), 0);
  }

  /// The newest read of any granule; 0: none.
  uint32_t newest() const { return newest_; }
  /// Whether there is a list that ends before an event.
  bool listEndsBefore(uint32_t event) const { return used_ && newest_ < event; }
  void dropList() { used_ = 0; }
  /// Appends to the list: each of the lanes reads 1 + `more` granules. Where the caller puts the first one of each.
  uint32_t *append(uint32_t event, LaneMask lanes, uint32_t more);

  /// Works off the list; then event() and lane() hold.
  void settle();
  uint32_t event(uint32_t granule) const { return event_[granule]; }
  uint8_t lane(uint32_t granule) const { return lane_[granule]; }
  /// Newest reads of a single granule, or of all from `first` up to `end` by several lanes; the list is empty.
  void set(uint32_t granule, uint32_t event, unsigned lane) {
    newest_ = std::max(newest_, event);
    event_[granule] = event;
    lane_[granule] = static_cast<uint8_t>(lane);
  }
  void setRange(uint32_t first, uint32_t end, uint32_t event);

private:
  static constexpr size_t mostWords = 2048, headWords = 4;

  uint32_t newest_ = 0;
  size_t used_ = 0;            ///< Words of the list.
  std::vector<uint32_t> list_; ///< Of each access: event, more, lanes (two words), the first granule of each lane.
  std::vector<uint32_t> event_;
  std::vector<uint8_t> lane_;
};

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_CORE_SHAREDREADS_H
