// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// One compile: a request in, a response out. Builds or parses the tile program, picks the back end, times the stages,
// and turns every diagnostic into a status that names operator and place. Never prints, never exits.

#ifndef TILEJIT_DRIVER_DRIVER_H
#define TILEJIT_DRIVER_DRIVER_H

#include "tilejit/ABI/Compile.h"
#include "tilejit/Driver/Backend.h"

#include <span>
#include <string_view>

namespace tilejit {

/// Compiles. A failure of any kind is the response's status.
abi::CompileResponse compile(const abi::CompileRequest &request, std::span<const Backend *const> backends);

/// The same on bytes: decodes the request, compiles behind a fence, encodes the response. What would end the process
/// inside LLVM (an abort, a fault) ends the compile instead; this is a second line, for what our checks let through.
std::string compileEncoded(std::string_view request, std::span<const Backend *const> backends);

} // namespace tilejit

#endif // TILEJIT_DRIVER_DRIVER_H
