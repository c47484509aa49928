// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The embedded texts of runtime/operators/*.json; the file that defines them is made at build time.

#ifndef TILEJIT_LIB_DESCRIPTION_SCHEMATEXT_H
#define TILEJIT_LIB_DESCRIPTION_SCHEMATEXT_H

#include <span>
#include <string_view>

namespace tilejit {

struct SchemaText {
  std::string_view name; ///< File name without its ending.
  std::string_view text;
};

std::span<const SchemaText> schemaTexts();

} // namespace tilejit

#endif // TILEJIT_LIB_DESCRIPTION_SCHEMATEXT_H
