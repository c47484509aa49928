// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Stochastic rounding to small float formats, as CDNA 3 and 4 have it.

#ifndef TILEJIT_SIMULATOR_AMD_SMALLROUNDING_H
#define TILEJIT_SIMULATOR_AMD_SMALLROUNDING_H

#include "core/NarrowFloat.h"

namespace tilejit::sim {

/// The code of `value` after `random` (a fraction of 2^32) was added in units of its last place and the rest was cut
/// off.
uint32_t encodeStochastic(const FloatFormat &format, float value, uint32_t random, bool saturate);

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_AMD_SMALLROUNDING_H
