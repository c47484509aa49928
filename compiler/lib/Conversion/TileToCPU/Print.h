// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// tile.print for CPUs, in the two places that it needs: the operation, and the function by which a host says who
// prints.

#ifndef TILEJIT_CONVERSION_TILETOCPU_PRINT_H
#define TILEJIT_CONVERSION_TILETOCPU_PRINT_H

#include "KernelLowering.h"

namespace tilejit::cpu {

void registerPrint(OpTables &tables);

} // namespace tilejit::cpu

#endif // TILEJIT_CONVERSION_TILETOCPU_PRINT_H
