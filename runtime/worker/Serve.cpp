// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The loop runs on a thread with a large stack, since compilers recurse; the main thread watches the socket.

#include "Serve.h"

#include "CompilerLibrary.h"

#include "tilejit/ABI/Compile.h"
#include "tilejit/Base/Text.h"
#include "tilejit/Cache/Toolchain.h"
#include "tilejit/Runtime/WorkerProtocol.h"

#include <cerrno>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

namespace tilejit::worker {

namespace {

constexpr size_t stackBytes = size_t{64} << 20;
constexpr int watchMilliseconds = 500;

class Server {
public:
  Server(int fd, const ServeOptions &options) : channel_(fd), options_(options), library_(options.home) {}

  int run() {
    if (channel_.send(MessageKind::Hello, 0, {}) != MessageChannel::Result::Done)
      return WorkerExitDone;
    for (bool retiring = false; !retiring;) {
      WorkerMessage request;
      switch (channel_.receive(request, maxRequestBytes)) {
      case MessageChannel::Result::Done:
        break;
      case MessageChannel::Result::Closed:
        return WorkerExitDone;
      default:
        return WorkerExitProtocol;
      }
      WorkerMessage answer = handle(request);
      retiring = request.kind == MessageKind::Compile && shouldRetire(options_.limits, ++compiles_);
      uint32_t flags = retiring ? WorkerMessage::lastAnswer : 0;
      if (channel_.send(answer.kind, flags, answer.payload) != MessageChannel::Result::Done)
        return WorkerExitDone;
    }
    return WorkerExitDone;
  }

private:
  WorkerMessage handle(const WorkerMessage &request) {
    Expected<std::string> answer = Status(StatusCode::WorkerFailed, "the compile worker does not know this request");
    MessageKind kind = MessageKind::Failed;
    if (request.kind == MessageKind::Identify) {
      kind = MessageKind::Identity;
      answer = identity();
    } else if (request.kind == MessageKind::Compile) {
      kind = MessageKind::Compiled;
      renewCpuSeconds(options_.limits);
      answer = library_.compile(request.payload);
    }
    if (answer)
      return {kind, 0, *std::move(answer)};
    // The encoding of a response carries any status; its payload stays empty.
    abi::CompileResponse failure;
    failure.status = answer.status();
    return {MessageKind::Failed, 0, abi::encode(failure)};
  }

  Expected<std::string> identity() {
    TILEJIT_RETURN_IF_ERROR(library_.open());
    TILEJIT_ASSIGN_OR_RETURN(Toolchain toolchain, loadedToolchain(realSystem(), library_.llvmVersion()));
    return toolchainJson(toolchain);
  }

  MessageChannel channel_;
  const ServeOptions &options_;
  CompilerLibrary library_;
  int64_t compiles_ = 0;
};

void *runServer(void *server) {
  // No unwinding, no destructors: LLVM's take longer than a process exit and nothing here has to be saved.
  _exit(static_cast<Server *>(server)->run());
}

} // namespace

int serve(int fd, const ServeOptions &options) {
  pid_t parent = getppid();
  Server server(fd, options);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stackBytes);
  pthread_t thread;
  if (pthread_create(&thread, &attributes, &runServer, &server) != 0)
    return WorkerExitOutOfMemory;
  // A half-closed socket is seen at once; a copy of the other end in a forked child of the host would hide it, hence
  // the look at the parent.
  while (getppid() == parent) {
    pollfd watched = {fd, POLLRDHUP, 0};
    int ready = poll(&watched, 1, watchMilliseconds);
    if (ready > 0 && (watched.revents & (POLLRDHUP | POLLHUP | POLLERR)))
      break;
    if (ready < 0 && errno != EINTR)
      break;
  }
  return WorkerExitDone;
}

} // namespace tilejit::worker
