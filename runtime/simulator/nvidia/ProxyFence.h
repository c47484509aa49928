// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Fences between the generic proxy (plain loads and stores) and the asynchronous one (bulk copies, operands of products
// in shared memory), of initialised mbarriers, and of tensor maps.

#ifndef TILEJIT_SIMULATOR_NVIDIA_PROXYFENCE_H
#define TILEJIT_SIMULATOR_NVIDIA_PROXYFENCE_H

namespace tilejit::sim {

class Rules;

void addProxyFenceRules(Rules &rules);

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_NVIDIA_PROXYFENCE_H
