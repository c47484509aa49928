// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Temperature and power of AMD devices, as far as ROCm's system management tells.

#include "tilejit/Device/Health.h"

#include "HsaChips.h"
#include "RocmSmiTypes.h"
#include "devices/common/SharedLibrary.h"

namespace tilejit {

namespace hip {
namespace {

struct RocmSmiSymbols {
#define NEEDED(symbol, parameters) rsmi_status_t(*symbol) parameters = nullptr;
#include "RocmSmiSymbols.def"
#undef NEEDED
};

DeviceHealth read(const RocmSmiSymbols &call, uint32_t device) {
  DeviceHealth health;
  for (uint32_t sensor : {RSMI_TEMP_TYPE_EDGE, RSMI_TEMP_TYPE_JUNCTION})
    if (int64_t value = 0; !health.celsius && call.rsmi_dev_temp_metric_get(device, sensor, RSMI_TEMP_CURRENT,
                                                                            &value) == RSMI_STATUS_SUCCESS)
      health.celsius = static_cast<double>(value) / 1000;
  uint64_t microwatts = 0;
  if (call.rsmi_dev_power_ave_get(device, 0, &microwatts) == RSMI_STATUS_SUCCESS)
    health.watts = static_cast<double>(microwatts) * 1e-6;
  if (call.rsmi_dev_power_cap_get(device, 0, &microwatts) == RSMI_STATUS_SUCCESS)
    health.wattsLimit = static_cast<double>(microwatts) * 1e-6;
  char version[256] = "";
  if (call.rsmi_version_str_get(RSMI_SW_COMP_DRIVER, version, sizeof version) == RSMI_STATUS_SUCCESS)
    health.driver = version;
  return health;
}

/// The library's number of the device at a place.
bool findDevice(const RocmSmiSymbols &call, const std::string &bus, uint32_t &device) {
  uint32_t count = 0;
  if (call.rsmi_num_monitor_devices(&count) != RSMI_STATUS_SUCCESS)
    return false;
  for (device = 0; device < count; ++device)
    if (uint64_t place = 0; call.rsmi_dev_pci_id_get(device, &place) == RSMI_STATUS_SUCCESS &&
                            busOf(static_cast<unsigned>(place >> 32), static_cast<unsigned>(place)) == bus)
      return true;
  return false;
}

} // namespace
} // namespace hip

Expected<DeviceHealth> amdHealth(const std::string &bus) {
  using namespace hip;
  TILEJIT_ASSIGN_OR_RETURN(gpu::SharedLibrary library,
                           gpu::SharedLibrary::open({"librocm_smi64.so.7", "librocm_smi64.so.6", "librocm_smi64.so.5",
                                                     "librocm_smi64.so.1", "librocm_smi64.so"}));
  RocmSmiSymbols symbols;
  std::string missing;
#define NEEDED(symbol, parameters) library.resolve(symbols.symbol, #symbol, true, missing);
#include "RocmSmiSymbols.def"
#undef NEEDED
  if (!missing.empty())
    return Status(StatusCode::Unavailable, library.name() + " lacks " + missing);
  if (rsmi_status_t code = symbols.rsmi_init(0); code != RSMI_STATUS_SUCCESS)
    return Status(StatusCode::Unavailable, "ROCm SMI does not start: error " + std::to_string(code));
  uint32_t device = 0;
  Expected<DeviceHealth> health = Status(StatusCode::Unavailable, "ROCm SMI knows no device at " + bus);
  if (findDevice(symbols, bus, device))
    health = read(symbols, device);
  symbols.rsmi_shut_down();
  return health;
}

} // namespace tilejit
