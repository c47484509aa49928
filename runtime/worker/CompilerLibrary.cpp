// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Finding, opening and calling the compiler library.

#include "CompilerLibrary.h"

#include "tilejit/Base/File.h"

#include <cstdlib>
#include <dlfcn.h>
#include <unistd.h>
#include <vector>

namespace tilejit::worker {

namespace {

constexpr const char *libraryName = "libtilejit-compiler.so";

} // namespace

Status CompilerLibrary::open() {
  if (function_)
    return Status::ok();
  std::string looked;
  for (const std::string &folder : libraryFolders(realSystem(), home_)) {
    std::string place = joinPath(folder, libraryName);
    looked += (looked.empty() ? "" : ", ") + place;
    if (access(place.c_str(), R_OK) != 0)
      continue;
    // Lazy: most of the tens of thousands of symbols behind it are never called.
    handle_ = dlopen(place.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (!handle_)
      return Status(StatusCode::WorkerFailed, std::string("the compile worker can't open its library: ") + dlerror());
    function_ = reinterpret_cast<abi::CompileFunction>(dlsym(handle_, abi::compileSymbol));
    if (!function_)
      return Status(StatusCode::WorkerFailed,
                    "the compile worker's library " + place + " has no function " + abi::compileSymbol);
    return Status::ok();
  }
  return Status(StatusCode::WorkerFailed, std::string("the compile worker found no ") + libraryName)
      .withDetail("looked for " + looked)
      .withHint("set TILEJIT_HOME to the folder where tilejit is installed");
}

Expected<std::string> CompilerLibrary::compile(std::string_view request) {
  TILEJIT_RETURN_IF_ERROR(open());
  char *response = nullptr;
  size_t bytes = 0;
  int result = function_(request.data(), request.size(), &response, &bytes);
  if (result != 0 || !response) {
    std::free(response);
    return Status(StatusCode::WorkerFailed, "the compiler gave no answer");
  }
  std::string answer(response, bytes);
  std::free(response);
  return answer;
}

std::string CompilerLibrary::llvmVersion() const {
  using VersionFunction = void (*)(unsigned *, unsigned *, unsigned *);
  auto version = handle_ ? reinterpret_cast<VersionFunction>(dlsym(handle_, "LLVMGetVersion")) : nullptr;
  if (!version)
    return {};
  unsigned parts[3] = {};
  version(&parts[0], &parts[1], &parts[2]);
  return std::to_string(parts[0]) + "." + std::to_string(parts[1]) + "." + std::to_string(parts[2]);
}

} // namespace tilejit::worker
