// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Makes devices of NVIDIA and AMD over the vendor's driver, which is opened when it is first asked for and never needed
// to build. What can be wrong with it (missing, too old, no device) has a status each, with what to do.

#ifndef TILEJIT_DEVICE_GPU_H
#define TILEJIT_DEVICE_GPU_H

#include "tilejit/Device/Device.h"

#include <memory>
#include <string>
#include <vector>

namespace tilejit {

namespace gpu {
class GpuDriver;
}

/// libcuda.so.1. Unavailable where it is missing, too old, or does not start.
Expected<std::shared_ptr<gpu::GpuDriver>> openCudaDriver();
/// libamdhip64.so.7, .6, .5, or without number.
Expected<std::shared_ptr<gpu::GpuDriver>> openHipDriver();

struct GpuDeviceOptions {
  int ordinal = 0; ///< As the driver counts.
  int index = 0;   ///< As we count: among the devices that are visible.
  double memoryFraction = 1;
};

/// How many devices the driver has. Unavailable where it has none.
Expected<int> countDevices(gpu::GpuDriver &driver);
Expected<std::unique_ptr<Device>> makeGpuDevice(std::shared_ptr<gpu::GpuDriver> driver,
                                                const GpuDeviceOptions &options);

} // namespace tilejit

#endif // TILEJIT_DEVICE_GPU_H
