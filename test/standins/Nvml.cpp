// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A stand-in for libnvidia-ml.so.1: the symbols of runtime/devices/cuda/NvmlSymbols.def, for devices at the places that
// the stand-in for CUDA gives.

#include "devices/cuda/NvmlTypes.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace tilejit::cuda;

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT nvmlReturn_t nvmlInit_v2() { return NVML_SUCCESS; }
EXPORT nvmlReturn_t nvmlShutdown() { return NVML_SUCCESS; }
EXPORT nvmlReturn_t nvmlSystemGetDriverVersion(char *out, unsigned bytes) {
  std::snprintf(out, bytes, "580.65.06");
  return NVML_SUCCESS;
}
EXPORT nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char *bus, nvmlDevice_t *out) {
  long number = std::strlen(bus) > 5 ? std::strtol(bus + 5, nullptr, 16) : 0; // After the domain.
  *out = reinterpret_cast<nvmlDevice_t>(number);
  return number >= 0x10 ? NVML_SUCCESS : static_cast<nvmlReturn_t>(6);
}
EXPORT nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t, nvmlTemperatureSensors_t, unsigned *out) {
  *out = 41;
  return NVML_SUCCESS;
}
EXPORT nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t, unsigned *out) {
  *out = 123'000;
  return NVML_SUCCESS;
}
EXPORT nvmlReturn_t nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t, unsigned *out) {
  *out = 700'000;
  return NVML_SUCCESS;
}
EXPORT nvmlReturn_t nvmlDeviceGetTotalEccErrors(nvmlDevice_t device, nvmlMemoryErrorType_t, nvmlEccCounterType_t,
                                                unsigned long long *out) {
  *out = device == reinterpret_cast<nvmlDevice_t>(0x11) ? 3 : 0; // The second device has seen better days.
  return NVML_SUCCESS;
}
