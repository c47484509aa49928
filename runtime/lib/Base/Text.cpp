// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Small text helpers.

#include "tilejit/Base/Text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

namespace tilejit {

std::string shorten(std::string_view text, size_t limit) {
  // More than this is never shown, so that a value of megabytes costs nothing.
  std::string_view head = text.substr(0, limit), tail = text.substr(text.size() - std::min(text.size(), limit));
  auto clean = [](std::string_view raw) {
    std::string out;
    for (char c : raw) {
      if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7F) {
        out += c;
        continue;
      }
      std::array<char, 8> code;
      std::snprintf(code.data(), code.size(), "\\x%02x", static_cast<unsigned char>(c));
      out += code.data();
    }
    return out;
  };
  std::string cleanHead = clean(head);
  if (text.size() <= limit && cleanHead.size() <= limit)
    return cleanHead;
  if (limit < 8)
    return cleanHead.substr(0, limit);
  // Cuts must not split a UTF-8 sequence: step back over continuation bytes.
  std::string cleanTail = clean(tail);
  size_t front = (limit - 3) * 2 / 3, back = limit - 3 - front;
  while (front > 0 && (cleanHead[front] & 0xC0) == 0x80)
    --front;
  size_t start = cleanTail.size() - std::min(cleanTail.size(), back);
  while (start < cleanTail.size() && (cleanTail[start] & 0xC0) == 0x80)
    ++start;
  return cleanHead.substr(0, front) + "..." + cleanTail.substr(start);
}

namespace {

/// Length of the valid UTF-8 sequence at the start of a text; 0: none.
size_t sequenceLength(std::string_view text) {
  auto at = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char lead = at(0);
  size_t length = lead < 0x80                   ? 1
                  : lead >= 0xC2 && lead < 0xE0 ? 2
                  : (lead & 0xF0) == 0xE0       ? 3
                  : lead >= 0xF0 && lead < 0xF5 ? 4
                                                : 0;
  if (length > text.size())
    return 0;
  for (size_t i = 1; i < length; ++i)
    if ((at(i) & 0xC0) != 0x80)
      return 0;
  if (length == 3 && ((lead == 0xE0 && at(1) < 0xA0) || (lead == 0xED && at(1) >= 0xA0)))
    return 0;
  if (length == 4 && ((lead == 0xF0 && at(1) < 0x90) || (lead == 0xF4 && at(1) >= 0x90)))
    return 0;
  return length;
}

} // namespace

std::string quoteJson(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    size_t length = sequenceLength(text);
    unsigned char c = static_cast<unsigned char>(text[0]);
    if (length == 0) {
      out += "\xEF\xBF\xBD";
      length = 1;
    } else if (c == '"' || c == '\\') {
      out += '\\';
      out += text[0];
    } else if (c == '\n') {
      out += "\\n";
    } else if (c < 0x20 || c == 0x7F) {
      std::array<char, 8> code;
      std::snprintf(code.data(), code.size(), "\\u%04x", c);
      out += code.data();
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return out += '"';
}

std::optional<int64_t> parseInteger(std::string_view text) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty())
    return std::nullopt;
  return value;
}

namespace {

/// A non-negative number times the factor of its suffix.
std::optional<int64_t> parseScaled(std::string_view text, int64_t factor) {
  std::optional<int64_t> number = parseInteger(text);
  int64_t result = 0;
  if (!number || *number < 0 || __builtin_mul_overflow(*number, factor, &result))
    return std::nullopt;
  return result;
}

} // namespace

std::optional<int64_t> parseDuration(std::string_view text) {
  if (text.empty())
    return std::nullopt;
  int64_t factor = 0;
  switch (text.back()) {
  case 's':
    factor = 1;
    break;
  case 'm':
    factor = 60;
    break;
  case 'h':
    factor = 3600;
    break;
  case 'd':
    factor = 86400;
    break;
  case 'w':
    factor = 7 * 86400;
    break;
  default:
    return parseScaled(text, 1);
  }
  return parseScaled(text.substr(0, text.size() - 1), factor);
}

std::optional<int64_t> parseSize(std::string_view text) {
  if (text.ends_with("iB"))
    text.remove_suffix(2);
  else if (text.ends_with('B'))
    text.remove_suffix(1);
  if (text.empty())
    return std::nullopt;
  static constexpr std::string_view upper = "KMGT", lower = "kmgt";
  size_t power = std::min(upper.find(text.back()), lower.find(text.back()));
  if (power == std::string_view::npos)
    return parseScaled(text, 1);
  text.remove_suffix(1);
  if (text.ends_with(' '))
    text.remove_suffix(1);
  return parseScaled(text, int64_t{1} << (10 * (power + 1)));
}

std::string formatSize(int64_t bytes) {
  static constexpr std::array<const char *, 5> units = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; unit + 1 < units.size() && value >= 1024; ++unit)
    value /= 1024;
  std::array<char, 48> text;
  std::snprintf(text.data(), text.size(), unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
  return text.data();
}

namespace {

/// Edit distance (insert, delete, replace, swap of neighbours) of two short texts.
size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> cost(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i)
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  return cost[a.size()][b.size()];
}

} // namespace

std::string_view nearestName(std::string_view text, std::span<const std::string_view> known) {
  std::string_view best;
  if (text.size() > 64)
    return best;
  size_t bestCost = std::max<size_t>(1, text.size() / 3) + 1;
  for (std::string_view name : known)
    if (size_t cost = editDistance(text, name); cost < bestCost) {
      bestCost = cost;
      best = name;
    }
  return best;
}

std::vector<std::string_view> splitText(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos)
      return parts;
    text.remove_prefix(end + 1);
  }
}

std::string_view trimText(std::string_view text) {
  constexpr std::string_view space = " \t\r\n\f\v";
  size_t begin = text.find_first_not_of(space);
  if (begin == std::string_view::npos)
    return {};
  return text.substr(begin, text.find_last_not_of(space) - begin + 1);
}

} // namespace tilejit
