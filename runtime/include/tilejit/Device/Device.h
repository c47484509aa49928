// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What the runtime asks of a chip: memory, copies, streams, events, loading of payloads, launches. One implementation
// for each kind of device lives in runtime/devices; they don't see each other. Arguments arrive here as checked 64-bit
// slots (ABI/KernelABI.h); shapes and types were looked at before.

#ifndef TILEJIT_DEVICE_DEVICE_H
#define TILEJIT_DEVICE_DEVICE_H

#include "tilejit/ABI/Compile.h"
#include "tilejit/Base/Status.h"
#include "tilejit/Target/TargetSpec.h"

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace tilejit {

namespace sim {
struct Options;
struct Outcome;
} // namespace sim

enum class DeviceKind : uint8_t { Cpu, Cuda, Hip, Sim };

/// "cpu", "cuda", "hip", "sim".
std::string_view deviceKindName(DeviceKind kind);

struct DeviceProperties {
  DeviceKind kind = DeviceKind::Cpu;
  int index = 0;           ///< Among the devices of this kind.
  std::string name;        ///< As its maker calls it.
  std::string driver;      ///< Version of the driver; empty: it needs none.
  std::string bus;         ///< Where it is plugged in: "0000:3b:00.0"; empty: not known, or nowhere.
  int64_t memoryBytes = 0; ///< 0: not known.
  int computeUnits = 1;    ///< CPU: threads that a launch may use.
  TargetSpec target;       ///< What to compile for.
};

/// One form of the code that is to be loaded; borrowed.
struct PayloadView {
  abi::PayloadKind kind = abi::PayloadKind::Elf;
  std::string_view bytes;
};

/// A payload that is ready to run. Unloaded with its last reference; it must not outlive its device.
class LoadedModule {
public:
  virtual ~LoadedModule() = default;
  /// Bytes of code and constants.
  virtual int64_t bytes() const = 0;
};

/// A queue of the device, as its driver has it (CUstream, hipStream_t), so that a host's own can be given. Null: the
/// device's default queue.
using Stream = void *;
/// A mark in a stream, as the driver has it.
using Event = void *;

/// One launch. All that is pointed to is borrowed.
struct LaunchArguments {
  std::span<const int64_t> slots;
  const int64_t *grid = nullptr; ///< Three counts of program instances; they take the place of the launch rule.
  int64_t threads = 0;           ///< CPU: how many to use at most; 0: the device's number.
  void *workspace = nullptr;     ///< Scratch of the caller, 64-byte aligned; null: the device's own is used.
  int64_t workspaceBytes = 0;
  int64_t firstPhase = 0, endPhase = INT64_MAX; ///< CPU: which phases run; for what is packed once.
  Stream stream = nullptr;                      ///< CPU and simulator do all work at once.
  const sim::Options *simulation = nullptr;     ///< Simulator: checks, schedule, threads; null: all checks.
  /// Simulator: only so many blocks, the first ones, of a launch that is one kernel; 0: all. For counters; outputs are
  /// left incomplete.
  int64_t simulatedBlocks = 0;
};

/// What is known after a launch (CPU and simulator: after it ran; GPU: after it was given to the driver, except that
/// kernels that assert or print are waited for).
struct LaunchOutcome {
  int64_t failedAssertion = -1; ///< Number of a tile.assert that did not hold; -1: none failed.
  int64_t path = 0;             ///< Index of the code path in Manifest::paths.
  int64_t tasks = 0;            ///< Of all phases; on GPUs program instances.
  int64_t threads = 1;          ///< CPU: that were offered work.
  /// Simulator: reports, counters and what was printed, of all kernels of the launch together.
  std::shared_ptr<const sim::Outcome> simulated;
};

/// How the kernels of a module use a unit (streaming multiprocessor, compute unit) of the device.
struct KernelOccupancy {
  int blocksPerUnit = 0;    ///< Blocks of the kernel that are resident at once; the least of all its kernels.
  double ofUnitThreads = 0; ///< Their threads over what the unit holds.
  int64_t registers = 0;    ///< Of a thread; the most of all kernels.
  int64_t stackBytes = 0;   ///< Local memory (scratch) of a thread.
  int64_t sharedBytes = 0;  ///< On-chip memory of a block.
};

/// One device. Thread-safe.
class Device {
public:
  virtual ~Device() = default;

  virtual const DeviceProperties &properties() const = 0;
  /// Memory that is free now; 0: not known.
  virtual int64_t freeBytes() const = 0;

  /// Device memory, aligned to at least 64 bytes; not initialised. Zero bytes are legal and give a valid pointer.
  /// OutOfMemory says how much was asked for and how much there is. The simulator's reports use `name`.
  virtual Expected<void *> allocate(int64_t bytes, std::string_view name) = 0;
  Expected<void *> allocate(int64_t bytes) { return allocate(bytes, {}); }
  virtual void release(void *memory) = 0;
  /// Memory that host and device both reach and the driver moves; released like any other. Unavailable where there is
  /// no such thing.
  virtual Expected<void *> allocateManaged(int64_t bytes) = 0;
  /// Whether kernels of this device can use memory of another one.
  virtual Expected<bool> reaches(const Device &peer) const = 0;
  /// Lets them. Unavailable where the way between the devices does not allow it.
  virtual Status enablePeer(const Device &peer) = 0;
  /// Copies that are done when they return.
  virtual Status copyToDevice(void *to, const void *from, int64_t bytes) = 0;
  virtual Status copyToHost(void *to, const void *from, int64_t bytes) = 0;
  /// Copies in the order of a stream. Host memory must stay as it is until the stream has come so far.
  virtual Status copyToDeviceAsync(void *to, const void *from, int64_t bytes, Stream stream) = 0;
  virtual Status copyToHostAsync(void *to, const void *from, int64_t bytes, Stream stream) = 0;
  virtual Status copyOnDevice(void *to, const void *from, int64_t bytes, Stream stream) = 0;
  /// Whether memory may be read and written by the host directly.
  virtual bool isHostMemory() const = 0;

  virtual Expected<Stream> createStream() = 0;
  virtual void destroyStream(Stream stream) = 0;
  /// Waits for all work of a stream.
  virtual Status synchronizeStream(Stream stream) = 0;
  virtual Expected<Event> createEvent() = 0;
  virtual void destroyEvent(Event event) = 0;
  /// The event happens when the work that is in the stream now is done.
  virtual Status record(Event event, Stream stream) = 0;
  /// What is put into the stream from now on waits for the event.
  virtual Status wait(Stream stream, Event event) = 0;
  /// Whether the event has happened.
  virtual Expected<bool> hasHappened(Event event) = 0;
  /// Milliseconds from one event to another; both must have happened.
  virtual Expected<double> millisecondsBetween(Event first, Event second) = 0;
  /// Whether the stream is being captured into a graph: then nothing may be loaded, allocated or waited for.
  virtual bool isCapturing(Stream stream) const = 0;

  /// Loads a kernel: chooses the form of its code that the device takes. DeviceFailed where the device refuses it;
  /// damaged bytes are refused, never run. DoesNotFit: code for another architecture; the message names both.
  virtual Expected<std::shared_ptr<LoadedModule>> load(const abi::Manifest &manifest,
                                                       std::span<const PayloadView> payloads) = 0;
  /// Bytes of workspace that a launch with these arguments needs from its caller or the device.
  virtual Expected<int64_t> workspaceBytes(const LoadedModule &module, const LaunchArguments &arguments) = 0;
  /// Runs a kernel. Ok also where an assertion failed or the simulator has something to report; `outcome` says so.
  virtual Status launch(const LoadedModule &module, const LaunchArguments &arguments, LaunchOutcome &outcome) = 0;
  /// How the module's kernels fill a unit. Unavailable where the device doesn't know.
  virtual Expected<KernelOccupancy> occupancy(const LoadedModule &module) = 0;
  /// Waits for all launches.
  virtual Status synchronize() = 0;
};

/// The first payload of a kind; null where there is none.
const PayloadView *findPayload(std::span<const PayloadView> payloads, abi::PayloadKind kind);

} // namespace tilejit

#endif // TILEJIT_DEVICE_DEVICE_H
