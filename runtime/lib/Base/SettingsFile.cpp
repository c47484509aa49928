// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Reads the TOML form of settings with toml++. A file of its own: that header is slow to compile.

#include "SettingsFile.h"

#include "tilejit/Base/Text.h"

#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include <algorithm>
#include <exception>
#include <optional>

namespace tilejit {
namespace {

std::optional<std::string> valueText(const toml::node &node) {
  if (const auto *text = node.as_string())
    return text->get();
  if (const auto *number = node.as_integer())
    return std::to_string(number->get());
  if (const auto *flag = node.as_boolean())
    return flag->get() ? "on" : "off";
  return std::nullopt;
}

std::string place(std::string_view path, const toml::source_position &position) {
  return std::string(path) + ":" + std::to_string(position.line) + ":" + std::to_string(position.column);
}

} // namespace

Expected<std::vector<FileSetting>> parseSettingsFile(std::string_view text, std::string_view path) try {
  toml::table table = toml::parse(text, path);
  std::vector<FileSetting> settings;
  for (const auto &[key, node] : table) {
    std::optional<std::string> value = valueText(node);
    if (!value) {
      return Status(StatusCode::InvalidArgument, shorten(key.str(), 60) + " is no string, whole number or boolean")
          .at(place(path, key.source().begin));
    }
    settings.push_back({std::string(key.str()), *value, static_cast<int>(key.source().begin.line)});
  }
  std::sort(settings.begin(), settings.end(), [](const auto &a, const auto &b) { return a.line < b.line; });
  return settings;
} catch (const toml::parse_error &error) {
  return Status(StatusCode::InvalidArgument, shorten(error.description(), 160)).at(place(path, error.source().begin));
} catch (const std::exception &error) {
  return Status(StatusCode::InvalidArgument, shorten(error.what(), 160)).at(std::string(path));
}

} // namespace tilejit
