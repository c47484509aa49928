// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The operations that NVIDIA's chips have.

#ifndef TILEJIT_BACKENDS_NVVM_CAPABILITIES_H
#define TILEJIT_BACKENDS_NVVM_CAPABILITIES_H

#include "backends/common/Capabilities.h"

namespace tilejit::nvvm {

/// Generations count as in GpuFacts: 10 x compute capability.
llvm::ArrayRef<backends::Capability> capabilities();

} // namespace tilejit::nvvm

#endif // TILEJIT_BACKENDS_NVVM_CAPABILITIES_H
