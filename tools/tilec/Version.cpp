// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Versions: of this build from CMake, of the CUDA toolkit from its header.

#include "Version.h"

#include "tilejit/Base/File.h"
#include "tilejit/Base/System.h"
#include "tilejit/Description/Parse.h"

#include <cstdlib>
#include <string_view>

namespace tilejit::tilec {

std::string llvmVersion() { return TILEJIT_LLVM_VERSION; }

std::string cudaToolkitVersion() {
  System &system = realSystem();
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH", ""}) {
    std::string home = *variable ? system.environment(variable).value_or("") : "/usr/local/cuda";
    Expected<std::string> header = readFile(system, home + "/include/cuda.h", 4 << 20);
    if (home.empty() || !header)
      continue;
    constexpr std::string_view define = "#define CUDA_VERSION ";
    size_t place = header->find(define);
    if (place == std::string::npos)
      continue;
    int version = std::atoi(header->c_str() + place + define.size()); // 1000 * major + 10 * minor
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
  }
  return "";
}

std::string versionText() {
  std::string cuda = cudaToolkitVersion();
  return "tilec " TILEJIT_VERSION "\ndescription format " + std::to_string(descriptionFormatMajor) + "." +
         std::to_string(descriptionFormatMinor) + "\nLLVM " + llvmVersion() + "\nCUDA toolkit " +
         (cuda.empty() ? "not found" : cuda);
}

} // namespace tilejit::tilec
