// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The one function that libtilejit-compiler.so exports, and the table of back ends that it was built with.

#include "tilejit/Driver/Driver.h"

#include <cstdlib>
#include <cstring>

extern "C" __attribute__((visibility("default"))) int tilejit_compiler_compile(const char *request, size_t requestBytes,
                                                                               char **outResponse, size_t *outBytes) {
  const tilejit::Backend *const backends[] = {&tilejit::cpuBackend(), &tilejit::nvvmBackend(),
                                              &tilejit::rocdlBackend()};
  std::string response = tilejit::compileEncoded(std::string_view(request, requestBytes), backends);
  char *copy = static_cast<char *>(std::malloc(response.size() + 1));
  if (!copy)
    return -1;
  std::memcpy(copy, response.data(), response.size());
  *outResponse = copy;
  *outBytes = response.size();
  return 0;
}
