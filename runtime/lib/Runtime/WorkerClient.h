// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// One worker process: started, asked, watched, ended. Whatever it does (dies, hangs, answers garbage, can't be
// started), the caller gets a status with the reason and this object is finished; it never takes the host with it.

#ifndef TILEJIT_LIB_RUNTIME_WORKERCLIENT_H
#define TILEJIT_LIB_RUNTIME_WORKERCLIENT_H

#include "tilejit/ABI/Compile.h"
#include "tilejit/Base/Status.h"
#include "tilejit/Base/System.h"
#include "tilejit/Cache/Toolchain.h"
#include "tilejit/Runtime/WorkerProtocol.h"

#include <memory>
#include <optional>
#include <string>
#include <sys/types.h>

namespace tilejit {

struct WorkerOptions {
  std::string program;
  std::string home;  ///< Where its compiler library is; empty: beside it.
  std::string ptxas; ///< NVIDIA's assembler; empty: it looks for one.
  int64_t timeoutSeconds = 300;
  int64_t memoryBytes = 0;
  System *system = &realSystem();
};

/// Why there was no answer, beyond the status.
struct WorkerFault {
  Status status;
  bool byRequest = false; ///< The worker crashed, ran out of memory or hung over this request; trying again is no use.
  std::string output;     ///< The end of what it wrote on its stderr.
};

/// Used by one thread at a time.
class WorkerClient {
public:
  /// Starts the program and waits for its greeting.
  static Expected<std::unique_ptr<WorkerClient>> start(const WorkerOptions &options);
  ~WorkerClient();
  WorkerClient(const WorkerClient &) = delete;
  WorkerClient &operator=(const WorkerClient &) = delete;

  /// False where it died, retired or failed: then nothing more can be asked.
  bool isUsable();
  pid_t pid() const { return pid_; }

  /// Who it is; asked once.
  Expected<Toolchain> identity();
  /// A response, which may be a refusal; or no response, and `fault` says why.
  std::optional<abi::CompileResponse> compile(const abi::CompileRequest &request, WorkerFault &fault);

private:
  explicit WorkerClient(const WorkerOptions &options) : options_(options) {}
  Status spawn();
  Expected<WorkerMessage> exchange(MessageKind kind, std::string_view payload, MessageKind expected,
                                   WorkerFault &fault);
  WorkerFault faultOf(MessageChannel::Result result, bool starting);
  /// Ends the process and gives its wait status; nothing where the host has collected it already.
  std::optional<int> end(bool waitBriefly);

  WorkerOptions options_;
  pid_t pid_ = -1;
  int socket_ = -1, errors_ = -1;
  MessageChannel channel_;
  bool finished_ = false;
  uint32_t generation_ = 0; ///< Of the process that started it: a forked child has no claim to it.
  std::optional<Toolchain> identity_;
};

} // namespace tilejit

#endif // TILEJIT_LIB_RUNTIME_WORKERCLIENT_H
