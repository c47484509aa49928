// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Sending and receiving messages with deadlines.

#include "tilejit/Runtime/WorkerProtocol.h"

#include "tilejit/Base/Bytes.h"
#include "tilejit/Base/File.h"

#include <algorithm>
#include <cerrno>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

namespace tilejit {

namespace {

constexpr uint32_t magic = 0x574b4a54; // "TJKW"
constexpr size_t headerBytes = 24;
constexpr size_t sideLimit = 16 << 10;

int64_t monotonicNow() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * int64_t{1'000'000'000} + now.tv_nsec;
}

} // namespace

MessageChannel::Result MessageChannel::send(MessageKind kind, uint32_t flags, std::string_view payload,
                                            int64_t deadline) {
  ByteWriter header;
  header.u32(magic).u32(workerProtocolVersion).u32(static_cast<uint32_t>(kind)).u32(flags).u64(payload.size());
  Result result = transfer(nullptr, header.result().data(), header.result().size(), deadline);
  return result == Result::Done ? transfer(nullptr, payload.data(), payload.size(), deadline) : result;
}

MessageChannel::Result MessageChannel::receive(WorkerMessage &out, uint64_t limit, int64_t deadline) {
  char bytes[headerBytes];
  if (Result result = transfer(bytes, nullptr, sizeof bytes, deadline); result != Result::Done)
    return result;
  ByteReader header(std::string_view(bytes, sizeof bytes));
  uint32_t gotMagic = header.u32(), version = header.u32(), kind = header.u32();
  out.flags = header.u32();
  uint64_t length = header.u64();
  fault_.clear();
  if (gotMagic != magic)
    fault_ = "it does not begin like one of our messages";
  else if (version != workerProtocolVersion)
    fault_ = "it speaks version " + std::to_string(version) + " of the protocol, expected " +
             std::to_string(workerProtocolVersion);
  else if (kind < static_cast<uint32_t>(MessageKind::Hello) || kind > static_cast<uint32_t>(MessageKind::Failed))
    fault_ = "it has the unknown kind " + std::to_string(kind);
  else if (length > limit)
    fault_ = "it is " + std::to_string(length) + " bytes long, at most " + std::to_string(limit) + " are allowed";
  if (!fault_.empty())
    return Result::Garbage;
  out.kind = static_cast<MessageKind>(kind);
  // Grows with what arrives: a length alone does not make us allocate.
  constexpr uint64_t step = 1 << 20;
  out.payload.clear();
  for (uint64_t done = 0; done < length;) {
    uint64_t next = std::min(length, std::max(step, done * 2));
    out.payload.resize(next);
    if (Result result = transfer(out.payload.data() + done, nullptr, next - done, deadline); result != Result::Done)
      return result;
    done = next;
  }
  return Result::Done;
}

MessageChannel::Result MessageChannel::transfer(char *in, const char *out, size_t bytes, int64_t deadline) {
  for (size_t done = 0; done < bytes;) {
    ssize_t count = in ? recv(fd_, in + done, bytes - done, MSG_DONTWAIT)
                       : ::send(fd_, out + done, bytes - done, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count > 0) {
      done += static_cast<size_t>(count);
    } else if (count == 0 || errno == EPIPE || errno == ECONNRESET) {
      return Result::Closed;
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (Result result = await(in ? POLLIN : POLLOUT, deadline); result != Result::Done)
        return result;
    } else if (errno != EINTR) {
      fault_ = errnoText(errno);
      return Result::Broken;
    }
  }
  return Result::Done;
}

MessageChannel::Result MessageChannel::await(short events, int64_t deadline) {
  while (true) {
    pollfd polled[2] = {{fd_, events, 0}, {side_, POLLIN, 0}};
    int timeout = -1;
    if (deadline != noDeadline) {
      int64_t left = deadline - monotonicNow();
      if (left <= 0)
        return Result::TimedOut;
      timeout = static_cast<int>(std::min<int64_t>(left / 1'000'000 + 1, 1'000'000));
    }
    int ready = poll(polled, side_ >= 0 ? 2 : 1, timeout);
    if (ready < 0 && errno != EINTR) {
      fault_ = errnoText(errno);
      return Result::Broken;
    }
    if (ready > 0 && polled[1].revents != 0)
      drainSide();
    if (ready > 0 && polled[0].revents != 0)
      return Result::Done;
  }
}

void MessageChannel::drainSide() {
  char buffer[4096];
  while (side_ >= 0) {
    ssize_t count = read(side_, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return;
    if (count == 0) {
      side_ = -1; // Closed by its writer; the owner still closes our end.
      return;
    }
    sideText_.append(buffer, static_cast<size_t>(count));
    if (sideText_.size() > sideLimit)
      sideText_.erase(0, sideText_.size() - sideLimit);
  }
}

bool MessageChannel::isDisturbed() {
  pollfd polled = {fd_, POLLIN, 0};
  return poll(&polled, 1, 0) != 0;
}

std::string MessageChannel::sideText() {
  drainSide();
  return sideText_;
}

} // namespace tilejit
