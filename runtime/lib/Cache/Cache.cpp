// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The way to a launch: opening the cache, finding, publishing and putting aside. Each failure of the system is a miss
// or an entry not stored, and a count.

#include "tilejit/Cache/Cache.h"

#include "CacheParts.h"
#include "tilejit/Base/Text.h"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>

namespace tilejit {

Cache::Cache(const Settings &settings, Logger logger, System &system)
    : logger_(std::move(logger)), system_(system), enabled_(settings.cacheEnabled()),
      maxBytes_(settings.cacheMaxBytes()), maxEntries_(settings.cacheMaxEntries()),
      maxAgeSeconds_(settings.cacheMaxAgeSeconds()), counting_(std::make_unique<Counting>()) {}

std::unique_ptr<Cache> Cache::open(const Settings &settings, Logger logger, System &system, OpenMode mode) {
  std::unique_ptr<Cache> cache(new Cache(settings, std::move(logger), system));
  // A cache that is off touches no folder, but its commands still look into it.
  cache->chooseFolder(settings, cache->enabled_ ? mode : OpenMode::Inspect);
  return cache;
}

Cache::~Cache() { flushCounters(); }

CacheLookup Cache::lookup(const KeyMaterial &material, Look look) {
  if (!enabled_)
    return {std::nullopt, "the cache is off"};
  Counting &c = *counting_;
  auto count = [&](bool hit) {
    c.hits += hit;
    if (look == Look::First)
      c.misses += !hit;
    else
      c.misses -= hit;
    if (++c.sinceFlush >= 256)
      flushCounters();
  };
  std::string path = realRoot_.empty() ? "" : entryPath(material);
  if (path.empty()) {
    count(false);
    return {std::nullopt, realRoot_.empty() ? unusableReason_ : "the key can't be stored"};
  }
  Expected<CachedKernel> kernel = readEntry(path, material);
  if (kernel && kernel->isAlias()) {
    KeyMaterial target = kernel->aliased();
    kernel = readEntry(entryPath(target), target);
  }
  count(kernel.isOk());
  if (!kernel)
    return {std::nullopt, kernel.status().message()};
  return {*std::move(kernel), {}};
}

Expected<CachedKernel> Cache::readEntry(const std::string &path, const KeyMaterial &material) {
  auto openEntry = [&] { return system_.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0); };
  int fd = openEntry();
  if (fd == -ESTALE || fd == -EINTR)
    fd = openEntry();
  if (fd == -ENOENT)
    return Status(StatusCode::NotFound, "no entry");
  FileHandle file(system_, fd);
  FileInfo info;
  if (!file.isOpen()) {
    ++counting_->errors;
    // A link, or a file without permission to read, would be in the way for ever.
    if ((fd == -ELOOP || fd == -EACCES) && system_.stat(path, false, info) == 0)
      quarantine(path, &info, errnoText(fd));
    return fileError("open the entry", path, fd);
  }
  if (int error = system_.stat(file.get(), info)) {
    ++counting_->errors;
    return fileError("stat the entry", path, error);
  }
  if (!isTrustedFile(info, system_.userId())) {
    quarantine(path, &info, "it is not a file that only this user may write");
    return Status(StatusCode::InvalidArgument, "the entry is not a file that only this user may write");
  }
  std::string bytes;
  if (int error = readAll(system_, file.get(), maxPackageBytes, bytes); error < 0) {
    ++counting_->errors;
    return fileError("read the entry", path, error);
  }
  Expected<CachedKernel> kernel = decodeEntry(bytes, material);
  if (!kernel)
    quarantine(path, &info, kernel.status().message());
  else if (int64_t age = system_.wallNanoseconds() - info.mtimeNs; age > hourNs || age < -hourNs)
    system_.touch(file.get()); // Recency for eviction; without permission it just stays old.
  return kernel;
}

bool Cache::publish(const CachedKernel &kernel) {
  if (!enabled_ || realRoot_.empty())
    return false;
  std::string path = entryPath(kernel.material);
  bool whole = !kernel.payloads.empty();
  for (const Payload &payload : kernel.payloads)
    whole &= !payload.bytes.empty() && payload.target == kernel.material.target;
  if (path.empty() || !whole) {
    ++counting_->errors;
    logger_.error("cache", "a kernel without payload, for another target or of an unusable version is not stored");
    return false;
  }
  if (int error = writeEntry(path, kernel)) {
    failedToWrite("store an entry", error);
    return false;
  }
  ++counting_->published;
  sweepHourly();
  return true;
}

int Cache::writeEntry(const std::string &path, const CachedKernel &kernel) {
  std::string bytes = encodePackage(kernel);
  if (static_cast<int64_t>(bytes.size()) > maxPackageBytes)
    return -EFBIG;
  int error = 0;
  // A second try is for what another process did meanwhile: removed folders, put something in the entry's place.
  for (int attempt = 0; attempt < 2; ++attempt) {
    error = makeDirectories(system_, parentPath(path), 0700);
    if (!error)
      error = replaceFile(system_, path, bytes, 0600, /*durable=*/true);
    if (error == -EISDIR || error == -ENOTEMPTY || error == -EEXIST)
      quarantine(path, nullptr, "it is a folder");
    else if (error != -ENOENT && error != -ESTALE && error != -EINTR)
      break;
  }
  return error;
}

void Cache::failedToWrite(std::string_view action, int error) {
  ++counting_->errors;
  std::string message = "can't " + std::string(action) + " in the cache folder " + shorten(root_, 300) + ": " +
                        errnoText(error) + "; going on without it";
  if (counting_->warned.exchange(true))
    logger_.debug("cache", message);
  else
    logger_.warn("cache", message);
}

void Cache::quarantine(const std::string &path, const FileInfo *seen, std::string_view reason) {
  // Another process may have replaced the entry by a good one since it was read.
  FileInfo now;
  if (seen && (system_.stat(path, false, now) != 0 || now.inode != seen->inode || now.device != seen->device))
    return;
  ++counting_->quarantined;
  std::string folder = joinPath(versionFolder(), quarantineName);
  // Names begin with the time, so that the oldest come first.
  std::array<char, 48> stamp;
  std::snprintf(stamp.data(), stamp.size(), "%016llx-%08x-", static_cast<unsigned long long>(system_.wallNanoseconds()),
                static_cast<unsigned>(system_.random()));
  int error = makeDirectories(system_, folder, 0700);
  if (!error)
    error = system_.rename(path, joinPath(folder, stamp.data() + std::string(fileName(path))));
  if (error)
    error = system_.unlink(path);
  logger_.warn("cache", "a damaged cache entry is put aside and compiled anew: " + std::string(reason),
               {{"entry", path}, {"moved", error ? errnoText(error) : "yes"}});
  if (error) {
    ++counting_->errors;
    return;
  }
  std::vector<std::string> kept;
  if (system_.list(folder, kept) == 0 && kept.size() > quarantineLimit)
    for (size_t i = 0; i < kept.size() - quarantineLimit; ++i)
      removeTree(system_, joinPath(folder, kept[i]));
}

void Cache::reject(const KeyMaterial &material, std::string_view reason) {
  if (std::string path = realRoot_.empty() || !enabled_ ? "" : entryPath(material); !path.empty())
    if (FileInfo info; system_.stat(path, false, info) == 0)
      quarantine(path, &info, reason);
}

} // namespace tilejit
