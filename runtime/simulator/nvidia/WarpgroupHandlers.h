// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Handlers of wgmma, for the rules that emit them.

#ifndef TILEJIT_SIMULATOR_NVIDIA_WARPGROUPHANDLERS_H
#define TILEJIT_SIMULATOR_NVIDIA_WARPGROUPHANDLERS_H

#include "core/Program.h"

namespace tilejit::sim {

/// See isWarpgroupProduct.
void warpgroupProduct(Warp &warp, const Op &op);
void warpgroupFence(Warp &warp, const Op &op);
void warpgroupCommit(Warp &warp, const Op &op);
/// imm: groups that may stay in flight.
void warpgroupWait(Warp &warp, const Op &op);

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_NVIDIA_WARPGROUPHANDLERS_H
