// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Tensor maps as copies use them and as kernels change them.

#ifndef TILEJIT_SIMULATOR_NVIDIA_TENSORMAP_H
#define TILEJIT_SIMULATOR_NVIDIA_TENSORMAP_H

#include "nvidia/State.h"
#include "tilejit/Simulator/TensorMap.h"

#include <optional>

namespace tilejit::sim {

class Rules;

/// The tensor map at a generic pointer, for a copy of `rank` dimensions by a lane, in tile or in im2col mode. Nothing
/// after a report.
std::optional<TensorMapInfo> readTensorMap(Warp &warp, unsigned lane, uint32_t site, uint64_t pointer, unsigned rank,
                                           bool im2col);

/// Elements of a packed box in a dimension, and the bytes of all.
uint32_t boxElements(const TensorMapInfo &map, unsigned dimension);
uint32_t boxBytes(const TensorMapInfo &map);
/// The pieces of the box that begins at a coordinate: where they lie in the packed box and in global memory.
void addBoxRuns(const TensorMapInfo &map, const int32_t *coordinate, std::vector<CopyRun> &runs);
/// The same in im2col mode, where the first pixel is at a coordinate; each is read as far from its place as `away`
/// says, in dimension 1, 2, ...
void addPixelRuns(const TensorMapInfo &map, const int32_t *coordinate, const uint16_t *away,
                  std::vector<CopyRun> &runs);
/// The pattern of elements beyond the tensor.
uint64_t fillPattern(const TensorMapInfo &map);

/// tensormap.replace, tensormap.cp_fenceproxy.
void addTensorMapRules(Rules &rules);

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_NVIDIA_TENSORMAP_H
