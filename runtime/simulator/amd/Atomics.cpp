// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Atomics that are intrinsics of their own; all others are plain LLVM.

#include "core/Atomics.h"

#include "amd/Rules.h"

namespace tilejit::sim {

namespace {

/// flat/global.atomic.fmin/fmax.num(pointer, value).
void floatLimitRule(Call &call) {
  if (!requireChips(call, chipsRdna4))
    return;
  llvm::StringRef name = shortName(call);
  AtomicSpec spec;
  spec.op = name.contains("fmin") ? AtomicOp::FMin : AtomicOp::FMax;
  spec.kind = call.kind(1);
  spec.space = name.starts_with("global") ? AtomicSpace::Global : AtomicSpace::Generic;
  spec.resultUsed = !call.call.use_empty();
  Reg value = call.reg(1);
  std::vector<Reg> old = emitAtomic(call.decoder, spec, call.decoder.widen(call.reg(0)), {&value, 1});
  call.decoder.define(&call.call, Regs(old.begin(), old.end()));
}

} // namespace

void addAmdAtomicRules(Rules &rules) {
  for (const char *name :
       {"flat.atomic.fmin.num", "flat.atomic.fmax.num", "global.atomic.fmin.num", "global.atomic.fmax.num"})
    rules.callPrefix(std::string("llvm.amdgcn.") + name + ".", floatLimitRule);
}

} // namespace tilejit::sim
