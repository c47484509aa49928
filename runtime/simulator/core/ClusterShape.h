// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// How the blocks of a grid form clusters: boxes of blocks that run together and reach each other's shared memory.
// Without clusters each block is one of its own. Clusters are numbered as blocks are, x fastest; a block's rank is its
// number within the cluster.

#ifndef TILEJIT_SIMULATOR_CORE_CLUSTERSHAPE_H
#define TILEJIT_SIMULATOR_CORE_CLUSTERSHAPE_H

#include "tilejit/Simulator/Simulator.h"

#include <algorithm>
#include <cstdint>
#include <string>

namespace tilejit::sim {

/// A block of the grid.
struct BlockPlace {
  uint64_t number = 0;    ///< x fastest.
  uint32_t index[3] = {}; ///< blockIdx.

  /// "(1,0,0)"
  std::string text() const {
    return "(" + std::to_string(index[0]) + "," + std::to_string(index[1]) + "," + std::to_string(index[2]) + ")";
  }
};

class ClusterShape {
public:
  ClusterShape() = default;
  /// The grid must be a multiple of the cluster.
  explicit ClusterShape(const LaunchRequest &request) {
    std::copy(request.grid, request.grid + 3, grid_);
    std::copy(request.cluster, request.cluster + 3, size_);
  }

  unsigned blocks() const { return size_[0] * size_[1] * size_[2]; }
  uint64_t clusters() const { return uint64_t(grid_[0]) * grid_[1] * grid_[2] / blocks(); }

  BlockPlace place(uint64_t cluster, unsigned rank) const {
    BlockPlace place;
    uint64_t step = 1;
    for (unsigned i = 0; i < 3; ++i) {
      uint64_t count = grid_[i] / size_[i];
      place.index[i] = static_cast<uint32_t>(cluster % count * size_[i] + rank % size_[i]);
      place.number += place.index[i] * step;
      cluster /= count;
      rank /= size_[i];
      step *= grid_[i];
    }
    return place;
  }

private:
  uint32_t grid_[3] = {1, 1, 1}, size_[3] = {1, 1, 1};
};

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_CORE_CLUSTERSHAPE_H
