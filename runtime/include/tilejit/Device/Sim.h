// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Makes simulated devices: GPUs whose kernels run lane by lane on this machine's processor, with all checks of the
// simulator (Simulator/Simulator.h). They need no driver, only the simulator plug-in beside the library.

#ifndef TILEJIT_DEVICE_SIM_H
#define TILEJIT_DEVICE_SIM_H

#include "tilejit/Device/Device.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tilejit {

struct SimDeviceOptions {
  std::string home;    ///< Where the plug-in is looked for beside the library (TILEJIT_HOME); may be empty.
  int64_t threads = 0; ///< Threads of this machine; 0: as many as the process may use.
};

/// Chips that can be simulated, in the order of the devices' numbers. Unavailable where there is no plug-in.
Expected<std::vector<std::string>> simulatedChips(const std::string &home);

/// The simulated chip of that number.
Expected<std::unique_ptr<Device>> makeSimDevice(const SimDeviceOptions &options, int index);

} // namespace tilejit

#endif // TILEJIT_DEVICE_SIM_H
