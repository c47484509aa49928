// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The devices of a context, each made when it is first asked for, and which of them runs code for a target.

#ifndef TILEJIT_LIB_RUNTIME_DEVICETABLE_H
#define TILEJIT_LIB_RUNTIME_DEVICETABLE_H

#include "tilejit/Base/Settings.h"
#include "tilejit/Device/Cpu.h"
#include "tilejit/Device/Device.h"
#include "tilejit/Device/Fork.h"
#include "tilejit/Device/Gpu.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tilejit {

/// Thread-safe.
class DeviceTable {
public:
  DeviceTable(const Settings &settings, const Executor &executor) : settings_(settings), executor_(executor) {}

  /// How many devices of a kind there are. Unavailable says why there can't be any: no driver, no plug-in.
  Expected<int> count(DeviceKind kind);
  /// Unavailable where there is no such device.
  Expected<Device *> get(DeviceKind kind, int index);
  /// The device that runs code for the target: of that number, or, for a negative one, the first that does.
  /// Unavailable says what would be needed.
  Expected<Device *> forTarget(const TargetSpec &target, int index);

  /// A vendor's driver and the numbers that it gives to the devices that are visible, in our order.
  struct Gpus {
    std::shared_ptr<gpu::GpuDriver> driver;
    std::vector<int> ordinals;
  };
  /// Unavailable says why there are none; InvalidArgument for a setting visible_devices that can't be read.
  Expected<Gpus> gpus(DeviceKind kind);

private:
  Expected<Gpus> findGpus(DeviceKind kind) const;
  Expected<std::unique_ptr<Device>> makeCpu();
  Expected<std::unique_ptr<Device>> make(DeviceKind kind, int index);
  Expected<Device *> simulatorOf(const TargetSpec &target);
  Expected<Device *> gpuFor(const TargetSpec &target, int index);
  Status fitsHost(const TargetSpec &target);

  const Settings &settings_; ///< Of the context, which outlives this.
  const Executor executor_;
  ForkMutex mutex_;
  std::map<std::pair<DeviceKind, int>, std::unique_ptr<Device>> devices_;
  std::map<DeviceKind, Expected<Gpus>> gpus_;
  std::map<std::string, Status> fits_; ///< By keyText: reading CPUID takes long under a hypervisor.
};

} // namespace tilejit

#endif // TILEJIT_LIB_RUNTIME_DEVICETABLE_H
