// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// HIP behind GpuDriver. A thread enters a device by making it its current one and gets the one back that it had. Which
// chip a device is comes from HSA, the layer below, whose interface has not changed: HIP's own answer is in a struct
// that is another one in each version.

#include "tilejit/Device/Gpu.h"

#include "HsaChips.h"
#include "Types.h"
#include "devices/common/DriverDevice.h"
#include "devices/common/SharedLibrary.h"

namespace tilejit::hip {
namespace {

using gpu::DeviceFacts;
using gpu::Fault;

/// The resolved table.
struct Symbols {
#define NEEDED(symbol, result, parameters) result(*symbol) parameters = nullptr;
#define OPTIONAL(symbol, result, parameters) NEEDED(symbol, result, parameters)
#include "Symbols.def"
#undef NEEDED
#undef OPTIONAL
};

hipStream_t streamOf(Stream stream) { return static_cast<hipStream_t>(stream); }
hipEvent_t eventOf(Event event) { return static_cast<hipEvent_t>(event); }

class HipDriver final : public gpu::GpuDriver {
public:
  explicit HipDriver(const Symbols &symbols) : call_(symbols) {}

  /// Also learns the version and which chips there are.
  int start() {
    if (int code = call_.hipInit(0))
      return code;
    chips_ = readHsaChips();
    return call_.hipRuntimeGetVersion(&version_);
  }

  DeviceKind kind() const override { return DeviceKind::Hip; }
  std::string version() const override {
    return "HIP " + std::to_string(version_ / 10'000'000) + "." + std::to_string(version_ % 10'000'000 / 100'000);
  }
  Fault faultOf(int code) const override;
  std::string textOf(int code) const override {
    auto error = static_cast<hipError_t>(code);
    const char *name = call_.hipGetErrorName(error), *text = call_.hipGetErrorString(error);
    return std::string(name ? name : "HIP error") + " (" + std::to_string(code) + ")" +
           (text ? std::string(": ") + text : "");
  }
  std::string updateHint() const override {
    return "update ROCm and its kernel driver: this is " + version() + "; tilec doctor says what fits together";
  }
  /// HIP counts work-items: their product has to fit into 32 bits.
  int64_t mostBlocks(int64_t threads) const override { return UINT32_MAX / threads; }

  int count(int &devices) override { return call_.hipGetDeviceCount(&devices); }
  int facts(int ordinal, DeviceFacts &facts) override;
  int canReach(int ordinal, int peer, bool &reaches) override {
    int can = 0;
    int code = call_.hipDeviceCanAccessPeer(&can, ordinal, peer);
    reaches = can != 0;
    return code;
  }
  int enter(int ordinal, void *&previous) override {
    int before = 0;
    if (int code = call_.hipGetDevice(&before))
      return code;
    previous = reinterpret_cast<void *>(static_cast<intptr_t>(before));
    return before == ordinal ? 0 : call_.hipSetDevice(ordinal);
  }
  void leave(void *previous) override {
    int now = 0, before = static_cast<int>(reinterpret_cast<intptr_t>(previous));
    if (call_.hipGetDevice(&now) == hipSuccess && now != before)
      call_.hipSetDevice(before);
  }

  int synchronize() override { return call_.hipDeviceSynchronize(); }
  int memory(int64_t &freeBytes, int64_t &allBytes) override {
    size_t free = 0, all = 0;
    int code = call_.hipMemGetInfo(&free, &all);
    freeBytes = static_cast<int64_t>(free);
    allBytes = static_cast<int64_t>(all);
    return code;
  }
  int allocate(void *&memory, int64_t bytes) override { return call_.hipMalloc(&memory, static_cast<size_t>(bytes)); }
  int allocateManaged(void *&memory, int64_t bytes) override {
    return call_.hipMallocManaged(&memory, static_cast<size_t>(bytes), memAttachGlobal);
  }
  int release(void *memory) override { return call_.hipFree(memory); }
  int copyIn(void *to, const void *from, int64_t bytes) override {
    return copy(to, from, bytes, hipMemcpyHostToDevice);
  }
  int copyOut(void *to, const void *from, int64_t bytes) override {
    return copy(to, from, bytes, hipMemcpyDeviceToHost);
  }
  int copyInAsync(void *to, const void *from, int64_t bytes, Stream stream) override {
    return copyAsync(to, from, bytes, hipMemcpyHostToDevice, stream);
  }
  int copyOutAsync(void *to, const void *from, int64_t bytes, Stream stream) override {
    return copyAsync(to, from, bytes, hipMemcpyDeviceToHost, stream);
  }
  int copyWithin(void *to, const void *from, int64_t bytes, Stream stream) override {
    return copyAsync(to, from, bytes, hipMemcpyDeviceToDevice, stream);
  }
  int clear(void *memory, int64_t bytes, Stream stream) override {
    return call_.hipMemsetAsync(memory, 0, static_cast<size_t>(bytes), streamOf(stream));
  }
  int enablePeer(int peer) override { return call_.hipDeviceEnablePeerAccess(peer, 0); }

  int createStream(Stream &stream) override {
    return call_.hipStreamCreateWithFlags(reinterpret_cast<hipStream_t *>(&stream), streamNonBlocking);
  }
  int destroyStream(Stream stream) override { return call_.hipStreamDestroy(streamOf(stream)); }
  int synchronizeStream(Stream stream) override { return call_.hipStreamSynchronize(streamOf(stream)); }
  int waitEvent(Stream stream, Event event) override {
    return call_.hipStreamWaitEvent(streamOf(stream), eventOf(event), 0);
  }
  int isCapturing(Stream stream, bool &capturing) override {
    hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
    int code = call_.hipStreamIsCapturing ? call_.hipStreamIsCapturing(streamOf(stream), &status) : hipSuccess;
    capturing = status != hipStreamCaptureStatusNone;
    return code;
  }
  int createEvent(Event &event) override {
    return call_.hipEventCreateWithFlags(reinterpret_cast<hipEvent_t *>(&event), eventDefault);
  }
  int destroyEvent(Event event) override { return call_.hipEventDestroy(eventOf(event)); }
  int recordEvent(Event event, Stream stream) override {
    return call_.hipEventRecord(eventOf(event), streamOf(stream));
  }
  int queryEvent(Event event) override { return call_.hipEventQuery(eventOf(event)); }
  int elapsed(float &milliseconds, Event first, Event second) override {
    return call_.hipEventElapsedTime(&milliseconds, eventOf(first), eventOf(second));
  }

  std::initializer_list<abi::PayloadKind> payloadKinds() const override {
    static constexpr std::initializer_list<abi::PayloadKind> kinds = {abi::PayloadKind::Hsaco};
    return kinds;
  }
  int loadModule(gpu::DriverModule &module, std::string_view bytes, std::string &) override {
    return call_.hipModuleLoadData(reinterpret_cast<hipModule_t *>(&module), bytes.data());
  }
  int unloadModule(gpu::DriverModule module) override {
    return call_.hipModuleUnload(static_cast<hipModule_t>(module));
  }
  int findFunction(gpu::DriverFunction &function, gpu::DriverModule module, const char *name) override {
    return call_.hipModuleGetFunction(reinterpret_cast<hipFunction_t *>(&function), static_cast<hipModule_t>(module),
                                      name);
  }
  int functionFacts(gpu::DriverFunction function, gpu::FunctionFacts &facts) override;
  int allowShared(gpu::DriverFunction, int) override { return 0; } // HIP asks for no leave.
  int blocksPerUnit(int &blocks, gpu::DriverFunction function, int threads, size_t sharedBytes) override {
    return call_.hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, static_cast<hipFunction_t>(function),
                                                                    threads, sharedBytes);
  }
  int launch(const gpu::DriverLaunch &launch) override {
    size_t bytes = launch.parameterBytes;
    void *extra[] = {launchParamBufferPointer, launch.parameters, launchParamBufferSize, &bytes, launchParamEnd};
    return call_.hipModuleLaunchKernel(static_cast<hipFunction_t>(launch.function), launch.blocks, 1, 1, launch.threads,
                                       1, 1, launch.sharedBytes, streamOf(launch.stream), nullptr, extra);
  }

private:
  int copy(void *to, const void *from, int64_t bytes, hipMemcpyKind kind) {
    return call_.hipMemcpy(to, from, static_cast<size_t>(bytes), kind);
  }
  int copyAsync(void *to, const void *from, int64_t bytes, hipMemcpyKind kind, Stream stream) {
    return call_.hipMemcpyAsync(to, from, static_cast<size_t>(bytes), kind, streamOf(stream));
  }

  const Symbols call_;
  int version_ = 0;
  HsaChips chips_;
};

Fault HipDriver::faultOf(int code) const {
  switch (code) {
  case hipSuccess:
    return Fault::None;
  case hipErrorNoDevice:
    return Fault::NoDevice;
  case hipErrorInsufficientDriver:
    return Fault::OldDriver;
  case hipErrorOutOfMemory:
    return Fault::OutOfMemory;
  case hipErrorNoBinaryForGpu:
    return Fault::WrongArchitecture;
  case hipErrorInvalidImage:
  case hipErrorInvalidKernelFile:
  case hipErrorSharedObjectInitFailed:
  case hipErrorNotFound:
    return Fault::BadModule;
  case hipErrorNotReady:
    return Fault::NotReady;
  case hipErrorPeerAccessAlreadyEnabled:
    return Fault::PeerEnabled;
  case hipErrorECCNotCorrectable:
  case hipErrorIllegalAddress:
  case hipErrorLaunchTimeOut:
  case hipErrorAssert:
  case hipErrorLaunchFailure:
    return Fault::Broken;
  default:
    break;
  }
  bool isCapture = code >= hipErrorStreamCaptureUnsupported && code <= hipErrorStreamCaptureWrongThread;
  return isCapture ? Fault::Capturing : Fault::Other;
}

int HipDriver::facts(int ordinal, DeviceFacts &facts) {
  char text[256] = "";
  if (int code = call_.hipDeviceGetName(text, sizeof text, ordinal))
    return code;
  facts.name = text;
  size_t bytes = 0;
  if (int code = call_.hipDeviceTotalMem(&bytes, ordinal))
    return code;
  facts.memoryBytes = static_cast<int64_t>(bytes);
  int managed = 0;
  struct {
    hipDeviceAttribute_t attribute;
    int *value;
  } wanted[] = {{hipDeviceAttributeMultiprocessorCount, &facts.units},
                {hipDeviceAttributeMaxThreadsPerMultiProcessor, &facts.unitThreads},
                {hipDeviceAttributeManagedMemory, &managed}};
  for (auto [attribute, value] : wanted)
    if (int code = call_.hipDeviceGetAttribute(value, attribute, ordinal))
      return code;
  facts.hasManaged = managed != 0;
  if (int code = call_.hipDeviceGetPCIBusId(text, sizeof text, ordinal))
    return code;
  facts.bus = text;
  facts.target = chips_.at(facts.bus);
  if (facts.name.empty())
    facts.name = "AMD " + facts.target; // Some drivers know no other name.
  return hipSuccess;
}

int HipDriver::functionFacts(gpu::DriverFunction function, gpu::FunctionFacts &facts) {
  struct {
    hipFunction_attribute attribute;
    int *value;
  } wanted[] = {{HIP_FUNC_ATTRIBUTE_NUM_REGS, &facts.registers},
                {HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, &facts.stackBytes},
                {HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &facts.staticSharedBytes}};
  for (auto [attribute, value] : wanted)
    if (int code = call_.hipFuncGetAttribute(value, attribute, static_cast<hipFunction_t>(function)))
      return code;
  return hipSuccess;
}

} // namespace
} // namespace tilejit::hip

namespace tilejit {

Expected<std::shared_ptr<gpu::GpuDriver>> openHipDriver() {
  auto library =
      gpu::SharedLibrary::open({"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"});
  if (!library)
    return Status(StatusCode::Unavailable, "there is no HIP: " + library.status().message())
        .withHint("install ROCm's HIP runtime, and the folder of libamdhip64.so in the loader's path");
  hip::Symbols symbols;
  std::string missing;
#define NEEDED(symbol, result, parameters) library->resolve(symbols.symbol, #symbol, true, missing);
#define OPTIONAL(symbol, result, parameters) library->resolve(symbols.symbol, #symbol, false, missing);
#include "Symbols.def"
#undef NEEDED
#undef OPTIONAL
  if (!missing.empty())
    return Status(StatusCode::Unavailable, "HIP is too old: " + library->name() + " lacks " + missing)
        .withHint("update ROCm to 5.2 or later");
  auto driver = std::make_shared<hip::HipDriver>(symbols);
  if (int code = driver->start())
    return gpu::startFailure(*driver, code);
  return std::shared_ptr<gpu::GpuDriver>(std::move(driver));
}

} // namespace tilejit
