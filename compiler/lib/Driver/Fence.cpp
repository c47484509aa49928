// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// LLVM's crash recovery on a thread with a stack of its own size, deep enough for the recursion of parsers and
// instruction selection. Signal handlers are in place only while the function runs.

#include "Fence.h"

#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"

namespace tilejit {

namespace {

constexpr unsigned stackBytes = 64u << 20;

void keepMessage(void *into, const char *reason, bool) { *static_cast<std::string *>(into) = reason; }

} // namespace

std::optional<std::string> runBehindFence(llvm::function_ref<void()> body) {
  std::string fatal;
  llvm::install_fatal_error_handler(keepMessage, &fatal);
  llvm::CrashRecoveryContext::Enable();
  bool returned;
  {
    llvm::CrashRecoveryContext context;
    returned = context.RunSafelyOnThread(body, stackBytes);
  }
  llvm::CrashRecoveryContext::Disable();
  llvm::remove_fatal_error_handler();
  if (returned)
    return std::nullopt;
  return fatal.empty() ? std::string("the compiler crashed") : "the code generator gave up: " + fatal;
}

} // namespace tilejit
