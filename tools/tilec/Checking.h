// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The comparison of an execution with its reference, in the forms in which tilec reports it.

#ifndef TILEJIT_TOOLS_TILEC_CHECKING_H
#define TILEJIT_TOOLS_TILEC_CHECKING_H

#include "Execution.h"

#include "tilejit/Reference/Verify.h"

namespace tilejit::tilec {

/// Computes the reference for the execution's inputs and compares its outputs.
Expected<VerifyResult> checkExecution(const Execution &execution);
/// Adds verified, max_abs_error, max_rel_error, worst_index, worst_output, tolerance, rule and how much was compared.
void addCheck(Json &json, const VerifyResult &result);

} // namespace tilejit::tilec

#endif // TILEJIT_TOOLS_TILEC_CHECKING_H
