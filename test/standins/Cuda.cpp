// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A stand-in for libcuda.so.1: exactly the symbols of runtime/devices/cuda/Symbols.def.

#include "Machine.h"

#include "devices/cuda/Types.h"

#include <cstdio>
#include <cstring>

using namespace tilejit::cuda;

namespace {

standin::Machine machine("libcuda", "sm_90");
thread_local std::vector<int> contexts; ///< Devices whose contexts the thread has pushed.
bool initialized = false;
std::set<std::pair<int, int>> peers;

/// Contexts are 1 + the device.
CUcontext contextOf(int device) { return reinterpret_cast<CUcontext>(static_cast<intptr_t>(device + 1)); }
int deviceOf(CUcontext context) { return static_cast<int>(reinterpret_cast<intptr_t>(context)) - 1; }
bool isDevice(int device) { return device >= 0 && device < machine.devices(); }

CUresult result(int code) { return static_cast<CUresult>(code); }

/// What begins every call that needs no context.
int start(const char *symbol) {
  if (int code = machine.begin(symbol))
    return code;
  return initialized ? 0 : machine.misuse(std::string(symbol) + " before cuInit", standin::NotInitialized);
}

/// What begins every call that needs one; the device is contexts.back().
int enter(const char *symbol) {
  if (int code = start(symbol))
    return code;
  return contexts.empty() ? machine.misuse(std::string(symbol) + " without a context", standin::InvalidContext) : 0;
}

int version() {
  return std::atoi(std::getenv("TILEJIT_STANDIN_VERSION") ? std::getenv("TILEJIT_STANDIN_VERSION") : "13000");
}

void *pointer(CUdeviceptr address) { return reinterpret_cast<void *>(address); }

} // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))
#define BEGIN(check)                                                                                                   \
  if (int code = check(__func__))                                                                                      \
  return result(code)

EXPORT const char *tilejit_standin_misuse() {
  static thread_local std::string text;
  text = machine.takeMisuse();
  return text.c_str();
}
EXPORT int tilejit_standin_living() { return machine.living(); }
EXPORT int tilejit_standin_contexts() { return static_cast<int>(contexts.size()); }
EXPORT void tilejit_standin_capture(void *stream, int on) { machine.capture(stream, on != 0); }

EXPORT CUresult cuInit(unsigned flags) {
  if (int code = machine.begin(__func__))
    return result(code);
  if (flags != 0)
    return result(machine.misuse("cuInit with flags"));
  if (machine.devices() == 0)
    return result(standin::NoDevice);
  initialized = true;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuDriverGetVersion(int *out) {
  BEGIN(machine.begin);
  *out = version();
  return CUDA_SUCCESS;
}
EXPORT CUresult cuGetErrorName(CUresult code, const char **out) {
  *out = code == CUDA_ERROR_OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_OF_THE_STAND_IN";
  return CUDA_SUCCESS;
}
EXPORT CUresult cuGetErrorString(CUresult, const char **out) {
  *out = "the stand-in says no";
  return CUDA_SUCCESS;
}
EXPORT CUresult cuDeviceGetCount(int *out) {
  BEGIN(start);
  *out = machine.devices();
  return CUDA_SUCCESS;
}
EXPORT CUresult cuDeviceGet(CUdevice *out, int ordinal) {
  BEGIN(start);
  if (!isDevice(ordinal))
    return result(standin::InvalidDevice);
  *out = ordinal;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuDeviceGetName(char *out, int bytes, CUdevice device) {
  BEGIN(start);
  std::snprintf(out, static_cast<size_t>(bytes), "Stand-in %d", device);
  return isDevice(device) ? CUDA_SUCCESS : result(standin::InvalidDevice);
}
EXPORT CUresult cuDeviceTotalMem_v2(size_t *out, CUdevice device) {
  BEGIN(start);
  *out = static_cast<size_t>(machine.memoryBytes());
  return isDevice(device) ? CUDA_SUCCESS : result(standin::InvalidDevice);
}
EXPORT CUresult cuDeviceGetAttribute(int *out, CUdevice_attribute attribute, CUdevice device) {
  BEGIN(start);
  if (!isDevice(device))
    return result(standin::InvalidDevice);
  int arch = std::atoi(machine.arch(device).c_str() + 3);
  switch (attribute) {
  case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
    *out = 132;
    break;
  case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
    *out = 2048;
    break;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
    *out = arch / 10;
    break;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
    *out = arch % 10;
    break;
  case CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY:
    *out = 1;
    break;
  default:
    return result(machine.misuse("an attribute that is not known"));
  }
  return CUDA_SUCCESS;
}
EXPORT CUresult cuDeviceGetPCIBusId(char *out, int bytes, CUdevice device) {
  BEGIN(start);
  std::snprintf(out, static_cast<size_t>(bytes), "0000:%02x:00.0", 0x10 + device);
  return CUDA_SUCCESS;
}
EXPORT CUresult cuDeviceCanAccessPeer(int *out, CUdevice device, CUdevice peer) {
  BEGIN(start);
  *out = device != peer && device / 2 == peer / 2; // In pairs.
  return isDevice(device) && isDevice(peer) ? CUDA_SUCCESS : result(standin::InvalidDevice);
}
EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext *out, CUdevice device) {
  BEGIN(start);
  *out = contextOf(device);
  return isDevice(device) ? CUDA_SUCCESS : result(standin::InvalidDevice);
}
EXPORT CUresult cuCtxPushCurrent_v2(CUcontext context) {
  BEGIN(start);
  if (!isDevice(deviceOf(context)))
    return result(machine.misuse("push of a context that is none", standin::InvalidContext));
  contexts.push_back(deviceOf(context));
  return CUDA_SUCCESS;
}
EXPORT CUresult cuCtxPopCurrent_v2(CUcontext *out) {
  BEGIN(enter);
  *out = contextOf(contexts.back());
  contexts.pop_back();
  return CUDA_SUCCESS;
}
EXPORT CUresult cuCtxSynchronize() {
  BEGIN(enter);
  return result(machine.isAnyCapturing() ? machine.misuse("wait during a capture", standin::CaptureUnsupported) : 0);
}
EXPORT CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
  BEGIN(enter);
  if (flags != 0 || !isDevice(deviceOf(peer)) || contexts.back() / 2 != deviceOf(peer) / 2)
    return result(machine.misuse("peer access that is not possible", standin::PeerUnsupported));
  return peers.insert({contexts.back(), deviceOf(peer)}).second ? CUDA_SUCCESS : result(standin::PeerEnabled);
}
EXPORT CUresult cuMemGetInfo_v2(size_t *free, size_t *total) {
  BEGIN(enter);
  *free = static_cast<size_t>(machine.freeBytes(contexts.back()));
  *total = static_cast<size_t>(machine.memoryBytes());
  return CUDA_SUCCESS;
}
EXPORT CUresult cuMemAlloc_v2(CUdeviceptr *out, size_t bytes) {
  BEGIN(enter);
  return result(machine.allocate(contexts.back(), reinterpret_cast<void **>(out), bytes));
}
EXPORT CUresult cuMemFree_v2(CUdeviceptr address) {
  BEGIN(enter);
  return result(machine.release(contexts.back(), pointer(address)));
}
EXPORT CUresult cuMemAllocManaged(CUdeviceptr *out, size_t bytes, unsigned flags) {
  BEGIN(enter);
  if (flags != CU_MEM_ATTACH_GLOBAL)
    return result(machine.misuse("managed memory with other flags"));
  return result(machine.allocate(contexts.back(), reinterpret_cast<void **>(out), bytes));
}
EXPORT CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes) {
  BEGIN(enter);
  return result(machine.copy(pointer(to), from, bytes, true, false));
}
EXPORT CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes) {
  BEGIN(enter);
  return result(machine.copy(to, pointer(from), bytes, false, true));
}

namespace {
int inStream(CUstream stream) {
  return machine.isStream(stream) ? 0 : machine.misuse("a stream that is none", standin::InvalidHandle);
}
} // namespace

#define BEGIN_IN(stream)                                                                                               \
  BEGIN(enter);                                                                                                        \
  if (int code = inStream(stream))                                                                                     \
  return result(code)

EXPORT CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
  BEGIN_IN(stream);
  return result(machine.copy(pointer(to), from, bytes, true, false));
}
EXPORT CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
  BEGIN_IN(stream);
  return result(machine.copy(to, pointer(from), bytes, false, true));
}
EXPORT CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  BEGIN_IN(stream);
  return result(machine.copy(pointer(to), pointer(from), bytes, true, true));
}
EXPORT CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t bytes, CUstream stream) {
  BEGIN_IN(stream);
  return result(machine.clear(pointer(to), value, bytes));
}
EXPORT CUresult cuStreamCreate(CUstream *out, unsigned flags) {
  BEGIN(enter);
  if (flags > CU_STREAM_NON_BLOCKING)
    return result(machine.misuse("a stream with unknown flags"));
  return result(machine.createStream(contexts.back(), reinterpret_cast<void **>(out)));
}
EXPORT CUresult cuStreamDestroy_v2(CUstream stream) {
  BEGIN(enter);
  return result(machine.destroyStream(stream));
}
EXPORT CUresult cuStreamSynchronize(CUstream stream) {
  BEGIN_IN(stream);
  return result(machine.isCapturing(stream) ? machine.misuse("wait for a captured stream", standin::CaptureUnsupported)
                                            : 0);
}
EXPORT CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  BEGIN_IN(stream);
  return flags != 0 ? result(machine.misuse("wait with flags")) : result(machine.query(event));
}
EXPORT CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *out) {
  BEGIN_IN(stream);
  *out = static_cast<CUstreamCaptureStatus>(machine.isCapturing(stream));
  return CUDA_SUCCESS;
}
EXPORT CUresult cuEventCreate(CUevent *out, unsigned flags) {
  BEGIN(enter);
  if (flags != CU_EVENT_DEFAULT)
    return result(machine.misuse("an event with other flags"));
  return result(machine.createEvent(contexts.back(), reinterpret_cast<void **>(out)));
}
EXPORT CUresult cuEventDestroy_v2(CUevent event) {
  BEGIN(enter);
  return result(machine.destroyEvent(event));
}
EXPORT CUresult cuEventRecord(CUevent event, CUstream stream) {
  BEGIN_IN(stream);
  return result(machine.record(event, stream));
}
EXPORT CUresult cuEventQuery(CUevent event) {
  BEGIN(enter);
  return result(machine.query(event));
}
EXPORT CUresult cuEventElapsedTime(float *out, CUevent first, CUevent second) {
  BEGIN(enter);
  return result(machine.elapsed(out, first, second));
}
EXPORT CUresult cuModuleLoadDataEx(CUmodule *out, const void *image, unsigned count, CUjit_option *options,
                                   void **values) {
  BEGIN(enter);
  int code = machine.loadModule(contexts.back(), reinterpret_cast<void **>(out), static_cast<const char *>(image));
  for (unsigned i = 0; i < count && code != 0; ++i)
    if (options[i] == CU_JIT_ERROR_LOG_BUFFER)
      std::strcpy(static_cast<char *>(values[i]), "the stand-in's compiler has something to say");
  return result(code);
}
EXPORT CUresult cuModuleUnload(CUmodule module) {
  BEGIN(enter);
  return result(machine.unloadModule(module));
}
EXPORT CUresult cuModuleGetFunction(CUfunction *out, CUmodule module, const char *name) {
  BEGIN(enter);
  return result(machine.findFunction(reinterpret_cast<void **>(out), module, name));
}
EXPORT CUresult cuFuncGetAttribute(int *out, CUfunction_attribute attribute, CUfunction handle) {
  BEGIN(enter);
  if (!machine.function(handle))
    return result(machine.misuse("an attribute of a function that is none", standin::InvalidHandle));
  *out = attribute == CU_FUNC_ATTRIBUTE_NUM_REGS ? 40 : 0;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuFuncSetAttribute(CUfunction handle, CUfunction_attribute attribute, int value) {
  BEGIN(enter);
  standin::Function *function = machine.function(handle);
  if (!function || attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value < 0)
    return result(machine.misuse("an attribute that can't be set"));
  if (value > 227 << 10)
    return result(standin::InvalidValue);
  function->dynamicShared = value;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *out, CUfunction handle, int threads, size_t) {
  BEGIN(enter);
  if (!machine.function(handle) || threads < 1)
    return result(machine.misuse("occupancy of nothing", standin::InvalidHandle));
  *out = 1024 / threads;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuLaunchKernel(CUfunction function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                               unsigned blockY, unsigned blockZ, unsigned shared, CUstream stream, void **parameters,
                               void **extra) {
  BEGIN(enter);
  return result(machine.launch(contexts.back(), function, {gridX, gridY, gridZ}, {blockX, blockY, blockZ}, shared,
                               stream, parameters, extra, launchParamEnd));
}
