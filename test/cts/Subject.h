// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What the conformance suite of devices is run on: each subject makes a device and has the same kernels for it, over
// rank-1 f32 operands a, b -> c of one size:
//   add:    c = a + b; one kernel, blocks of 64 elements;
//   staged: c = 2 (a + b) in two phases by way of a workspace; fails assertion 2 where a + b is 1e6 or more;
//   say:    prints "at" with i and a[64 i] for each block i; kernels on the CPU have the host's printer instead.

#ifndef TILEJIT_TEST_CTS_SUBJECT_H
#define TILEJIT_TEST_CTS_SUBJECT_H

#include "tilejit/Device/Device.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tilejit::cts {

/// A kernel in the forms that the subject's device takes.
struct Code {
  abi::Manifest manifest;
  std::vector<abi::PayloadKind> kinds;
  std::vector<std::string> bytes;

  std::vector<PayloadView> views() const {
    std::vector<PayloadView> made;
    for (size_t i = 0; i < kinds.size(); ++i)
      made.push_back({kinds[i], bytes[i]});
    return made;
  }
};

struct Subject {
  std::string name; ///< "cpu", "sim:sm_80", "cuda".
  DeviceKind kind = DeviceKind::Cpu;
  std::function<Expected<std::unique_ptr<Device>>()> make;
  Code add;
  Code staged; ///< Without payloads where the device has no such thing, and so is the next.
  Code say;
};

/// All subjects of this build.
std::vector<Subject> subjects();

/// The launch rules of the kernels on GPUs.
abi::GpuLaunch addRules();
abi::GpuLaunch stagedRules();
abi::GpuLaunch sayRules();
/// A manifest of the kernels' operands.
abi::Manifest manifestOf(abi::GpuLaunch rules);
/// LLVM IR with the kernels add, stage, finish and say, for NVIDIA or AMD.
std::string kernelsAsIr(bool nvidia);

} // namespace tilejit::cts

#endif // TILEJIT_TEST_CTS_SUBJECT_H
