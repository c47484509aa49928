// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The launch rules of a GPU payload (ABI/GpuLaunch.h) made ready: checked once when the payload is loaded, evaluated at
// each launch without allocating. A damaged rule is refused, never followed.

#ifndef TILEJIT_DEVICES_COMMON_GPUPROGRAM_H
#define TILEJIT_DEVICES_COMMON_GPUPROGRAM_H

#include "tilejit/ABI/GpuLaunch.h"
#include "tilejit/Base/Status.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace tilejit::gpu {

/// More than any launch of ours has, one after the other.
inline constexpr size_t maxPlannedKernels = 16;

/// One kernel of a launch: its number and its program instances.
struct PlannedKernel {
  size_t kernel = 0;
  std::array<int64_t, 3> counts{};
  int64_t instances = 0; ///< Their product; at least 1.
};

/// What a launch does, in order. Kernels without instances are left out.
struct GpuPlan {
  std::array<PlannedKernel, maxPlannedKernels> kernels;
  size_t count = 0;
  int64_t workspaceBytes = 0; ///< Enough for each of them.
  int64_t path = 0;           ///< Number of the first kernel among those of its phase: index of the code path.
  bool usesStatus = false, usesPrinter = false;

  std::span<const PlannedKernel> planned() const { return {kernels.data(), count}; }
};

class GpuProgram {
public:
  /// DeviceFailed where the rules can't be followed: says which.
  static Expected<GpuProgram> make(abi::GpuLaunch launch);

  const std::vector<abi::GpuKernel> &kernels() const { return launch_.kernels; }
  const std::vector<abi::GpuPrint> &prints() const { return launch_.prints; }
  /// Which kernels run for these arguments. `grid` is null or three counts. DeviceFailed where the rules give what
  /// can't be (a negative count, a number beyond 64 bits); InvalidArgument where a grid is missing.
  Status plan(std::span<const int64_t> slots, const int64_t *grid, GpuPlan &plan) const;
  /// Of the plan for these arguments.
  Expected<int64_t> workspaceBytes(std::span<const int64_t> slots, const int64_t *grid) const;

private:
  explicit GpuProgram(abi::GpuLaunch launch) : launch_(std::move(launch)) {}
  Status check();
  Status checkExpr(const abi::LaunchExpr &expr) const;

  abi::GpuLaunch launch_; ///< Kernels in ascending order of their phases.
  size_t slotsUsed_ = 0;  ///< Rules use slots below this.
};

/// Device memory that a launch brings beside its operands.
struct LaunchMemory {
  const void *workspace = nullptr;
  const void *status = nullptr;  ///< The word for assertions.
  const void *printer = nullptr; ///< The buffer for what is printed.
};

/// Parameters of one kernel launch, packed as the driver takes them: 64-bit words in a row.
class GpuParameters {
public:
  /// Words that come after the slots at most: workspace, status, printer, three counts, first instance.
  static constexpr size_t mostExtra = 7;

  /// `room` holds at least slots.size() + mostExtra words and outlives this object.
  GpuParameters(std::span<const int64_t> slots, int64_t *room);
  /// Fills in what comes after the slots; the same room serves one kernel after the other.
  void fill(const abi::GpuKernel &kernel, const PlannedKernel &planned, const LaunchMemory &memory);
  /// A launch that begins with instance `first`.
  void setFirst(int64_t first) { words_[count_ - 1] = first; }

  std::span<const int64_t> words() const { return {words_, count_}; }
  int64_t *data() { return words_; }
  size_t bytes() const { return count_ * sizeof(int64_t); }

private:
  int64_t *words_;
  size_t slots_, count_ = 0;
};

/// Calls launch(first, blocks) for each part of a grid of so many instances, `most` blocks at a time, while it gives
/// true; whether all did.
template <typename Launch> bool forEachPart(int64_t instances, int64_t most, Launch launch) {
  for (int64_t first = 0; first < instances; first += most)
    if (!launch(first, std::min(most, instances - first)))
      return false;
  return true;
}

} // namespace tilejit::gpu

#endif // TILEJIT_DEVICES_COMMON_GPUPROGRAM_H
