// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Schedule options: which keys a config may have for each operator family, what they mean and their ranges. A config
// never changes what an operator computes, beyond the order in which sums are formed.

#ifndef TILEJIT_DESCRIPTION_CONFIG_H
#define TILEJIT_DESCRIPTION_CONFIG_H

#include "tilejit/Base/Status.h"
#include "tilejit/Description/Description.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace tilejit {

/// One key of a config.
struct ConfigKey {
  std::string_view name;
  int64_t min = 1;
  int64_t max = 1;
  std::string_view meaning;  ///< One line for `tilec ops`.
  std::string_view notOnCpu; ///< Why the key does nothing on CPUs, where it is refused; empty: it applies there.
};

/// The keys that a family knows, in the order in which they are listed.
std::span<const ConfigKey> configKeys(Family family);

/// Checks keys and values. InvalidArgument for a key that the family does not know (the hint lists those it knows), a
/// value out of range, or, where `isCpu`, a key that has no use on CPUs.
Status checkConfig(Family family, bool isCpu, const std::map<std::string, int64_t> &config);

} // namespace tilejit

#endif // TILEJIT_DESCRIPTION_CONFIG_H
