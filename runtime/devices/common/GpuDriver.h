// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A vendor's driver with the differences of spelling taken away: what CUDA's driver interface and HIP both have. Calls
// give the driver's own result codes, 0 for success; what they mean is asked of the driver as well. All the logic of a
// device is in DriverDevice, once for both.

#ifndef TILEJIT_DEVICES_COMMON_GPUDRIVER_H
#define TILEJIT_DEVICES_COMMON_GPUDRIVER_H

#include "tilejit/Device/Device.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace tilejit::gpu {

/// What a result code means, as far as it makes a difference.
enum class Fault : uint8_t {
  None,
  NoDevice,          ///< The driver sees no device.
  OldDriver,         ///< The driver is too old for what was asked, or for the library above it.
  OutOfMemory,       ///< Device memory.
  WrongArchitecture, ///< A module for other chips.
  BadModule,         ///< A module that is none, or does not have what it should.
  NotReady,          ///< An event that has not happened.
  Capturing,         ///< Not while a stream is being captured into a graph.
  Broken,            ///< The context is lost: an earlier kernel went wrong.
  PeerEnabled,       ///< Access to a peer is there already.
  Other
};

/// What a driver tells about a device.
struct DeviceFacts {
  std::string name;
  std::string target; ///< Name for parseTarget(): "sm_90", "gfx90a:sramecc+:xnack-"; empty: not known.
  std::string bus;    ///< "0000:3b:00.0".
  int64_t memoryBytes = 0;
  int units = 1;
  int unitThreads = 2048;  ///< Threads that a unit holds.
  bool hasManaged = false; ///< Memory that moves between host and device by itself.
};

/// What the driver knows about a loaded kernel.
struct FunctionFacts {
  int registers = 0, stackBytes = 0, staticSharedBytes = 0;
};

/// A loaded module of the driver, and a kernel in it.
using DriverModule = void *;
using DriverFunction = void *;

struct DriverLaunch {
  DriverFunction function = nullptr;
  uint32_t blocks = 0, threads = 0, sharedBytes = 0;
  Stream stream = nullptr;
  void *parameters = nullptr; ///< Packed 64-bit words.
  size_t parameterBytes = 0;
};

/// Thread-safe, as far as the driver is. Every call below the line is about the device that the thread has entered.
class GpuDriver {
public:
  virtual ~GpuDriver() = default;

  virtual DeviceKind kind() const = 0;
  /// "CUDA 13.0", "HIP 6.2".
  virtual std::string version() const = 0;
  virtual Fault faultOf(int code) const = 0;
  /// "CUDA_ERROR_OUT_OF_MEMORY (2): out of memory".
  virtual std::string textOf(int code) const = 0;
  /// What to do about an old driver, or code that it doesn't take.
  virtual std::string updateHint() const = 0;
  /// Blocks of one launch with so many threads each.
  virtual int64_t mostBlocks(int64_t threads) const = 0;

  virtual int count(int &devices) = 0;
  virtual int facts(int ordinal, DeviceFacts &facts) = 0;
  virtual int canReach(int ordinal, int peer, bool &reaches) = 0;
  /// Makes a device the thread's own until leave(), which gives the thread back what it had.
  virtual int enter(int ordinal, void *&previous) = 0;
  virtual void leave(void *previous) = 0;

  // ---- The entered device ----
  virtual int synchronize() = 0;
  virtual int memory(int64_t &freeBytes, int64_t &allBytes) = 0;
  virtual int allocate(void *&memory, int64_t bytes) = 0;
  virtual int allocateManaged(void *&memory, int64_t bytes) = 0;
  virtual int release(void *memory) = 0;
  virtual int copyIn(void *to, const void *from, int64_t bytes) = 0;
  virtual int copyOut(void *to, const void *from, int64_t bytes) = 0;
  virtual int copyInAsync(void *to, const void *from, int64_t bytes, Stream stream) = 0;
  virtual int copyOutAsync(void *to, const void *from, int64_t bytes, Stream stream) = 0;
  virtual int copyWithin(void *to, const void *from, int64_t bytes, Stream stream) = 0;
  virtual int clear(void *memory, int64_t bytes, Stream stream) = 0;
  virtual int enablePeer(int peer) = 0;

  virtual int createStream(Stream &stream) = 0;
  virtual int destroyStream(Stream stream) = 0;
  virtual int synchronizeStream(Stream stream) = 0;
  virtual int waitEvent(Stream stream, Event event) = 0;
  virtual int isCapturing(Stream stream, bool &capturing) = 0;
  virtual int createEvent(Event &event) = 0;
  virtual int destroyEvent(Event event) = 0;
  virtual int recordEvent(Event event, Stream stream) = 0;
  virtual int queryEvent(Event event) = 0;
  virtual int elapsed(float &milliseconds, Event first, Event second) = 0;

  /// The kinds of payload that it takes, best first.
  virtual std::initializer_list<abi::PayloadKind> payloadKinds() const = 0;
  /// `log`: what the driver's compiler has to say.
  virtual int loadModule(DriverModule &module, std::string_view bytes, std::string &log) = 0;
  virtual int unloadModule(DriverModule module) = 0;
  virtual int findFunction(DriverFunction &function, DriverModule module, const char *name) = 0;
  virtual int functionFacts(DriverFunction function, FunctionFacts &facts) = 0;
  /// Allows a kernel so much on-chip memory at its launch.
  virtual int allowShared(DriverFunction function, int bytes) = 0;
  virtual int blocksPerUnit(int &blocks, DriverFunction function, int threads, size_t sharedBytes) = 0;
  virtual int launch(const DriverLaunch &launch) = 0;
};

} // namespace tilejit::gpu

#endif // TILEJIT_DEVICES_COMMON_GPUDRIVER_H
