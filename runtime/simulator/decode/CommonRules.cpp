// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// All families that both vendors share.

#include "decode/CommonRules.h"

#include "decode/Decoder.h"

namespace tilejit::sim {

void addCommonRules(Rules &rules) {
  addLlvmIntrinsicRules(rules);
  addLibraryRules(rules);
}

} // namespace tilejit::sim
