// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Settings, logging and printing shared by the subcommands.

#include "Program.h"
#include "Commands.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <unistd.h>

namespace tilejit::tilec {
namespace {

constexpr size_t longestError = 400;

/// Warnings and errors of the library, one line each: "tilec: warning: ...".
void printRecord(const LogRecord &record) {
  const char *kind = record.level == LogLevel::Error  ? "error"
                     : record.level == LogLevel::Warn ? "warning"
                                                      : logLevelName(record.level).data();
  std::string line = "tilec: " + std::string(kind) + ": " + std::string(record.message);
  for (const LogField &field : record.fields)
    line += " " + std::string(field.first) + "=" + field.second;
  line = shortened(printable(line), longestError) + "\n";
  (void)!write(STDERR_FILENO, line.data(), line.size());
}

/// Start of the continuation byte's character at or before a place.
size_t characterStart(std::string_view text, size_t place) {
  while (place > 0 && place < text.size() && (static_cast<unsigned char>(text[place]) & 0xc0) == 0x80)
    --place;
  return place;
}

} // namespace

int exitCodeOf(const Status &status) {
  switch (status.code()) {
  case StatusCode::Ok:
    return Done;
  case StatusCode::CheckFailed:
    return CheckFailed;
  case StatusCode::InvalidArgument:
  case StatusCode::BadDescription:
  case StatusCode::NotFound:
  case StatusCode::IoError:
    return Usage;
  case StatusCode::CompileFailed:
  case StatusCode::DoesNotFit:
  case StatusCode::TimedOut:
  case StatusCode::NotCached:
    return CompileFailed;
  case StatusCode::Unavailable:
  case StatusCode::DeviceFailed:
  case StatusCode::OutOfMemory:
    return NoDevice;
  case StatusCode::WorkerFailed:
  case StatusCode::Internal:
    return InternalError;
  }
  return InternalError;
}

std::string shortened(std::string_view text, size_t limit) {
  if (text.size() <= limit)
    return std::string(text);
  constexpr std::string_view gap = " ... ";
  size_t head = characterStart(text, (limit - gap.size()) * 2 / 3);
  size_t tail = text.size() - (limit - gap.size() - head);
  while (tail < text.size() && (static_cast<unsigned char>(text[tail]) & 0xc0) == 0x80)
    ++tail;
  return std::string(text.substr(0, head)) + std::string(gap) + std::string(text.substr(tail));
}

std::string printable(std::string_view text) {
  std::string out;
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '\n' || c == '\t') {
      out += ' ';
    } else if (byte < 0x20 || byte == 0x7f) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\x%02x", byte);
      out += escaped;
    } else {
      out += c;
    }
  }
  return out;
}

std::string bytesText(int64_t bytes) {
  const char *units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  for (; value >= 1024 && unit < 4; ++unit)
    value /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
  return text;
}

std::string errorText(const Status &status) {
  std::string line = "tilec: error: ";
  if (!status.pointer().empty())
    line += shortened(printable(status.pointer()), 160) + ": ";
  line += printable(status.message());
  std::string text = shortened(line, longestError - 1) + "\n";
  for (const std::string &detail : status.details())
    text += "  " + shortened(printable(detail), longestError) + "\n";
  if (!status.hint().empty())
    text += "hint: " + shortened(printable(status.hint()), longestError) + "\n";
  return text;
}

Json errorJson(const Status &status) {
  Json error = {{"code", std::string(statusCodeName(status.code()))}, {"message", status.message()}};
  if (!status.pointer().empty())
    error["pointer"] = status.pointer();
  if (!status.hint().empty())
    error["hint"] = status.hint();
  if (!status.details().empty())
    error["details"] = status.details();
  return error;
}

void Program::addCommonOptions(CLI::App &command, bool withJson) {
  if (withJson)
    command.add_flag("--json", json, "Print one JSON object on stdout instead of text");
  command.add_option("--cache-dir", cacheDir, "Folder of the cache (TILEJIT_CACHE_DIR)")->type_name("DIR");
  command.add_flag("--no-cache", noCache, "Neither read nor write the cache");
  command.add_option("--log-level", logLevel, "error, warn, info, debug or trace (TILEJIT_LOG_LEVEL)")
      ->type_name("LEVEL");
}

void Registry::onRun(CLI::App &command, Action run) const {
  command.callback([&action = action, run = std::move(run)] { action = run; });
}

Expected<Settings> Program::settings(std::vector<SettingOverride> overrides) const {
  if (!cacheDir.empty())
    overrides.push_back({SettingId::CacheDir, cacheDir, "--cache-dir"});
  if (noCache)
    overrides.push_back({SettingId::Cache, "off", "--no-cache"});
  if (!logLevel.empty())
    overrides.push_back({SettingId::LogLevel, logLevel, "--log-level"});
  return loadSettings(realSystem(), overrides);
}

Expected<Logger> Program::logger(const Settings &settings) {
  const std::string &path = settings.text(SettingId::LogFile);
  if (path.empty())
    return Logger(settings.logLevel(), settings.logFormat() == LogFormat::Json ? LogSink([](const LogRecord &record) {
                    std::string line = formatJson(record) + "\n";
                    (void)!write(STDERR_FILENO, line.data(), line.size());
                  })
                                                                               : LogSink(printRecord));
  auto file = std::make_shared<RotatingFile>(realSystem(), path, settings.logMaxBytes(),
                                             static_cast<int>(settings.logMaxFiles()));
  TILEJIT_RETURN_IF_ERROR(file->open());
  LogSink toFile = fileSink(file, settings.logFormat());
  return Logger(settings.logLevel(), [toFile](const LogRecord &record) {
    toFile(record);
    if (record.level <= LogLevel::Warn)
      printRecord(record);
  });
}

Expected<std::shared_ptr<Context>> Program::context(std::vector<SettingOverride> overrides) const {
  ContextOptions options;
  TILEJIT_ASSIGN_OR_RETURN(options.settings, settings(std::move(overrides)));
  TILEJIT_ASSIGN_OR_RETURN(options.logger, logger(options.settings));
  return Context::create(std::move(options));
}

int Program::fail(const Status &status) const {
  if (json)
    print(Json{{"error", errorJson(status)}});
  std::string text = errorText(status);
  (void)!write(STDERR_FILENO, text.data(), text.size());
  return exitCodeOf(status);
}

void Program::print(const Json &object) {
  std::string text = object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  std::fwrite(text.data(), 1, text.size(), stdout);
}

} // namespace tilejit::tilec
