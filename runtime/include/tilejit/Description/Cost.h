// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What an operator costs at least, for rates in reports and for choosing how much of a reference to compute. Counts
// come from the description alone: the same for every target and schedule.

#ifndef TILEJIT_DESCRIPTION_COST_H
#define TILEJIT_DESCRIPTION_COST_H

#include "tilejit/Description/Description.h"
#include "tilejit/Description/Parse.h"

#include <cstdint>

namespace tilejit {

/// Arithmetic operations: a product and its sum count as two, a function as one. 0 for transpose and cast.
double flops(const Description &description, const Binding &binding);
/// Bytes of all inputs, read once, and of all outputs, written once; of pages no more than sequences can have.
int64_t bytesMoved(const Description &description, const Binding &binding);
/// Elements of a tensor of this shape.
int64_t elementCount(const Operand &operand, const Binding &binding);

} // namespace tilejit

#endif // TILEJIT_DESCRIPTION_COST_H
