// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Bulk tensor copies of sm_90 (cp.async.bulk.tensor): boxes of one to five dimensions in tile mode, pixels in im2col
// mode, by a tensor map.

#ifndef TILEJIT_SIMULATOR_NVIDIA_TENSORCOPY_H
#define TILEJIT_SIMULATOR_NVIDIA_TENSORCOPY_H

namespace tilejit::sim {

class Rules;

void addNvidiaTensorCopyRules(Rules &rules);

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_NVIDIA_TENSORCOPY_H
