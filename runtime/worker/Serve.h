// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The worker's loop: one request after the other, until the library's end of the socket is closed.

#ifndef TILEJIT_WORKER_SERVE_H
#define TILEJIT_WORKER_SERVE_H

#include "Limits.h"

#include <string>

namespace tilejit::worker {

struct ServeOptions {
  std::string home; ///< Installed tree with the compiler library; empty: beside the program.
  Limits limits;
};

/// Serves the socket; gives the exit code of the process. While it compiles, another thread watches the socket: when
/// the library's process is gone, so is this one. (The kernel's own death signal is no use here: it comes when the
/// thread that started the worker ends, not its process.)
int serve(int fd, const ServeOptions &options);

} // namespace tilejit::worker

#endif // TILEJIT_WORKER_SERVE_H
