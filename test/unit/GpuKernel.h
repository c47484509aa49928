// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// For tests of GPU code generation: MLIR text with kernels on llvm, arith, math, scf and the vendor's dialect through
// one back end. Text is shared by both vendors: what differs between them stands in place of $-words.

#ifndef TILEJIT_TEST_UNIT_GPUKERNEL_H
#define TILEJIT_TEST_UNIT_GPUKERNEL_H

#include "tilejit/ABI/Compile.h"
#include "tilejit/Driver/Backend.h"
#include "tilejit/Target/TargetSpec.h"

#include <string>
#include <string_view>
#include <vector>

namespace tilejit::test {

/// All occurrences.
void replaceAll(std::string &text, std::string_view from, std::string_view to);

/// Replaces, for the vendor of `target`: $kernel(THREADS) by the attributes of a kernel with blocks of so many threads,
/// $thread and $block by the operation that gives the index in the block and of the block (i32), $barrier by a barrier
/// of the block.
std::string vendorText(std::string text, const TargetSpec &target);

struct GpuCompiled {
  bool ok = false;
  std::string errors, warnings; ///< Diagnostics, one a line.
  BackendResult result;
};

/// Compiles MLIR text, which first goes through vendorText().
GpuCompiled compileGpu(std::string_view text, const TargetSpec &target, abi::EmitKind emit, bool withBitcode = false);

/// Targets by name; those that this build knows.
std::vector<TargetSpec> gpuTargets();
TargetSpec gpuTarget(std::string_view name);

} // namespace tilejit::test

#endif // TILEJIT_TEST_UNIT_GPUKERNEL_H
