// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Formatting of log records and the rotating file.

#include "tilejit/Base/Log.h"

#include "tilejit/Base/File.h"
#include "tilejit/Base/Text.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <sys/file.h>
#include <time.h>

namespace tilejit {
namespace {

constexpr std::array<std::string_view, 5> levelNames = {"error", "warn", "info", "debug", "trace"};

/// UTC with milliseconds: "2026-01-31T12:00:00.123Z".
std::string formatTime(int64_t wallNanoseconds) {
  time_t seconds = wallNanoseconds / 1'000'000'000;
  tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 80> text;
  std::snprintf(text.data(), text.size(), "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", parts.tm_year + 1900, parts.tm_mon + 1,
                parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                static_cast<int>(wallNanoseconds / 1'000'000 % 1000));
  return text.data();
}

/// No line of a log is longer than this.
constexpr size_t longestValue = 16 << 10;

} // namespace

std::string_view logLevelName(LogLevel level) { return levelNames[static_cast<size_t>(level)]; }

std::optional<LogLevel> parseLogLevel(std::string_view name) {
  auto found = std::find(levelNames.begin(), levelNames.end(), name);
  if (found == levelNames.end())
    return std::nullopt;
  return static_cast<LogLevel>(found - levelNames.begin());
}

std::optional<LogFormat> parseLogFormat(std::string_view name) {
  if (name == "text")
    return LogFormat::Text;
  if (name == "json")
    return LogFormat::Json;
  return std::nullopt;
}

void Logger::log(LogLevel level, std::string_view area, std::string_view message,
                 std::initializer_list<LogField> fields) const {
  if (!enabled(level))
    return;
  LogRecord record{level, system_->wallNanoseconds(), area, message, {fields.begin(), fields.size()}};
  (*sink_)(record);
}

std::string formatText(const LogRecord &record) {
  std::string line = formatTime(record.wallNanoseconds);
  line += ' ';
  line += logLevelName(record.level);
  line += ' ';
  line += record.area;
  line += ": ";
  line += shorten(record.message, longestValue);
  for (const auto &[key, value] : record.fields) {
    line += ' ';
    line += key;
    line += '=';
    bool plain = !value.empty() && value.find_first_of(" \"=\n\t") == std::string::npos;
    std::string shortened = shorten(value, longestValue);
    line += plain ? shortened : quoteJson(shortened);
  }
  return line;
}

std::string formatJson(const LogRecord &record) {
  std::string line = "{\"time\":\"" + formatTime(record.wallNanoseconds) + "\",\"level\":\"";
  line += logLevelName(record.level);
  line += "\",\"area\":" + quoteJson(record.area) + ",\"message\":" + quoteJson(record.message.substr(0, longestValue));
  for (const auto &[key, value] : record.fields)
    line += "," + quoteJson(key) + ":" + quoteJson(std::string_view(value).substr(0, longestValue));
  return line += "}";
}

std::string formatRecord(const LogRecord &record, LogFormat format) {
  return format == LogFormat::Json ? formatJson(record) : formatText(record);
}

RotatingFile::RotatingFile(System &system, std::string path, int64_t maxBytes, int maxFiles)
    : system_(system), path_(std::move(path)), maxBytes_(std::max<int64_t>(maxBytes, 1)),
      maxFiles_(std::max(maxFiles, 1)) {}

RotatingFile::~RotatingFile() {
  if (fd_ >= 0)
    system_.close(fd_);
}

Status RotatingFile::open() {
  std::lock_guard lock(mutex_);
  if (int error = openLocked(); error < 0)
    return fileError("open the log file", path_, error);
  return {};
}

int RotatingFile::openLocked() {
  if (fd_ >= 0)
    system_.close(fd_);
  fd_ = system_.open(path_, O_WRONLY | O_APPEND | O_CREAT, 0600);
  FileInfo info;
  size_ = fd_ >= 0 && system_.stat(fd_, info) == 0 ? info.size : 0;
  return fd_ < 0 ? fd_ : 0;
}

void RotatingFile::rotateLocked() {
  // Another process may have rotated already: then the name is another file, which only has to be opened.
  FileInfo mine, named;
  bool moved = system_.stat(fd_, mine) != 0 || system_.stat(path_, true, named) != 0 || mine.inode != named.inode ||
               mine.device != named.device;
  if (!moved) {
    for (int i = maxFiles_ - 1; i > 1; --i)
      system_.rename(path_ + "." + std::to_string(i - 1), path_ + "." + std::to_string(i));
    if (maxFiles_ > 1)
      system_.rename(path_, path_ + ".1");
    else
      system_.unlink(path_);
  }
  openLocked(); // Closing the old file releases its lock.
}

bool RotatingFile::lockBriefly() {
  // Only the one who holds the lock renames. Another process that rotates is done within microseconds, unless it was
  // stopped; that must not stop this one.
  for (int attempt = 0; attempt < 50; ++attempt) {
    if (int error = system_.lock(fd_, LOCK_EX | LOCK_NB); error != -EWOULDBLOCK && error != -EINTR)
      return error == 0;
    system_.pause(1'000'000);
  }
  return false;
}

void RotatingFile::write(std::string_view line) {
  std::lock_guard lock(mutex_);
  std::string full(line);
  full += '\n';
  if (fd_ < 0 && openLocked() < 0) {
    ++failures_;
    return;
  }
  // The size is our own count; what other processes write is seen now and then.
  if (FileInfo info; ++lines_ % 256 == 0 && system_.stat(fd_, info) == 0)
    size_ = info.size;
  auto isFull = [&] { return size_ > 0 && size_ + static_cast<int64_t>(full.size()) > maxBytes_; };
  if (isFull() && lockBriefly())
    rotateLocked();
  // Where the file can't be rotated, lines are dropped, and counted: it must not grow.
  if (fd_ < 0 || isFull()) {
    ++failures_;
    return;
  }
  if (writeAll(system_, fd_, full) < 0)
    ++failures_;
  else
    size_ += static_cast<int64_t>(full.size());
}

int64_t RotatingFile::failures() const {
  std::lock_guard lock(mutex_);
  return failures_;
}

LogSink fileSink(std::shared_ptr<RotatingFile> file, LogFormat format) {
  return [file = std::move(file), format](const LogRecord &record) { file->write(formatRecord(record, format)); };
}

} // namespace tilejit
