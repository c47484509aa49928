// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// How a GPU is, from the libraries with which its maker watches it (libnvidia-ml.so.1, librocm_smi64). They are opened
// when asked, and nothing depends on them.

#ifndef TILEJIT_DEVICE_HEALTH_H
#define TILEJIT_DEVICE_HEALTH_H

#include "tilejit/Base/Status.h"

#include <cstdint>
#include <optional>
#include <string>

namespace tilejit {

struct DeviceHealth {
  std::optional<double> celsius, watts, wattsLimit;
  std::optional<int64_t> memoryErrors; ///< That could not be corrected, since the driver was loaded.
  std::string driver;                  ///< The kernel driver's version: "580.65.06"; empty: not told.
};

/// Of the device at that place ("0000:3b:00.0"). Unavailable where the library is missing or knows no such device.
Expected<DeviceHealth> nvidiaHealth(const std::string &bus);
Expected<DeviceHealth> amdHealth(const std::string &bus);

} // namespace tilejit

#endif // TILEJIT_DEVICE_HEALTH_H
