// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Target machines that outlive a compile. LLVM builds the tables of a processor's registers, types and instructions
// with the first function that a machine meets, which for an AMD GPU is a tenth of a small kernel's compile.

#ifndef TILEJIT_BACKENDS_COMMON_MACHINES_H
#define TILEJIT_BACKENDS_COMMON_MACHINES_H

#include "backends/common/GpuBackend.h"

#include <memory>
#include <string>

namespace tilejit::backends {

/// A machine for the target, or null with the reason in `error`. Nobody else has it.
std::unique_ptr<llvm::TargetMachine> takeMachine(const GpuVendor &vendor, const TargetSpec &target, std::string &error);

/// Keeps a machine for the next takeMachine() of the same target. What a failure leaves behind must not come back.
void keepMachine(const TargetSpec &target, std::unique_ptr<llvm::TargetMachine> machine);

} // namespace tilejit::backends

#endif // TILEJIT_BACKENDS_COMMON_MACHINES_H
