// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Lists of spellings that only the parser needs.

#ifndef TILEJIT_LIB_DESCRIPTION_NAMES_H
#define TILEJIT_LIB_DESCRIPTION_NAMES_H

#include "tilejit/Description/Description.h"

#include <span>
#include <string_view>

namespace tilejit {

/// All families' names, in the order of the enumeration.
std::span<const std::string_view> familyNames();

} // namespace tilejit

#endif // TILEJIT_LIB_DESCRIPTION_NAMES_H
