// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The context: everything a setting governs hangs on it (cache, worker processes, devices, log, counters). Nothing is
// global, so that two contexts in one process do not touch each other. compile() and prepare() may start a compiler and
// block; Kernel::launch() (Kernel.h) never does. Nothing is opened, started or read before it is needed.

#ifndef TILEJIT_RUNTIME_CONTEXT_H
#define TILEJIT_RUNTIME_CONTEXT_H

#include "tilejit/ABI/Compile.h"
#include "tilejit/Base/Log.h"
#include "tilejit/Base/Settings.h"
#include "tilejit/Base/Status.h"
#include "tilejit/Cache/Cache.h"
#include "tilejit/Cache/Entry.h"
#include "tilejit/Cache/Toolchain.h"
#include "tilejit/Description/Description.h"
#include "tilejit/Device/Cpu.h"
#include "tilejit/Device/Device.h"
#include "tilejit/Target/TargetSpec.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tilejit {

class Kernel;

/// "0.1.0".
std::string_view tilejitVersion();

struct ContextOptions {
  Settings settings; ///< From loadSettings(), or defaults.
  Logger logger;     ///< A default one is silent.
  Executor executor; ///< The host's thread pool for CPU launches.
  System *system = &realSystem();
};

/// What to compile: a validated description, or the text of a tile file; or a package of what is compiled already.
struct Source {
  std::shared_ptr<const Description> description; ///< Null: a tile file.
  std::string tileText;
  std::string name; ///< Of the file, for messages.
  /// Code of one operator for one or more targets; its description or tile file is not compiled again.
  std::shared_ptr<const std::vector<CachedKernel>> package;

  bool isTile() const { return !description; }
};
/// Reads JSON, tile text or a package: the bytes of a package, a `.json` or `.mlir` name or else the first characters
/// tell which; a brace always begins JSON. BadDescription with its place; InvalidArgument for a package that is damaged
/// or holds several operators.
Expected<Source> parseSource(std::string text, std::string name);

struct CompileOptions {
  abi::Config config;
  abi::EmitKind emit = abi::EmitKind::Package;
  bool withBitcode = false;    ///< GPU packages: add the optimised LLVM bitcode; `sim:` targets always have it.
  bool noCompile = false;      ///< A miss is the status NotCached.
  bool noCache = false;        ///< Neither read nor written.
  bool allowReference = false; ///< prepare() only: what can't be compiled runs as the slow reference implementation.
  int device = -1;             ///< prepare() only: number among the devices of the target's kind; -1: the first.
};

enum class CacheUse : uint8_t { Off, Miss, Hit };
/// "off", "miss", "hit".
std::string_view cacheUseName(CacheUse use);

/// How a kernel was come by.
struct CompileReport {
  CacheUse cache = CacheUse::Off;
  bool fromMemory = false; ///< A hit that the context itself remembered.
  std::string missReason;  ///< Of a miss.
  std::string key;
  bool workerStarted = false; ///< This call started a compiler or asked one.
  double compileMs = 0;       ///< From the decision to compile to its result, the worker's start included; 0 for hits.
  double totalMs = 0;         ///< All of the call.
  std::vector<std::pair<std::string, double>> stagesMs; ///< Inside compileMs, as the compiler measured them.
  std::string payloadKind;                              ///< "elf", "text".
  int64_t payloadBytes = 0;
  bool usesReference = false; ///< The compile failed and CompileOptions::allowReference stepped in.
};

/// A kernel that no device has seen yet.
struct CompiledKernel {
  CachedKernel entry; ///< Key material, manifest text and payload: encodePackage() makes a file of it.
  abi::Manifest manifest;
  CompileReport report;

  /// What a device loads, or the text.
  const std::string &payload() const { return entry.payloads.front().bytes; }
};

struct ContextCounters {
  int64_t memoryHits = 0, cacheHits = 0, cacheMisses = 0;
  int64_t compiles = 0, compileFailures = 0;
  int64_t workerStarts = 0, workerDeaths = 0;
  int64_t launches = 0, launchFailures = 0, referenceRuns = 0;
  double compileSeconds = 0;
};

/// Thread-safe; usable in a child after fork().
class Context : public std::enable_shared_from_this<Context> {
public:
  /// Fails for nothing but a broken setting; a missing cache folder or worker shows where it is needed.
  static Expected<std::shared_ptr<Context>> create(ContextOptions options);
  virtual ~Context() = default;

  virtual const Settings &settings() const = 0;
  virtual const Logger &logger() const = 0;
  virtual System &system() const = 0;
  /// Opened on the first call.
  virtual Cache &cache() = 0;
  /// Who would compile; asks the worker at most once.
  virtual Expected<Toolchain> toolchain() = 0;
  /// The worker program that is used, or would be; empty where none is found.
  virtual std::string workerPath() = 0;

  /// The target of a name; an empty one means the setting, and that defaults to `native`. `cuda` and `hip` mean what
  /// the device of that number is.
  virtual Expected<TargetSpec> target(std::string_view name, int device = 0) = 0;
  /// Unavailable where there is no such device.
  virtual Expected<Device *> device(DeviceKind kind, int index = 0) = 0;
  /// How many devices of a kind there are. Unavailable says why there can't be any: no driver, no plug-in.
  virtual Expected<int> deviceCount(DeviceKind kind) = 0;
  /// The device that runs code for the target: of that number among its kind, or the first that does (-1).
  virtual Expected<Device *> deviceFor(const TargetSpec &target, int index = -1) = 0;

  /// Everything that goes into the key of a compile; may ask the worker who it is.
  virtual Expected<KeyMaterial> keyMaterial(const Source &source, const TargetSpec &target,
                                            const CompileOptions &options) = 0;
  /// From memory, the cache or the worker. For any target, whether it runs here or not.
  /// Errors: BadDescription, InvalidArgument (config), DoesNotFit, CompileFailed, TimedOut, NotCached, WorkerFailed.
  virtual Expected<CompiledKernel> compile(const Source &source, const TargetSpec &target,
                                           const CompileOptions &options = {}) = 0;
  /// compile(), then loaded on its device: ready to launch.
  virtual Expected<std::shared_ptr<Kernel>> prepare(const Source &source, const TargetSpec &target,
                                                    const CompileOptions &options = {}) = 0;
  /// A kernel that came from elsewhere (Runtime/Package.h), loaded on its device. `source` gives names and shapes for
  /// checks.
  virtual Expected<std::shared_ptr<Kernel>> load(CompiledKernel compiled, const Source &source,
                                                 const TargetSpec &target, int device = -1) = 0;

  virtual ContextCounters counters() const = 0;
  /// The counters in Prometheus' text format.
  virtual std::string metricsText() const = 0;
};

} // namespace tilejit

#endif // TILEJIT_RUNTIME_CONTEXT_H
