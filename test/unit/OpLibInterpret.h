// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Cases of the operator library, executed by the interpreter and judged by the double-precision reference.

#ifndef TILEJIT_TEST_UNIT_OPLIBINTERPRET_H
#define TILEJIT_TEST_UNIT_OPLIBINTERPRET_H

#include "OpLibCases.h"

#include "tilejit/ABI/Compile.h"
#include "tilejit/Target/TargetSpec.h"

namespace tilejit::test {

/// Runs every case with fresh random inputs: what its kernels for a target and config compute is within the tolerance
/// that follows from the arithmetic.
void interpretCases(const std::vector<OpLibCase> &cases, const TargetSpec &target, const abi::Config &given = {});

} // namespace tilejit::test

#endif // TILEJIT_TEST_UNIT_OPLIBINTERPRET_H
