// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A vendor's library, opened when it is first needed and never closed: drivers don't survive that. Its symbols come
// from one table for each library (X-macros in runtime/devices/*/Symbols.def).

#ifndef TILEJIT_DEVICES_COMMON_SHAREDLIBRARY_H
#define TILEJIT_DEVICES_COMMON_SHAREDLIBRARY_H

#include "tilejit/Base/Status.h"

#include <initializer_list>
#include <string>

namespace tilejit::gpu {

class SharedLibrary {
public:
  /// The first of the names that can be opened. Unavailable says what the loader said about the last one.
  static Expected<SharedLibrary> open(std::initializer_list<const char *> names);

  const std::string &name() const { return name_; }
  /// Null where the library has no such symbol.
  void *find(const char *symbol) const;
  /// Fills `function`; notes the name in `missing` where it is not there and needed.
  template <typename Function>
  void resolve(Function *&function, const char *symbol, bool isNeeded, std::string &missing) const {
    function = reinterpret_cast<Function *>(find(symbol));
    if (!function && isNeeded)
      missing += (missing.empty() ? "" : ", ") + std::string(symbol);
  }

private:
  std::string name_;
  void *handle_ = nullptr;
};

} // namespace tilejit::gpu

#endif // TILEJIT_DEVICES_COMMON_SHAREDLIBRARY_H
