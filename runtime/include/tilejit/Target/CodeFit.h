// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Which code runs on which device: the rule by which a package's payload is chosen. Says nothing about whether a device
// is there.

#ifndef TILEJIT_TARGET_CODEFIT_H
#define TILEJIT_TARGET_CODEFIT_H

#include "tilejit/Target/TargetSpec.h"

#include <string_view>

namespace tilejit {

/// How near `code` is to a device that is `device`: 0 where such code does not run there, exactFit where both have one
/// keyText, and in between the larger the nearer. In between are CPUs that have all features; NVIDIA chips of an equal
/// or later compute capability, which run code as PTX only, and only of targets without an `a`; AMD chips of the same
/// name where the code leaves settings open, and those of a generic target's family.
int codeFit(const TargetSpec &code, const TargetSpec &device);
inline constexpr int exactFit = 1 << 20;

/// The target of a keyText, which does not say its name: see targetNameOf(). InvalidArgument for a text that is none.
Expected<TargetSpec> targetOfKey(std::string_view keyText);

} // namespace tilejit

#endif // TILEJIT_TARGET_CODEFIT_H
