// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What the cache's own commands do: listing, checking, removing. Everything here tolerates that other processes add,
// replace and remove files meanwhile; entries are only ever unlinked.

#include "CacheParts.h"

#include "tilejit/ABI/Compile.h"
#include "tilejit/Base/Hash.h"
#include "tilejit/Base/Text.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>

namespace tilejit {
namespace {

/// The only kernel of an entry, however it came to be there.
Expected<CachedKernel> readAny(System &system, const std::string &path, uint32_t user) {
  FileHandle file(system, system.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0));
  if (!file.isOpen())
    return fileError("open", path, file.get());
  FileInfo info;
  if (int error = system.stat(file.get(), info))
    return fileError("stat", path, error);
  if (!isTrustedFile(info, user))
    return Status(StatusCode::InvalidArgument, "the entry is not a file that only this user may write");
  std::string bytes;
  if (int error = readAll(system, file.get(), maxPackageBytes, bytes); error < 0)
    return fileError("read", path, error);
  TILEJIT_ASSIGN_OR_RETURN(std::vector<CachedKernel> kernels, decodePackage(bytes));
  return decodeEntry(bytes, kernels[0].material);
}

} // namespace

std::vector<CacheEntryInfo> Cache::list() const {
  std::vector<CacheEntryInfo> entries;
  for (Walked &file : walk({})) {
    if (!isDigestText(file.key))
      continue;
    Expected<CachedKernel> kernel = readAny(system_, file.path, system_.userId());
    Expected<abi::Manifest> manifest =
        kernel ? abi::parseManifest(kernel->manifest) : Expected<abi::Manifest>(kernel.status());
    std::string aliasOf = kernel && kernel->isAlias() ? cacheKey(kernel->aliased()) : "";
    entries.push_back({std::move(file.key), std::move(file.version), std::move(file.target), std::move(file.path),
                       manifest ? manifest->op : "", std::move(aliasOf), file.info.size, file.info.allocatedBytes,
                       file.info.mtimeNs});
  }
  return entries;
}

CacheUsage Cache::usage() {
  flushCounters();
  CacheUsage result;
  for (const Walked &file : walk({})) {
    result.bytes += std::max(file.info.size, file.info.allocatedBytes);
    if (!isDigestText(file.key))
      continue;
    ++result.entries;
    Expected<CachedKernel> kernel = readAny(system_, file.path, system_.userId());
    result.aliases += kernel && kernel->isAlias();
  }
  if (!realRoot_.empty())
    result.counters = CounterFile(system_, joinPath(stateFolder(), "counters")).read();
  return result;
}

CacheVerified Cache::verify() const {
  CacheVerified result;
  for (const Walked &file : walk({})) {
    if (file.path.ends_with(temporarySuffix))
      continue;
    ++result.entries;
    auto damaged = [&](std::string reason) { result.damaged.push_back({file.path, file.key, std::move(reason)}); };
    Expected<CachedKernel> kernel = readAny(system_, file.path, system_.userId());
    if (!kernel && kernel.status().code() == StatusCode::NotFound && !file.info.isLink()) {
      --result.entries; // Removed meanwhile.
    } else if (!kernel) {
      damaged(kernel.status().message());
    } else if (std::string path = entryPath(kernel->material); path != file.path) {
      damaged("the entry belongs at " + path);
    } else if (Expected<abi::Manifest> manifest = abi::parseManifest(kernel->manifest); !manifest) {
      damaged(manifest.status().message());
    }
  }
  return result;
}

CacheRemoved Cache::removeAll(const std::vector<Walked> &files) {
  CacheRemoved removed;
  for (const Walked &file : files) {
    if (int error = system_.unlink(file.path); error == -EISDIR || error == -EPERM)
      removeTree(system_, file.path);
    else if (error) {
      counting_->errors += error != -ENOENT;
      continue;
    }
    removed.entries += file.path.ends_with(entrySuffix);
    removed.bytes += std::max(file.info.size, file.info.allocatedBytes);
  }
  return removed;
}

CacheRemoved Cache::clear(const CacheFilter &filter) {
  CacheRemoved removed = removeAll(walk(filter));
  bool all = filter.version.empty() && filter.target.empty() && !filter.olderThanS;
  if (all && !realRoot_.empty())
    removeTree(system_, joinPath(versionFolder(), quarantineName));
  return removed;
}

CacheRemoved Cache::collectGarbage() {
  std::vector<Walked> files = walk({}), doomed;
  std::sort(files.begin(), files.end(),
            [](const Walked &a, const Walked &b) { return a.info.mtimeNs < b.info.mtimeNs; });
  int64_t now = system_.wallNanoseconds(), bytes = 0, entries = 0;
  for (const Walked &file : files) {
    bytes += std::max(file.info.size, file.info.allocatedBytes);
    entries += file.path.ends_with(entrySuffix);
  }
  for (Walked &file : files) {
    bool temporary = file.path.ends_with(temporarySuffix);
    int64_t age = now - file.info.mtimeNs;
    bool tooOld = maxAgeSeconds_ > 0 && age / 1'000'000'000 > maxAgeSeconds_;
    bool tooMuch = (maxBytes_ > 0 && bytes > maxBytes_) || (maxEntries_ > 0 && entries > maxEntries_);
    // A writer may still be at work on a young temporary file.
    if (temporary ? age <= hourNs : !tooOld && !tooMuch)
      continue;
    bytes -= std::max(file.info.size, file.info.allocatedBytes);
    entries -= !temporary;
    doomed.push_back(std::move(file));
  }
  sweepState(now);
  return removeAll(doomed);
}

void Cache::sweepState(int64_t now) {
  std::vector<std::string> names;
  if (realRoot_.empty() || system_.list(stateFolder(), names) != 0)
    return;
  for (const std::string &name : names)
    if (FileInfo info; name.ends_with(temporarySuffix) &&
                       system_.stat(joinPath(stateFolder(), name), false, info) == 0 && now - info.mtimeNs > hourNs)
      system_.unlink(joinPath(stateFolder(), name));
}

void Cache::sweepHourly() {
  std::string stamp = joinPath(stateFolder(), "swept");
  FileInfo info;
  int64_t now = system_.wallNanoseconds();
  if (system_.stat(stamp, false, info) == 0 && now - info.mtimeNs < hourNs && info.mtimeNs - now < hourNs)
    return;
  // The stamp comes first, so that others do not sweep too; without one, nobody sweeps.
  if (makeDirectories(system_, stateFolder(), 0700) != 0 || replaceFile(system_, stamp, "", 0600, false) != 0)
    return;
  collectGarbage();
}

Expected<CachedKernel> Cache::load(std::string_view key) const {
  constexpr size_t shortest = 6;
  if (key.size() < shortest || key.size() > 64 || key.find_first_not_of("0123456789abcdef") != std::string_view::npos)
    return Status(StatusCode::InvalidArgument,
                  "\"" + shorten(key) + "\" is no cache key, expected 6 to 64 digits of 0-9 and a-f");
  const std::vector<Walked> files = walk({});
  const Walked *found = nullptr;
  for (const Walked &file : files) {
    if (!isDigestText(file.key) || !file.key.starts_with(key))
      continue;
    if (found && found->key != file.key)
      return Status(StatusCode::InvalidArgument, "several cache entries begin with " + std::string(key));
    found = &file;
  }
  if (!found)
    return Status(StatusCode::NotFound, "no cache entry " + std::string(key) + " in " + root_);
  return readAny(system_, found->path, system_.userId());
}

Expected<CachedKernel> Cache::nearest(const KeyMaterial &material) const {
  std::optional<CachedKernel> best;
  size_t fewest = 0;
  for (const Walked &file : walk({})) {
    if (!isDigestText(file.key))
      continue;
    Expected<CachedKernel> kernel = readAny(system_, file.path, system_.userId());
    if (!kernel)
      continue;
    size_t count = keyDifferences(material, kernel->material).size();
    if (best && count >= fewest)
      continue;
    fewest = count;
    best = *std::move(kernel);
  }
  if (!best)
    return Status(StatusCode::NotFound, "the cache " + root_ + " has no entry to compare with");
  return *std::move(best);
}

} // namespace tilejit
