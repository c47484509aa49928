// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A stand-in for libamdhip64.so.6: exactly the symbols of runtime/devices/hip/Symbols.def.

#include "Machine.h"

#include "devices/hip/Types.h"

#include <cstdio>
#include <cstdlib>

using namespace tilejit::hip;

namespace {

standin::Machine machine("libamdhip64", "gfx942");
thread_local int current = 0;
bool initialized = false;
std::set<std::pair<int, int>> peers;

bool isDevice(int device) { return device >= 0 && device < machine.devices(); }
hipError_t result(int code) { return static_cast<hipError_t>(code); }

int start(const char *symbol) {
  if (int code = machine.begin(symbol))
    return code;
  return initialized ? 0 : machine.misuse(std::string(symbol) + " before hipInit", standin::NotInitialized);
}

int inStream(hipStream_t stream) {
  return machine.isStream(stream) ? 0 : machine.misuse("a stream that is none", standin::InvalidHandle);
}

hipError_t copy(void *to, const void *from, size_t bytes, hipMemcpyKind kind) {
  if (kind < hipMemcpyHostToDevice || kind > hipMemcpyDeviceToDevice)
    return result(machine.misuse("a copy in no direction"));
  return result(machine.copy(to, from, bytes, kind != hipMemcpyDeviceToHost, kind != hipMemcpyHostToDevice));
}

} // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))
#define BEGIN(check)                                                                                                   \
  if (int code = check(__func__))                                                                                      \
  return result(code)
#define BEGIN_IN(stream)                                                                                               \
  BEGIN(start);                                                                                                        \
  if (int code = inStream(stream))                                                                                     \
  return result(code)

EXPORT const char *tilejit_standin_misuse() {
  static thread_local std::string text;
  text = machine.takeMisuse();
  return text.c_str();
}
EXPORT int tilejit_standin_living() { return machine.living(); }
/// 0 where the thread has the device that it had when it came.
EXPORT int tilejit_standin_contexts() { return current; }
EXPORT void tilejit_standin_capture(void *stream, int on) { machine.capture(stream, on != 0); }

EXPORT hipError_t hipInit(unsigned flags) {
  BEGIN(machine.begin);
  if (flags != 0)
    return result(machine.misuse("hipInit with flags"));
  if (machine.devices() == 0)
    return result(standin::NoDevice);
  initialized = true;
  return hipSuccess;
}
EXPORT hipError_t hipRuntimeGetVersion(int *out) {
  BEGIN(machine.begin);
  const char *version = std::getenv("TILEJIT_STANDIN_VERSION");
  *out = version ? std::atoi(version) : 60'240'000;
  return hipSuccess;
}
EXPORT const char *hipGetErrorName(hipError_t code) {
  return code == hipErrorOutOfMemory ? "hipErrorOutOfMemory" : "hipErrorOfTheStandIn";
}
EXPORT const char *hipGetErrorString(hipError_t) { return "the stand-in says no"; }
EXPORT hipError_t hipGetDeviceCount(int *out) {
  BEGIN(start);
  *out = machine.devices();
  return hipSuccess;
}
EXPORT hipError_t hipGetDevice(int *out) {
  BEGIN(start);
  *out = current;
  return hipSuccess;
}
EXPORT hipError_t hipSetDevice(int device) {
  BEGIN(start);
  if (!isDevice(device))
    return result(standin::InvalidDevice);
  current = device;
  return hipSuccess;
}
EXPORT hipError_t hipDeviceGetName(char *out, int bytes, hipDevice_t device) {
  BEGIN(start);
  std::snprintf(out, static_cast<size_t>(bytes), "Stand-in %d", device);
  return isDevice(device) ? hipSuccess : result(standin::InvalidDevice);
}
EXPORT hipError_t hipDeviceTotalMem(size_t *out, hipDevice_t device) {
  BEGIN(start);
  *out = static_cast<size_t>(machine.memoryBytes());
  return isDevice(device) ? hipSuccess : result(standin::InvalidDevice);
}
EXPORT hipError_t hipDeviceGetAttribute(int *out, hipDeviceAttribute_t attribute, int device) {
  BEGIN(start);
  if (!isDevice(device))
    return result(standin::InvalidDevice);
  switch (attribute) {
  case hipDeviceAttributeMultiprocessorCount:
    *out = 304;
    break;
  case hipDeviceAttributeMaxThreadsPerMultiProcessor:
    *out = 2048;
    break;
  case hipDeviceAttributeManagedMemory:
    *out = 1;
    break;
  default:
    return result(machine.misuse("an attribute that is not known"));
  }
  return hipSuccess;
}
EXPORT hipError_t hipDeviceGetPCIBusId(char *out, int bytes, int device) {
  BEGIN(start);
  std::snprintf(out, static_cast<size_t>(bytes), "0000:%02x:00.0", 0x20 + device);
  return isDevice(device) ? hipSuccess : result(standin::InvalidDevice);
}
EXPORT hipError_t hipDeviceCanAccessPeer(int *out, int device, int peer) {
  BEGIN(start);
  *out = device != peer && device / 2 == peer / 2; // In pairs.
  return isDevice(device) && isDevice(peer) ? hipSuccess : result(standin::InvalidDevice);
}
EXPORT hipError_t hipDeviceSynchronize() {
  BEGIN(start);
  return result(machine.isAnyCapturing() ? machine.misuse("wait during a capture", standin::CaptureUnsupported) : 0);
}
EXPORT hipError_t hipDeviceEnablePeerAccess(int peer, unsigned flags) {
  BEGIN(start);
  if (flags != 0 || !isDevice(peer) || current / 2 != peer / 2)
    return result(machine.misuse("peer access that is not possible", standin::PeerUnsupported));
  return peers.insert({current, peer}).second ? hipSuccess : result(standin::PeerEnabled);
}
EXPORT hipError_t hipMemGetInfo(size_t *free, size_t *total) {
  BEGIN(start);
  *free = static_cast<size_t>(machine.freeBytes(current));
  *total = static_cast<size_t>(machine.memoryBytes());
  return hipSuccess;
}
EXPORT hipError_t hipMalloc(void **out, size_t bytes) {
  BEGIN(start);
  return result(machine.allocate(current, out, bytes));
}
EXPORT hipError_t hipFree(void *memory) {
  BEGIN(start);
  return result(machine.release(current, memory));
}
EXPORT hipError_t hipMallocManaged(void **out, size_t bytes, unsigned flags) {
  BEGIN(start);
  if (flags != memAttachGlobal)
    return result(machine.misuse("managed memory with other flags"));
  return result(machine.allocate(current, out, bytes));
}
EXPORT hipError_t hipMemcpy(void *to, const void *from, size_t bytes, hipMemcpyKind kind) {
  BEGIN(start);
  return copy(to, from, bytes, kind);
}
EXPORT hipError_t hipMemcpyAsync(void *to, const void *from, size_t bytes, hipMemcpyKind kind, hipStream_t stream) {
  BEGIN_IN(stream);
  return copy(to, from, bytes, kind);
}
EXPORT hipError_t hipMemsetAsync(void *to, int value, size_t bytes, hipStream_t stream) {
  BEGIN_IN(stream);
  return result(machine.clear(to, value, bytes));
}
EXPORT hipError_t hipStreamCreateWithFlags(hipStream_t *out, unsigned flags) {
  BEGIN(start);
  if (flags > streamNonBlocking)
    return result(machine.misuse("a stream with unknown flags"));
  return result(machine.createStream(current, reinterpret_cast<void **>(out)));
}
EXPORT hipError_t hipStreamDestroy(hipStream_t stream) {
  BEGIN(start);
  return result(machine.destroyStream(stream));
}
EXPORT hipError_t hipStreamSynchronize(hipStream_t stream) {
  BEGIN_IN(stream);
  return result(machine.isCapturing(stream) ? machine.misuse("wait for a captured stream", standin::CaptureUnsupported)
                                            : 0);
}
EXPORT hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned flags) {
  BEGIN_IN(stream);
  return flags != 0 ? result(machine.misuse("wait with flags")) : result(machine.query(event));
}
EXPORT hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus *out) {
  BEGIN_IN(stream);
  *out = static_cast<hipStreamCaptureStatus>(machine.isCapturing(stream));
  return hipSuccess;
}
EXPORT hipError_t hipEventCreateWithFlags(hipEvent_t *out, unsigned flags) {
  BEGIN(start);
  if (flags != eventDefault)
    return result(machine.misuse("an event with other flags"));
  return result(machine.createEvent(current, reinterpret_cast<void **>(out)));
}
EXPORT hipError_t hipEventDestroy(hipEvent_t event) {
  BEGIN(start);
  return result(machine.destroyEvent(event));
}
EXPORT hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
  BEGIN_IN(stream);
  return result(machine.record(event, stream));
}
EXPORT hipError_t hipEventQuery(hipEvent_t event) {
  BEGIN(start);
  return result(machine.query(event));
}
EXPORT hipError_t hipEventElapsedTime(float *out, hipEvent_t first, hipEvent_t second) {
  BEGIN(start);
  return result(machine.elapsed(out, first, second));
}
EXPORT hipError_t hipModuleLoadData(hipModule_t *out, const void *image) {
  BEGIN(start);
  return result(machine.loadModule(current, reinterpret_cast<void **>(out), static_cast<const char *>(image)));
}
EXPORT hipError_t hipModuleUnload(hipModule_t module) {
  BEGIN(start);
  return result(machine.unloadModule(module));
}
EXPORT hipError_t hipModuleGetFunction(hipFunction_t *out, hipModule_t module, const char *name) {
  BEGIN(start);
  return result(machine.findFunction(reinterpret_cast<void **>(out), module, name));
}
EXPORT hipError_t hipFuncGetAttribute(int *out, hipFunction_attribute attribute, hipFunction_t handle) {
  BEGIN(start);
  if (!machine.function(handle))
    return result(machine.misuse("an attribute of a function that is none", standin::InvalidHandle));
  *out = attribute == HIP_FUNC_ATTRIBUTE_NUM_REGS ? 40 : 0;
  return hipSuccess;
}
EXPORT hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int *out, hipFunction_t handle, int threads,
                                                                     size_t) {
  BEGIN(start);
  if (!machine.function(handle) || threads < 1)
    return result(machine.misuse("occupancy of nothing", standin::InvalidHandle));
  *out = 1024 / threads;
  return hipSuccess;
}
EXPORT hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned gridX, unsigned gridY, unsigned gridZ,
                                        unsigned blockX, unsigned blockY, unsigned blockZ, unsigned shared,
                                        hipStream_t stream, void **parameters, void **extra) {
  BEGIN(start);
  if (uint64_t{gridX} * blockX > UINT32_MAX)
    return result(machine.misuse("launch of 2^32 work-items or more"));
  return result(machine.launch(current, function, {gridX, gridY, gridZ}, {blockX, blockY, blockZ}, shared, stream,
                               parameters, extra, launchParamEnd));
}
