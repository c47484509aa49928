// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Export and import: many entries as one package file. What comes in is checked like an entry, and stored under names
// made here; nothing in a package names a path.

#include "CacheParts.h"

#include "tilejit/Base/Hash.h"
#include "tilejit/Base/Text.h"

namespace tilejit {

Expected<int64_t> Cache::exportTo(const std::string &path, const CacheFilter &filter) const {
  std::vector<CachedKernel> kernels;
  int64_t bytes = 0;
  for (const Walked &file : walk(filter)) {
    if (!isDigestText(file.key))
      continue;
    bytes += file.info.size;
    if (bytes > maxPackageBytes)
      return Status(StatusCode::InvalidArgument,
                    "the entries exceed " + formatSize(maxPackageBytes) + ", the most that a package holds")
          .withHint("export one target or version at a time");
    if (Expected<CachedKernel> kernel = load(file.key); kernel && cacheKey(kernel->material) == file.key)
      kernels.push_back(*std::move(kernel));
  }
  if (kernels.empty())
    return Status(StatusCode::NotFound, "no entry to export in " + root_);
  TILEJIT_RETURN_IF_ERROR(writeFileAtomically(system_, path, encodePackage(kernels), 0644));
  return static_cast<int64_t>(kernels.size());
}

Expected<int64_t> Cache::importFrom(const std::string &path) {
  if (realRoot_.empty())
    return Status(StatusCode::IoError, unusableReason_);
  TILEJIT_ASSIGN_OR_RETURN(std::string bytes, readFile(system_, path, maxPackageBytes));
  Expected<std::vector<CachedKernel>> kernels = decodePackage(bytes);
  if (!kernels)
    return Status(kernels.status()).inContext(shorten(path, 200));
  int64_t stored = 0;
  for (const CachedKernel &kernel : *kernels) {
    std::string target = entryPath(kernel.material);
    if (kernel.material.format != cacheFormat || kernel.payloads.empty() || target.empty())
      continue;
    if (int error = writeEntry(target, kernel))
      return fileError("store an entry in", root_, error);
    ++stored;
  }
  return stored;
}

} // namespace tilejit
