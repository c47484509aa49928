// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The file format of cache entries and packages (.tjk), documented in lib/Cache/FORMAT.md: header, kernels (key
// material, manifest, payloads), checksum. A cache entry holds one kernel, a package any number. Decoding is strictly
// bounded by its input and never trusts a length.

#ifndef TILEJIT_CACHE_ENTRY_H
#define TILEJIT_CACHE_ENTRY_H

#include "tilejit/Base/Status.h"
#include "tilejit/Cache/Key.h"

#include <string>
#include <string_view>
#include <vector>

namespace tilejit {

/// Bytes that a device loads, or another form of them.
struct Payload {
  std::string kind;   ///< "elf", "ptx", "cubin", "hsaco", "bitcode", "text", "alias".
  std::string target; ///< TargetSpec::keyText() of what it runs on.
  std::string bytes;
};

/// One compiled kernel with all that is known about it.
struct CachedKernel {
  KeyMaterial material;
  std::string manifest; ///< JSON, abi::manifestJson().
  std::vector<Payload> payloads;

  std::string key() const { return cacheKey(material); }

  /// Whether this stands for another entry: one spelling of a tile file for what all its spellings mean.
  bool isAlias() const { return payloads.size() == 1 && payloads[0].kind == "alias"; }
  /// The key material of the entry that an alias stands for.
  KeyMaterial aliased() const;
};

/// An entry for `file` (a tile file's hash) that stands for `kernel` (a TileIR entry).
CachedKernel makeAlias(KeyMaterial file, const CachedKernel &kernel);

/// Whether bytes begin like a package; nothing is said about the rest.
bool isPackage(std::string_view bytes);
/// No file larger than this is read.
inline constexpr int64_t maxPackageBytes = int64_t{2} << 30;

/// One file of one or more kernels.
std::string encodePackage(const std::vector<CachedKernel> &kernels);
inline std::string encodePackage(const CachedKernel &kernel) {
  return encodePackage(std::vector<CachedKernel>{kernel});
}
/// InvalidArgument for whatever is not exactly such a file: the message says what is wrong with it.
Expected<std::vector<CachedKernel>> decodePackage(std::string_view bytes);
/// The kernel of a file that must hold exactly the wanted one: material, target of every payload, nothing else beside.
Expected<CachedKernel> decodeEntry(std::string_view bytes, const KeyMaterial &wanted);

} // namespace tilejit

#endif // TILEJIT_CACHE_ENTRY_H
