// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What kernels of a GPU print, as text: the records of one launch (ABI/GpuPrint.h) put together to the lines that the
// CPU and the interpreter print. Whatever stands in the records, nothing is read beyond them.

#ifndef TILEJIT_DEVICES_COMMON_PRINTBUFFER_H
#define TILEJIT_DEVICES_COMMON_PRINTBUFFER_H

#include "tilejit/ABI/GpuLaunch.h"
#include "tilejit/ABI/GpuPrint.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tilejit::gpu {

using PrintHeader = std::array<int64_t, abi::printHeaderWords>;

/// What a buffer of so many bytes begins with before a launch.
PrintHeader printHeader(int64_t bytes);
/// After a launch: the words of such a buffer that have to be read, the header among them.
int64_t printedWords(const PrintHeader &header, int64_t bytes);
/// The lines of a launch: of one program instance after the other in the order of their numbers, each in the order of
/// execution; at the end a line that says how many did not fit. `words`: as many as printedWords() says. Lines whose
/// parts are not all there, as a failed assertion has ended a part of their instance, are left out.
std::string printedText(const std::vector<abi::GpuPrint> &prints, std::span<const int64_t> words);

} // namespace tilejit::gpu

#endif // TILEJIT_DEVICES_COMMON_PRINTBUFFER_H
