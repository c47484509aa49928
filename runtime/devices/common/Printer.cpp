// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Numbers as text, nine digits for floats, and a line in a single write so that threads don't mix theirs.

#include "devices/common/Printer.h"

#include "tilejit/ABI/KernelABI.h"
#include "tilejit/Base/Float.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <optional>
#include <unistd.h>

namespace tilejit {

namespace {

/// The number of a type of 6 bits; kernels have these, descriptions don't.
double decodeSixBits(int64_t bits, int significandBits, int bias) {
  auto significand = static_cast<double>(bits & ((1 << significandBits) - 1));
  int exponent = static_cast<int>(bits & 31) >> significandBits;
  double size = exponent == 0 ? std::ldexp(significand, 1 - bias - significandBits)
                              : std::ldexp(significand + (1 << significandBits), exponent - bias - significandBits);
  return bits & 32 ? -size : size;
}

std::string numberText(int64_t bits, std::string_view type) {
  char text[40];
  std::optional<DType> dtype = parseDType(type);
  if (type == "f6e2m3fn")
    std::snprintf(text, sizeof text, "%.9g", decodeSixBits(bits, 3, 1));
  else if (type == "f6e3m2fn")
    std::snprintf(text, sizeof text, "%.9g", decodeSixBits(bits, 2, 3));
  else if (!dtype)
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(bits));
  else if (isFloat(*dtype))
    std::snprintf(text, sizeof text, "%.9g", decodeFloat(static_cast<uint64_t>(bits), *dtype));
  else
    std::snprintf(text, sizeof text, "%lld", static_cast<long long>(wrapInteger(bits, *dtype)));
  return text;
}

/// A value of a line.
struct Printed {
  std::string_view type;
  bool isTile = false, isCut = false;
  int64_t cells = 1;
};

/// Takes the first of a list of types off it.
Printed takeType(std::string_view &types) {
  std::string_view type = types.substr(0, types.find(' '));
  types.remove_prefix(std::min(type.size() + 1, types.size()));
  size_t open = type.find('[');
  Printed value{type.substr(0, open)};
  if (open == std::string_view::npos)
    return value;
  value.isTile = true;
  value.cells = 0;
  std::from_chars(type.data() + open + 1, type.data() + type.size(), value.cells);
  value.isCut = value.cells > 2 * abi::printedAtEachEnd;
  value.cells = std::clamp<int64_t>(value.cells, 0, 2 * abi::printedAtEachEnd);
  return value;
}

} // namespace

int64_t printedCells(std::string_view types) {
  int64_t cells = 0;
  while (!types.empty())
    cells += takeType(types).cells;
  return cells;
}

std::string printedLine(std::string_view text, std::string_view types, const int64_t *cells) {
  std::string line(text);
  while (!types.empty()) {
    Printed value = takeType(types);
    line += ' ';
    for (int64_t i = 0; i < value.cells; ++i) {
      if (value.isTile)
        line += i == 0 ? "[" : value.isCut && i == abi::printedAtEachEnd ? ", ..., " : ", ";
      line += numberText(*cells++, value.type);
    }
    if (value.isTile)
      line += ']';
  }
  line += '\n';
  return line;
}

void writeToStandardError(std::string_view text) {
  while (!text.empty()) {
    ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written < 0 && errno != EINTR)
      return; // Nobody can be told.
    text.remove_prefix(static_cast<size_t>(std::max<ssize_t>(written, 0)));
  }
}

void printToStandardError(void *, const char *text, int64_t textBytes, const char *types, const int64_t *cells) {
  writeToStandardError(printedLine({text, static_cast<size_t>(textBytes)}, types, cells));
}

} // namespace tilejit
