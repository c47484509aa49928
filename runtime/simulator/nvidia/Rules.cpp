// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// All families of NVIDIA instructions.

#include "nvidia/Rules.h"

#include "decode/Decoder.h"

namespace tilejit::sim {

void addNvidiaRules(Rules &rules) {
  addNvidiaSpecialRegisterRules(rules);
  addNvidiaBarrierRules(rules);
  addNvidiaClusterAddressRules(rules);
  addNvidiaClusterBarrierRules(rules);
  addNvidiaLaneRules(rules);
  addNvidiaMatrixRules(rules);
  addNvidiaAsyncCopyRules(rules);
  addNvidiaAsyncStoreRules(rules);
  addNvidiaMbarrierRules(rules);
  addNvidiaBulkCopyRules(rules);
  addNvidiaTensorCopyRules(rules);
  addNvidiaWarpgroupRules(rules);
  addNvidiaMathRules(rules);
  addPtxAssemblyRules(rules);
}

} // namespace tilejit::sim
