// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The generators of the families, one for each .cpp of that name. Each builds all kernels of its operator.

#ifndef TILEJIT_LIB_OPLIB_GENERATORS_H
#define TILEJIT_LIB_OPLIB_GENERATORS_H

#include "KernelBuilder.h"
#include "Schedule.h"

namespace tilejit::oplib {

void buildMatmul(KernelBuilder &b, const Schedule &schedule);
void buildElementwise(KernelBuilder &b, const Schedule &schedule);
void buildCast(KernelBuilder &b, const Schedule &schedule);
void buildTranspose(KernelBuilder &b, const Schedule &schedule);
void buildReduce(KernelBuilder &b, const Schedule &schedule);
void buildSoftmax(KernelBuilder &b, const Schedule &schedule);
void buildNorm(KernelBuilder &b, const Schedule &schedule);
void buildAttention(KernelBuilder &b, const Schedule &schedule);

} // namespace tilejit::oplib

#endif // TILEJIT_LIB_OPLIB_GENERATORS_H
