// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// From words on the command line to sources, targets and configs.

#ifndef TILEJIT_TOOLS_TILEC_SOURCES_H
#define TILEJIT_TOOLS_TILEC_SOURCES_H

#include "tilejit/ABI/Compile.h"
#include "tilejit/Base/Status.h"
#include "tilejit/Runtime/Context.h"
#include "tilejit/Target/TargetSpec.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace tilejit::tilec {

/// Reads DESC: a file, or standard input for "-". Files over 4 MB, folders and missing files are refused by name.
Expected<Source> readSource(const std::string &path);
/// All of them; fails at the first that can't be read.
Expected<std::vector<Source>> readSources(const std::vector<std::string> &paths);

/// "a,b,c" apart; an empty word is refused, naming `option`.
Expected<std::vector<std::string>> splitWords(const std::string &text, const std::string &option);
/// --target T[,T...]; nothing given means the setting, and that defaults to native.
/// `device` is which one is meant by the name of a kind (cuda, hip).
Expected<std::vector<TargetSpec>> parseTargets(Context &context, const std::optional<std::string> &text,
                                               int device = 0);
/// --config k=v,... from all its occurrences. Values are integers; a key twice is refused.
Expected<abi::Config> parseConfig(const std::vector<std::string> &texts);
/// X[,Y[,Z]] of --grid or another option.
Expected<std::array<int64_t, 3>> parseGrid(const std::string &text, const std::string &option = "--grid");
/// A decimal integer in [low, high]; messages name `option`.
Expected<int64_t> parseInteger(const std::string &text, const std::string &option, int64_t low, int64_t high);

/// What results call a source: its name, else the stem of its file.
std::string displayName(const Source &source);
/// The file's name without folder and suffix; "stdin" for standard input.
std::string stemOf(const std::string &path);

} // namespace tilejit::tilec

#endif // TILEJIT_TOOLS_TILEC_SOURCES_H
