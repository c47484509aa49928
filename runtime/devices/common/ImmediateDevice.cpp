// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Streams that have nothing to wait for.

#include "devices/common/ImmediateDevice.h"

#include <chrono>
#include <cstring>
#include <string>

namespace tilejit {

namespace {

struct ImmediateStream {};

struct ImmediateEvent {
  std::chrono::steady_clock::time_point time;
  bool isRecorded = false;
};

Status nullEvent() { return Status(StatusCode::InvalidArgument, "the event is null"); }

} // namespace

Status ImmediateDevice::copyBytes(void *to, const void *from, int64_t bytes) {
  if (bytes < 0)
    return Status(StatusCode::InvalidArgument, "can't copy " + std::to_string(bytes) + " bytes");
  if (bytes > 0)
    std::memmove(to, from, static_cast<size_t>(bytes));
  return Status::ok();
}

Status ImmediateDevice::copyToDeviceAsync(void *to, const void *from, int64_t bytes, Stream) {
  return copyToDevice(to, from, bytes);
}

Status ImmediateDevice::copyToHostAsync(void *to, const void *from, int64_t bytes, Stream) {
  return copyToHost(to, from, bytes);
}

Status ImmediateDevice::copyOnDevice(void *to, const void *from, int64_t bytes, Stream) {
  return copyToDevice(to, from, bytes);
}

Expected<Stream> ImmediateDevice::createStream() { return Stream(new ImmediateStream); }

void ImmediateDevice::destroyStream(Stream stream) { delete static_cast<ImmediateStream *>(stream); }

Expected<Event> ImmediateDevice::createEvent() { return Event(new ImmediateEvent); }

void ImmediateDevice::destroyEvent(Event event) { delete static_cast<ImmediateEvent *>(event); }

Status ImmediateDevice::record(Event event, Stream) {
  if (!event)
    return nullEvent();
  *static_cast<ImmediateEvent *>(event) = {std::chrono::steady_clock::now(), true};
  return Status::ok();
}

Status ImmediateDevice::wait(Stream, Event event) { return event ? Status::ok() : nullEvent(); }

Expected<bool> ImmediateDevice::hasHappened(Event event) {
  if (!event)
    return nullEvent();
  return true; // One that was never recorded has nothing to wait for.
}

Expected<double> ImmediateDevice::millisecondsBetween(Event first, Event second) {
  if (!first || !second)
    return nullEvent();
  const auto &from = *static_cast<ImmediateEvent *>(first), &to = *static_cast<ImmediateEvent *>(second);
  if (!from.isRecorded || !to.isRecorded)
    return Status(StatusCode::InvalidArgument, "an event was never recorded");
  return std::chrono::duration<double, std::milli>(to.time - from.time).count();
}

Status ImmediateDevice::enablePeer(const Device &) {
  return Status(StatusCode::Unavailable,
                "a device of kind " + std::string(deviceKindName(properties().kind)) + " has no peers");
}

Expected<KernelOccupancy> ImmediateDevice::occupancy(const LoadedModule &) {
  return Status(StatusCode::Unavailable,
                "a device of kind " + std::string(deviceKindName(properties().kind)) + " has no occupancy");
}

} // namespace tilejit
