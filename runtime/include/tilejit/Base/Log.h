// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Logging by callback. A Logger is a value that a context owns and hands down; there is no global one, and nothing is
// ever printed unless a sink does it. Formatting as text or JSON lines and a file that rotates by size are here for
// those who want them.

#ifndef TILEJIT_BASE_LOG_H
#define TILEJIT_BASE_LOG_H

#include "tilejit/Base/Status.h"
#include "tilejit/Base/System.h"

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace tilejit {

enum class LogLevel : uint8_t { Error, Warn, Info, Debug, Trace };
enum class LogFormat : uint8_t { Text, Json };

std::string_view logLevelName(LogLevel level);
std::optional<LogLevel> parseLogLevel(std::string_view name);
std::optional<LogFormat> parseLogFormat(std::string_view name);

/// A fact beside the message: key and value.
using LogField = std::pair<std::string_view, std::string>;

/// One event. Views live as long as the call of the sink.
struct LogRecord {
  LogLevel level = LogLevel::Info;
  int64_t wallNanoseconds = 0;
  std::string_view area; ///< "cache", "worker", ...
  std::string_view message;
  std::span<const LogField> fields;
};

/// Takes records from any thread. Must not throw and not call back into the library.
using LogSink = std::function<void(const LogRecord &)>;

/// Copies share the sink. A default one is silent.
class Logger {
public:
  Logger() = default;
  Logger(LogLevel level, LogSink sink, System &system = realSystem())
      : level_(level), sink_(std::make_shared<LogSink>(std::move(sink))), system_(&system) {}

  bool enabled(LogLevel level) const { return sink_ && *sink_ && level <= level_; }
  void log(LogLevel level, std::string_view area, std::string_view message,
           std::initializer_list<LogField> fields = {}) const;
  void error(std::string_view area, std::string_view message, std::initializer_list<LogField> fields = {}) const {
    log(LogLevel::Error, area, message, fields);
  }
  void warn(std::string_view area, std::string_view message, std::initializer_list<LogField> fields = {}) const {
    log(LogLevel::Warn, area, message, fields);
  }
  void info(std::string_view area, std::string_view message, std::initializer_list<LogField> fields = {}) const {
    log(LogLevel::Info, area, message, fields);
  }
  void debug(std::string_view area, std::string_view message, std::initializer_list<LogField> fields = {}) const {
    log(LogLevel::Debug, area, message, fields);
  }

private:
  LogLevel level_ = LogLevel::Warn;
  std::shared_ptr<LogSink> sink_;
  System *system_ = nullptr;
};

/// "2026-01-31T12:00:00.123Z warn cache: message key=value"; one line, without its end.
std::string formatText(const LogRecord &record);
/// {"time":"...","level":"warn","area":"cache","message":"...","key":"value"}; one line, without its end.
std::string formatJson(const LogRecord &record);
std::string formatRecord(const LogRecord &record, LogFormat format);

/// A log file that keeps its size: past `maxBytes` it becomes FILE.1, FILE.1 becomes FILE.2, and the oldest of
/// `maxFiles` (the current one counted) goes. A line is never split. Several processes may write to one file; each
/// notices that another has rotated it. Failures are counted and otherwise ignored: logging never breaks its user.
class RotatingFile {
public:
  RotatingFile(System &system, std::string path, int64_t maxBytes, int maxFiles);
  ~RotatingFile();
  RotatingFile(const RotatingFile &) = delete;
  RotatingFile &operator=(const RotatingFile &) = delete;

  /// Opens the file, so that a wrong path is known before the first line.
  Status open();
  /// Appends the line and its end. Thread-safe.
  void write(std::string_view line);
  int64_t failures() const;

private:
  int openLocked();
  bool lockBriefly();
  void rotateLocked();

  System &system_;
  std::string path_;
  int64_t maxBytes_;
  int maxFiles_;
  mutable std::mutex mutex_;
  int fd_ = -1;
  int64_t size_ = 0;
  int64_t lines_ = 0;
  int64_t failures_ = 0;
};

/// A sink that formats into a file.
LogSink fileSink(std::shared_ptr<RotatingFile> file, LogFormat format);

} // namespace tilejit

#endif // TILEJIT_BASE_LOG_H
