// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The functional GPU simulator as others see it: loads an LLVM IR module for NVPTX or AMDGPU, runs a kernel of it lane
// by lane on the CPU, and reports what hardware would have let pass: races, missing waits, reads of nothing, bounds. It
// is a plug-in, opened at the first use, because it links LLVM and its callers must not.

#ifndef TILEJIT_SIMULATOR_SIMULATOR_H
#define TILEJIT_SIMULATOR_SIMULATOR_H

#include "tilejit/Base/Status.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilejit::sim {

/// What a report is about. reportKindName gives the spelling in output.
enum class ReportKind : uint8_t {
  Race,          ///< Two accesses, one of them a write, that nothing orders.
  Bounds,        ///< An address that belongs to no allocation, or past the end of one.
  Misaligned,    ///< An address that is not aligned as the instruction states.
  Uninitialized, ///< A read of memory nobody wrote, or an undefined value where it matters.
  Async,         ///< An asynchronous copy or product used, or overwritten, before its wait.
  Proxy,         ///< Generic and asynchronous accesses without the fence between their proxies.
  Barrier,       ///< Misuse of an mbarrier: not initialised, arrivals beyond its count, wrong byte count.
  Divergence,    ///< Lanes missing at an instruction that all must execute together.
  Fragment,      ///< Operands of a matrix instruction that are not laid out as it demands.
  Deadlock,      ///< Nobody can go on.
  Budget,        ///< The instruction budget ran out.
  Assert,        ///< A device-side assertion failed.
  Trap,          ///< A trap or an unreachable place was executed.
};
inline constexpr unsigned numReportKinds = 13;
/// "race", "bounds", ...
std::string_view reportKindName(ReportKind kind);

/// Checks that can be switched off by name (`--no-check race,bounds`). Bank conflicts and sectors are counters.
enum class Check : uint8_t { Race, Bounds, Alignment, Uninitialized, Async, Proxy, Divergence, Fragment, Bank };
inline constexpr unsigned numChecks = 9;
/// "race", "bounds", "alignment", "uninitialized", "async", "proxy", "divergence", "fragment", "bank".
std::string_view checkName(Check check);

/// How a launch is run. Results and reports depend on nothing but these and the module, never on `threads`.
struct Options {
  uint32_t checks = (1u << numChecks) - 1; ///< Bit i: Check(i) is on.
  int threads = 0;                         ///< Host threads; 0: as many as the process may use.
  uint64_t scheduleSeed = 0;               ///< Permutes the turns of warps and blocks; 0: in order of their numbers.
  uint64_t instructionBudget = 1ull << 28; ///< Instructions of one warp after which the launch is given up.
  bool siteCounters = false;               ///< Give counters and text for each instruction.

  bool has(Check check) const { return (checks >> static_cast<unsigned>(check)) & 1; }
};

/// Counts of one instruction, or of a whole launch.
struct Counters {
  uint64_t instructions = 0;          ///< Instructions that warps executed.
  uint64_t threadInstructions = 0;    ///< The same times the lanes that took part.
  uint64_t divergentInstructions = 0; ///< Instructions for which some live lane of the warp did not take part.
  uint64_t matrixInstructions = 0;
  uint64_t atomics = 0;
  uint64_t sharedRequests = 0;
  uint64_t sharedWavefronts = 0; ///< Passes through the banks of shared memory, and the fewest possible.
  uint64_t sharedWavefrontsIdeal = 0;
  uint64_t globalRequests = 0;
  uint64_t sectors = 0; ///< 32-byte pieces of global memory touched, and the fewest possible.
  uint64_t sectorsIdeal = 0;
  uint64_t bytesGlobalRead = 0;
  uint64_t bytesGlobalWritten = 0;
  uint64_t bytesShared = 0;

  Counters &operator+=(const Counters &other);
};

/// One finding; equal ones (kind and both sites) are merged.
struct Report {
  ReportKind kind = ReportKind::Race;
  std::string message;   ///< One line: what, where in memory, by whom (block, warp, lane). Without the kind.
  std::string site;      ///< The IR instruction.
  std::string location;  ///< file:line:column, empty without debug information.
  std::string otherSite; ///< The other side of a race, or where a copy was started; empty where there is none.
  std::string otherLocation;
  std::string hint; ///< What would cure it.
  uint64_t count = 1;
  uint32_t siteIndex = ~0u, otherSiteIndex = ~0u; ///< In Outcome::sites.
};

/// One IR instruction of the kernel with its counters (Options::siteCounters).
struct SiteInfo {
  std::string text, location, block, kernel; ///< As printed; source place; basic block; symbol.
  Counters counters;
};

/// A launch. Scalars and pointers arrive as the bytes of each kernel parameter.
struct LaunchRequest {
  std::string kernel;
  uint32_t grid[3] = {1, 1, 1};
  uint32_t block[3] = {1, 1, 1};
  uint32_t cluster[3] = {1, 1, 1}; ///< Blocks that run together (sm_90); divides the grid.
  uint32_t dynamicSharedBytes = 0;
  std::vector<std::vector<uint8_t>> arguments; ///< In order; missing trailing pointers are null.
};

struct Outcome {
  std::vector<Report> reports; ///< In order of the first block that showed each.
  Counters counters;
  std::vector<SiteInfo> sites;
  std::string printed; ///< What the kernel printed, in order of blocks.
  uint32_t staticSharedBytes = 0;
  uint32_t registerBytes = 0; ///< Of the simulator, for one warp: not the chip's registers.
  double decodeMs = 0, runMs = 0;
};

/// What the kernel expects for one parameter.
struct ParameterInfo {
  std::string name;
  uint32_t bytes = 0;
  bool isPointer = false, isFloat = false, isByValue = false; ///< By value: a struct behind a pointer (byval).
};
struct KernelInfo {
  std::string name;
  std::vector<ParameterInfo> parameters;
  uint32_t requiredBlock[3] = {0, 0, 0}, requiredCluster[3] = {0, 0, 0}; ///< Zero where the module does not say.
};

/// A module that was read and fits its chip. Belongs to the simulator that loaded it.
class Module {
public:
  virtual ~Module() = default;
  virtual std::span<const KernelInfo> kernels() const = 0;
};

/// One simulated device. Launches are serial; memory may be used from any thread.
class Simulator {
public:
  virtual ~Simulator() = default;

  /// Memory of the device, 256-byte aligned, far from other allocations. Not `initialized`: a read before a write is
  /// reported. The pointer is valid in the host too. Zero bytes give a valid pointer.
  virtual Expected<void *> allocate(int64_t bytes, std::string_view name, bool initialized) = 0;
  virtual void release(void *memory) = 0;
  /// Marks bytes as written (a copy from the host) in the bookkeeping of uninitialised memory.
  virtual void markWritten(void *memory, int64_t bytes) = 0;

  /// Reads textual IR or bitcode. InvalidArgument: malformed, or made for another architecture; the message names both.
  virtual Expected<std::shared_ptr<Module>> load(std::string_view bytes, std::string_view name) = 0;
  /// Runs a kernel. InvalidArgument for unknown kernels, instructions and arguments that do not match; what goes wrong
  /// while running is a report.
  virtual Expected<Outcome> launch(const Module &module, const LaunchRequest &request, const Options &options) = 0;
};

/// A chip that can be simulated.
struct ChipInfo {
  std::string name, description;
  bool nvidia = true;
  unsigned waveWidth = 32;
  uint32_t sharedBytes = 0; ///< Most that a block may use.
};

/// What the plug-in exports under `pluginSymbol`.
struct Plugin {
  uint32_t version = 1; ///< Of this struct and of the classes above.
  std::span<const ChipInfo> (*chips)();
  /// NotFound for a chip that is not simulated.
  Expected<std::unique_ptr<Simulator>> (*create)(std::string_view chip);
};
using PluginFunction = const Plugin *(*)();
inline constexpr const char *pluginSymbol = "tilejit_simulator_plugin";
inline constexpr uint32_t pluginVersion = 2;

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_SIMULATOR_H
