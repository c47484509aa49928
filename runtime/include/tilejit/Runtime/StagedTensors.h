// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Copies of host tensors in the memory of a kernel's device, for callers whose data lies on the host: made and filled,
// handed to launches, brought back. On devices that work in host memory of any kind (the CPU) nothing is copied.

#ifndef TILEJIT_RUNTIME_STAGEDTENSORS_H
#define TILEJIT_RUNTIME_STAGEDTENSORS_H

#include "tilejit/Runtime/Kernel.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tilejit {

/// The kernel and the host tensors must outlive it. Not thread-safe.
class StagedTensors {
public:
  /// `host` as for Kernel::launch(), all in host memory. Shapes, strides and offsets are kept, alignment up to 64 bytes
  /// too. Inputs are copied in. Outputs of a simulated device begin as memory that nobody wrote, others as they are.
  static Expected<StagedTensors> make(const Kernel &kernel, std::span<const DLTensor *const> host);
  StagedTensors(StagedTensors &&) = default;
  StagedTensors &operator=(StagedTensors &&) = default;
  ~StagedTensors();

  /// For Kernel::launch(); valid as long as this object.
  std::span<const DLTensor *const> tensors() const { return pointers_; }
  /// Brings the outputs' elements to the host tensors. Launches must be done.
  Status copyOut() const;

private:
  struct Copy {
    const DLTensor *host = nullptr;
    DLTensor onDevice{};
    void *memory = nullptr;  ///< Null: the host tensor itself is used.
    int64_t firstOffset = 0; ///< Bytes from element 0 to the lowest address; not positive.
    int64_t spanBytes = 0;   ///< From there past the highest one.
    bool isOutput = false;
  };

  StagedTensors(const Kernel &kernel) : device_(&kernel.device()) {}
  Status add(const DLTensor &host, const std::string &name, bool isOutput);
  template <typename CopyRun> static Status forEachRun(const Copy &copy, CopyRun copyRun);

  Device *device_;
  std::vector<std::unique_ptr<Copy>> copies_;
  std::vector<const DLTensor *> pointers_;
};

} // namespace tilejit

#endif // TILEJIT_RUNTIME_STAGEDTENSORS_H
