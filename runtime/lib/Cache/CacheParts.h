// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What the files that implement Cache share: names on disk, trust in files and folders, counters.

#ifndef TILEJIT_LIB_CACHE_CACHEPARTS_H
#define TILEJIT_LIB_CACHE_CACHEPARTS_H

#include "tilejit/Cache/Cache.h"

#include <array>

namespace tilejit {

inline constexpr std::string_view entrySuffix = ".tjk";
inline constexpr std::string_view temporarySuffix = ".tmp";
inline constexpr std::string_view quarantineName = "quarantine";
inline constexpr std::string_view stateName = "state";
/// Files that quarantine keeps; older ones go.
inline constexpr size_t quarantineLimit = 64;
inline constexpr int64_t hourNs = int64_t{3600} * 1'000'000'000;

/// Why a folder can't be trusted with code that will run: empty where it can.
std::string whyUntrusted(const FileInfo &folder, uint32_t user);
/// Whether an entry is a file of ours that nobody else may write.
bool isTrustedFile(const FileInfo &file, uint32_t user);
/// Removes a file, or a folder with all below it; links are not followed. For what lies in quarantine.
void removeTree(System &system, const std::string &path, int depth = 8);

/// The folder's counters: a file of fixed records, each what one process counted. Whoever finds it long adds it up.
/// Nothing depends on it; failures are ignored.
class CounterFile {
public:
  CounterFile(System &system, std::string path) : system_(system), path_(std::move(path)) {}

  CacheCounters read() const;
  void add(const CacheCounters &counted);

private:
  bool readAll(CacheCounters &sum) const;
  void compact(int fd);
  System &system_;
  std::string path_;
};

/// Counters of one object; `flushed` is what the file has already.
struct Cache::Counting {
  std::atomic<int64_t> hits{0}, misses{0}, quarantined{0}, published{0}, errors{0};
  std::atomic<int64_t> sinceFlush{0};
  std::array<std::atomic<int64_t>, 5> flushed{};
  std::atomic<bool> warned{false};
};

/// A file found by walking the cache.
struct Cache::Walked {
  std::string path, key, version, target;
  FileInfo info;
};

} // namespace tilejit

#endif // TILEJIT_LIB_CACHE_CACHEPARTS_H
