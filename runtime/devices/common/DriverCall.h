// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// How DriverDevice makes a call: inside its device, with a status for what goes wrong. For its .cpp files.

#ifndef TILEJIT_DEVICES_COMMON_DRIVERCALL_H
#define TILEJIT_DEVICES_COMMON_DRIVERCALL_H

#include "devices/common/DriverDevice.h"

namespace tilejit::gpu {

template <typename Body> Status DriverDevice::inside(const char *what, Body call) const {
  TILEJIT_RETURN_IF_ERROR(usable());
  Entered entered(*driver_, ordinal_);
  int code = entered.code() != 0 ? entered.code() : call();
  return code == 0 ? Status::ok() : failure(*driver_, code, what);
}

} // namespace tilejit::gpu

#endif // TILEJIT_DEVICES_COMMON_DRIVERCALL_H
