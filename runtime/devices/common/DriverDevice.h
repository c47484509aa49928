// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A device behind a vendor's driver: what CUDA and HIP have in common, which is nearly all. Failures become statuses
// that say what to do; memory is counted, what is cached on the device is given up when it runs out.

#ifndef TILEJIT_DEVICES_COMMON_DRIVERDEVICE_H
#define TILEJIT_DEVICES_COMMON_DRIVERDEVICE_H

#include "devices/common/GpuDriver.h"
#include "devices/common/GpuProgram.h"
#include "tilejit/Device/Fork.h"
#include "tilejit/Device/Gpu.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace tilejit::gpu {

/// A status for a failed call: `what` was being done.
Status failure(const GpuDriver &driver, int code, const std::string &what);
/// Why a driver did not start.
Status startFailure(const GpuDriver &driver, int code);

/// Makes a device the thread's own as long as it lives.
class Entered {
public:
  Entered(GpuDriver &driver, int ordinal) : driver_(driver), code_(driver.enter(ordinal, previous_)) {}
  Entered(const Entered &) = delete;
  Entered &operator=(const Entered &) = delete;
  ~Entered() {
    if (code_ == 0)
      driver_.leave(previous_);
  }
  int code() const { return code_; }

private:
  GpuDriver &driver_;
  void *previous_ = nullptr;
  const int code_;
};

class DriverDevice final : public Device {
public:
  DriverDevice(std::shared_ptr<GpuDriver> driver, const GpuDeviceOptions &options, DeviceFacts facts,
               DeviceProperties properties);
  ~DriverDevice() override;

  const DeviceProperties &properties() const override { return properties_; }
  int64_t freeBytes() const override;
  Expected<void *> allocate(int64_t bytes, std::string_view name) override;
  Expected<void *> allocateManaged(int64_t bytes) override;
  void release(void *memory) override;
  Status copyToDevice(void *to, const void *from, int64_t bytes) override;
  Status copyToHost(void *to, const void *from, int64_t bytes) override;
  Status copyToDeviceAsync(void *to, const void *from, int64_t bytes, Stream stream) override;
  Status copyToHostAsync(void *to, const void *from, int64_t bytes, Stream stream) override;
  Status copyOnDevice(void *to, const void *from, int64_t bytes, Stream stream) override;
  bool isHostMemory() const override { return false; }
  Expected<bool> reaches(const Device &peer) const override;
  Status enablePeer(const Device &peer) override;

  Expected<Stream> createStream() override;
  void destroyStream(Stream stream) override;
  Status synchronizeStream(Stream stream) override;
  Expected<Event> createEvent() override;
  void destroyEvent(Event event) override;
  Status record(Event event, Stream stream) override;
  Status wait(Stream stream, Event event) override;
  Expected<bool> hasHappened(Event event) override;
  Expected<double> millisecondsBetween(Event first, Event second) override;
  bool isCapturing(Stream stream) const override;

  Expected<std::shared_ptr<LoadedModule>> load(const abi::Manifest &manifest,
                                               std::span<const PayloadView> payloads) override;
  Expected<int64_t> workspaceBytes(const LoadedModule &module, const LaunchArguments &arguments) override;
  Status launch(const LoadedModule &module, const LaunchArguments &arguments, LaunchOutcome &outcome) override;
  Expected<KernelOccupancy> occupancy(const LoadedModule &module) override;
  Status synchronize() override;

private:
  class Module;

  /// Enters the device and gives what `call` gives; `what` is for the message of a failure.
  template <typename Body> Status inside(const char *what, Body call) const;
  template <typename Copy> Status copyBytes(const char *what, int64_t bytes, Copy copy) const;
  Status usable() const;
  Expected<void *> takeMemory(int64_t bytes, bool managed, const std::string &purpose);
  Status outOfMemory(int64_t bytes, const std::string &purpose) const;
  Status reserve(int64_t bytes, const std::string &purpose);
  void giveBack(int64_t bytes);
  void trim();
  Expected<std::unique_ptr<Module>> loadPayload(const PayloadView &payload, GpuProgram program);
  Status findFunctions(Module &module);
  Expected<void *> scratchFor(Stream stream, int64_t bytes);
  Status launchAll(const Module &module, const GpuPlan &plan, const LaunchArguments &arguments, void *workspace);
  Status clearPrinter(const Module &module, Stream stream);
  Status print(const Module &module, Stream stream);
  Status launchAndLook(const Module &module, const GpuPlan &plan, const LaunchArguments &arguments, void *workspace,
                       int64_t &failedAssertion);

  const std::shared_ptr<GpuDriver> driver_;
  const int ordinal_;
  const double fraction_;
  const DeviceFacts facts_;
  const DeviceProperties properties_;
  const uint32_t generation_; ///< Drivers don't survive fork().

  mutable ForkMutex mutex_;
  std::map<void *, int64_t> sizes_; ///< Of what allocate() gave.
  int64_t used_ = 0;                ///< Their sum.
  struct Scratch {
    void *memory = nullptr;
    int64_t bytes = 0;
  };
  /// Held from the choice of a workspace to its use: nobody may give it up in between.
  std::recursive_mutex scratchMutex_;
  std::map<Stream, Scratch> scratch_; ///< The device's own workspaces, one for each stream.
};

} // namespace tilejit::gpu

#endif // TILEJIT_DEVICES_COMMON_DRIVERDEVICE_H
