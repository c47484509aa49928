// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// LLVM's optimisation pipeline for GPU kernels.

#ifndef TILEJIT_BACKENDS_COMMON_OPTIMIZE_H
#define TILEJIT_BACKENDS_COMMON_OPTIMIZE_H

#include "tilejit/Target/TargetSpec.h"

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace tilejit::backends {

/// Optimises a module in place. No number changes: the IR carries no fast-math flags and none are added. Pairs
/// of f32 stay together where the target has instructions for them.
void optimize(llvm::Module &module, llvm::TargetMachine &machine, const GpuFacts &facts);

} // namespace tilejit::backends

#endif // TILEJIT_BACKENDS_COMMON_OPTIMIZE_H
