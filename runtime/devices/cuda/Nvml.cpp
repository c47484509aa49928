// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Temperature, power and errors of NVIDIA devices, as far as NVML tells.

#include "tilejit/Device/Health.h"

#include "NvmlTypes.h"
#include "devices/common/SharedLibrary.h"

namespace tilejit {

namespace cuda {
namespace {

struct NvmlSymbols {
#define NEEDED(symbol, parameters) nvmlReturn_t(*symbol) parameters = nullptr;
#include "NvmlSymbols.def"
#undef NEEDED
};

DeviceHealth read(const NvmlSymbols &call, nvmlDevice_t device) {
  DeviceHealth health;
  unsigned value = 0;
  if (call.nvmlDeviceGetTemperature(device, NVML_TEMPERATURE_GPU, &value) == NVML_SUCCESS)
    health.celsius = value;
  if (call.nvmlDeviceGetPowerUsage(device, &value) == NVML_SUCCESS)
    health.watts = value / 1000.0;
  if (call.nvmlDeviceGetEnforcedPowerLimit(device, &value) == NVML_SUCCESS)
    health.wattsLimit = value / 1000.0;
  unsigned long long errors = 0;
  if (call.nvmlDeviceGetTotalEccErrors(device, NVML_MEMORY_ERROR_TYPE_UNCORRECTED, NVML_VOLATILE_ECC, &errors) ==
      NVML_SUCCESS)
    health.memoryErrors = static_cast<int64_t>(errors);
  char version[96] = "";
  if (call.nvmlSystemGetDriverVersion(version, sizeof version) == NVML_SUCCESS)
    health.driver = version;
  return health;
}

} // namespace
} // namespace cuda

Expected<DeviceHealth> nvidiaHealth(const std::string &bus) {
  using namespace cuda;
  TILEJIT_ASSIGN_OR_RETURN(gpu::SharedLibrary library, gpu::SharedLibrary::open({"libnvidia-ml.so.1"}));
  NvmlSymbols symbols;
  std::string missing;
#define NEEDED(symbol, parameters) library.resolve(symbols.symbol, #symbol, true, missing);
#include "NvmlSymbols.def"
#undef NEEDED
  if (!missing.empty())
    return Status(StatusCode::Unavailable, library.name() + " lacks " + missing);
  if (nvmlReturn_t code = symbols.nvmlInit_v2(); code != NVML_SUCCESS)
    return Status(StatusCode::Unavailable, "NVML does not start: error " + std::to_string(code));
  nvmlDevice_t device = nullptr;
  nvmlReturn_t code = symbols.nvmlDeviceGetHandleByPciBusId_v2(bus.c_str(), &device);
  Expected<DeviceHealth> health = Status(StatusCode::Unavailable, "NVML knows no device at " + bus);
  if (code == NVML_SUCCESS)
    health = read(symbols, device);
  symbols.nvmlShutdown();
  return health;
}

} // namespace tilejit
