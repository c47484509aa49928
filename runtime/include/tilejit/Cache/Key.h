// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What a cache key is made of, as a value, and the key: a hash over its typed, length-prefixed encoding. Everything
// that changes code is a field; paths, times, process ids, names for people and device indices have no field. Entries
// store the material, so that a hit can compare it and `tilec cache why` can say what differs.

#ifndef TILEJIT_CACHE_KEY_H
#define TILEJIT_CACHE_KEY_H

#include "tilejit/Base/Status.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tilejit {

/// Version of the entry format; also the name of the cache's first folder.
inline constexpr int cacheFormat = 2;

enum class DescriptionKind : uint8_t {
  Json,     ///< KeyMaterial::description is canonical JSON.
  FileHash, ///< KeyMaterial::description is the digest (hex) of a tile file's bytes.
  TileIR,   ///< KeyMaterial::description is the digest (hex) of what a tile file means, however it is spelled.
};

/// Everything that changes the code of a kernel.
struct KeyMaterial {
  DescriptionKind kind = DescriptionKind::Json;
  std::string description;
  std::map<std::string, int64_t> config; ///< As given; absent keys are the compiler's choice.
  std::string emit = "package";          ///< Form of the payload.
  bool withBitcode = false;              ///< GPU packages: the LLVM bitcode is one of the payloads.
  std::string target;                    ///< TargetSpec::keyText().
  std::string targetFolder;              ///< TargetSpec::folderName().
  std::vector<std::pair<std::string, std::string>> toolchain; ///< Part ("worker", "libLLVM") and build id.
  std::string llvmVersion;
  std::string tilejitVersion;
  int32_t format = cacheFormat;
  int32_t abiVersion = 0; ///< kernelAbiVersion.

  bool operator==(const KeyMaterial &) const = default;
};

/// The encoding that is hashed and stored; equal for equal material only.
std::string encodeKeyMaterial(const KeyMaterial &material);
/// InvalidArgument for bytes that are no encoding. Folder names and versions are checked (isFolderName).
Expected<KeyMaterial> decodeKeyMaterial(std::string_view bytes);
/// 64 hexadecimal digits.
std::string cacheKey(const KeyMaterial &material);
/// The description of a tile file.
std::string hashTileFile(std::string_view bytes);

/// Whether a text may be the name of a folder in the cache: [A-Za-z0-9_.-], 1 to 128 long, not starting with a dot.
bool isFolderName(std::string_view text);

/// One field that differs: "description/epilogue/0/op", "config/bm", "target", "toolchain/libLLVM"; a value that one
/// side lacks is empty. Long values are shortened.
struct KeyDifference {
  std::string field, a, b;
};
std::vector<KeyDifference> keyDifferences(const KeyMaterial &a, const KeyMaterial &b);

} // namespace tilejit

#endif // TILEJIT_CACHE_KEY_H
