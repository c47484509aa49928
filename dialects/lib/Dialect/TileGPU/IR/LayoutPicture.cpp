// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Layouts as text and SVG: see the header.

#include "tilejit/Dialect/TileGPU/IR/LayoutPicture.h"

#include <algorithm>
#include <cassert>
#include <cstdio>

namespace tilejit::tilegpu {

namespace {

/// The tile as a table, and for each of its cells the places that hold the element.
class Table {
public:
  Table(const LinearLayout &layout, const PictureOptions &options)
      : layout_(layout), columnBits_(layout.outs().empty() ? 0 : layout.outs().back().bits) {
    allRows_ = int64_t(1) << (layout.outBits() - columnBits_);
    allColumns_ = int64_t(1) << columnBits_;
    rows = std::min(allRows_, options.maxRows);
    columns = std::min(allColumns_, options.maxColumns);
  }

  int64_t rows, columns;

  /// All places of an element, the lowest first.
  std::vector<uint64_t> places(int64_t row, int64_t column) const {
    const auto element = static_cast<uint64_t>(row << columnBits_ | column);
    const auto first = span_.express(element);
    std::vector<uint64_t> all;
    for (uint64_t i = 0; first && i < uint64_t(1) << copies_.size(); ++i)
      all.push_back(*first ^ gf2::combine(copies_, i));
    std::sort(all.begin(), all.end());
    return all;
  }

  /// `w1 l12 r3`
  std::string name(uint64_t place) const {
    std::string text;
    for (size_t i = layout_.ins().size(); i-- > 0;) {
      const Dim &dim = layout_.ins()[i];
      if (dim.bits > 0)
        text += (text.empty() ? "" : " ") + dim.name.substr(0, 1) + std::to_string(value(place, dim));
    }
    return text.empty() ? "0" : text;
  }
  uint64_t value(uint64_t place, const Dim &dim) const {
    return place >> layout_.inShift(dim.name) & gf2::lowBits(dim.bits);
  }

  std::string cell(int64_t row, int64_t column) const {
    std::vector<uint64_t> all = places(row, column);
    if (all.empty())
      return "-";
    return name(all.front()) + (all.size() > 1 ? " +" + std::to_string(all.size() - 1) : "");
  }

  /// "dim0=1 dim1=3"
  std::string coordinates(int64_t row, int64_t column) const {
    std::string text;
    std::vector<uint64_t> values = layout_.splitOut(static_cast<uint64_t>(row << columnBits_ | column));
    for (size_t i = 0; i < values.size(); ++i)
      text += (i ? " " : "") + layout_.outs()[i].name + "=" + std::to_string(values[i]);
    return text;
  }

  /// Says what is not shown; empty if nothing.
  std::string note() const {
    if (rows == allRows_ && columns == allColumns_)
      return "";
    return "first " + std::to_string(rows) + " x " + std::to_string(columns) + " of " + std::to_string(allRows_) +
           " x " + std::to_string(allColumns_) + " elements";
  }

private:
  const LinearLayout &layout_;
  int columnBits_;
  int64_t allRows_ = 1, allColumns_ = 1;
  gf2::Span span_{layout_.columns()};
  gf2::Vectors copies_ = layout_.kernel();
};

/// A light colour: the hue says the thread, the lightness the register.
std::string color(const Table &table, const LinearLayout &layout, uint64_t place) {
  double hue = 0, light = 70;
  for (const Dim &dim : layout.ins()) {
    double part = static_cast<double>(table.value(place, dim)) / static_cast<double>(dim.size());
    if (dim.name == kLane || dim.name == kOffset)
      hue = 360 * part;
    else if (dim.name == kRegister)
      light = 68 + 24 * part;
  }
  char text[64];
  std::snprintf(text, sizeof text, "hsl(%.0f,70%%,%.0f%%)", hue, light);
  return text;
}

std::string escaped(std::string_view text) {
  std::string result;
  for (char c : text)
    result += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  return result;
}

} // namespace

std::string textPicture(const LinearLayout &layout, const PictureOptions &options) {
  const Table table(layout, options);
  std::vector<std::vector<std::string>> cells;
  size_t width = 0;
  for (int64_t row = 0; row < table.rows; ++row) {
    cells.emplace_back();
    for (int64_t column = 0; column < table.columns; ++column) {
      cells.back().push_back(table.cell(row, column));
      width = std::max(width, cells.back().back().size());
    }
  }
  std::string text;
  for (const std::vector<std::string> &row : cells) {
    std::string line;
    for (const std::string &cell : row)
      line += cell + std::string(width - cell.size() + 2, ' ');
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  if (std::string note = table.note(); !note.empty())
    text += note + "\n";
  return text;
}

std::string svgPicture(const LinearLayout &layout, std::string_view title, const PictureOptions &options) {
  constexpr int kWidth = 84, kHeight = 22, kTop = 30;
  const Table table(layout, options);
  const std::string note = table.note();
  const auto number = [](int64_t value) { return std::to_string(value); };
  const int64_t width = table.columns * kWidth + 2, height = kTop + table.rows * kHeight + (note.empty() ? 2 : 24);
  std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + number(width) + "\" height=\"" +
                    number(height) + "\" font-family=\"monospace\" font-size=\"11\">\n";
  svg += "<text x=\"1\" y=\"18\" font-size=\"14\">" + escaped(title) + "</text>\n";
  for (int64_t row = 0; row < table.rows; ++row)
    for (int64_t column = 0; column < table.columns; ++column) {
      const std::vector<uint64_t> places = table.places(row, column);
      const int64_t x = 1 + column * kWidth, y = kTop + row * kHeight;
      std::string tip = table.coordinates(row, column) + ":";
      for (uint64_t place : places)
        tip += (place == places.front() ? " " : ", ") + table.name(place);
      svg += "<g><title>" + escaped(tip) + "</title><rect x=\"" + number(x) + "\" y=\"" + number(y) + "\" width=\"" +
             number(kWidth) + "\" height=\"" + number(kHeight) + "\" stroke=\"#777\" fill=\"" +
             (places.empty() ? "#fff" : color(table, layout, places.front())) + "\"/><text x=\"" +
             number(x + kWidth / 2) + "\" y=\"" + number(y + 15) + "\" text-anchor=\"middle\">" +
             table.cell(row, column) + "</text></g>\n";
    }
  if (!note.empty())
    svg += "<text x=\"1\" y=\"" + number(height - 8) + "\">" + note + "</text>\n";
  return svg + "</svg>\n";
}

} // namespace tilejit::tilegpu
