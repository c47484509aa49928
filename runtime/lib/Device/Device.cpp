// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Names of device kinds.

#include "tilejit/Device/Device.h"

namespace tilejit {

std::string_view deviceKindName(DeviceKind kind) {
  switch (kind) {
  case DeviceKind::Cpu:
    return "cpu";
  }
  return "unknown";
}

} // namespace tilejit
