// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The families of NVIDIA instructions. Each registers its intrinsics and its assembly statements.

#ifndef TILEJIT_SIMULATOR_NVIDIA_RULES_H
#define TILEJIT_SIMULATOR_NVIDIA_RULES_H

namespace tilejit::sim {

class Rules;

void addNvidiaSpecialRegisterRules(Rules &rules);
void addNvidiaBarrierRules(Rules &rules);
void addNvidiaClusterAddressRules(Rules &rules);
void addNvidiaClusterBarrierRules(Rules &rules);
void addNvidiaLaneRules(Rules &rules);
void addNvidiaMatrixRules(Rules &rules);
void addNvidiaAsyncCopyRules(Rules &rules);
void addNvidiaAsyncStoreRules(Rules &rules);
void addNvidiaMbarrierRules(Rules &rules);
void addNvidiaBulkCopyRules(Rules &rules);
void addNvidiaTensorCopyRules(Rules &rules);
void addNvidiaWarpgroupRules(Rules &rules);
void addNvidiaMathRules(Rules &rules);
void addPtxAssemblyRules(Rules &rules);

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_NVIDIA_RULES_H
