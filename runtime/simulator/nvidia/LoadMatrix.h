// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Rules of ldmatrix, stmatrix and movmatrix.

#ifndef TILEJIT_SIMULATOR_NVIDIA_LOADMATRIX_H
#define TILEJIT_SIMULATOR_NVIDIA_LOADMATRIX_H

#include "decode/Decoder.h"

namespace tilejit::sim {

/// Called by addNvidiaMatrixRules.
void addLoadMatrixRules(Rules &rules);

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_NVIDIA_LOADMATRIX_H
