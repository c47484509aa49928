// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// scf.index_switch as branches, so that back ends lower one form of choice.

#ifndef TILEJIT_CONVERSION_COMMON_SWITCHES_H
#define TILEJIT_CONVERSION_COMMON_SWITCHES_H

#include "tilejit/Dialect/Tile/IR/Tile.h"

namespace tilejit {

/// Makes each scf.index_switch of the kernel a chain of scf.if, one for each case in its order; the default is the last
/// else. Results stay what they were.
void expandSwitches(tile::KernelOp kernel);

} // namespace tilejit

#endif // TILEJIT_CONVERSION_COMMON_SWITCHES_H
