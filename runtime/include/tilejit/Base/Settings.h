// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The settings of a context: command line over environment over file over default. A value type; nothing is global, and
// nothing is read again after loadSettings(). Each value remembers where it came from, for `tilec doctor` and for
// messages. Values are checked here; whether a path exists or a target is known is for those who use it.

#ifndef TILEJIT_BASE_SETTINGS_H
#define TILEJIT_BASE_SETTINGS_H

#include "tilejit/Base/Log.h"
#include "tilejit/Base/Status.h"
#include "tilejit/Base/System.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilejit {

/// All settings. The key in the file is the lower-case name ("cache_dir"), the variable TILEJIT_ and the upper-case
/// one.
enum class SettingId : uint8_t {
  Cache,           ///< "on", "off".
  CacheDir,        ///< Folder of the cache.
  CacheMaxSize,    ///< Bytes on disk that eviction keeps under; 0: no bound.
  CacheMaxEntries, ///< 0: no bound.
  CacheMaxAge,     ///< Seconds since last use; 0: no bound.
  Target,          ///< Target where none is given.
  NumThreads,      ///< Threads of a launch; "all": as many as this process may use.
  CpuAffinity,     ///< Processors that threads are bound to: "none", "all" or a list such as "0-3,8".
  Worker,          ///< Path of the worker program; empty: looked for beside the library.
  Workers,         ///< Worker processes at most.
  CompileTimeout,  ///< Seconds.
  CompileMemory,   ///< Bytes a worker may use; 0: no bound.
  Ptxas,           ///< Path of ptxas; empty: looked for.
  LogLevel,
  LogFormat,
  LogFile,        ///< Empty: none.
  LogMaxSize,     ///< Bytes of one log file before it rotates.
  LogMaxFiles,    ///< Log files kept, the current one counted.
  Home,           ///< Where the installed tree is; empty: found from the library.
  VisibleDevices, ///< GPUs that are used: "0,2", "cuda:1,hip:0", "none"; empty: all.
  MemoryFraction, ///< Of a GPU's memory that a context may take, above 0 up to 1.
};
inline constexpr size_t settingCount = 21;

enum class SettingOrigin : uint8_t { Default, File, Environment, CommandLine };

struct SettingValue {
  std::string text;
  SettingOrigin origin = SettingOrigin::Default;
  std::string where; ///< "default", "/etc/tilejit/config.toml:3", "TILEJIT_TARGET", "--target".
};

/// One row of what `tilec doctor` prints.
struct EffectiveSetting {
  std::string_view name; ///< "cache_dir".
  std::string value;
  std::string where;
};

class Settings {
public:
  Settings(); ///< All defaults, no environment read; cache in no folder.

  const SettingValue &operator[](SettingId id) const { return values_[static_cast<size_t>(id)]; }
  /// Checks and sets a value; InvalidArgument names `where`.
  Status set(SettingId id, std::string text, SettingOrigin origin, std::string where);

  bool cacheEnabled() const;
  int64_t cacheMaxBytes() const;
  int64_t cacheMaxEntries() const;
  int64_t cacheMaxAgeSeconds() const;
  int64_t numThreads() const; ///< 0: all this process may use.
  /// The list of CpuAffinity in its order; empty for "none" and "all".
  std::vector<int> cpuAffinity() const;
  int64_t workers() const;
  int64_t compileTimeoutSeconds() const;
  int64_t compileMemoryBytes() const;
  LogLevel logLevel() const;
  LogFormat logFormat() const;
  int64_t logMaxBytes() const;
  int64_t logMaxFiles() const;
  double memoryFraction() const;
  const std::string &text(SettingId id) const { return (*this)[id].text; }

  /// Folders to try for the cache, in order: the one that was set, or the default chain. Empty: memory only.
  const std::vector<std::string> &cacheFolders() const { return cacheFolders_; }
  /// The file that was read; empty: none.
  const std::string &configFile() const { return configFile_; }
  /// All settings in the order of the enumeration.
  std::vector<EffectiveSetting> effective() const;

private:
  friend class SettingsLoader; // lib/Base/Settings.cpp
  std::array<SettingValue, settingCount> values_;
  std::vector<std::string> cacheFolders_;
  std::string configFile_;
};

/// "cache_dir" and back.
std::string_view settingName(SettingId id);
std::optional<SettingId> parseSettingName(std::string_view name);
/// "TILEJIT_CACHE_DIR".
std::string settingVariable(SettingId id);

/// A value from the command line, or from an embedder's options: `where` is how messages name it ("--cache-dir").
struct SettingOverride {
  SettingId id;
  std::string text;
  std::string where;
};

/// Reads the config file ($TILEJIT_CONFIG, which must exist, else the user's, else the system's) and the environment.
/// InvalidArgument for a wrong value or an unknown key: says what was found and what is expected, and names the
/// variable or option; for a file its key, with file:line as the status's pointer. An empty variable counts as not set.
Expected<Settings> loadSettings(System &system, std::span<const SettingOverride> overrides = {});

} // namespace tilejit

#endif // TILEJIT_BASE_SETTINGS_H
