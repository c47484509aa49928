// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Steps of planned conversions (Transforms/LayoutConversion.h) on registers.

#ifndef TILEJIT_CONVERSION_TILEGPUTOLLVM_CONVERTLAYOUT_H
#define TILEJIT_CONVERSION_TILEGPUTOLLVM_CONVERTLAYOUT_H

#include "KernelEmitter.h"

#include "tilejit/Transforms/LayoutConversion.h"

namespace tilejit::gpu {

/// Carries out exchanges of registers that depend on the thread.
void applySelects(KernelEmitter &e, llvm::ArrayRef<tilegpu::Select> selects, llvm::MutableArrayRef<Value> registers);

} // namespace tilejit::gpu

#endif // TILEJIT_CONVERSION_TILEGPUTOLLVM_CONVERTLAYOUT_H
