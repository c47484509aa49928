// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// From JSON text to a validated Description, its canonical form, and the binding of symbolic dimensions.

#ifndef TILEJIT_DESCRIPTION_PARSE_H
#define TILEJIT_DESCRIPTION_PARSE_H

#include "tilejit/Base/Status.h"
#include "tilejit/Description/Description.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilejit {

/// The version of the description format that this build reads: major, minor.
inline constexpr int descriptionFormatMajor = 1;
inline constexpr int descriptionFormatMinor = 0;

/// Validates a description completely; what it returns can be compiled without further checks of meaning.
/// Errors are BadDescription with the JSON pointer of the fault (for text that is no JSON: `source:line:column`), what
/// was found and what was expected. `source` names the text in messages. At most 4 MB of text, nesting at most 64.
Expected<Description> parseDescription(std::string_view text, std::string_view source);

/// The canonical form: compact JSON with sorted keys, defaults filled in and people's names dropped: `name`, comments,
/// names of free operands and of dimensions (x0, x1, ..., y0, ..., d0, ...; with leading zeros from eleven on, so that
/// they sort). Equal for descriptions that compile to the same kernel; parseDescription() accepts it. What a cache key
/// is made of and what the worker compiles.
std::string canonicalJson(const Description &description);

/// Actual sizes of symbolic dimensions; -1: not bound yet.
struct Binding {
  std::vector<int64_t> sizes;

  int64_t operator()(const Dim &dim) const { return dim.isSymbolic() ? sizes[dim.symbol] : dim.size; }
  std::vector<int64_t> shape(const Operand &operand) const;
  bool isComplete() const;
};

/// Binds names from `name=size` texts (--set). Errors name the dimension: unknown, no number, out of its range.
Expected<Binding> bindFromSettings(const Description &description, std::span<const std::string> settings);
/// Binds the dimensions of one operand from an actual shape; refuses what contradicts `binding` or the description
/// (both shapes are in the message).
Status bindFromShape(const Description &description, const Operand &operand, std::span<const int64_t> shape,
                     Binding &binding);
/// Gives each unbound dimension a size: the range's max where it is at most `limit`, else a small legal one.
void bindRest(const Description &description, int64_t limit, Binding &binding);
/// Checks every bound size against min, max, multiple_of, and all tensors against the limits of the format.
Status checkBinding(const Description &description, const Binding &binding);

} // namespace tilejit

#endif // TILEJIT_DESCRIPTION_PARSE_H
