// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What kernels print: lines from the bits that they hand over (ABI/KernelABI.h), as the interpreter writes them.

#ifndef TILEJIT_DEVICES_COMMON_PRINTER_H
#define TILEJIT_DEVICES_COMMON_PRINTER_H

#include <cstdint>
#include <string>
#include <string_view>

namespace tilejit {

/// How many cells printedLine() reads.
int64_t printedCells(std::string_view types);
/// One line, its end included. A type that is not known shows as its bits in hexadecimal.
std::string printedLine(std::string_view text, std::string_view types, const int64_t *cells);

/// All of a text, in one piece as far as the system allows.
void writeToStandardError(std::string_view text);
/// The printer of kernels on the CPU (abi::CpuPrintFunction): a line on standard error.
void printToStandardError(void *user, const char *text, int64_t textBytes, const char *types, const int64_t *cells);

} // namespace tilejit

#endif // TILEJIT_DEVICES_COMMON_PRINTER_H
