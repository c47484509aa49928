// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What kernels print: lines from the bits that they hand over (ABI/KernelABI.h), as the interpreter writes them.

#ifndef TILEJIT_DEVICES_CPU_PRINTER_H
#define TILEJIT_DEVICES_CPU_PRINTER_H

#include <cstdint>
#include <string>
#include <string_view>

namespace tilejit::cpu {

/// One line, its end included. A type that is not known shows as its bits in hexadecimal.
std::string printedLine(std::string_view text, std::string_view types, const int64_t *cells);

/// The printer of kernels (abi::CpuPrintFunction): a line on standard error, in one piece.
void printToStandardError(void *user, const char *text, int64_t textBytes, const char *types, const int64_t *cells);

} // namespace tilejit::cpu

#endif // TILEJIT_DEVICES_CPU_PRINTER_H
