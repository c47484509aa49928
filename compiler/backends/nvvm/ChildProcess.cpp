// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// posix_spawn, and a pipe for standard error whose end tells that the child is gone: no signal handler, no polling.

#include "ChildProcess.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace tilejit::nvvm {

namespace {

constexpr size_t messageLimit = 1 << 20;

/// Reads until the other end is closed; false where the time is up before.
bool drain(int fd, std::chrono::steady_clock::time_point deadline, std::string &into) {
  for (;;) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0)
      return false;
    pollfd entry = {fd, POLLIN, 0};
    int ready = poll(&entry, 1, static_cast<int>(left.count()));
    if (ready == 0 || (ready < 0 && errno == EINTR))
      continue;
    std::array<char, 4096> block;
    ssize_t count = ready < 0 ? -1 : read(fd, block.data(), block.size());
    if (count == 0 || (count < 0 && errno != EINTR))
      return true;
    if (count > 0 && into.size() < messageLimit)
      into.append(block.data(), static_cast<size_t>(count));
  }
}

int exitCodeOf(int status) { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }

/// Starts the child; an error number, or 0.
int spawn(const ChildRequest &request, int messages, pid_t &child) {
  std::vector<char *> arguments;
  for (const std::string &argument : request.command)
    arguments.push_back(const_cast<char *>(argument.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, request.input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, request.output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, messages, STDERR_FILENO);
  int error = posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

} // namespace

ChildEnd runChild(const ChildRequest &request) {
  ChildEnd end;
  std::array<int, 2> pipe;
  if (pipe2(pipe.data(), O_CLOEXEC) != 0) {
    end.messages = std::strerror(errno);
    return end;
  }
  auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(request.timeLimitMs);
  pid_t child = -1;
  int error = spawn(request, pipe[1], child);
  close(pipe[1]);
  if (error != 0) {
    close(pipe[0]);
    end.messages = std::strerror(error);
    return end;
  }
  end.started = true;
  end.timedOut = !drain(pipe[0], deadline, end.messages);
  close(pipe[0]);
  if (end.timedOut)
    kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  end.exitCode = exitCodeOf(status);
  return end;
}

} // namespace tilejit::nvvm
