// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Numbers as text, nine digits for floats, and a line in a single write so that threads don't mix theirs.

#include "Printer.h"

#include "tilejit/ABI/KernelABI.h"
#include "tilejit/Base/Float.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <optional>
#include <unistd.h>

namespace tilejit::cpu {

namespace {

std::string numberText(int64_t bits, std::optional<DType> dtype) {
  char text[40];
  if (!dtype)
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(bits));
  else if (isFloat(*dtype))
    std::snprintf(text, sizeof text, "%.9g", decodeFloat(static_cast<uint64_t>(bits), *dtype));
  else
    std::snprintf(text, sizeof text, "%lld", static_cast<long long>(wrapInteger(bits, *dtype)));
  return text;
}

} // namespace

std::string printedLine(std::string_view text, std::string_view types, const int64_t *cells) {
  std::string line(text);
  while (!types.empty()) {
    std::string_view type = types.substr(0, types.find(' '));
    types.remove_prefix(std::min(type.size() + 1, types.size()));
    size_t open = type.find('[');
    std::optional<DType> dtype = parseDType(type.substr(0, open));
    line += ' ';
    if (open == std::string_view::npos) {
      line += numberText(*cells++, dtype);
      continue;
    }
    int64_t count = 0;
    std::from_chars(type.data() + open + 1, type.data() + type.size(), count);
    bool isCut = count > 2 * abi::printedAtEachEnd;
    int64_t shown = isCut ? 2 * abi::printedAtEachEnd : count;
    for (int64_t i = 0; i < shown; ++i) {
      line += i == 0 ? "[" : isCut && i == abi::printedAtEachEnd ? ", ..., " : ", ";
      line += numberText(*cells++, dtype);
    }
    line += ']';
  }
  line += '\n';
  return line;
}

void printToStandardError(void *, const char *text, int64_t textBytes, const char *types, const int64_t *cells) {
  std::string line = printedLine({text, static_cast<size_t>(textBytes)}, types, cells);
  for (std::string_view rest = line; !rest.empty();) {
    ssize_t written = ::write(STDERR_FILENO, rest.data(), rest.size());
    if (written < 0 && errno != EINTR)
      return; // Nobody can be told.
    rest.remove_prefix(static_cast<size_t>(std::max<ssize_t>(written, 0)));
  }
}

} // namespace tilejit::cpu
