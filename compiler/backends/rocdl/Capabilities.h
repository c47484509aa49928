// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The operations that AMD's chips have.

#ifndef TILEJIT_BACKENDS_ROCDL_CAPABILITIES_H
#define TILEJIT_BACKENDS_ROCDL_CAPABILITIES_H

#include "backends/common/Capabilities.h"

namespace tilejit::rocdl {

/// Generations count as in GpuFacts: the gfx number, hexadecimal.
llvm::ArrayRef<backends::Capability> capabilities();

} // namespace tilejit::rocdl

#endif // TILEJIT_BACKENDS_ROCDL_CAPABILITIES_H
