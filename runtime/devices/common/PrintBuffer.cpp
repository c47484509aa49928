// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Lines from records. The n-th record of a cell belongs to the n-th line of its tile.print in its instance.

#include "devices/common/PrintBuffer.h"

#include "devices/common/Printer.h"

#include <algorithm>
#include <map>
#include <utility>

namespace tilejit::gpu {

namespace {

/// The lines of one tile.print in one instance, in the order of execution.
struct LinesOfPrint {
  int64_t cells = 1;                       ///< Of a line.
  std::vector<std::vector<int64_t>> found; ///< For each cell, what it was in each line.
  size_t shown = 0;

  explicit LinesOfPrint(const abi::GpuPrint &print)
      : cells(std::max<int64_t>(1, printedCells(print.types))), found(static_cast<size_t>(cells)) {}

  /// The cells of the next line; nothing where some are not there.
  std::vector<int64_t> next() {
    std::vector<int64_t> line;
    for (const std::vector<int64_t> &cell : found)
      if (shown < cell.size())
        line.push_back(cell[shown]);
    ++shown;
    return line.size() == found.size() ? line : std::vector<int64_t>();
  }
};

/// What one program instance has said.
struct Instance {
  std::map<size_t, LinesOfPrint> prints;
  std::vector<size_t> order; ///< Of which tile.print each line is.
};

int64_t roomOf(int64_t bytes) {
  return std::max<int64_t>(0, bytes / 8 - abi::printHeaderWords) / abi::printRecordWords;
}

} // namespace

PrintHeader printHeader(int64_t bytes) {
  PrintHeader header{};
  header[abi::PrintRoom] = roomOf(bytes);
  return header;
}

int64_t printedWords(const PrintHeader &header, int64_t bytes) {
  return abi::printHeaderWords + std::clamp<int64_t>(header[abi::PrintAsked], 0, roomOf(bytes)) * abi::printRecordWords;
}

std::string printedText(const std::vector<abi::GpuPrint> &prints, std::span<const int64_t> words) {
  std::map<int64_t, Instance> instances;
  for (size_t at = abi::printHeaderWords; at + abi::printRecordWords <= words.size(); at += abi::printRecordWords) {
    auto site = static_cast<uint64_t>(words[at + 1]);
    size_t number = (site >> 32) - 1, cell = site & 0xffffffff; // 0: a record without room for all of its thread's.
    if (number >= prints.size())
      continue;
    Instance &instance = instances[words[at]];
    LinesOfPrint &lines = instance.prints.try_emplace(number, prints[number]).first->second;
    if (cell >= lines.found.size())
      continue;
    lines.found[cell].push_back(words[at + 2]);
    if (cell == 0)
      instance.order.push_back(number);
  }
  std::string text;
  int64_t whole = 0;
  for (auto &[id, instance] : instances)
    for (size_t number : instance.order) {
      std::vector<int64_t> cells = instance.prints.at(number).next();
      if (cells.empty())
        continue;
      text += printedLine(prints[number].text, prints[number].types, cells.data());
      ++whole;
    }
  int64_t lost = words[abi::PrintLines] - whole;
  if (words[abi::PrintAsked] > roomOf(static_cast<int64_t>(words.size_bytes())) && lost > 0)
    text += "tile.print: no room for " + std::to_string(lost) + " more line" + (lost == 1 ? "" : "s") + " in the " +
            std::to_string(words.size_bytes()) + " bytes of a launch\n";
  return text;
}

} // namespace tilejit::gpu
