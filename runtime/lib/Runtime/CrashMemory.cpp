// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Files of crashes and reproducers. Their number is bounded.

#include "CrashMemory.h"

#include "tilejit/Base/File.h"
#include "tilejit/Base/Text.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace tilejit {

namespace {

constexpr int64_t second = 1'000'000'000;
constexpr int64_t rememberedSeconds = 600;
constexpr size_t maxFiles = 64;

} // namespace

Status CrashMemory::recent(std::string_view key) const {
  if (folder_.empty())
    return Status::ok();
  std::string path = joinPath(joinPath(folder_, "crashes"), key);
  FileInfo info;
  if (system_.stat(path, false, info) != 0 || !info.isRegular())
    return Status::ok();
  int64_t age = system_.wallNanoseconds() - info.mtimeNs;
  if (age < 0 || age > rememberedSeconds * second) {
    system_.unlink(path);
    return Status::ok();
  }
  auto text = readFile(system_, path, 4096);
  if (!text)
    return Status::ok();
  bool timedOut = text->starts_with("timed_out ");
  std::string reason(trimText(std::string_view(*text).substr(std::min(text->find(' '), text->size()))));
  return Status(timedOut ? StatusCode::TimedOut : StatusCode::WorkerFailed,
                "not compiled again: the compile worker failed over it " + std::to_string(age / second) +
                    " s ago: " + shorten(reason, 200))
      .withHint("it is tried again " + std::to_string(rememberedSeconds / 60) + " minutes after that, or when " + path +
                " is removed");
}

void CrashMemory::remember(std::string_view key, const Status &status) const {
  if (folder_.empty())
    return;
  std::string folder = joinPath(folder_, "crashes");
  if (makeDirectories(system_, folder, 0700) != 0)
    return;
  keepNewest(folder);
  replaceFile(system_, joinPath(folder, key),
              std::string(statusCodeName(status.code())) + " " + status.message() + "\n", 0600, false);
}

std::string CrashMemory::writeReproducer(std::string_view name, std::string_view text) const {
  for (const std::string &base : {folder_, temporaryFolder()}) {
    if (base.empty())
      continue;
    std::string folder = joinPath(base, "reproducers");
    if (makeDirectories(system_, folder, 0700) != 0)
      continue;
    keepNewest(folder);
    std::string path = joinPath(folder, name);
    if (replaceFile(system_, path, text, 0600, false) == 0)
      return path;
  }
  return {};
}

/// $TMPDIR/tilejit-UID, if it is ours alone.
std::string CrashMemory::temporaryFolder() const {
  std::string parent = system_.environment("TMPDIR").value_or("/tmp");
  std::string folder = joinPath(parent.empty() ? "/tmp" : parent, "tilejit-" + std::to_string(system_.userId()));
  FileInfo info;
  if (makeDirectories(system_, folder, 0700) != 0 || system_.stat(folder, false, info) != 0 || !info.isDirectory() ||
      info.owner != system_.userId() || info.othersMayWrite())
    return {};
  return folder;
}

void CrashMemory::keepNewest(const std::string &folder) const {
  std::vector<std::string> names;
  if (system_.list(folder, names) != 0 || names.size() < maxFiles)
    return;
  std::vector<std::pair<int64_t, std::string>> files;
  for (const std::string &name : names) {
    FileInfo info;
    if (system_.stat(joinPath(folder, name), false, info) == 0)
      files.emplace_back(info.mtimeNs, name);
  }
  std::sort(files.begin(), files.end());
  for (size_t i = 0; i + maxFiles <= files.size(); ++i)
    system_.unlink(joinPath(folder, files[i].second));
}

} // namespace tilejit
