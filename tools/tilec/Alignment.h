// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The version-alignment table (third_party/alignment.json, embedded) and its comparison with what is found.

#ifndef TILEJIT_TOOLS_TILEC_ALIGNMENT_H
#define TILEJIT_TOOLS_TILEC_ALIGNMENT_H

#include "tilejit/Base/Status.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tilejit::tilec {

/// One row: `with`, as found here, must lie in `needs`.
struct AlignmentPair {
  std::string of, with, needs, hint;
  bool required = false;
};

/// Reads a table; InvalidArgument names the row that is no pair.
Expected<std::vector<AlignmentPair>> parseAlignment(std::string_view text);
/// The table that was built in.
std::string_view builtInAlignment();

/// Whether a version ("22.1.8", "550.54") lies in a range (">=22.1 <22.2"). Text after the numbers is ignored.
bool versionFits(std::string_view version, std::string_view range);
/// Whether a text is a range as versionFits() takes it.
bool isVersionRange(std::string_view range);

/// Component and version, as far as found on this machine; absent ones are left out. `llvmVersion`: what the worker
/// says.
std::map<std::string, std::string> findVersions(const std::string &llvmVersion);

} // namespace tilejit::tilec

#endif // TILEJIT_TOOLS_TILEC_ALIGNMENT_H
