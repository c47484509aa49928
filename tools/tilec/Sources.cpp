// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Reading and splitting of command-line words.

#include "Sources.h"

#include "tilejit/Base/File.h"
#include "tilejit/Base/System.h"

#include <charconv>
#include <fcntl.h>
#include <unistd.h>

namespace tilejit::tilec {
namespace {

constexpr int64_t maxSourceBytes = 4 << 20;

Status refuse(std::string message) { return Status(StatusCode::InvalidArgument, std::move(message)); }

/// Reads at most the limit, and one byte more to see that there is more.
Expected<std::string> readLimited(const std::string &path, int64_t limit) {
  System &system = realSystem();
  bool standardInput = path == "-";
  std::string name = standardInput ? "standard input" : path;
  int fd = standardInput ? STDIN_FILENO : system.open(path, O_RDONLY, 0);
  if (fd < 0)
    return fileError("open", path, -fd);
  FileHandle owner;
  if (!standardInput)
    owner = FileHandle(system, fd);
  FileInfo info;
  if (system.stat(fd, info) == 0 && info.isDirectory())
    return refuse(name + ": expected a file, found a folder");
  if (info.isRegular() && info.size > limit)
    return refuse(name + ": expected at most " + std::to_string(limit) + " bytes, found " + std::to_string(info.size));
  std::string text;
  int error = readAll(system, fd, limit, text);
  if (error == -EFBIG)
    return refuse(name + ": expected at most " + std::to_string(limit) + " bytes, found more");
  if (error < 0)
    return fileError("read", name, -error);
  return text;
}

} // namespace

Expected<Source> readSource(const std::string &path) {
  TILEJIT_ASSIGN_OR_RETURN(std::string text,
                           readLimited(path, path.ends_with(".tjk") ? maxPackageBytes : maxSourceBytes));
  return parseSource(std::move(text), path == "-" ? "<stdin>" : path);
}

Expected<std::vector<Source>> readSources(const std::vector<std::string> &paths) {
  std::vector<Source> sources;
  for (const std::string &path : paths) {
    TILEJIT_ASSIGN_OR_RETURN(Source source, readSource(path));
    sources.push_back(std::move(source));
  }
  return sources;
}

Expected<std::vector<std::string>> splitWords(const std::string &text, const std::string &option) {
  std::vector<std::string> words;
  size_t begin = 0;
  do {
    size_t end = std::min(text.find(',', begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    if (words.back().empty())
      return refuse(option + ": expected words joined by commas, found '" + text + "'");
    begin = end + 1;
  } while (begin <= text.size());
  return words;
}

Expected<std::vector<TargetSpec>> parseTargets(Context &context, const std::optional<std::string> &text, int device) {
  std::vector<std::string> names{""};
  if (text) {
    TILEJIT_ASSIGN_OR_RETURN(names, splitWords(*text, "--target"));
  }
  std::vector<TargetSpec> targets;
  for (const std::string &name : names) {
    TILEJIT_ASSIGN_OR_RETURN(TargetSpec target, context.target(name, device));
    targets.push_back(std::move(target));
  }
  return targets;
}

Expected<int64_t> parseInteger(const std::string &text, const std::string &option, int64_t low, int64_t high) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < low || value > high)
    return refuse(option + ": expected an integer from " + std::to_string(low) + " to " + std::to_string(high) +
                  ", found '" + text + "'");
  return value;
}

Expected<abi::Config> parseConfig(const std::vector<std::string> &texts) {
  abi::Config config;
  for (const std::string &text : texts) {
    TILEJIT_ASSIGN_OR_RETURN(std::vector<std::string> words, splitWords(text, "--config"));
    for (const std::string &word : words) {
      size_t equals = word.find('=');
      if (equals == std::string::npos || equals == 0)
        return refuse("--config: expected key=value, found '" + word + "'");
      std::string key = word.substr(0, equals);
      TILEJIT_ASSIGN_OR_RETURN(int64_t value, parseInteger(word.substr(equals + 1), "--config " + key, 0, 1 << 30));
      if (!config.emplace(key, value).second)
        return refuse("--config: the key '" + key + "' is given twice");
    }
  }
  return config;
}

Expected<std::array<int64_t, 3>> parseGrid(const std::string &text, const std::string &option) {
  TILEJIT_ASSIGN_OR_RETURN(std::vector<std::string> words, splitWords(text, option));
  if (words.size() > 3)
    return refuse(option + ": expected X[,Y[,Z]], found '" + text + "'");
  std::array<int64_t, 3> grid{1, 1, 1};
  for (size_t i = 0; i < words.size(); ++i) {
    TILEJIT_ASSIGN_OR_RETURN(grid[i], parseInteger(words[i], option, 1, (int64_t{1} << 31) - 1));
  }
  return grid;
}

std::string stemOf(const std::string &path) {
  if (path == "-" || path == "<stdin>")
    return "stdin";
  std::string name(fileName(path));
  size_t dot = name.rfind('.');
  return dot == std::string::npos || dot == 0 ? name : name.substr(0, dot);
}

std::string displayName(const Source &source) {
  if (source.description && !source.description->name.empty())
    return source.description->name;
  return stemOf(source.name);
}

} // namespace tilejit::tilec
