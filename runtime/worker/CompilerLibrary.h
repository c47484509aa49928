// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// libtilejit-compiler.so as the worker sees it: found beside the program or under TILEJIT_HOME, opened when it is first
// needed, called on a thread with a large stack. Nothing here catches a crash of it; that is what the process is for.

#ifndef TILEJIT_WORKER_COMPILERLIBRARY_H
#define TILEJIT_WORKER_COMPILERLIBRARY_H

#include "tilejit/ABI/Compile.h"
#include "tilejit/Base/Status.h"

#include <string>
#include <string_view>

namespace tilejit::worker {

class CompilerLibrary {
public:
  /// `home`: an installed tree to look in first; may be empty.
  explicit CompilerLibrary(std::string home) : home_(std::move(home)) {}

  /// Opens the library unless that was done before. WorkerFailed names the places where it was looked for.
  Status open();
  /// An encoded response to an encoded request.
  Expected<std::string> compile(std::string_view request);
  /// Of the LLVM behind the library: "22.1.8"; empty where it has none.
  std::string llvmVersion() const;

private:
  std::string home_;
  void *handle_ = nullptr;
  abi::CompileFunction function_ = nullptr;
};

} // namespace tilejit::worker

#endif // TILEJIT_WORKER_COMPILERLIBRARY_H
