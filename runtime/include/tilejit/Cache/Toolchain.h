// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Who compiles: the build ids of the worker program, the compiler library and the LLVM libraries it needs. Asking the
// worker loads LLVM, so its answer is remembered beside the cache and holds until one of the files changes; a warm
// process only stats them.

#ifndef TILEJIT_CACHE_TOOLCHAIN_H
#define TILEJIT_CACHE_TOOLCHAIN_H

#include "tilejit/Base/Status.h"
#include "tilejit/Base/System.h"
#include "tilejit/Cache/Cache.h"

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tilejit {

/// A file that takes part in compiling.
struct ToolchainPart {
  std::string name;     ///< "worker", "compiler", "libMLIR", "libLLVM".
  std::string identity; ///< Build id in hexadecimal, else a digest of the content.
  std::string path;     ///< Not part of any key.

  bool operator==(const ToolchainPart &) const = default;
};

struct Toolchain {
  std::vector<ToolchainPart> parts; ///< Sorted by name.
  std::string llvmVersion;

  /// For KeyMaterial::toolchain.
  std::vector<std::pair<std::string, std::string>> identities() const;
  bool operator==(const Toolchain &) const = default;
};

/// For the worker's answer and for the remembered file: JSON, and back (InvalidArgument for anything else).
std::string toolchainJson(const Toolchain &toolchain);
Expected<Toolchain> parseToolchain(std::string_view json);

/// Build id of an ELF file in hexadecimal, read from its notes; a digest of the content where it has none.
Expected<std::string> fileIdentity(System &system, const std::string &path);

/// What is loaded into this process: the program itself as "worker", libtilejit-compiler as "compiler", libMLIR,
/// libLLVM. For the worker, after it has opened the compiler library.
Expected<Toolchain> loadedToolchain(System &system, std::string llvmVersion);

/// Asks the worker.
using AskToolchain = std::function<Expected<Toolchain>()>;

/// Waits until this process may be the one that asks (Cache::beginFlight).
using AwaitTurn = std::function<CacheFlight()>;

/// The toolchain behind a worker program: remembered in `folder` (Cache::stateFolder(); empty: nothing is remembered)
/// while device, inode, size, mtime and ctime of every part are what they were, else asked for. A folder that can't be
/// written is ignored. `await`, where there is one, comes before asking, so that of many processes one asks and the
/// others find what it remembered.
Expected<Toolchain> findToolchain(System &system, const std::string &folder, const std::string &workerPath,
                                  const AskToolchain &ask, const AwaitTurn &await = nullptr);

} // namespace tilejit

#endif // TILEJIT_CACHE_TOOLCHAIN_H
