// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Messages between the library and tilejit-worker over a socket pair: a fixed header with magic, version, kind and
// length, then the payload. Both sides check everything they read; neither raises SIGPIPE. What the payloads mean is
// in ABI/Compile.h (compile) and Cache/Toolchain.h (identity).

#ifndef TILEJIT_RUNTIME_WORKERPROTOCOL_H
#define TILEJIT_RUNTIME_WORKERPROTOCOL_H

#include "tilejit/Base/Status.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace tilejit {

inline constexpr uint32_t workerProtocolVersion = 1;
/// The descriptor on which a worker finds its end of the socket.
inline constexpr int workerSocket = 3;
inline constexpr uint64_t maxRequestBytes = uint64_t{64} << 20;
inline constexpr uint64_t maxResponseBytes = uint64_t{1} << 30;

/// How a worker ends when it knows why.
enum WorkerExit : int {
  WorkerExitDone = 0,        ///< The other side closed the socket.
  WorkerExitUsage = 64,      ///< Started by hand, or with arguments that it doesn't know.
  WorkerExitProtocol = 70,   ///< It read something that is no message.
  WorkerExitOutOfMemory = 71 ///< Memory ran out, or the limit was reached.
};

enum class MessageKind : uint32_t {
  Hello = 1,    ///< Worker, once, when it is ready. Empty.
  Identify = 2, ///< Library: who are you? Empty.
  Identity = 3, ///< Worker: toolchainJson().
  Compile = 4,  ///< Library: abi::encode(CompileRequest).
  Compiled = 5, ///< Worker: abi::encode(CompileResponse).
  Failed = 6,   ///< Worker: it can't do what was asked; the payload says why.
};

struct WorkerMessage {
  /// The worker ends after this answer, so that it doesn't grow without bound.
  static constexpr uint32_t lastAnswer = 1;

  MessageKind kind = MessageKind::Hello;
  uint32_t flags = 0;
  std::string payload;
};

/// One end of the socket. It borrows the descriptors. Not thread-safe.
class MessageChannel {
public:
  enum class Result : uint8_t { Done, Closed, TimedOut, Garbage, Broken };
  static constexpr int64_t noDeadline = INT64_MAX;

  /// `side`: a descriptor that is read meanwhile (the worker's stderr), so that its writer never waits; -1: none.
  explicit MessageChannel(int fd = -1, int side = -1) : fd_(fd), side_(side) {}

  /// Deadlines are CLOCK_MONOTONIC nanoseconds.
  Result send(MessageKind kind, uint32_t flags, std::string_view payload, int64_t deadline = noDeadline);
  /// A message whose payload is longer than `limit` is garbage.
  Result receive(WorkerMessage &out, uint64_t limit, int64_t deadline = noDeadline);
  /// Whether the other side has gone, or has sent something that nobody asked for.
  bool isDisturbed();

  /// What was wrong with the last Garbage or Broken.
  const std::string &fault() const { return fault_; }
  /// The last few kilobytes of the side channel; reads what is there.
  std::string sideText();

private:
  Result transfer(char *in, const char *out, size_t bytes, int64_t deadline);
  Result await(short events, int64_t deadline);
  void drainSide();

  int fd_, side_;
  std::string fault_, sideText_;
};

} // namespace tilejit

#endif // TILEJIT_RUNTIME_WORKERPROTOCOL_H
