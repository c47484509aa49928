// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Families that both vendors share: LLVM's own intrinsics and the functions of device libraries.

#ifndef TILEJIT_SIMULATOR_DECODE_COMMONRULES_H
#define TILEJIT_SIMULATOR_DECODE_COMMONRULES_H

namespace tilejit::sim {

class Rules;

void addLlvmIntrinsicRules(Rules &rules);
void addLibraryRules(Rules &rules);

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_DECODE_COMMONRULES_H
