// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Which compiles killed their worker lately, so that they can't do it in a loop, and the reproducer files that compiles
// leave behind when they fail. Small files beside the cache, or in a folder for temporary files where there is none;
// whatever can't be written is left out.

#ifndef TILEJIT_LIB_RUNTIME_CRASHMEMORY_H
#define TILEJIT_LIB_RUNTIME_CRASHMEMORY_H

#include "tilejit/Base/Status.h"
#include "tilejit/Base/System.h"

#include <optional>
#include <string>
#include <string_view>

namespace tilejit {

class CrashMemory {
public:
  /// `folder`: the cache's state folder; may be empty, then nothing is remembered and reproducers go to a folder for
  /// temporary files.
  CrashMemory(System &system, std::string folder) : system_(system), folder_(std::move(folder)) {}

  /// How a compile of this key ended within the last minutes; ok where nothing is known.
  Status recent(std::string_view key) const;
  void remember(std::string_view key, const Status &status) const;
  /// Writes a file that `tilec compile` accepts; gives its path, empty where that failed.
  std::string writeReproducer(std::string_view name, std::string_view text) const;

private:
  std::string temporaryFolder() const;
  void keepNewest(const std::string &folder) const;

  System &system_;
  const std::string folder_;
};

} // namespace tilejit

#endif // TILEJIT_LIB_RUNTIME_CRASHMEMORY_H
