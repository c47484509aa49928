// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Names of device kinds, and the search among payloads.

#include "tilejit/Device/Device.h"

namespace tilejit {

std::string_view deviceKindName(DeviceKind kind) {
  switch (kind) {
  case DeviceKind::Cpu:
    return "cpu";
  case DeviceKind::Cuda:
    return "cuda";
  case DeviceKind::Hip:
    return "hip";
  case DeviceKind::Sim:
    return "sim";
  }
  return "unknown";
}

const PayloadView *findPayload(std::span<const PayloadView> payloads, abi::PayloadKind kind) {
  for (const PayloadView &payload : payloads)
    if (payload.kind == kind)
      return &payload;
  return nullptr;
}

} // namespace tilejit
