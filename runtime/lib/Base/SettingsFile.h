// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The TOML form of settings: one flat table. Knows TOML, not which settings exist.

#ifndef TILEJIT_LIB_BASE_SETTINGSFILE_H
#define TILEJIT_LIB_BASE_SETTINGSFILE_H

#include "tilejit/Base/Status.h"

#include <string>
#include <string_view>
#include <vector>

namespace tilejit {

struct FileSetting {
  std::string name, text;
  int line = 0;
};

/// The keys of a file in its order, strings, whole numbers and booleans ("on", "off") as text. InvalidArgument with
/// file:line:column for what is no TOML or has a value of another type.
Expected<std::vector<FileSetting>> parseSettingsFile(std::string_view text, std::string_view path);

} // namespace tilejit

#endif // TILEJIT_LIB_BASE_SETTINGSFILE_H
