// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What the files of LLVM's own intrinsics share.

#ifndef TILEJIT_SIMULATOR_DECODE_INTRINSICS_H
#define TILEJIT_SIMULATOR_DECODE_INTRINSICS_H

#include "core/Elementwise.h"
#include "decode/Decoder.h"

namespace tilejit::sim {

/// d = handler(sources), at most three of them.
void emitLanes(Decoder &decoder, const HandlerPair &handlers, Reg d, llvm::ArrayRef<Reg> sources, int64_t imm = 0);
/// The function of the math table, scalar by scalar: arguments from `first` on. False: there is none for the kind.
bool emitMath(Call &call, llvm::StringRef function, unsigned first = 0);
/// "fabs" of "llvm.fabs.v4f32".
llvm::StringRef intrinsicBase(llvm::StringRef name);
void unsupportedCall(Call &call);

void addFloatIntrinsicRules(Rules &rules);
void addIntegerIntrinsicRules(Rules &rules);
void addMemoryIntrinsicRules(Rules &rules);
void addConstrainedIntrinsicRules(Rules &rules);

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_DECODE_INTRINSICS_H
