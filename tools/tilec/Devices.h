// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The devices of this machine as tilec devices and tilec doctor see them.

#ifndef TILEJIT_TOOLS_TILEC_DEVICES_H
#define TILEJIT_TOOLS_TILEC_DEVICES_H

#include "Program.h"

#include "tilejit/Device/Health.h"

#include <string>
#include <vector>

namespace tilejit::tilec {

/// One device, or why there is none of its kind.
struct FoundDevice {
  DeviceKind kind = DeviceKind::Cpu;
  Device *device = nullptr; ///< Null: `status` says why.
  Status status;
  DeviceHealth health;    ///< Known after addHealth().
  std::vector<int> peers; ///< Numbers of the devices whose memory it reaches; tilec devices asks.

  /// "cuda 0", or the kind alone.
  std::string name() const;
  /// "ok", or what is wrong.
  std::string healthText() const;
  bool isHealthy() const { return health.memoryErrors.value_or(0) == 0; }
};

/// Of all kinds but simulated ones, which are not this machine's.
std::vector<FoundDevice> findDevices(Context &context);
/// Asks each GPU's maker how it is.
void addHealth(std::vector<FoundDevice> &all);

} // namespace tilejit::tilec

#endif // TILEJIT_TOOLS_TILEC_DEVICES_H
