// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Which folder the cache lives in, whether it can be trusted, and walking it.

#include "CacheParts.h"

#include "tilejit/Base/Text.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>

namespace tilejit {

std::string whyUntrusted(const FileInfo &folder, uint32_t user) {
  if (!folder.isDirectory())
    return "is not a folder";
  if (folder.owner != user)
    return "belongs to user " + std::to_string(folder.owner) + ", not to user " + std::to_string(user);
  if (folder.othersMayWrite()) {
    std::array<char, 16> mode;
    std::snprintf(mode.data(), mode.size(), "%04o", folder.mode & 07777);
    return std::string("can be written by others (mode ") + mode.data() + ")";
  }
  return {};
}

bool isTrustedFile(const FileInfo &file, uint32_t user) {
  return file.isRegular() && file.owner == user && !file.othersMayWrite();
}

void removeTree(System &system, const std::string &path, int depth) {
  FileInfo info;
  if (system.stat(path, false, info) != 0)
    return;
  if (!info.isDirectory()) {
    system.unlink(path);
    return;
  }
  std::vector<std::string> names;
  if (depth > 0 && system.list(path, names) == 0)
    for (const std::string &name : names)
      removeTree(system, joinPath(path, name), depth - 1);
  system.removeDirectory(path);
}

namespace {

/// Why a folder can't be used; empty where it can. `refused`: it is there, but not to be trusted.
std::string whyUnusable(System &system, const std::string &folder, Cache::OpenMode mode, bool &refused) {
  FileInfo info;
  int error = system.stat(folder, true, info);
  if (error == -ENOENT && mode == Cache::OpenMode::Use) {
    error = makeDirectories(system, folder, 0700);
    if (!error)
      error = system.stat(folder, true, info);
  }
  if (error)
    return errnoText(error);
  std::string reason = whyUntrusted(info, system.userId());
  refused |= !reason.empty();
  return reason;
}

} // namespace

void Cache::chooseFolder(const Settings &settings, OpenMode mode) {
  const std::vector<std::string> &folders = settings.cacheFolders();
  root_ = folders.empty() ? "" : folders.front();
  std::string reasons;
  bool refused = false;
  for (const std::string &folder : folders) {
    std::string reason = whyUnusable(system_, folder, mode, refused);
    if (reason.empty()) {
      root_ = folder;
      realRoot_ = joinPath(system_.currentFolder(), folder);
      break;
    }
    reasons += (reasons.empty() ? "" : "; ") + shorten(folder, 300) + ": " + reason;
  }
  if (!realRoot_.empty()) {
    if (!reasons.empty() && mode == OpenMode::Use)
      logger_.log(refused ? LogLevel::Warn : LogLevel::Info, "cache",
                  "using the cache folder " + root_ + " instead of a better one (" + reasons + ")");
    return;
  }
  unusableReason_ = folders.empty() ? "no folder is set for the cache" : "no usable cache folder (" + reasons + ")";
  if (mode == OpenMode::Use && !counting_->warned.exchange(true))
    logger_.warn("cache", unusableReason_ + "; going on without a cache");
}

std::string Cache::versionFolder() const {
  return realRoot_.empty() ? "" : joinPath(realRoot_, std::to_string(cacheFormat));
}

std::string Cache::stateFolder() const { return realRoot_.empty() ? "" : joinPath(versionFolder(), stateName); }

std::string Cache::entryPath(const KeyMaterial &material) const {
  if (!isFolderName(material.tilejitVersion) || !isFolderName(material.targetFolder))
    return {};
  std::string key = cacheKey(material);
  std::string path = joinPath(joinPath(versionFolder(), material.tilejitVersion), material.targetFolder);
  return joinPath(joinPath(path, key.substr(0, 2)), key + std::string(entrySuffix));
}

std::vector<Cache::Walked> Cache::walk(const CacheFilter &filter) const {
  std::vector<Walked> found;
  if (realRoot_.empty())
    return found;
  auto names = [&](const std::string &folder) {
    std::vector<std::string> result;
    system_.list(folder, result); // What can't be listed has nothing in it.
    return result;
  };
  int64_t now = system_.wallNanoseconds();
  auto visit = [&](const std::string &folder, const std::string &name, const std::string &version,
                   const std::string &target) {
    Walked file{joinPath(folder, name), name, version, target, {}};
    if (system_.stat(file.path, false, file.info) != 0)
      return;
    if (filter.olderThanS && now - file.info.mtimeNs < *filter.olderThanS * 1'000'000'000)
      return;
    if (name.ends_with(entrySuffix))
      file.key.resize(name.size() - entrySuffix.size());
    found.push_back(std::move(file));
  };
  for (const std::string &version : names(versionFolder())) {
    if (version == quarantineName || version == stateName || (!filter.version.empty() && version != filter.version))
      continue;
    std::string versionPath = joinPath(versionFolder(), version);
    for (const std::string &target : names(versionPath)) {
      if (!filter.target.empty() && target != filter.target)
        continue;
      for (const std::string &digits : names(joinPath(versionPath, target))) {
        std::string folder = joinPath(joinPath(versionPath, target), digits);
        for (const std::string &name : names(folder))
          if (name.ends_with(entrySuffix) || name.ends_with(temporarySuffix))
            visit(folder, name, version, target);
      }
    }
  }
  return found;
}

} // namespace tilejit
