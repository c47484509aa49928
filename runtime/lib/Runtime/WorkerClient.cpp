// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Starting a worker with posix_spawn (never fork: the host may have threads, and a driver that hates it), talking to
// it, and telling in words how it ended.

#include "WorkerClient.h"

#include "tilejit/Base/File.h"
#include "tilejit/Base/Ptxas.h"
#include "tilejit/Base/Text.h"
#include "tilejit/Device/Fork.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

extern char **environ;

namespace tilejit {

namespace {

constexpr int64_t second = 1'000'000'000;
/// A thin program says hello within milliseconds; a machine that takes longer than this is no use for compiling.
constexpr int64_t startSeconds = 30;

/// Descriptors and actions of one spawn, freed on every way out.
struct Spawn {
  std::array<int, 2> sockets{-1, -1}, pipes{-1, -1};
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;

  Spawn() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
  }
  ~Spawn() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    for (int fd : {sockets[0], sockets[1], pipes[0], pipes[1]})
      if (fd >= 0)
        close(fd);
  }

  bool openChannels() {
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) != 0 ||
        pipe2(pipes.data(), O_CLOEXEC | O_NONBLOCK) != 0)
      return false;
    // The child's ends must not lie where they are to be copied to: dup2 of one would overwrite the other.
    for (int *end : {&sockets[1], &pipes[1]}) {
      if (*end > workerSocket)
        continue;
      int moved = fcntl(*end, F_DUPFD_CLOEXEC, workerSocket + 1);
      if (moved < 0)
        return false;
      close(std::exchange(*end, moved));
    }
    return true;
  }

  void describeChild() {
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, pipes[1], STDERR_FILENO);
    posix_spawn_file_actions_adddup2(&actions, sockets[1], workerSocket);
    posix_spawn_file_actions_addclosefrom_np(&actions, workerSocket + 1);
    // A group of its own: Ctrl-C in a terminal is for the host to handle, and the host's end is the worker's end.
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
};

std::string describeEnd(std::optional<int> status) {
  if (!status)
    return "it ended";
  if (WIFSIGNALED(*status))
    return "it was ended by signal " + std::to_string(WTERMSIG(*status)) + " (" + sigdescr_np(WTERMSIG(*status)) + ")";
  int code = WEXITSTATUS(*status);
  if (code == WorkerExitOutOfMemory)
    return "it ran out of memory";
  return "it ended with exit code " + std::to_string(code);
}

/// Whether the end is the request's fault. SIGKILL is not: somebody else sent it, and the next try may pass.
bool isFaultOfRequest(std::optional<int> status) {
  if (!status)
    return false;
  if (WIFSIGNALED(*status))
    return WTERMSIG(*status) != SIGKILL && WTERMSIG(*status) != SIGTERM && WTERMSIG(*status) != SIGINT &&
           WTERMSIG(*status) != SIGHUP;
  return true;
}

} // namespace

Expected<std::unique_ptr<WorkerClient>> WorkerClient::start(const WorkerOptions &options) {
  std::unique_ptr<WorkerClient> client(new WorkerClient(options));
  TILEJIT_RETURN_IF_ERROR(client->spawn());
  WorkerMessage hello;
  int64_t deadline = options.system->monotonicNanoseconds() + startSeconds * second;
  MessageChannel::Result result = client->channel_.receive(hello, 0, deadline);
  if (result == MessageChannel::Result::Done && hello.kind == MessageKind::Hello)
    return client;
  return client->faultOf(result, true).status;
}

Status WorkerClient::spawn() {
  Spawn spawn;
  if (!spawn.openChannels())
    return Status(StatusCode::WorkerFailed,
                  "can't start the compile worker " + options_.program + ": " + errnoText(errno));
  spawn.describeChild();
  std::vector<std::string> arguments = {options_.program, "--memory-bytes", std::to_string(options_.memoryBytes),
                                        "--cpu-seconds", std::to_string(options_.timeoutSeconds)};
  if (!options_.home.empty())
    arguments.insert(arguments.end(), {"--home", options_.home});
  std::vector<char *> argv;
  for (std::string &argument : arguments)
    argv.push_back(argument.data());
  argv.push_back(nullptr);
  std::string ptxas = std::string(ptxasVariable) + "=";
  std::vector<char *> environment;
  for (char **entry = environ; *entry; ++entry)
    if (!std::string_view(*entry).starts_with(ptxas))
      environment.push_back(*entry);
  ptxas += options_.ptxas;
  environment.insert(environment.end(), {ptxas.data(), nullptr});
  int error =
      posix_spawn(&pid_, options_.program.c_str(), &spawn.actions, &spawn.attributes, argv.data(), environment.data());
  if (error != 0) {
    pid_ = -1;
    return Status(StatusCode::WorkerFailed,
                  "can't start the compile worker " + options_.program + ": " + errnoText(error))
        .withHint(
            "TILEJIT_WORKER names the worker program; without it, tilejit-worker is looked for beside the library");
  }
  generation_ = forkGeneration();
  socket_ = std::exchange(spawn.sockets[0], -1);
  errors_ = std::exchange(spawn.pipes[0], -1);
  channel_ = MessageChannel(socket_, errors_);
  return Status::ok();
}

WorkerClient::~WorkerClient() {
  end(false);
  for (int fd : {socket_, errors_})
    if (fd >= 0)
      close(fd);
}

bool WorkerClient::isUsable() { return !finished_ && generation_ == forkGeneration() && !channel_.isDisturbed(); }

std::optional<int> WorkerClient::end(bool waitBriefly) {
  finished_ = true;
  if (pid_ < 0 || generation_ != forkGeneration())
    return std::nullopt;
  pid_t pid = std::exchange(pid_, -1);
  int status = 0;
  pid_t got = 0;
  // One that closed its socket is about to end by itself, and how is worth knowing.
  for (int round = 0; waitBriefly && round < 200; ++round) {
    got = waitpid(pid, &status, WNOHANG);
    if (got != 0 && !(got < 0 && errno == EINTR))
      break;
    options_.system->pause(5'000'000);
  }
  if (got == 0) {
    kill(pid, SIGKILL);
    while ((got = waitpid(pid, &status, 0)) < 0 && errno == EINTR)
      ;
  }
  if (got != pid)
    return std::nullopt; // The host ignores or collects all its children.
  return status;
}

WorkerFault WorkerClient::faultOf(MessageChannel::Result result, bool starting) {
  using Result = MessageChannel::Result;
  WorkerFault fault;
  std::string subject = "the compile worker " + options_.program + " failed: ";
  StatusCode code = StatusCode::WorkerFailed;
  std::optional<int> ended = end(result == Result::Closed);
  switch (result) {
  case Result::Done:
    subject += "it sent an answer that was not asked for";
    break;
  case Result::Garbage:
    subject += "its answer is no message: " + channel_.fault();
    break;
  case Result::Broken:
    subject += channel_.fault();
    break;
  case Result::TimedOut:
    subject += "no answer within " + std::to_string(starting ? startSeconds : options_.timeoutSeconds) + " seconds";
    code = starting ? StatusCode::WorkerFailed : StatusCode::TimedOut;
    break;
  case Result::Closed:
    if (!starting && ended && WIFSIGNALED(*ended) && WTERMSIG(*ended) == SIGXCPU) {
      subject += "it used its " + std::to_string(options_.timeoutSeconds) + " CPU seconds";
      code = StatusCode::TimedOut;
    } else {
      subject += describeEnd(ended) + " before it answered";
    }
    break;
  }
  bool crashed =
      result == Result::TimedOut || result == Result::Garbage || (result == Result::Closed && isFaultOfRequest(ended));
  fault.byRequest = !starting && crashed;
  fault.status = Status(code, std::move(subject));
  fault.output = channel_.sideText();
  return fault;
}

Expected<WorkerMessage> WorkerClient::exchange(MessageKind kind, std::string_view payload, MessageKind expected,
                                               WorkerFault &fault) {
  int64_t deadline = options_.system->monotonicNanoseconds() + options_.timeoutSeconds * second;
  MessageChannel::Result result = channel_.send(kind, 0, payload, deadline);
  WorkerMessage answer;
  if (result == MessageChannel::Result::Done)
    result = channel_.receive(answer, maxResponseBytes, deadline);
  bool answered = result == MessageChannel::Result::Done;
  if (!answered || (answer.kind != expected && answer.kind != MessageKind::Failed)) {
    fault = faultOf(result, false);
    return fault.status;
  }
  if (answer.flags & WorkerMessage::lastAnswer)
    finished_ = true;
  if (answer.kind == expected)
    return answer;
  auto failure = abi::decodeResponse(answer.payload);
  fault.status = failure && !failure->status.isOk()
                     ? failure->status
                     : Status(StatusCode::WorkerFailed, "the compile worker failed without a reason");
  return fault.status;
}

Expected<Toolchain> WorkerClient::identity() {
  if (identity_)
    return *identity_;
  WorkerFault fault;
  TILEJIT_ASSIGN_OR_RETURN(WorkerMessage answer, exchange(MessageKind::Identify, {}, MessageKind::Identity, fault));
  auto toolchain = parseToolchain(answer.payload);
  if (!toolchain) {
    end(false);
    return Status(StatusCode::WorkerFailed,
                  "the compile worker's account of itself can't be read: " + toolchain.status().message());
  }
  identity_ = *std::move(toolchain);
  return *identity_;
}

std::optional<abi::CompileResponse> WorkerClient::compile(const abi::CompileRequest &request, WorkerFault &fault) {
  std::string bytes = abi::encode(request);
  if (bytes.size() > maxRequestBytes) {
    fault.status = Status(StatusCode::InvalidArgument, "the source has " + std::to_string(request.source.size()) +
                                                           " bytes, more than the compile worker accepts");
    return std::nullopt;
  }
  auto answer = exchange(MessageKind::Compile, bytes, MessageKind::Compiled, fault);
  if (!answer)
    return std::nullopt;
  auto response = abi::decodeResponse(answer->payload);
  if (response)
    return *std::move(response);
  end(false);
  fault.status =
      Status(StatusCode::WorkerFailed, "the compile worker's answer can't be read: " + response.status().message());
  fault.byRequest = true;
  fault.output = channel_.sideText();
  return std::nullopt;
}

} // namespace tilejit
