// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// How compiled GPU code is launched: the kernels of a payload, and the launch rules that a CPU payload carries as code
// (tilejit_plan) as data, because on a GPU the runtime evaluates them. Part of the manifest.

#ifndef TILEJIT_ABI_GPULAUNCH_H
#define TILEJIT_ABI_GPULAUNCH_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tilejit::abi {

/// An integer expression in postfix order. Quotients and remainders are rounded to negative infinity (ceil: upwards).
struct LaunchExpr {
  enum class Op : uint8_t { Constant, Size, Add, Mul, FloorDiv, CeilDiv, Mod };
  struct Step {
    Op op = Op::Constant;
    int64_t value = 0; ///< Constant: the number; Size: index into GpuLaunch::sizes; others: unused.
  };
  std::vector<Step> steps; ///< Empty: absent.
};

/// expr >= 0, or expr == 0.
struct LaunchCondition {
  LaunchExpr expr;
  bool isEquality = false;
};

/// One kernel. In each phase, in ascending order, the first kernel whose conditions all hold runs.
///
/// Its parameters are 64 bits each: the slots of all operands (ABI/KernelABI.h), then in this order
///   - the address of the workspace, where `takesWorkspace`;
///   - the address of one 64-bit word in device memory, zero before the launch, where `takesStatus`: a failed
///     assertion leaves 1 + its number there;
///   - the address of a buffer for what the kernel prints (ABI/GpuPrint.h), where `takesPrinter`;
///   - the counts of program instances along the three axes of the grid;
///   - the number of the launch's first instance: a grid beyond the driver's limits is launched in parts.
/// A launch of n blocks runs the instances first .. first + n - 1; instance i has the program ids i mod count 0,
/// (i / count 0) mod count 1, i / (count 0 * count 1). Blocks are one-dimensional.
struct GpuKernel {
  std::string symbol;
  int64_t phase = 0;
  std::vector<LaunchCondition> when;
  std::vector<LaunchExpr> grid; ///< One to three counts; empty: the caller must give a grid.
  LaunchExpr workspace;         ///< Bytes of scratch that all kernels of a launch share.
  bool takesWorkspace = false;
  bool takesStatus = false;
  bool takesPrinter = false;
  int64_t threads = 0;     ///< Of a block.
  int64_t sharedBytes = 0; ///< On-chip memory to give at the launch.
};

/// A tile.print: its text, and its values as CpuPrintFunction names them: "i64 f32[64]".
struct GpuPrint {
  std::string text, types;
};

struct GpuLaunch {
  /// (slot, static size): a size of an operand that rules use; slot -1: the size is the second number.
  std::vector<std::pair<int64_t, int64_t>> sizes;
  std::vector<GpuKernel> kernels;
  std::vector<GpuPrint> prints; ///< Of all kernels, by number.
};

/// Numbers that an evaluator of expressions has to hold at once, at most.
inline constexpr size_t maxLaunchExprDepth = 32;
/// Threads and on-chip bytes of a block: the most that any chip takes.
inline constexpr int64_t maxBlockThreads = 1024, maxBlockSharedBytes = int64_t{1} << 20;

/// Why an expression over so many sizes can't be evaluated, to follow "the rule ": "uses size 3 of 2"; empty: it can.
std::string launchExprFault(const LaunchExpr &expr, size_t sizes);

} // namespace tilejit::abi

#endif // TILEJIT_ABI_GPULAUNCH_H
