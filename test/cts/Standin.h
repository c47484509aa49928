// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The stand-ins for the vendors' drivers as tests see them: what they are told by environment, what they have seen.

#ifndef TILEJIT_TEST_CTS_STANDIN_H
#define TILEJIT_TEST_CTS_STANDIN_H

#include "Subject.h"

#include "tilejit/Device/Gpu.h"

#include <cstdlib>
#include <dlfcn.h>
#include <string>

namespace tilejit::cts {

/// An environment variable for as long as this lives.
class Variable {
public:
  Variable(const char *name, const std::string &value) : name_(name) { setenv(name, value.c_str(), 1); }
  Variable(const Variable &) = delete;
  Variable &operator=(const Variable &) = delete;
  ~Variable() { unsetenv(name_); }

private:
  const char *name_;
};

class Standin {
public:
  explicit Standin(DeviceKind kind)
      : kind(kind), library_(dlopen(kind == DeviceKind::Cuda ? "libcuda.so.1" : "libamdhip64.so.6", RTLD_NOW)) {}

  /// What was done wrong since the last call; empty: nothing.
  std::string misuse() const { return call<const char *>("tilejit_standin_misuse"); }
  /// Allocations, streams, events and modules that are there.
  int living() const { return call<int>("tilejit_standin_living"); }
  /// 0 where the thread was given back what it had.
  int contexts() const { return call<int>("tilejit_standin_contexts"); }
  void capture(Stream stream, bool on) const {
    reinterpret_cast<void (*)(void *, int)>(dlsym(library_, "tilejit_standin_capture"))(stream, on);
  }

  Expected<std::shared_ptr<gpu::GpuDriver>> open() const {
    return kind == DeviceKind::Cuda ? openCudaDriver() : openHipDriver();
  }
  Expected<std::unique_ptr<Device>> make(const GpuDeviceOptions &options = {}) const {
    TILEJIT_ASSIGN_OR_RETURN(std::shared_ptr<gpu::GpuDriver> driver, open());
    return makeGpuDevice(std::move(driver), options);
  }
  std::string arch() const { return kind == DeviceKind::Cuda ? "sm_90" : "gfx942"; }
  abi::PayloadKind payload() const {
    return kind == DeviceKind::Cuda ? abi::PayloadKind::Cubin : abi::PayloadKind::Hsaco;
  }
  Code code(abi::GpuLaunch rules) const {
    return {
        manifestOf(std::move(rules)),
        {payload()},
        {"tilejit stand-in\narch " + arch() + "\nkernel add 13\nkernel stage 14\nkernel finish 15\nkernel say 14\n"}};
  }
  Subject subject() const {
    Standin self = *this;
    return {std::string(deviceKindName(kind)),
            kind,
            [self] { return self.make(); },
            code(addRules()),
            code(stagedRules()),
            code(sayRules())};
  }

  const DeviceKind kind;

private:
  template <typename Result> Result call(const char *name) const {
    return reinterpret_cast<Result (*)()>(dlsym(library_, name))();
  }
  void *library_;
};

} // namespace tilejit::cts

#endif // TILEJIT_TEST_CTS_STANDIN_H
