// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Where NVIDIA's assembler is. The library and its compile workers look in one way, because a cubin's cache key names
// the program that made it.

#ifndef TILEJIT_BASE_PTXAS_H
#define TILEJIT_BASE_PTXAS_H

#include "tilejit/Base/Status.h"
#include "tilejit/Base/System.h"

#include <string>
#include <string_view>

namespace tilejit {

/// The variable that names ptxas; a worker gets it from the context's setting.
inline constexpr const char *ptxasVariable = "TILEJIT_PTXAS";

/// Path of ptxas: `given` where it is not empty; else the first of PATH, CUDA_HOME/bin, CUDA_PATH/bin,
/// /usr/local/cuda/bin and the place where tools/setup --with-ptxas puts it (XDG_DATA_HOME/tilejit/ptxas/bin). Empty
/// where there is none; InvalidArgument where `given` names no program.
Expected<std::string> findPtxas(System &system, std::string_view given);

} // namespace tilejit

#endif // TILEJIT_BASE_PTXAS_H
