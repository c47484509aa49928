// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Devices and launches through the C interface of libtilejit, as any host has them. Nothing is compiled.

#ifndef TILEJIT_TEST_E2E_GPU_DEVICERUN_H
#define TILEJIT_TEST_E2E_GPU_DEVICERUN_H

#include "CaseFolder.h"

#include "tilejit-c/tilejit.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tilejit::e2e {

/// A kind of device by the name that the command line gives it.
struct DeviceKindName {
  std::string_view name;
  DLDeviceType type;
};
/// "cpu", "cuda", "hip", "sim".
const std::vector<DeviceKindName> &deviceKinds();

struct RunDevice {
  DLDevice place;
  std::string kind, chip, target;

  /// "cuda 0 (sm_90a)".
  std::string title() const;
};

/// libtilejit with settings from the environment and without a cache.
class Session {
public:
  static Expected<Session> open();

  /// All devices of a kind, at least one; else the status says why there is none.
  Expected<std::vector<RunDevice>> devices(const DeviceKindName &kind) const;
  /// Takes the code for the device out of the case's package, launches it once on copies of the inputs, and brings the
  /// outputs back. They begin as bytes of ones, so that what a kernel leaves out shows.
  Expected<std::vector<HostTensor>> run(const std::string &package, const Case &data, const RunDevice &device) const;

private:
  using ContextHandle = std::unique_ptr<tilejit_context_s, decltype(&tilejit_context_release)>;
  explicit Session(tilejit_context_t context) : context_(context, tilejit_context_release) {}
  ContextHandle context_;
};

} // namespace tilejit::e2e

#endif // TILEJIT_TEST_E2E_GPU_DEVICERUN_H
