// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The types of ROCm's system management that RocmSmiSymbols.def mentions.

#ifndef TILEJIT_DEVICES_HIP_ROCMSMITYPES_H
#define TILEJIT_DEVICES_HIP_ROCMSMITYPES_H

#include <cstdint>

namespace tilejit::hip {

enum rsmi_status_t : unsigned { RSMI_STATUS_SUCCESS = 0 };
enum rsmi_temperature_metric_t : unsigned { RSMI_TEMP_CURRENT = 0 };
enum rsmi_sw_component_t : unsigned { RSMI_SW_COMP_DRIVER = 0 };
/// Sensors: not every chip has the first one.
enum : uint32_t { RSMI_TEMP_TYPE_EDGE = 0, RSMI_TEMP_TYPE_JUNCTION = 1 };

} // namespace tilejit::hip

#endif // TILEJIT_DEVICES_HIP_ROCMSMITYPES_H
