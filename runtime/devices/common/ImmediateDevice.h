// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Streams and events of devices whose work is done when a call returns: a stream is a name, an event the time at which
// it was recorded.

#ifndef TILEJIT_DEVICES_COMMON_IMMEDIATEDEVICE_H
#define TILEJIT_DEVICES_COMMON_IMMEDIATEDEVICE_H

#include "tilejit/Device/Device.h"

namespace tilejit {

class ImmediateDevice : public Device {
public:
  Expected<void *> allocateManaged(int64_t bytes) override { return allocate(bytes, "managed memory"); }
  Expected<bool> reaches(const Device &) const override { return false; }
  Status enablePeer(const Device &peer) override;
  Status copyToDeviceAsync(void *to, const void *from, int64_t bytes, Stream stream) override;
  Status copyToHostAsync(void *to, const void *from, int64_t bytes, Stream stream) override;
  Status copyOnDevice(void *to, const void *from, int64_t bytes, Stream stream) override;
  bool isHostMemory() const override { return true; }

  Expected<Stream> createStream() override;
  void destroyStream(Stream stream) override;
  Status synchronizeStream(Stream) override { return Status::ok(); }
  Expected<Event> createEvent() override;
  void destroyEvent(Event event) override;
  Status record(Event event, Stream stream) override;
  Status wait(Stream stream, Event event) override;
  Expected<bool> hasHappened(Event event) override;
  Expected<double> millisecondsBetween(Event first, Event second) override;
  bool isCapturing(Stream) const override { return false; }
  Expected<KernelOccupancy> occupancy(const LoadedModule &module) override;
  Status synchronize() override { return Status::ok(); }

protected:
  /// memmove() with a check of the size.
  static Status copyBytes(void *to, const void *from, int64_t bytes);
};

} // namespace tilejit

#endif // TILEJIT_DEVICES_COMMON_IMMEDIATEDEVICE_H
