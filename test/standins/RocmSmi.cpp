// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A stand-in for librocm_smi64: the symbols of runtime/devices/hip/RocmSmiSymbols.def, for devices at the places that
// the stand-in for HIP gives. They have no edge sensor, like the newest chips.

#include "devices/hip/RocmSmiTypes.h"

#include <cstdio>

using namespace tilejit::hip;

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT rsmi_status_t rsmi_init(uint64_t) { return RSMI_STATUS_SUCCESS; }
EXPORT rsmi_status_t rsmi_shut_down() { return RSMI_STATUS_SUCCESS; }
EXPORT rsmi_status_t rsmi_num_monitor_devices(uint32_t *out) {
  *out = 8;
  return RSMI_STATUS_SUCCESS;
}
EXPORT rsmi_status_t rsmi_dev_pci_id_get(uint32_t device, uint64_t *out) {
  *out = uint64_t{0x20 + device} << 8;
  return RSMI_STATUS_SUCCESS;
}
EXPORT rsmi_status_t rsmi_dev_temp_metric_get(uint32_t, uint32_t sensor, rsmi_temperature_metric_t, int64_t *out) {
  *out = 52'000;
  return sensor == RSMI_TEMP_TYPE_JUNCTION ? RSMI_STATUS_SUCCESS : static_cast<rsmi_status_t>(2);
}
EXPORT rsmi_status_t rsmi_dev_power_ave_get(uint32_t, uint32_t, uint64_t *out) {
  *out = 230'000'000;
  return RSMI_STATUS_SUCCESS;
}
EXPORT rsmi_status_t rsmi_dev_power_cap_get(uint32_t, uint32_t, uint64_t *out) {
  *out = 750'000'000;
  return RSMI_STATUS_SUCCESS;
}
EXPORT rsmi_status_t rsmi_version_str_get(rsmi_sw_component_t, char *out, uint32_t bytes) {
  std::snprintf(out, bytes, "6.12.12");
  return RSMI_STATUS_SUCCESS;
}
