// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Following undefined values through a decoded kernel, before registers have their places.

#ifndef TILEJIT_SIMULATOR_DECODE_UNDEFINED_H
#define TILEJIT_SIMULATOR_DECODE_UNDEFINED_H

#include "core/Program.h"

#include <vector>

namespace tilejit::sim {

/// Adds the operations that move and check marks of undefined values. `undefined`: registers that hold such a value
/// from the start.
void trackUndefined(Program &program, const std::vector<Reg> &undefined);

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_DECODE_UNDEFINED_H
