// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Versions that this build of tilec knows of.

#ifndef TILEJIT_TOOLS_TILEC_VERSION_H
#define TILEJIT_TOOLS_TILEC_VERSION_H

#include <string>

namespace tilejit::tilec {

/// "tilec 0.1.0", then a line each for description format, LLVM and CUDA toolkit.
std::string versionText();
/// Version of the LLVM that the compiler of this build uses; "none" for a build without compiler.
std::string llvmVersion();
/// Version of the CUDA toolkit on this machine, from its version file or nvcc's folder; empty: none found.
std::string cudaToolkitVersion();

} // namespace tilejit::tilec

#endif // TILEJIT_TOOLS_TILEC_VERSION_H
