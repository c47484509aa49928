// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// NVIDIA's assembler: where it is, and PTX to a cubin with it in a process of its own.

#ifndef TILEJIT_BACKENDS_NVVM_PTXAS_H
#define TILEJIT_BACKENDS_NVVM_PTXAS_H

#include "PtxasReport.h"

#include "tilejit/Base/Status.h"
#include "tilejit/Base/System.h"

#include <string>
#include <string_view>

namespace tilejit::nvvm {

/// Path of ptxas as Base/Ptxas.h looks for it, with what TILEJIT_PTXAS names.
Expected<std::string> findPtxas(System &system);

struct Cubin {
  std::string bytes;
  PtxasReport report;
};

/// Assembles, and once more with more registers where something was spilled that need not be. An error holds the first
/// line that ptxas gave as reason.
Expected<Cubin> assemble(const std::string &ptxas, std::string_view ptx, const std::string &chip);

} // namespace tilejit::nvvm

#endif // TILEJIT_BACKENDS_NVVM_PTXAS_H
