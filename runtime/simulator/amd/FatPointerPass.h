// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The one function of libtilejit-simulator-passes.so, which stands in the folder above the plug-in's.

#ifndef TILEJIT_SIMULATOR_AMD_FATPOINTERPASS_H
#define TILEJIT_SIMULATOR_AMD_FATPOINTERPASS_H

#include <string>
#include <string_view>

namespace tilejit::sim {

/// Lowers the fat pointers of a module, given as bitcode, for a processor: true, and the new bitcode; or false, and why
/// not.
using FatPointerPass = bool (*)(std::string_view bitcode, const char *chip, std::string &result);
inline constexpr char fatPointerPassSymbol[] = "tilejit_simulator_lower_fat_pointers";
inline constexpr char fatPointerPassFile[] = "libtilejit-simulator-passes.so";

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_AMD_FATPOINTERPASS_H
