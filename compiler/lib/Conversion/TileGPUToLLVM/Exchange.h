// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Vectors of registers from other lanes of the warp. All lanes take part.

#ifndef TILEJIT_CONVERSION_TILEGPUTOLLVM_EXCHANGE_H
#define TILEJIT_CONVERSION_TILEGPUTOLLVM_EXCHANGE_H

#include "KernelEmitter.h"

namespace tilejit::gpu {

/// The vector of the lane whose number differs in the bits of `mask`.
Value fromLaneXor(KernelEmitter &e, Value vector, int64_t mask);
/// The vector of lane `lane` (i32, may differ from lane to lane).
Value fromLane(KernelEmitter &e, Value vector, Value lane);
/// Whether a bit of this lane's number is set (i1).
Value laneBit(KernelEmitter &e, int64_t bit);

/// The combining region of a reduction or scan on vectors (or scalars): all of the left side, all of the right.
llvm::SmallVector<Value> combine(KernelEmitter &e, mlir::Region &region, ValueRange left, ValueRange right);

} // namespace tilejit::gpu

#endif // TILEJIT_CONVERSION_TILEGPUTOLLVM_EXCHANGE_H
