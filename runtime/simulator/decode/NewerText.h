// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// IR text as LLVM versions after 22 print it, where only the spelling differs: floating-point literals in the type's
// own format (f0x3F800000), infinities and NaNs by name, shortest decimals that are not exact, and triples that carry
// the chip (amdgpu9.42-amd-amdhsa). Knows no grammar beyond tokens; everything else is left as it is.

#ifndef TILEJIT_SIMULATOR_DECODE_NEWERTEXT_H
#define TILEJIT_SIMULATOR_DECODE_NEWERTEXT_H

#include <string>
#include <string_view>

namespace tilejit::sim {

/// The text as LLVM 22 spells it. Text of LLVM 22 stays as it is.
std::string rewriteNewerText(std::string_view text);

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_DECODE_NEWERTEXT_H
