// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Comparing an execution with its reference.

#include "Checking.h"
#include "Reports.h"

namespace tilejit::tilec {

Expected<VerifyResult> checkExecution(const Execution &execution) {
  const Operands &operands = execution.operands();
  return verify(*execution.description(), operands.binding(), operands.inputs(), operands.outputs(), operands.seed());
}

void addCheck(Json &json, const VerifyResult &result) {
  json["verified"] = result.ok;
  json["max_abs_error"] = rounded(result.maxAbsError);
  json["max_rel_error"] = rounded(result.maxRelError);
  json["worst_output"] = result.output;
  json["worst_index"] = result.worstIndex;
  json["tolerance"] = rounded(result.tolerance);
  json["rule"] = result.rule;
  json["wrong"] = result.wrong;
  json["checked"] = result.checked;
  json["sampled"] = result.sampled;
  if (result.sampled)
    json["sampled_rows"] = {result.rows, result.allRows};
}

} // namespace tilejit::tilec
