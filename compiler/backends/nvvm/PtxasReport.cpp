// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// ptxas writes, for each kernel: "Compiling entry function 'k' for 'sm_80'", then a line of stack and spills, then
// "Used 8 registers, used 1 barriers, 1024 bytes smem". A number stands before the words that say what it is.

#include "PtxasReport.h"

#include <cctype>

namespace tilejit::nvvm {

namespace {

/// The number before the first `words` of a line; 0 where they are absent.
int64_t numberBefore(std::string_view line, std::string_view words) {
  size_t at = line.find(words);
  if (at == std::string_view::npos)
    return 0;
  size_t begin = at;
  while (begin > 0 && std::isdigit(static_cast<unsigned char>(line[begin - 1])))
    --begin;
  int64_t number = 0;
  for (char digit : line.substr(begin, at - begin))
    number = number * 10 + (digit - '0');
  return number;
}

/// What follows "ptxas WORD ... : " in a line that begins so.
bool takeMessage(std::string_view line, std::string_view word, std::string &message) {
  size_t colon = line.find(": ");
  if (!line.starts_with("ptxas") || colon == std::string_view::npos ||
      line.substr(0, colon).find(word) == std::string_view::npos)
    return false;
  message = line.substr(colon + 2);
  return true;
}

void parseLine(std::string_view line, PtxasReport &report) {
  constexpr std::string_view opening = "Compiling entry function '";
  std::string message;
  if (size_t at = line.find(opening); at != std::string_view::npos) {
    std::string_view rest = line.substr(at + opening.size());
    report.kernels.emplace_back().name = rest.substr(0, rest.find('\''));
  } else if (takeMessage(line, "error", message) || takeMessage(line, "fatal", message)) {
    report.errors.push_back(std::move(message));
  } else if (takeMessage(line, "warning", message) ||
             (line.find("Performance Loss") != std::string_view::npos && takeMessage(line, "", message))) {
    report.warnings.push_back(std::move(message));
  } else if (!report.kernels.empty()) {
    PtxasKernel &kernel = report.kernels.back();
    if (line.find("bytes stack frame") != std::string_view::npos) {
      kernel.stackBytes = numberBefore(line, " bytes stack frame");
      kernel.spillStoreBytes = numberBefore(line, " bytes spill stores");
      kernel.spillLoadBytes = numberBefore(line, " bytes spill loads");
    } else if (line.find("Used ") != std::string_view::npos) {
      kernel.registers = numberBefore(line, " registers");
      kernel.barriers = numberBefore(line, " barriers");
      kernel.sharedBytes = numberBefore(line, " bytes smem");
    }
  }
}

} // namespace

PtxasReport parsePtxasReport(std::string_view text) {
  PtxasReport report;
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size());
    parseLine(text.substr(0, end), report);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return report;
}

} // namespace tilejit::nvvm
