// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Memory, streams and events over a driver, and what failures mean. Launches are in DriverLaunch.cpp.

#include "devices/common/DriverDevice.h"

#include "devices/common/DriverCall.h"

#include <algorithm>
#include <utility>

namespace tilejit::gpu {

namespace {

constexpr int64_t smallestAllocation = 64;
/// More than any device has; below what sums could overflow at.
constexpr int64_t largestAllocation = int64_t{1} << 46;

std::string_view makerOf(const GpuDriver &driver) { return driver.kind() == DeviceKind::Cuda ? "NVIDIA" : "AMD"; }

} // namespace

Status failure(const GpuDriver &driver, int code, const std::string &what) {
  std::string message = what + ": " + driver.textOf(code);
  switch (driver.faultOf(code)) {
  case Fault::NoDevice:
    return Status(StatusCode::Unavailable, message);
  case Fault::OldDriver:
    return Status(StatusCode::Unavailable, message).withHint(driver.updateHint());
  case Fault::OutOfMemory:
    return Status(StatusCode::OutOfMemory, message);
  case Fault::WrongArchitecture:
    return Status(StatusCode::DoesNotFit, message);
  case Fault::Capturing:
    return Status(StatusCode::Unavailable, message)
        .withHint("a stream is being captured into a graph: prepare kernels and allocate before the capture begins");
  case Fault::Broken:
    return Status(StatusCode::DeviceFailed, message)
        .withHint("a kernel went wrong and the device's context is lost: restart the process; --target sim:... shows "
                  "where a kernel goes wrong");
  case Fault::None:
  case Fault::BadModule:
  case Fault::NotReady:
  case Fault::PeerEnabled:
  case Fault::Other:
    break;
  }
  return Status(StatusCode::DeviceFailed, message);
}

Status startFailure(const GpuDriver &driver, int code) {
  std::string maker(makerOf(driver));
  if (driver.faultOf(code) == Fault::NoDevice)
    return Status(StatusCode::Unavailable, "the " + maker + " driver sees no device: " + driver.textOf(code))
        .withHint(driver.kind() == DeviceKind::Cuda
                      ? "nvidia-smi shows what the driver sees; CUDA_VISIBLE_DEVICES may hide devices"
                      : "rocminfo shows what the driver sees; the user needs access to /dev/kfd and /dev/dri");
  Status status(StatusCode::Unavailable, "the " + maker + " driver does not start: " + driver.textOf(code));
  return driver.faultOf(code) == Fault::OldDriver ? std::move(status).withHint(driver.updateHint()) : status;
}

DriverDevice::DriverDevice(std::shared_ptr<GpuDriver> driver, const GpuDeviceOptions &options, DeviceFacts facts,
                           DeviceProperties properties)
    : driver_(std::move(driver)), ordinal_(options.ordinal), fraction_(options.memoryFraction),
      facts_(std::move(facts)), properties_(std::move(properties)), generation_(forkGeneration()) {}

DriverDevice::~DriverDevice() {
  if (generation_ == forkGeneration())
    trim();
}

Status DriverDevice::usable() const {
  if (generation_ == forkGeneration())
    return Status::ok();
  return Status(StatusCode::Unavailable, "a " + std::string(makerOf(*driver_)) +
                                             " device can't be used in a child "
                                             "after fork()")
      .withHint("fork before the first use of a GPU, or start the child by exec");
}

int64_t DriverDevice::freeBytes() const {
  int64_t free = 0, all = 0;
  Status read = inside("asking for free memory", [&] { return driver_->memory(free, all); });
  return read.isOk() ? free : 0;
}

// ---- Memory ----

/// Counts memory that is about to be taken; refuses what goes beyond the fraction.
Status DriverDevice::reserve(int64_t bytes, const std::string &purpose) {
  auto limit = static_cast<int64_t>(fraction_ * static_cast<double>(facts_.memoryBytes));
  std::lock_guard lock(mutex_);
  if (fraction_ < 1 && used_ + bytes > limit)
    return Status(StatusCode::OutOfMemory,
                  "no memory for " + purpose + ": " + std::to_string(bytes) + " bytes beside " + std::to_string(used_) +
                      " in use are more than memory_fraction allows, " + std::to_string(limit) + " of " +
                      std::to_string(facts_.memoryBytes) + " bytes")
        .withHint("use smaller sizes, or raise the setting memory_fraction");
  used_ += bytes;
  return Status::ok();
}

void DriverDevice::giveBack(int64_t bytes) {
  std::lock_guard lock(mutex_);
  used_ -= bytes;
}

Status DriverDevice::outOfMemory(int64_t bytes, const std::string &purpose) const {
  return Status(StatusCode::OutOfMemory, "no memory for " + purpose + " on " + properties_.name + ": " +
                                             std::to_string(bytes) + " bytes, free are " + std::to_string(freeBytes()) +
                                             " of " + std::to_string(facts_.memoryBytes))
      .withHint("lower the sizes or the batch, or for a workspace split_k and stages; other processes on the device "
                "count too");
}

/// Gives up the workspaces that the device keeps.
void DriverDevice::trim() {
  std::lock_guard lock(scratchMutex_);
  if (scratch_.empty())
    return;
  (void)inside("waiting", [&] { return driver_->synchronize(); });
  for (auto &[stream, scratch] : scratch_)
    release(scratch.memory);
  scratch_.clear();
}

Expected<void *> DriverDevice::takeMemory(int64_t bytes, bool managed, const std::string &purpose) {
  if (bytes < 0)
    return Status(StatusCode::InvalidArgument, "can't allocate " + std::to_string(bytes) + " bytes");
  if (bytes > largestAllocation)
    return outOfMemory(bytes, purpose);
  int64_t rounded = std::max(bytes, smallestAllocation);
  if (Status reserved = reserve(rounded, purpose); !reserved.isOk()) {
    trim();
    TILEJIT_RETURN_IF_ERROR(reserve(rounded, purpose));
  }
  void *memory = nullptr;
  auto take = [&] {
    return inside("allocating memory", [&] {
      return managed ? driver_->allocateManaged(memory, rounded) : driver_->allocate(memory, rounded);
    });
  };
  Status taken = take();
  if (taken.code() == StatusCode::OutOfMemory) {
    trim();
    taken = take();
  }
  if (!taken.isOk()) {
    giveBack(rounded);
    return taken.code() == StatusCode::OutOfMemory ? outOfMemory(bytes, purpose) : taken;
  }
  std::lock_guard lock(mutex_);
  sizes_[memory] = rounded;
  return memory;
}

Expected<void *> DriverDevice::allocate(int64_t bytes, std::string_view name) {
  return takeMemory(bytes, false, name.empty() ? "a buffer" : std::string(name));
}

Expected<void *> DriverDevice::allocateManaged(int64_t bytes) {
  if (!facts_.hasManaged)
    return Status(StatusCode::Unavailable, properties_.name + " has no managed memory");
  return takeMemory(bytes, true, "managed memory");
}

void DriverDevice::release(void *memory) {
  if (!memory)
    return;
  {
    std::lock_guard lock(mutex_);
    auto known = sizes_.find(memory);
    if (known == sizes_.end())
      return;
    used_ -= known->second;
    sizes_.erase(known);
  }
  (void)inside("freeing memory", [&] { return driver_->release(memory); });
}

template <typename Copy> Status DriverDevice::copyBytes(const char *what, int64_t bytes, Copy copy) const {
  if (bytes < 0)
    return Status(StatusCode::InvalidArgument, "can't copy " + std::to_string(bytes) + " bytes");
  return bytes == 0 ? Status::ok() : inside(what, copy);
}

Status DriverDevice::copyToDevice(void *to, const void *from, int64_t bytes) {
  return copyBytes("copying to the device", bytes, [&] { return driver_->copyIn(to, from, bytes); });
}

Status DriverDevice::copyToHost(void *to, const void *from, int64_t bytes) {
  return copyBytes("copying to the host", bytes, [&] { return driver_->copyOut(to, from, bytes); });
}

Status DriverDevice::copyToDeviceAsync(void *to, const void *from, int64_t bytes, Stream stream) {
  return copyBytes("copying to the device", bytes, [&] { return driver_->copyInAsync(to, from, bytes, stream); });
}

Status DriverDevice::copyToHostAsync(void *to, const void *from, int64_t bytes, Stream stream) {
  return copyBytes("copying to the host", bytes, [&] { return driver_->copyOutAsync(to, from, bytes, stream); });
}

Status DriverDevice::copyOnDevice(void *to, const void *from, int64_t bytes, Stream stream) {
  return copyBytes("copying on the device", bytes, [&] { return driver_->copyWithin(to, from, bytes, stream); });
}

Expected<bool> DriverDevice::reaches(const Device &peer) const {
  if (peer.properties().kind != properties_.kind)
    return false;
  int other = static_cast<const DriverDevice &>(peer).ordinal_;
  bool reaches = false;
  TILEJIT_RETURN_IF_ERROR(
      inside("asking for a way to a peer", [&] { return driver_->canReach(ordinal_, other, reaches); }));
  return reaches;
}

Status DriverDevice::enablePeer(const Device &peer) {
  TILEJIT_ASSIGN_OR_RETURN(bool isReached, reaches(peer));
  if (!isReached)
    return Status(StatusCode::Unavailable, "device " + std::to_string(properties_.index) +
                                               " can't reach the memory of device " +
                                               std::to_string(peer.properties().index));
  return inside("opening a way to a peer", [&] {
    int code = driver_->enablePeer(static_cast<const DriverDevice &>(peer).ordinal_);
    return driver_->faultOf(code) == Fault::PeerEnabled ? 0 : code;
  });
}

// ---- Streams and events ----

Expected<Stream> DriverDevice::createStream() {
  Stream stream = nullptr;
  TILEJIT_RETURN_IF_ERROR(inside("making a stream", [&] { return driver_->createStream(stream); }));
  return stream;
}

void DriverDevice::destroyStream(Stream stream) {
  if (!stream)
    return;
  Scratch kept;
  {
    std::lock_guard lock(scratchMutex_);
    if (auto found = scratch_.find(stream); found != scratch_.end()) {
      (void)synchronizeStream(stream);
      kept = found->second;
      scratch_.erase(found);
    }
  }
  release(kept.memory);
  (void)inside("ending a stream", [&] { return driver_->destroyStream(stream); });
}

Status DriverDevice::synchronizeStream(Stream stream) {
  return inside("waiting for a stream", [&] { return driver_->synchronizeStream(stream); });
}

Expected<Event> DriverDevice::createEvent() {
  Event event = nullptr;
  TILEJIT_RETURN_IF_ERROR(inside("making an event", [&] { return driver_->createEvent(event); }));
  return event;
}

void DriverDevice::destroyEvent(Event event) {
  if (event)
    (void)inside("ending an event", [&] { return driver_->destroyEvent(event); });
}

static Status nullEvent() { return Status(StatusCode::InvalidArgument, "the event is null"); }

Status DriverDevice::record(Event event, Stream stream) {
  return event ? inside("recording an event", [&] { return driver_->recordEvent(event, stream); }) : nullEvent();
}

Status DriverDevice::wait(Stream stream, Event event) {
  return event ? inside("waiting for an event", [&] { return driver_->waitEvent(stream, event); }) : nullEvent();
}

Expected<bool> DriverDevice::hasHappened(Event event) {
  if (!event)
    return nullEvent();
  bool happened = true;
  TILEJIT_RETURN_IF_ERROR(inside("asking for an event", [&] {
    int code = driver_->queryEvent(event);
    happened = driver_->faultOf(code) != Fault::NotReady;
    return happened ? code : 0;
  }));
  return happened;
}

Expected<double> DriverDevice::millisecondsBetween(Event first, Event second) {
  if (!first || !second)
    return nullEvent();
  float milliseconds = 0;
  TILEJIT_RETURN_IF_ERROR(
      inside("asking for the time between events", [&] { return driver_->elapsed(milliseconds, first, second); }));
  return double{milliseconds};
}

bool DriverDevice::isCapturing(Stream stream) const {
  bool capturing = false;
  Status asked = inside("asking for a capture", [&] { return driver_->isCapturing(stream, capturing); });
  // The default stream of a thread that captures another one may not even be asked.
  return capturing || (!asked.isOk() && asked.code() == StatusCode::Unavailable);
}

Status DriverDevice::synchronize() {
  return inside("waiting for the device", [&] { return driver_->synchronize(); });
}

} // namespace tilejit::gpu

namespace tilejit {

Expected<int> countDevices(gpu::GpuDriver &driver) {
  int devices = 0;
  if (int code = driver.count(devices))
    return gpu::startFailure(driver, code);
  return devices;
}

Expected<std::unique_ptr<Device>> makeGpuDevice(std::shared_ptr<gpu::GpuDriver> driver,
                                                const GpuDeviceOptions &options) {
  gpu::DeviceFacts facts;
  if (int code = driver->facts(options.ordinal, facts))
    return gpu::failure(*driver, code, "asking for device " + std::to_string(options.ordinal));
  DeviceProperties properties;
  properties.kind = driver->kind();
  properties.index = options.index;
  properties.name = facts.name;
  properties.driver = driver->version();
  properties.bus = facts.bus;
  properties.memoryBytes = facts.memoryBytes;
  properties.computeUnits = facts.units;
  auto target = parseTarget(facts.target);
  if (!target)
    return Status(StatusCode::Unavailable, "device " + std::to_string(options.index) + ", " + facts.name + ", is a " +
                                               (facts.target.empty() ? "chip without a name" : facts.target) +
                                               ", which tilejit does not know");
  properties.target = *std::move(target);
  return std::unique_ptr<Device>(
      std::make_unique<gpu::DriverDevice>(std::move(driver), options, std::move(facts), std::move(properties)));
}

} // namespace tilejit
