// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A prepared kernel and its launches. A launch never compiles; it checks every tensor (device, type, rank, sizes,
// strides, alignment) against the description, each fault with its own message, and then runs. Tensors are borrowed.

#ifndef TILEJIT_RUNTIME_KERNEL_H
#define TILEJIT_RUNTIME_KERNEL_H

#include "tilejit-c/dlpack.h"
#include "tilejit/Runtime/Context.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace tilejit {

struct LaunchOptions {
  std::optional<std::array<int64_t, 3>> grid; ///< For tile kernels without a launch rule.
  int64_t threads = 0;                        ///< 0: the context's setting.
  void *workspace = nullptr;                  ///< 64-byte aligned; null: the device keeps its own.
  int64_t workspaceBytes = 0;
  Stream stream = nullptr;
  const sim::Options *simulation = nullptr; ///< On a simulated device: checks, schedule; null: all checks.
  int64_t simulatedBlocks = 0;              ///< On a simulated device, see LaunchArguments; 0: all.
};

/// Which code ran.
struct LaunchInfo {
  std::string path; ///< One of Manifest::paths.
  int64_t tasks = 0;
  int64_t threads = 1;
  /// On a simulated device: reports, counters, what was printed. Also there where the launch gave CheckFailed.
  std::shared_ptr<const sim::Outcome> simulated;
};

/// Thread-safe: several threads may launch one kernel at once. Keeps its context alive.
class Kernel {
public:
  virtual ~Kernel() = default;

  virtual const CompiledKernel &compiled() const = 0;
  const abi::Manifest &manifest() const { return compiled().manifest; }
  /// How this object came by its code.
  virtual const CompileReport &report() const = 0;
  virtual const Source &source() const = 0;
  virtual Device &device() const = 0;
  /// Operands in canonical order: how many tensors a launch takes.
  virtual size_t operandCount() const = 0;

  /// Runs the kernel; CPU: done when it returns. `tensors` in canonical order (inputs, outputs). In tile kernels a
  /// scalar argument is a rank-0 tensor in host memory and a bare pointer any tensor.
  /// GPUs: given to the stream when it returns; kernels that assert or print are waited for.
  /// Errors: InvalidArgument for an argument, CheckFailed for a failed tile.assert (message and place) or a report of
  /// the simulator, OutOfMemory for the workspace, DeviceFailed.
  virtual Status launch(std::span<const DLTensor *const> tensors, const LaunchOptions &options = {},
                        LaunchInfo *info = nullptr) = 0;
  /// Bytes of workspace that a launch with these tensors would use.
  virtual Expected<int64_t> workspaceBytes(std::span<const DLTensor *const> tensors,
                                           const LaunchOptions &options = {}) = 0;
  /// How many bytes the packed form of a constant operand takes; 0: packing gains nothing here.
  virtual Expected<int64_t> packedBytes(size_t operand) = 0;
  /// Packs a constant operand. `packed` is u8[packedBytes()] on the kernel's device, aligned to 64 bytes; launches of
  /// this kernel, or of another one of the same key, take it in the place of the tensor and are spared packing it
  /// themselves, as long as its values are the same.
  virtual Status pack(size_t operand, const DLTensor &tensor, const DLTensor &packed) = 0;
};

/// Where a tensor must lie for a kernel of this device: simulated chips are DLPack's extension devices (kDLExtDev).
DLDevice dlpackDevice(const Device &device);
/// The DLPack type of a dtype, as launch arguments have to have it. 4-bit types lie one to a byte.
DLDataType toDlpackType(DType dtype);
/// The dtype of a DLPack type; nothing where there is none.
std::optional<DType> fromDlpackType(DLDataType type);

} // namespace tilejit

#endif // TILEJIT_RUNTIME_KERNEL_H
