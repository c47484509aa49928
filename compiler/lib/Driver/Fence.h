// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Runs a function so that an abort or a fault inside it comes back as an answer.

#ifndef TILEJIT_LIB_DRIVER_FENCE_H
#define TILEJIT_LIB_DRIVER_FENCE_H

#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>
#include <string>

namespace tilejit {

/// Nothing where `body` returned; else why it did not. What it held then is leaked.
std::optional<std::string> runBehindFence(llvm::function_ref<void()> body);

} // namespace tilejit

#endif // TILEJIT_LIB_DRIVER_FENCE_H
