// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// tilejit-worker: compiles for libtilejit, which starts it and talks to it over a socket. Nobody runs it by hand.

#include "Serve.h"

#include "tilejit/Base/Text.h"
#include "tilejit/Runtime/WorkerProtocol.h"

#include <cstdio>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>

namespace {

bool isSocket(int fd) {
  int type = 0;
  socklen_t length = sizeof type;
  return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_STREAM;
}

bool parseArguments(int argc, char **argv, tilejit::worker::ServeOptions &options) {
  for (int i = 1; i < argc; i += 2) {
    std::string_view name = argv[i];
    if (i + 1 == argc)
      return false;
    std::string_view value = argv[i + 1];
    if (name == "--home") {
      options.home = value;
      continue;
    }
    auto number = tilejit::parseInteger(value);
    if (!number || *number < 0)
      return false;
    if (name == "--memory-bytes")
      options.limits.memoryBytes = *number;
    else if (name == "--cpu-seconds")
      options.limits.cpuSeconds = *number;
    else if (name == "--max-compiles")
      options.limits.maxCompiles = *number;
    else
      return false;
  }
  return true;
}

} // namespace

int main(int argc, char **argv) {
  tilejit::worker::ServeOptions options;
  if (!parseArguments(argc, argv, options) || !isSocket(tilejit::workerSocket)) {
    std::fputs("tilejit-worker is started by the tilejit library when something has to be compiled.\n"
               "To compile a description, use: tilec compile FILE\n",
               stderr);
    return tilejit::WorkerExitUsage;
  }
  tilejit::worker::applyProcessLimits(options.limits);
  tilejit::worker::keepHeap();
  _exit(tilejit::worker::serve(tilejit::workerSocket, options));
}
