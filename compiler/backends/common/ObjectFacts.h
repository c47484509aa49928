// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What an object file says about itself: what it needs from outside, how large its code and stack frames are.

#ifndef TILEJIT_BACKENDS_COMMON_OBJECTFACTS_H
#define TILEJIT_BACKENDS_COMMON_OBJECTFACTS_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilejit::backends {

struct ObjectFacts {
  std::vector<std::string> undefined; ///< Symbols, sorted.
  int64_t codeBytes = 0;
  int64_t stackBytes = 0; ///< The largest frame of one function.
};

/// Reads an ELF object of 64 bits; false where it is none.
bool readObjectFacts(std::string_view object, ObjectFacts &facts);

} // namespace tilejit::backends

#endif // TILEJIT_BACKENDS_COMMON_OBJECTFACTS_H
