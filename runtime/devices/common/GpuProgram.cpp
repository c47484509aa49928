// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Launch rules: a stack machine over 64-bit integers that refuses to overflow.

#include "devices/common/GpuProgram.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace tilejit::gpu {

namespace {

using Op = abi::LaunchExpr::Op;

constexpr int64_t maxWorkspaceBytes = int64_t{1} << 46;

Status refuse(const std::string &what) { return Status(StatusCode::DeviceFailed, "the kernel's launch rule " + what); }

Status impossible() { return Status(StatusCode::DeviceFailed, "the kernel made an impossible plan for these sizes"); }

/// Rounded to negative infinity.
bool floorDivide(int64_t a, int64_t b, int64_t &quotient) {
  if (b == 0 || (a == INT64_MIN && b == -1))
    return false;
  quotient = a / b - (a % b != 0 && (a < 0) != (b < 0));
  return true;
}

bool apply(Op op, int64_t a, int64_t b, int64_t &result) {
  switch (op) {
  case Op::Add:
    return !__builtin_add_overflow(a, b, &result);
  case Op::Mul:
    return !__builtin_mul_overflow(a, b, &result);
  case Op::FloorDiv:
    return floorDivide(a, b, result);
  case Op::CeilDiv:
    if (!floorDivide(a, b, result))
      return false;
    result += a % b != 0;
    return true;
  case Op::Mod:
    if (!floorDivide(a, b, result))
      return false;
    result = a % b;
    if (result != 0 && (result < 0) != (b < 0))
      result += b;
    return true;
  case Op::Constant:
  case Op::Size:
    break;
  }
  return false;
}

/// The sizes that rules use, for one launch.
class Sizes {
public:
  Sizes(const abi::GpuLaunch &launch, std::span<const int64_t> slots) : launch_(launch), slots_(slots) {}

  int64_t operator[](int64_t index) const {
    auto [slot, size] = launch_.sizes[static_cast<size_t>(index)];
    return slot < 0 ? size : slots_[static_cast<size_t>(slot)];
  }

private:
  const abi::GpuLaunch &launch_;
  std::span<const int64_t> slots_;
};

/// The value of a checked expression; false where it does not fit into 64 bits.
bool evaluate(const abi::LaunchExpr &expr, const Sizes &sizes, int64_t &value) {
  int64_t stack[abi::maxLaunchExprDepth];
  size_t depth = 0;
  for (const abi::LaunchExpr::Step &step : expr.steps) {
    if (step.op == Op::Constant || step.op == Op::Size) {
      stack[depth++] = step.op == Op::Constant ? step.value : sizes[step.value];
      continue;
    }
    int64_t result;
    if (!apply(step.op, stack[depth - 2], stack[depth - 1], result))
      return false;
    stack[--depth - 1] = result;
  }
  value = stack[0];
  return true;
}

/// Whether all conditions of a kernel hold; false in `good` where one can't be evaluated.
bool holds(const abi::GpuKernel &kernel, const Sizes &sizes, bool &good) {
  for (const abi::LaunchCondition &condition : kernel.when) {
    int64_t value = 0;
    good = evaluate(condition.expr, sizes, value);
    if (!good || !(condition.isEquality ? value == 0 : value >= 0))
      return false;
  }
  return true;
}

/// The program instances of a kernel; false where they can't be.
bool fillCounts(const abi::GpuKernel &kernel, const int64_t *grid, const Sizes &sizes, PlannedKernel &planned) {
  planned.counts = {1, 1, 1};
  bool isEmpty = false;
  for (size_t axis = 0; axis < 3; ++axis) {
    int64_t &count = planned.counts[axis];
    if (grid)
      count = grid[axis];
    else if (axis < kernel.grid.size() && !evaluate(kernel.grid[axis], sizes, count))
      return false;
    if (count < 0)
      return false;
    isEmpty |= count == 0;
  }
  planned.instances = isEmpty ? 0 : 1;
  for (int64_t count : planned.counts)
    if (__builtin_mul_overflow(planned.instances, count, &planned.instances))
      return false;
  return true;
}

} // namespace

Expected<GpuProgram> GpuProgram::make(abi::GpuLaunch launch) {
  GpuProgram program(std::move(launch));
  TILEJIT_RETURN_IF_ERROR(program.check());
  std::stable_sort(program.launch_.kernels.begin(), program.launch_.kernels.end(),
                   [](const abi::GpuKernel &a, const abi::GpuKernel &b) { return a.phase < b.phase; });
  return program;
}

Status GpuProgram::checkExpr(const abi::LaunchExpr &expr) const {
  std::string fault = abi::launchExprFault(expr, launch_.sizes.size());
  return fault.empty() ? Status::ok() : refuse(fault);
}

Status GpuProgram::check() {
  if (launch_.kernels.empty())
    return refuse("has no kernel");
  for (auto [slot, size] : launch_.sizes) {
    if (slot < -1 || slot > int64_t{1} << 20)
      return refuse("uses slot " + std::to_string(slot));
    slotsUsed_ = std::max(slotsUsed_, static_cast<size_t>(slot + 1));
  }
  std::vector<int64_t> phases;
  for (const abi::GpuKernel &kernel : launch_.kernels) {
    if (kernel.symbol.empty() || kernel.grid.size() > 3)
      return refuse("names no kernel, or a grid of " + std::to_string(kernel.grid.size()) + " dimensions");
    if (kernel.threads < 1 || kernel.threads > abi::maxBlockThreads || kernel.sharedBytes < 0 ||
        kernel.sharedBytes > abi::maxBlockSharedBytes)
      return refuse("gives '" + kernel.symbol + "' blocks of " + std::to_string(kernel.threads) + " threads and " +
                    std::to_string(kernel.sharedBytes) + " bytes of on-chip memory");
    for (const abi::LaunchCondition &condition : kernel.when)
      TILEJIT_RETURN_IF_ERROR(checkExpr(condition.expr));
    for (const abi::LaunchExpr &count : kernel.grid)
      TILEJIT_RETURN_IF_ERROR(checkExpr(count));
    if (!kernel.workspace.steps.empty())
      TILEJIT_RETURN_IF_ERROR(checkExpr(kernel.workspace));
    if (std::find(phases.begin(), phases.end(), kernel.phase) == phases.end())
      phases.push_back(kernel.phase);
  }
  if (phases.size() > maxPlannedKernels)
    return refuse("has " + std::to_string(phases.size()) + " phases");
  return Status::ok();
}

Status GpuProgram::plan(std::span<const int64_t> slots, const int64_t *grid, GpuPlan &plan) const {
  if (slots.size() < slotsUsed_)
    return refuse("uses slot " + std::to_string(slotsUsed_ - 1) + " of " + std::to_string(slots.size()));
  Sizes sizes(launch_, slots);
  bool isDone = false, isFirst = true;
  size_t phaseBegin = 0;
  for (size_t i = 0; i < launch_.kernels.size(); ++i) {
    const abi::GpuKernel &kernel = launch_.kernels[i];
    if (kernel.phase != launch_.kernels[phaseBegin].phase) {
      phaseBegin = i;
      isDone = false;
    }
    bool good = true;
    if (isDone || !holds(kernel, sizes, good)) {
      if (!good)
        return impossible();
      continue;
    }
    isDone = true;
    if (std::exchange(isFirst, false))
      plan.path = static_cast<int64_t>(i - phaseBegin);
    if (!grid && kernel.grid.empty())
      return Status(StatusCode::InvalidArgument, "the kernel has no launch rule: a grid has to be given");
    PlannedKernel &planned = plan.kernels[plan.count];
    planned.kernel = i;
    int64_t workspace = 0;
    if (!fillCounts(kernel, grid, sizes, planned) ||
        (!kernel.workspace.steps.empty() && !evaluate(kernel.workspace, sizes, workspace)) || workspace < 0 ||
        workspace > maxWorkspaceBytes)
      return impossible();
    if (planned.instances == 0)
      continue;
    plan.workspaceBytes = std::max(plan.workspaceBytes, workspace);
    plan.usesStatus |= kernel.takesStatus;
    plan.usesPrinter |= kernel.takesPrinter;
    ++plan.count;
  }
  return Status::ok();
}

Expected<int64_t> GpuProgram::workspaceBytes(std::span<const int64_t> slots, const int64_t *grid) const {
  GpuPlan needed;
  TILEJIT_RETURN_IF_ERROR(plan(slots, grid, needed));
  return needed.workspaceBytes;
}

GpuParameters::GpuParameters(std::span<const int64_t> slots, int64_t *room) : words_(room), slots_(slots.size()) {
  if (!slots.empty())
    std::memcpy(words_, slots.data(), slots.size_bytes());
}

void GpuParameters::fill(const abi::GpuKernel &kernel, const PlannedKernel &planned, const LaunchMemory &memory) {
  count_ = slots_;
  if (kernel.takesWorkspace)
    words_[count_++] = reinterpret_cast<int64_t>(memory.workspace);
  if (kernel.takesStatus)
    words_[count_++] = reinterpret_cast<int64_t>(memory.status);
  if (kernel.takesPrinter)
    words_[count_++] = reinterpret_cast<int64_t>(memory.printer);
  for (int64_t count : planned.counts)
    words_[count_++] = count;
  words_[count_++] = 0;
}

} // namespace tilejit::gpu
