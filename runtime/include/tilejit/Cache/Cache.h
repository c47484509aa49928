// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The on-disk cache. It never returns a damaged or foreign entry, never fails its caller, and needs no lock to be
// right. Layout: <root>/<format>/<tilejit version>/<architecture>/<first two hex>/<key>.tjk (lib/Cache/FORMAT.md).
// It does not compile, load or run anything.
//
// Use: lookup(); on a miss beginFlight(), lookup(AfterWait), compile, publish(). findOrCompile() does just that.

#ifndef TILEJIT_CACHE_CACHE_H
#define TILEJIT_CACHE_CACHE_H

#include "tilejit/Base/File.h"
#include "tilejit/Base/Log.h"
#include "tilejit/Base/Settings.h"
#include "tilejit/Base/Status.h"
#include "tilejit/Base/System.h"
#include "tilejit/Cache/Entry.h"
#include "tilejit/Cache/Key.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tilejit {

/// What happened, since the object was made or (persistent) since the folder was.
struct CacheCounters {
  int64_t hits = 0;
  int64_t misses = 0;
  int64_t quarantined = 0;
  int64_t published = 0;
  int64_t errors = 0; ///< Calls to the system that failed, of all kinds.
};

struct CacheLookup {
  std::optional<CachedKernel> kernel; ///< Set: a hit.
  std::string missReason;             ///< "no entry", "checksum is wrong", ...; empty for a hit.

  bool isHit() const { return kernel.has_value(); }
};

/// One entry, as `tilec cache list` shows it.
struct CacheEntryInfo {
  std::string key, version, target, path; ///< target: name of the architecture's folder.
  std::string op;                         ///< From the manifest.
  std::string aliasOf;                    ///< Key of the entry that an alias stands for; empty for a kernel.
  int64_t bytes = 0;                      ///< Size of the file.
  int64_t allocatedBytes = 0;             ///< On disk.
  int64_t lastUsedNs = 0;                 ///< Wall clock, at most an hour old.
};

/// Which entries `clear` and `gc` are about; empty fields mean all.
struct CacheFilter {
  std::string version, target;       ///< Target: name of a folder (TargetSpec::folderName()).
  std::optional<int64_t> olderThanS; ///< Seconds since last use.
};
struct CacheRemoved {
  int64_t entries = 0;
  int64_t bytes = 0;
};
struct CacheDamage {
  std::string path, key, reason;
};
struct CacheVerified {
  int64_t entries = 0;
  std::vector<CacheDamage> damaged;
};
struct CacheUsage {
  int64_t entries = 0;
  int64_t aliases = 0; ///< Entries that stand for another one and hold no code.
  int64_t bytes = 0;   ///< Allocated, at least the sum of sizes.
  CacheCounters counters;
};

/// Held while one process compiles a key; others wait. Released when destroyed, or when its process dies.
class CacheFlight {
public:
  CacheFlight() = default;
  CacheFlight(System &system, FileHandle file) : system_(&system), file_(std::move(file)) {}
  CacheFlight(CacheFlight &&) = default;
  CacheFlight &operator=(CacheFlight &&) = delete;
  ~CacheFlight();

  /// False: the wait ran out, or there is no place for locks; compile anyway.
  bool isHeld() const { return file_.isOpen(); }

private:
  System *system_ = nullptr;
  FileHandle file_;
};

/// Thread-safe; safe after fork.
class Cache {
public:
  enum class OpenMode {
    Use,    ///< Makes the folder; warns once where there is none to use.
    Inspect ///< Makes nothing, warns of nothing: for commands that look.
  };

  /// Opens the first usable folder of settings.cacheFolders(). Never fails: without one, lookup() always misses and
  /// publish() does nothing. `system` must outlive the cache.
  static std::unique_ptr<Cache> open(const Settings &settings, Logger logger, System &system = realSystem(),
                                     OpenMode mode = OpenMode::Use);
  ~Cache(); ///< Flushes the counters.

  /// True where there is a folder.
  bool isUsable() const { return !realRoot_.empty(); }
  /// False where settings switched the cache off.
  bool isEnabled() const { return enabled_; }
  /// The folder as settings name it, also where it does not exist or can't be used (the first one then).
  const std::string &root() const { return root_; }
  /// Why there is no folder: names it. Empty where there is one.
  const std::string &unusableReason() const { return unusableReason_; }
  /// Folder for small files beside the entries (Toolchain.h); empty without a cache.
  std::string stateFolder() const;

  /// First: counted as a hit or a miss. AfterWait: the second look once a flight is held; a hit takes the miss that was
  /// counted before back.
  enum class Look { First, AfterWait };
  /// Finds a kernel, behind an alias too: then its material is not the one that was asked for. Whatever is wrong with
  /// an entry makes it a miss; damaged ones are put aside.
  CacheLookup lookup(const KeyMaterial &material, Look look = Look::First);
  /// Stores a kernel; false where that was not possible (counted, warned of once). The caller goes on either way.
  bool publish(const CachedKernel &kernel);
  /// Puts an entry aside that its device refused to load.
  void reject(const KeyMaterial &material, std::string_view reason);
  /// Waits, at most so long, until this process may be the one that compiles `key`.
  CacheFlight beginFlight(std::string_view key, int64_t timeoutNs);

  struct Found {
    CachedKernel kernel;
    bool wasHit = false;
    std::string missReason;
  };
  /// A hit, or the result of `compile`, which then is stored.
  Expected<Found> findOrCompile(const KeyMaterial &material, int64_t timeoutNs,
                                const std::function<Expected<CachedKernel>()> &compile);

  // For the cache's own commands; never called on the way to a launch.
  std::vector<CacheEntryInfo> list() const;
  /// Reads every entry: only its content says whether it is an alias.
  CacheUsage usage();
  CacheVerified verify() const;
  CacheRemoved clear(const CacheFilter &filter = {});
  /// Down to the bounds of the settings, least recently used first; sweeps what killed processes left.
  CacheRemoved collectGarbage();
  /// The kernel of an entry, by its key or an unambiguous beginning (at least 6 digits).
  Expected<CachedKernel> load(std::string_view key) const;
  /// The entry whose material has the fewest differences from this one.
  Expected<CachedKernel> nearest(const KeyMaterial &material) const;
  /// All entries that match as one package; and back. Both give the number of kernels.
  Expected<int64_t> exportTo(const std::string &path, const CacheFilter &filter = {}) const;
  Expected<int64_t> importFrom(const std::string &path);

  /// Since this object was made.
  CacheCounters counters() const;
  /// Adds what was counted since the last time to the folder's counters. Failures are ignored.
  void flushCounters();

private:
  struct Counting;
  Cache(const Settings &settings, Logger logger, System &system);

  void chooseFolder(const Settings &settings, OpenMode mode);
  std::string versionFolder() const; ///< <root>/<format>.
  /// Empty for material whose names can't be folders.
  std::string entryPath(const KeyMaterial &material) const;
  Expected<CachedKernel> readEntry(const std::string &path, const KeyMaterial &material);
  int writeEntry(const std::string &path, const CachedKernel &kernel);
  void quarantine(const std::string &path, const FileInfo *seen, std::string_view reason);
  void failedToWrite(std::string_view action, int error);
  std::string lockFolder();
  void sweepHourly();
  void sweepState(int64_t now);
  struct Walked;
  std::vector<Walked> walk(const CacheFilter &filter) const;
  CacheRemoved removeAll(const std::vector<Walked> &files);

  Logger logger_;
  System &system_;
  bool enabled_ = true;
  std::string root_;           ///< As settings name it, for people.
  std::string realRoot_;       ///< Absolute; empty without a folder.
  std::string unusableReason_; ///< Names the folder.
  int64_t maxBytes_ = 0, maxEntries_ = 0, maxAgeSeconds_ = 0;
  std::unique_ptr<Counting> counting_;
};

} // namespace tilejit

#endif // TILEJIT_CACHE_CACHE_H
