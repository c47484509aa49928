// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Packages: files that hold one operator compiled for several targets, and the rule by which a device takes its code
// out of one. Nothing here compiles or loads.

#ifndef TILEJIT_RUNTIME_PACKAGE_H
#define TILEJIT_RUNTIME_PACKAGE_H

#include "tilejit/Runtime/Context.h"

#include <span>

namespace tilejit {

/// Reads a package into a source: kernels and, where they come from a description, that. InvalidArgument for a damaged
/// file and for one that holds several operators.
Status readPackage(std::string_view bytes, Source &source);

/// What a device takes from a package.
struct PackageChoice {
  size_t kernel = 0, payload = 0;
};

/// The payload that a device of a target runs: that of exactly this target, else the nearest that codeFit() lets run
/// there (of NVIDIA code its PTX); the simulator takes the bitcode of exactly the target. DoesNotFit where there is
/// none: the message names what the package holds and the device.
Expected<PackageChoice> choosePayload(std::span<const CachedKernel> kernels, const TargetSpec &device);

/// The chosen kernel, its chosen payload first, ready for Context::load().
Expected<CompiledKernel> takeFromPackage(std::span<const CachedKernel> kernels, const TargetSpec &device);

} // namespace tilejit

#endif // TILEJIT_RUNTIME_PACKAGE_H
