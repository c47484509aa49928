// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What the stand-ins for NVIDIA's and AMD's drivers have in common: devices with memory, streams, events and modules,
// all on the host, every argument checked. Misuse is written down and answered with an error. A module is a text
//   tilejit stand-in
//   arch sm_90
//   kernel add 13
// (name and number of 64-bit parameters; the kernels of the conformance suite do what they say), PTX, of which the
// entries are read and nothing is run, or for AMD any ELF file. Environment, read at each call:
//   TILEJIT_STANDIN_FAIL     "symbol=code,symbol=code@3": that call fails, or only the third one
//   TILEJIT_STANDIN_DEVICES  how many devices (2)       TILEJIT_STANDIN_ARCH    "sm_90", or "sm_90,sm_80": of each,
//                                                      the last one's of all that follow
//   TILEJIT_STANDIN_MEMORY   bytes of each (1 GiB)      TILEJIT_STANDIN_MISUSE  a file that misuse is appended to

#ifndef TILEJIT_TEST_STANDINS_MACHINE_H
#define TILEJIT_TEST_STANDINS_MACHINE_H

#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace standin {

/// Both vendors number these alike.
enum Code : int {
  Success = 0,
  InvalidValue = 1,
  OutOfMemory = 2,
  NotInitialized = 3,
  NoDevice = 100,
  InvalidDevice = 101,
  InvalidImage = 200,
  InvalidContext = 201,
  NoBinary = 209,
  PeerUnsupported = 217,
  InvalidHandle = 400,
  NotFound = 500,
  NotReady = 600,
  PeerEnabled = 704,
  CaptureUnsupported = 900,
};

struct Module {
  int device = 0;
  std::map<std::string, int> kernels; ///< With the number of parameters; -1: not known.
};
struct Function {
  Module *module = nullptr;
  std::string name;
  int parameters = -1;
  int dynamicShared = 48 << 10; ///< What a launch may ask for.
};
struct StreamState {
  int device = 0;
  bool capturing = false;
};
struct EventState {
  int device = 0;
  bool recorded = false;
};

class Machine {
public:
  /// One for each stand-in. `name` is for messages.
  explicit Machine(std::string name, std::string arch) : name_(std::move(name)), defaultArch_(std::move(arch)) {}

  /// Every call begins with this: 0, or the code with which the call is to fail.
  int begin(const char *symbol);
  /// Writes misuse down and gives `code`.
  int misuse(const std::string &what, int code = InvalidValue);
  std::string takeMisuse();

  int devices() const;
  std::string arch(int device) const;
  int64_t memoryBytes() const;
  int64_t freeBytes(int device);

  int allocate(int device, void **out, size_t bytes);
  int release(int device, void *memory);
  /// Whether [memory, memory + bytes) lies in one allocation of any device.
  bool isDeviceMemory(const void *memory, size_t bytes);
  int copy(void *to, const void *from, size_t bytes, bool toDevice, bool fromDevice);
  int clear(void *memory, int value, size_t bytes);

  int createStream(int device, void **out);
  int destroyStream(void *stream);
  /// Null is a stream, too.
  bool isStream(void *stream);
  bool isCapturing(void *stream);
  bool isAnyCapturing();
  void capture(void *stream, bool on);
  int createEvent(int device, void **out);
  int destroyEvent(void *event);
  int record(void *event, void *stream);
  int query(void *event);
  int elapsed(float *milliseconds, void *first, void *second);

  int loadModule(int device, void **out, const char *image);
  int unloadModule(void *module);
  int findFunction(void **out, void *module, const char *name);
  Function *function(void *handle);
  int launch(int device, void *handle, const unsigned (&grid)[3], const unsigned (&block)[3], unsigned shared,
             void *stream, void **parameters, void **extra, void *endOfExtra);

  /// Handles that are still there: allocations, streams, events, modules.
  int living();

private:
  struct Free {
    void operator()(char *memory) const { std::free(memory); }
  };
  struct Memory {
    std::unique_ptr<char, Free> start; // Ends with the process where no call released it, as a device's does.
    size_t bytes = 0;
    int device = 0;
  };

  int run(const Function &function, const std::vector<int64_t> &words, int64_t blocks);
  int say(const std::vector<int64_t> &words, int64_t blocks);

  const std::string name_, defaultArch_;
  std::recursive_mutex mutex_;
  std::map<std::string, int> calls_;
  std::string misused_;
  std::map<char *, Memory> memory_;
  std::map<void *, std::unique_ptr<StreamState>> streams_;
  std::map<void *, std::unique_ptr<EventState>> events_;
  std::map<void *, std::unique_ptr<Module>> modules_;
  std::map<void *, std::unique_ptr<Function>> functions_;
};

} // namespace standin

#endif // TILEJIT_TEST_STANDINS_MACHINE_H
