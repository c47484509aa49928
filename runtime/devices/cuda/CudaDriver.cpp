// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// CUDA's driver interface behind GpuDriver. A thread enters a device by pushing its primary context, which is the one
// that frameworks use too, and leaves it by popping.

#include "tilejit/Device/Gpu.h"

#include "Types.h"
#include "devices/common/DriverDevice.h"
#include "devices/common/SharedLibrary.h"

#include <array>
#include <map>
#include <mutex>

namespace tilejit::cuda {
namespace {

using gpu::DeviceFacts;
using gpu::Fault;

/// The resolved table.
struct Symbols {
#define NEEDED(symbol, parameters) CUresult(*symbol) parameters = nullptr;
#define OPTIONAL(symbol, parameters) NEEDED(symbol, parameters)
#include "Symbols.def"
#undef NEEDED
#undef OPTIONAL
};

CUdeviceptr address(const void *memory) { return reinterpret_cast<CUdeviceptr>(memory); }
CUstream streamOf(Stream stream) { return static_cast<CUstream>(stream); }
CUevent eventOf(Event event) { return static_cast<CUevent>(event); }

class CudaDriver final : public gpu::GpuDriver {
public:
  explicit CudaDriver(const Symbols &symbols) : call_(symbols) {}

  /// Also learns the driver's version.
  int start() {
    if (int code = call_.cuInit(0))
      return code;
    return call_.cuDriverGetVersion(&version_);
  }

  DeviceKind kind() const override { return DeviceKind::Cuda; }
  std::string version() const override {
    return "CUDA " + std::to_string(version_ / 1000) + "." + std::to_string(version_ % 1000 / 10);
  }
  Fault faultOf(int code) const override;
  std::string textOf(int code) const override;
  std::string updateHint() const override {
    return "update the NVIDIA driver: this one is made for " + version() + "; tilec doctor says what fits together";
  }
  int64_t mostBlocks(int64_t) const override { return INT32_MAX; }

  int count(int &devices) override { return call_.cuDeviceGetCount(&devices); }
  int facts(int ordinal, DeviceFacts &facts) override;
  int canReach(int ordinal, int peer, bool &reaches) override {
    int can = 0;
    int code = call_.cuDeviceCanAccessPeer(&can, ordinal, peer);
    reaches = can != 0;
    return code;
  }
  int enter(int ordinal, void *&previous) override;
  void leave(void *) override {
    CUcontext popped = nullptr;
    call_.cuCtxPopCurrent_v2(&popped);
  }

  int synchronize() override { return call_.cuCtxSynchronize(); }
  int memory(int64_t &freeBytes, int64_t &allBytes) override {
    size_t free = 0, all = 0;
    int code = call_.cuMemGetInfo_v2(&free, &all);
    freeBytes = static_cast<int64_t>(free);
    allBytes = static_cast<int64_t>(all);
    return code;
  }
  int allocate(void *&memory, int64_t bytes) override {
    return give(memory, [&](CUdeviceptr *out) { return call_.cuMemAlloc_v2(out, static_cast<size_t>(bytes)); });
  }
  int allocateManaged(void *&memory, int64_t bytes) override {
    return give(memory, [&](CUdeviceptr *out) {
      return call_.cuMemAllocManaged(out, static_cast<size_t>(bytes), CU_MEM_ATTACH_GLOBAL);
    });
  }
  int release(void *memory) override { return call_.cuMemFree_v2(address(memory)); }
  int copyIn(void *to, const void *from, int64_t bytes) override {
    return call_.cuMemcpyHtoD_v2(address(to), from, static_cast<size_t>(bytes));
  }
  int copyOut(void *to, const void *from, int64_t bytes) override {
    return call_.cuMemcpyDtoH_v2(to, address(from), static_cast<size_t>(bytes));
  }
  int copyInAsync(void *to, const void *from, int64_t bytes, Stream stream) override {
    return call_.cuMemcpyHtoDAsync_v2(address(to), from, static_cast<size_t>(bytes), streamOf(stream));
  }
  int copyOutAsync(void *to, const void *from, int64_t bytes, Stream stream) override {
    return call_.cuMemcpyDtoHAsync_v2(to, address(from), static_cast<size_t>(bytes), streamOf(stream));
  }
  int copyWithin(void *to, const void *from, int64_t bytes, Stream stream) override {
    return call_.cuMemcpyDtoDAsync_v2(address(to), address(from), static_cast<size_t>(bytes), streamOf(stream));
  }
  int clear(void *memory, int64_t bytes, Stream stream) override {
    return call_.cuMemsetD8Async(address(memory), 0, static_cast<size_t>(bytes), streamOf(stream));
  }
  int enablePeer(int peer) override {
    CUcontext context = nullptr;
    if (int code = contextOf(peer, context))
      return code;
    return call_.cuCtxEnablePeerAccess(context, 0);
  }

  int createStream(Stream &stream) override {
    return call_.cuStreamCreate(reinterpret_cast<CUstream *>(&stream), CU_STREAM_NON_BLOCKING);
  }
  int destroyStream(Stream stream) override { return call_.cuStreamDestroy_v2(streamOf(stream)); }
  int synchronizeStream(Stream stream) override { return call_.cuStreamSynchronize(streamOf(stream)); }
  int waitEvent(Stream stream, Event event) override {
    return call_.cuStreamWaitEvent(streamOf(stream), eventOf(event), 0);
  }
  int isCapturing(Stream stream, bool &capturing) override {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    int code = call_.cuStreamIsCapturing ? call_.cuStreamIsCapturing(streamOf(stream), &status) : CUDA_SUCCESS;
    capturing = status != CU_STREAM_CAPTURE_STATUS_NONE;
    return code;
  }
  int createEvent(Event &event) override {
    return call_.cuEventCreate(reinterpret_cast<CUevent *>(&event), CU_EVENT_DEFAULT);
  }
  int destroyEvent(Event event) override { return call_.cuEventDestroy_v2(eventOf(event)); }
  int recordEvent(Event event, Stream stream) override { return call_.cuEventRecord(eventOf(event), streamOf(stream)); }
  int queryEvent(Event event) override { return call_.cuEventQuery(eventOf(event)); }
  int elapsed(float &milliseconds, Event first, Event second) override {
    return call_.cuEventElapsedTime(&milliseconds, eventOf(first), eventOf(second));
  }

  std::initializer_list<abi::PayloadKind> payloadKinds() const override {
    static constexpr std::initializer_list<abi::PayloadKind> kinds = {abi::PayloadKind::Cubin, abi::PayloadKind::Ptx};
    return kinds;
  }
  int loadModule(gpu::DriverModule &module, std::string_view bytes, std::string &log) override;
  int unloadModule(gpu::DriverModule module) override { return call_.cuModuleUnload(static_cast<CUmodule>(module)); }
  int findFunction(gpu::DriverFunction &function, gpu::DriverModule module, const char *name) override {
    return call_.cuModuleGetFunction(reinterpret_cast<CUfunction *>(&function), static_cast<CUmodule>(module), name);
  }
  int functionFacts(gpu::DriverFunction function, gpu::FunctionFacts &facts) override;
  int allowShared(gpu::DriverFunction function, int bytes) override {
    return call_.cuFuncSetAttribute(static_cast<CUfunction>(function), CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                    bytes);
  }
  int blocksPerUnit(int &blocks, gpu::DriverFunction function, int threads, size_t sharedBytes) override {
    return call_.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, static_cast<CUfunction>(function), threads,
                                                             sharedBytes);
  }
  int launch(const gpu::DriverLaunch &launch) override {
    size_t bytes = launch.parameterBytes;
    void *extra[] = {launchParamBufferPointer, launch.parameters, launchParamBufferSize, &bytes, launchParamEnd};
    return call_.cuLaunchKernel(static_cast<CUfunction>(launch.function), launch.blocks, 1, 1, launch.threads, 1, 1,
                                launch.sharedBytes, streamOf(launch.stream), nullptr, extra);
  }

private:
  template <typename Allocate> static int give(void *&memory, Allocate allocate) {
    CUdeviceptr made = 0;
    int code = allocate(&made);
    memory = reinterpret_cast<void *>(made);
    return code;
  }
  int contextOf(int ordinal, CUcontext &context);

  const Symbols call_;
  int version_ = 0;
  std::mutex mutex_;
  std::map<int, CUcontext> contexts_; ///< Primary contexts, retained once and kept.
};

Fault CudaDriver::faultOf(int code) const {
  switch (code) {
  case CUDA_SUCCESS:
    return Fault::None;
  case CUDA_ERROR_NO_DEVICE:
    return Fault::NoDevice;
  case CUDA_ERROR_STUB_LIBRARY:
  case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
  case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    return Fault::OldDriver;
  case CUDA_ERROR_OUT_OF_MEMORY:
    return Fault::OutOfMemory;
  case CUDA_ERROR_NO_BINARY_FOR_GPU:
    return Fault::WrongArchitecture;
  case CUDA_ERROR_INVALID_IMAGE:
  case CUDA_ERROR_INVALID_PTX:
  case CUDA_ERROR_INVALID_SOURCE:
  case CUDA_ERROR_JIT_COMPILER_NOT_FOUND:
  case CUDA_ERROR_NOT_FOUND:
    return Fault::BadModule;
  case CUDA_ERROR_NOT_READY:
    return Fault::NotReady;
  case CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED:
    return Fault::PeerEnabled;
  case CUDA_ERROR_ECC_UNCORRECTABLE:
  case CUDA_ERROR_ILLEGAL_ADDRESS:
  case CUDA_ERROR_LAUNCH_TIMEOUT:
  case CUDA_ERROR_ASSERT:
  case CUDA_ERROR_LAUNCH_FAILED:
    return Fault::Broken;
  default:
    break;
  }
  if (code >= CUDA_ERROR_HARDWARE_STACK_ERROR && code < CUDA_ERROR_LAUNCH_FAILED)
    return Fault::Broken;
  if (code >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED && code <= CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD)
    return Fault::Capturing;
  return Fault::Other;
}

std::string CudaDriver::textOf(int code) const {
  const char *name = nullptr, *text = nullptr;
  auto result = static_cast<CUresult>(code);
  std::string said = call_.cuGetErrorName(result, &name) == CUDA_SUCCESS && name ? name : "CUDA error";
  said += " (" + std::to_string(code) + ")";
  if (call_.cuGetErrorString(result, &text) == CUDA_SUCCESS && text)
    said += std::string(": ") + text;
  return said;
}

int CudaDriver::facts(int ordinal, DeviceFacts &facts) {
  CUdevice device = 0;
  if (int code = call_.cuDeviceGet(&device, ordinal))
    return code;
  char text[256] = "";
  if (int code = call_.cuDeviceGetName(text, sizeof text, device))
    return code;
  facts.name = text;
  size_t bytes = 0;
  if (int code = call_.cuDeviceTotalMem_v2(&bytes, device))
    return code;
  facts.memoryBytes = static_cast<int64_t>(bytes);
  int major = 0, minor = 0, managed = 0;
  struct {
    CUdevice_attribute attribute;
    int *value;
  } wanted[] = {{CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &major},
                {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &minor},
                {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &facts.units},
                {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, &facts.unitThreads},
                {CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, &managed}};
  for (auto [attribute, value] : wanted)
    if (int code = call_.cuDeviceGetAttribute(value, attribute, device))
      return code;
  facts.target = "sm_" + std::to_string(10 * major + minor);
  if (std::string own = facts.target + "a"; parseTarget(own))
    facts.target = own; // What only this chip has, where we know of such a thing.
  facts.hasManaged = managed != 0;
  if (int code = call_.cuDeviceGetPCIBusId(text, sizeof text, device))
    return code;
  facts.bus = text;
  return CUDA_SUCCESS;
}

int CudaDriver::contextOf(int ordinal, CUcontext &context) {
  std::lock_guard lock(mutex_);
  CUcontext &known = contexts_[ordinal];
  if (!known) {
    CUdevice device = 0;
    if (int code = call_.cuDeviceGet(&device, ordinal))
      return code;
    if (int code = call_.cuDevicePrimaryCtxRetain(&known, device))
      return code;
  }
  context = known;
  return CUDA_SUCCESS;
}

int CudaDriver::enter(int ordinal, void *&previous) {
  previous = nullptr;
  CUcontext context = nullptr;
  if (int code = contextOf(ordinal, context))
    return code;
  return call_.cuCtxPushCurrent_v2(context);
}

int CudaDriver::loadModule(gpu::DriverModule &module, std::string_view bytes, std::string &log) {
  std::string image(bytes); // PTX has to end with a NUL.
  std::array<char, 4096> text{};
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {text.data(), reinterpret_cast<void *>(text.size() - 1)};
  int code = call_.cuModuleLoadDataEx(reinterpret_cast<CUmodule *>(&module), image.c_str(), 2, options, values);
  log = text.data();
  return code;
}

int CudaDriver::functionFacts(gpu::DriverFunction function, gpu::FunctionFacts &facts) {
  struct {
    CUfunction_attribute attribute;
    int *value;
  } wanted[] = {{CU_FUNC_ATTRIBUTE_NUM_REGS, &facts.registers},
                {CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, &facts.stackBytes},
                {CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &facts.staticSharedBytes}};
  for (auto [attribute, value] : wanted)
    if (int code = call_.cuFuncGetAttribute(value, attribute, static_cast<CUfunction>(function)))
      return code;
  return CUDA_SUCCESS;
}

} // namespace
} // namespace tilejit::cuda

namespace tilejit {

Expected<std::shared_ptr<gpu::GpuDriver>> openCudaDriver() {
  auto library = gpu::SharedLibrary::open({"libcuda.so.1"});
  if (!library)
    return Status(StatusCode::Unavailable, "there is no NVIDIA driver: " + library.status().message())
        .withHint("install the NVIDIA driver, or in a container pass it in (nvidia-container-toolkit)");
  cuda::Symbols symbols;
  std::string missing;
#define NEEDED(symbol, parameters) library->resolve(symbols.symbol, #symbol, true, missing);
#define OPTIONAL(symbol, parameters) library->resolve(symbols.symbol, #symbol, false, missing);
#include "Symbols.def"
#undef NEEDED
#undef OPTIONAL
  if (!missing.empty())
    return Status(StatusCode::Unavailable, "the NVIDIA driver is too old: " + library->name() + " lacks " + missing)
        .withHint("update the NVIDIA driver to 525 or later");
  auto driver = std::make_shared<cuda::CudaDriver>(symbols);
  if (int code = driver->start())
    return gpu::startFailure(*driver, code);
  return std::shared_ptr<gpu::GpuDriver>(std::move(driver));
}

} // namespace tilejit
