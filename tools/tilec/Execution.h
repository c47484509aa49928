// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// One kernel with its tensors, ready to be launched: what run, verify and bench have in common.

#ifndef TILEJIT_TOOLS_TILEC_EXECUTION_H
#define TILEJIT_TOOLS_TILEC_EXECUTION_H

#include "Operands.h"
#include "Program.h"
#include "SimulatedOutcome.h"

#include "tilejit/Runtime/Kernel.h"
#include "tilejit/Runtime/StagedTensors.h"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace tilejit::tilec {

/// Options that run, verify and bench share.
struct ExecutionOptions {
  std::optional<std::string> target;
  std::string device, threads, grid;
  std::vector<std::string> config;
  OperandOptions operands;
  SimulationWords simulation;
  bool noCompile = false, allowReference = false;
  bool isExplained = false;    ///< The kernel brings the texts of its stages, the simulator counts each instruction.
  std::string simulatedBlocks; ///< Of a launch, at most; empty or 0: all.

  /// Adds --target, --device, --set, --random-seed, --threads, --config, --no-compile, --reference-fallback, and what
  /// changes the simulator.
  void addTo(CLI::App &command);
  /// Adds --input, --output and --grid.
  void addFilesTo(CLI::App &command);
  /// Number among the devices of the target's kind; -1: the first that fits.
  Expected<int> deviceIndex() const;
  /// What of them the compiler is told.
  Expected<CompileOptions> compileOptions() const;
  /// What of them are settings.
  std::vector<SettingOverride> overrides() const;
};

/// A prepared kernel and its operands.
class Execution {
public:
  /// Checks and reads operands, compiles, loads. `defaultSize` is for dimensions that nothing binds.
  static Expected<Execution> prepare(Context &context, const Source &source, const TargetSpec &target,
                                     const ExecutionOptions &options, int64_t defaultSize);
  Execution(Execution &&) = default;

  /// One launch, on copies of the operands where the device has memory of its own; milliseconds it took. Where the
  /// simulator has something to report, outcome() says so and the outputs are what the launch left.
  Expected<double> launch();
  /// Brings the outputs of the last launch back.
  Status collect();
  /// Of the last launch on a simulated device, else null.
  const sim::Outcome *outcome() const { return lastLaunch_.simulated.get(); }
  bool hasReports() const { return outcome() && !outcome()->reports.empty(); }
  /// Prints reports to stdout, and what the kernel printed to stderr.
  void printOutcome() const;
  /// Result keys of every execution: op, name, target, device, report, path, packed operands.
  Json json() const;
  /// "matmul 128x512x256 f32": family, sizes that symbols have, dtype of the first input.
  std::string title() const;

  const Kernel &kernel() const { return *kernel_; }
  const Source &source() const { return source_; }
  const TargetSpec &target() const { return target_; }
  const Description *description() const { return source_.description.get(); }
  Operands &operands() { return operands_; }
  const Operands &operands() const { return operands_; }
  const LaunchInfo &lastLaunch() const { return lastLaunch_; }
  /// "; b packed once: 2.1 MB in 1.3 ms", for each operand that the kernel packs; empty: it packs none.
  std::string packedText() const;
  int64_t mostSimulatedBlocks() const { return launchOptions_.simulatedBlocks; } ///< Of a launch; 0: all.
  /// Floating (or integer) operations and bytes of one execution; 0 for a tile kernel.
  double flops() const;
  int64_t bytesRead() const;
  int64_t bytesWritten() const;

private:
  /// A constant operand in packed form.
  struct Packed {
    std::string name;
    int64_t bytes = 0;
    double milliseconds = 0;
    std::shared_ptr<void> memory;
    DLTensor tensor{};
  };
  /// Brings operands to the device and packs those that are constant, all before the clock starts.
  Status stage();

  Execution(Source source, TargetSpec target, Operands operands)
      : source_(std::move(source)), target_(std::move(target)), operands_(std::move(operands)) {}
  Source source_;
  TargetSpec target_;
  Operands operands_;
  std::shared_ptr<Kernel> kernel_;
  LaunchOptions launchOptions_;
  Expected<double> launchOnGpu();
  LaunchInfo lastLaunch_;
  sim::Options simulation_;
  std::optional<StagedTensors> staged_;
  std::vector<std::unique_ptr<Packed>> packed_;
  std::vector<const DLTensor *> tensors_; ///< What launches are given.
};

/// "cpu", "cuda", "hip", "sim:sm_80".
std::string deviceName(const Device &device);

} // namespace tilejit::tilec

#endif // TILEJIT_TOOLS_TILEC_EXECUTION_H
