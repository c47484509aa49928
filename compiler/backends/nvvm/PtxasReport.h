// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What ptxas says with -v, as numbers and lines.

#ifndef TILEJIT_BACKENDS_NVVM_PTXASREPORT_H
#define TILEJIT_BACKENDS_NVVM_PTXASREPORT_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilejit::nvvm {

/// Of one kernel, for one thread; shared memory for a block.
struct PtxasKernel {
  std::string name;
  int64_t registers = 0, barriers = 0;
  int64_t stackBytes = 0, spillStoreBytes = 0, spillLoadBytes = 0;
  int64_t sharedBytes = 0; ///< Static; what a launch adds is not known here.
};

struct PtxasReport {
  std::vector<PtxasKernel> kernels;
  std::vector<std::string> errors, warnings; ///< "Potential Performance Loss" is a warning.
};

/// Lines of no known form are passed over.
PtxasReport parsePtxasReport(std::string_view text);

} // namespace tilejit::nvvm

#endif // TILEJIT_BACKENDS_NVVM_PTXASREPORT_H
