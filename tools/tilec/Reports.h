// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The keys that results of compile, run, verify and bench share, and their text forms.

#ifndef TILEJIT_TOOLS_TILEC_REPORTS_H
#define TILEJIT_TOOLS_TILEC_REPORTS_H

#include "Program.h"

#include "tilejit/ABI/Compile.h"
#include "tilejit/Runtime/Context.h"

#include <string>

namespace tilejit::tilec {

/// Adds cache, key, worker_started, compile_ms, stages_ms, config, path and resources.
void addReport(Json &json, const CompileReport &report, const abi::Manifest &manifest);
/// "compiled in 52 ms" or "cache hit".
std::string compileText(const CompileReport &report);
/// The code paths of a kernel: "matmul_large" or "3 paths".
std::string pathsText(const abi::Manifest &manifest);
/// Milliseconds with three significant digits and their unit: "1.25 ms", "830 us".
std::string durationText(double milliseconds);
/// As printf would print it.
__attribute__((format(printf, 1, 2))) std::string formatText(const char *format, ...);
/// A number rounded to significant digits, so that JSON stays readable.
double rounded(double value, int digits = 6);

} // namespace tilejit::tilec

#endif // TILEJIT_TOOLS_TILEC_REPORTS_H
