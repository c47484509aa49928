// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Small text helpers that several parts need: shortening for messages, JSON strings, numbers, durations and sizes as
// people write them.

#ifndef TILEJIT_BASE_TEXT_H
#define TILEJIT_BASE_TEXT_H

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilejit {

/// At most `limit` bytes on one line: control characters become \xNN, what is too long loses its middle ("abc...xyz").
std::string shorten(std::string_view text, size_t limit = 80);
/// A JSON string with its quotes; bytes that are no UTF-8 become U+FFFD.
std::string quoteJson(std::string_view text);
/// A decimal number, all of the text; nothing else is accepted.
std::optional<int64_t> parseInteger(std::string_view text);
/// Seconds from "90", "90s", "15m", "12h", "30d", "2w".
std::optional<int64_t> parseDuration(std::string_view text);
/// Bytes from "4096", "64k", "512M", "10G", "1T" with an optional "iB" or "B"; multiples of 1024.
std::optional<int64_t> parseSize(std::string_view text);
/// "10.5 GiB".
std::string formatSize(int64_t bytes);
/// The name of `known` nearest to a mistyped one; empty where none is near.
std::string_view nearestName(std::string_view text, std::span<const std::string_view> known);
std::vector<std::string_view> splitText(std::string_view text, char separator);
std::string_view trimText(std::string_view text);

} // namespace tilejit

#endif // TILEJIT_BASE_TEXT_H
