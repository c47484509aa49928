// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What the runtime asks of a chip: memory, copies, loading of payloads, launches. One implementation for each kind of
// device lives in runtime/devices; they don't see each other. Arguments arrive here as checked 64-bit slots
// (ABI/KernelABI.h); shapes and types were looked at before.

#ifndef TILEJIT_DEVICE_DEVICE_H
#define TILEJIT_DEVICE_DEVICE_H

#include "tilejit/Base/Status.h"
#include "tilejit/Target/TargetSpec.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace tilejit {

enum class DeviceKind : uint8_t { Cpu };

/// "cpu".
std::string_view deviceKindName(DeviceKind kind);

struct DeviceProperties {
  DeviceKind kind = DeviceKind::Cpu;
  int index = 0;           ///< Among the devices of this kind.
  std::string name;        ///< As its maker calls it.
  std::string driver;      ///< Version of the driver; empty: it needs none.
  int64_t memoryBytes = 0; ///< 0: not known.
  int64_t freeBytes = 0;   ///< When the properties were read.
  int computeUnits = 1;    ///< CPU: threads that a launch may use.
  TargetSpec target;       ///< What to compile for.
};

/// A payload that is ready to run. Unloaded with its last reference; it must not outlive its device.
class LoadedModule {
public:
  virtual ~LoadedModule() = default;
  /// Bytes of code and constants.
  virtual int64_t bytes() const = 0;
};

/// One launch. All that is pointed to is borrowed.
struct LaunchArguments {
  std::span<const int64_t> slots;
  const int64_t *grid = nullptr; ///< Three counts of program instances for kernels without a launch rule.
  int64_t threads = 0;           ///< CPU: how many to use at most; 0: the device's number.
  void *workspace = nullptr;     ///< Scratch of the caller, 64-byte aligned; null: the device's own is used.
  int64_t workspaceBytes = 0;
  void *stream = nullptr; ///< Ignored by the CPU.
};

/// What is known after a launch (CPU: after it ran).
struct LaunchOutcome {
  int64_t failedAssertion = -1; ///< Number of a tile.assert that did not hold; -1: none failed.
  int64_t path = 0;             ///< Index of the code path in Manifest::paths.
  int64_t tasks = 0;            ///< Of all phases.
  int64_t threads = 1;          ///< That were offered work.
};

/// One device. Thread-safe.
class Device {
public:
  virtual ~Device() = default;

  virtual const DeviceProperties &properties() const = 0;

  /// Device memory, aligned to at least 64 bytes; not initialised. Zero bytes are legal and give a valid pointer.
  virtual Expected<void *> allocate(int64_t bytes) = 0;
  virtual void release(void *memory) = 0;
  /// Copies that are done when they return.
  virtual Status copyToDevice(void *to, const void *from, int64_t bytes) = 0;
  virtual Status copyToHost(void *to, const void *from, int64_t bytes) = 0;
  /// Whether memory may be read and written by the host directly.
  virtual bool isHostMemory() const = 0;

  /// Loads a payload. DeviceFailed where the device refuses it; damaged bytes are refused, never run.
  virtual Expected<std::shared_ptr<LoadedModule>> load(std::string_view payload) = 0;
  /// Bytes of workspace that a launch with these arguments needs from its caller or the device.
  virtual Expected<int64_t> workspaceBytes(const LoadedModule &module, const LaunchArguments &arguments) = 0;
  /// Runs a kernel. Ok also where an assertion failed; then `outcome` says which.
  virtual Status launch(const LoadedModule &module, const LaunchArguments &arguments, LaunchOutcome &outcome) = 0;
  /// Waits for all launches.
  virtual Status synchronize() = 0;
};

} // namespace tilejit

#endif // TILEJIT_DEVICE_DEVICE_H
