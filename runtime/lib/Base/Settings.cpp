// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The table of settings, their checks, and where their values come from but for the file (SettingsFile.cpp).

#include "tilejit/Base/Settings.h"

#include "SettingsFile.h"
#include "tilejit/Base/File.h"
#include "tilejit/Base/Text.h"

#include <algorithm>
#include <charconv>

namespace tilejit {
namespace {

enum class Kind : uint8_t { Switch, Text, Path, Threads, Processors, Count, Size, Duration, Level, Format, Fraction };

struct Row {
  SettingId id;
  std::string_view name, fallback;
  Kind kind;
  int64_t min = 0, max = 0; ///< Count, Size, Duration.
};

constexpr int64_t noEnd = int64_t{1} << 60;
constexpr std::array<Row, settingCount> rows = {{
    {SettingId::Cache, "cache", "on", Kind::Switch},
    {SettingId::CacheDir, "cache_dir", "", Kind::Path},
    {SettingId::CacheMaxSize, "cache_max_size", "10G", Kind::Size, 0, noEnd},
    {SettingId::CacheMaxEntries, "cache_max_entries", "0", Kind::Count, 0, noEnd},
    {SettingId::CacheMaxAge, "cache_max_age", "0", Kind::Duration, 0, noEnd},
    {SettingId::Target, "target", "native", Kind::Text},
    {SettingId::NumThreads, "num_threads", "all", Kind::Threads, 1, 4096},
    {SettingId::CpuAffinity, "cpu_affinity", "none", Kind::Processors},
    {SettingId::Worker, "worker", "", Kind::Path},
    {SettingId::Workers, "workers", "1", Kind::Count, 1, 256},
    {SettingId::CompileTimeout, "compile_timeout", "5m", Kind::Duration, 1, 7 * 86400},
    {SettingId::CompileMemory, "compile_memory", "16G", Kind::Size, 0, noEnd},
    {SettingId::Ptxas, "ptxas", "", Kind::Path},
    {SettingId::LogLevel, "log_level", "warn", Kind::Level},
    {SettingId::LogFormat, "log_format", "text", Kind::Format},
    {SettingId::LogFile, "log_file", "", Kind::Path},
    {SettingId::LogMaxSize, "log_max_size", "10M", Kind::Size, 4096, noEnd},
    {SettingId::LogMaxFiles, "log_max_files", "5", Kind::Count, 1, 1000},
    {SettingId::Home, "home", "", Kind::Path},
    {SettingId::VisibleDevices, "visible_devices", "", Kind::Text},
    {SettingId::MemoryFraction, "memory_fraction", "1", Kind::Fraction},
}};

const Row &rowOf(SettingId id) { return rows[static_cast<size_t>(id)]; }

std::optional<bool> parseSwitch(std::string_view text) {
  for (std::string_view yes : {"on", "1", "true", "yes"})
    if (text == yes)
      return true;
  for (std::string_view no : {"off", "0", "false", "no"})
    if (text == no)
      return false;
  return std::nullopt;
}

bool isBetween(std::optional<int64_t> value, const Row &row) { return value && *value >= row.min && *value <= row.max; }

/// Numbers and ranges of them, "0-3,8", as Linux writes lists of processors.
std::optional<std::vector<int>> parseProcessors(std::string_view text) {
  constexpr int64_t end = 1 << 16;
  std::vector<int> processors;
  for (std::string_view part : splitText(text, ',')) {
    size_t dash = part.find('-');
    std::optional<int64_t> first = parseInteger(part.substr(0, dash));
    std::optional<int64_t> last = dash == part.npos ? first : parseInteger(part.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last >= end)
      return std::nullopt;
    for (int64_t processor = *first; processor <= *last; ++processor)
      processors.push_back(static_cast<int>(processor));
    if (static_cast<int64_t>(processors.size()) > end)
      return std::nullopt;
  }
  return processors;
}

/// A number above 0, up to 1.
std::optional<double> parseFraction(std::string_view text) {
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  bool good = error == std::errc() && end == text.data() + text.size() && value > 0 && value <= 1;
  return good ? std::optional(value) : std::nullopt;
}

std::string rangeText(std::string_view what, const Row &row) {
  std::string text(what);
  if (row.max == noEnd)
    return row.min == 0 ? text : text + " of at least " + std::to_string(row.min);
  return text + " from " + std::to_string(row.min) + " to " + std::to_string(row.max);
}

/// What a value would have to be; empty where it is that.
std::string whatIsExpected(const Row &row, std::string_view text) {
  switch (row.kind) {
  case Kind::Switch:
    return parseSwitch(text) ? "" : "\"on\" or \"off\"";
  case Kind::Text:
  case Kind::Path:
    return text.find('\0') == std::string_view::npos ? "" : "text without a NUL byte";
  case Kind::Threads:
    return text == "all" || isBetween(parseInteger(text), row) ? "" : rangeText("\"all\" or a whole number", row);
  case Kind::Processors:
    return text == "none" || text == "all" || parseProcessors(text)
               ? ""
               : "\"none\", \"all\" or a list of processors such as 0-3,8";
  case Kind::Count:
    return isBetween(parseInteger(text), row) ? "" : rangeText("a whole number", row);
  case Kind::Size:
    return isBetween(parseSize(text), row) ? "" : rangeText("a number of bytes such as 512M or 10G", row);
  case Kind::Duration:
    return isBetween(parseDuration(text), row) ? "" : rangeText("a time such as 90s, 15m, 12h or 30d, in seconds", row);
  case Kind::Level:
    return parseLogLevel(text) ? "" : "one of error, warn, info, debug, trace";
  case Kind::Fraction:
    return parseFraction(text) ? "" : "a number above 0 up to 1, such as 0.5";
  case Kind::Format:
    return parseLogFormat(text) ? "" : "\"text\" or \"json\"";
  }
  return "a known setting";
}

} // namespace

Settings::Settings() {
  for (const Row &row : rows)
    values_[static_cast<size_t>(row.id)] = {std::string(row.fallback), SettingOrigin::Default, "default"};
}

Status Settings::set(SettingId id, std::string text, SettingOrigin origin, std::string where) {
  const Row &row = rowOf(id);
  if (std::string expected = whatIsExpected(row, text); !expected.empty()) {
    // A variable or an option is its own name; in a file the key is the name and the place is apart.
    bool inFile = origin == SettingOrigin::File;
    Status status(StatusCode::InvalidArgument,
                  (inFile ? std::string(row.name) : where) + " is \"" + shorten(text, 60) + "\", expected " + expected);
    return inFile ? std::move(status).at(std::move(where)) : status;
  }
  if (row.kind == Kind::Switch)
    text = *parseSwitch(text) ? "on" : "off";
  if (id == SettingId::CacheDir) {
    cacheFolders_.clear();
    if (!text.empty())
      cacheFolders_.push_back(text);
  }
  values_[static_cast<size_t>(id)] = {std::move(text), origin, std::move(where)};
  return {};
}

bool Settings::cacheEnabled() const { return text(SettingId::Cache) == "on"; }
int64_t Settings::cacheMaxBytes() const { return *parseSize(text(SettingId::CacheMaxSize)); }
int64_t Settings::cacheMaxEntries() const { return *parseInteger(text(SettingId::CacheMaxEntries)); }
int64_t Settings::cacheMaxAgeSeconds() const { return *parseDuration(text(SettingId::CacheMaxAge)); }
int64_t Settings::numThreads() const { return parseInteger(text(SettingId::NumThreads)).value_or(0); }
std::vector<int> Settings::cpuAffinity() const {
  return parseProcessors(text(SettingId::CpuAffinity)).value_or(std::vector<int>());
}
int64_t Settings::workers() const { return *parseInteger(text(SettingId::Workers)); }
int64_t Settings::compileTimeoutSeconds() const { return *parseDuration(text(SettingId::CompileTimeout)); }
int64_t Settings::compileMemoryBytes() const { return *parseSize(text(SettingId::CompileMemory)); }
LogLevel Settings::logLevel() const { return *parseLogLevel(text(SettingId::LogLevel)); }
LogFormat Settings::logFormat() const { return *parseLogFormat(text(SettingId::LogFormat)); }
int64_t Settings::logMaxBytes() const { return *parseSize(text(SettingId::LogMaxSize)); }
double Settings::memoryFraction() const { return *parseFraction(text(SettingId::MemoryFraction)); }
int64_t Settings::logMaxFiles() const { return *parseInteger(text(SettingId::LogMaxFiles)); }

std::vector<EffectiveSetting> Settings::effective() const {
  std::vector<EffectiveSetting> result;
  for (const Row &row : rows)
    result.push_back({row.name, text(row.id), (*this)[row.id].where});
  return result;
}

std::string_view settingName(SettingId id) { return rowOf(id).name; }

std::optional<SettingId> parseSettingName(std::string_view name) {
  auto found = std::find_if(rows.begin(), rows.end(), [&](const Row &row) { return row.name == name; });
  return found == rows.end() ? std::nullopt : std::optional(found->id);
}

std::string settingVariable(SettingId id) {
  std::string name = "TILEJIT_";
  for (char c : settingName(id))
    name += static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return name;
}

/// Fills a Settings from file, environment and overrides, weakest first.
class SettingsLoader {
public:
  explicit SettingsLoader(System &system) : system_(system) {}

  Status load(std::span<const SettingOverride> overrides) {
    TILEJIT_RETURN_IF_ERROR(readConfig());
    for (const Row &row : rows) {
      std::string variable = settingVariable(row.id);
      if (std::optional<std::string> value = variableText(variable))
        TILEJIT_RETURN_IF_ERROR(result_.set(row.id, *std::move(value), SettingOrigin::Environment, variable));
    }
    for (const SettingOverride &item : overrides)
      TILEJIT_RETURN_IF_ERROR(result_.set(item.id, item.text, SettingOrigin::CommandLine, item.where));
    chooseCacheFolders();
    return {};
  }

  Settings take() { return std::move(result_); }

private:
  std::optional<std::string> variableText(const std::string &name) const {
    std::optional<std::string> value = system_.environment(name);
    return value && !value->empty() ? value : std::nullopt;
  }

  /// The value of a variable that must hold an absolute path to count, as the XDG rules want it.
  std::optional<std::string> absoluteVariable(const std::string &name) const {
    std::optional<std::string> value = variableText(name);
    return value && value->starts_with('/') ? value : std::nullopt;
  }

  Status readConfig() {
    if (std::optional<std::string> path = variableText("TILEJIT_CONFIG")) {
      Status status = apply(*path);
      return status.isOk() ? status : std::move(status).inContext("TILEJIT_CONFIG");
    }
    std::optional<std::string> user = absoluteVariable("XDG_CONFIG_HOME");
    if (std::optional<std::string> home = absoluteVariable("HOME"); !user && home)
      user = joinPath(*home, ".config");
    for (const std::string &path : {user ? joinPath(*user, "tilejit/config.toml") : "", std::string(systemConfig)})
      if (FileInfo info; !path.empty() && system_.stat(path, true, info) == 0)
        return apply(path);
    return {};
  }

  Status apply(const std::string &path) {
    Expected<std::string> text = readFile(system_, path, 1 << 20);
    if (!text)
      return Status(StatusCode::InvalidArgument, text.status().message());
    TILEJIT_ASSIGN_OR_RETURN(std::vector<FileSetting> values, parseSettingsFile(*text, path));
    for (FileSetting &value : values) {
      std::string where = path + ":" + std::to_string(value.line);
      std::optional<SettingId> id = parseSettingName(value.name);
      if (!id)
        return unknownKey(value.name, where);
      if (std::optional<std::string> home = absoluteVariable("HOME");
          home && rowOf(*id).kind == Kind::Path && value.text.starts_with("~/"))
        value.text = joinPath(*home, std::string_view(value.text).substr(2));
      TILEJIT_RETURN_IF_ERROR(result_.set(*id, std::move(value.text), SettingOrigin::File, std::move(where)));
    }
    result_.configFile_ = path;
    return {};
  }

  static Status unknownKey(std::string_view name, const std::string &where) {
    std::vector<std::string_view> known;
    for (const Row &row : rows)
      known.push_back(row.name);
    Status status = Status(StatusCode::InvalidArgument, "unknown setting \"" + shorten(name, 60) + "\"").at(where);
    if (std::string_view near = nearestName(name, known); !near.empty())
      return std::move(status).withHint("did you mean " + std::string(near) + "?");
    return status;
  }

  void chooseCacheFolders() {
    SettingValue &value = result_.values_[static_cast<size_t>(SettingId::CacheDir)];
    if (!value.text.empty())
      return;
    std::vector<std::string> &folders = result_.cacheFolders_;
    if (std::optional<std::string> cache = absoluteVariable("XDG_CACHE_HOME"))
      folders.push_back(joinPath(*cache, "tilejit"));
    if (std::optional<std::string> home = absoluteVariable("HOME"))
      folders.push_back(joinPath(*home, ".cache/tilejit"));
    folders.push_back("/tmp/tilejit-" + std::to_string(system_.userId()));
    value.text = folders.front();
  }

  static constexpr std::string_view systemConfig = "/etc/tilejit/config.toml";
  System &system_;
  Settings result_;
};

Expected<Settings> loadSettings(System &system, std::span<const SettingOverride> overrides) {
  SettingsLoader loader(system);
  TILEJIT_RETURN_IF_ERROR(loader.load(overrides));
  return loader.take();
}

} // namespace tilejit
