// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The context's inside. One mutex for short sections, which fork() takes too; no lock is held while something compiles,
// loads or runs.

#ifndef TILEJIT_LIB_RUNTIME_CONTEXTIMPL_H
#define TILEJIT_LIB_RUNTIME_CONTEXTIMPL_H

#include "CrashMemory.h"
#include "DeviceTable.h"
#include "WorkerPool.h"

#include "tilejit/Device/Fork.h"
#include "tilejit/Runtime/Context.h"

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace tilejit {

/// A compiled kernel on its device, shared by all Kernel objects that were prepared from it.
struct LoadedKernel {
  CompiledKernel compiled;
  Device *device = nullptr;
  std::shared_ptr<LoadedModule> module;
};

/// Counters of a context; the rest of ContextCounters comes from the worker pool.
struct Counters {
  std::atomic<int64_t> memoryHits{0}, cacheHits{0}, cacheMisses{0}, compiles{0}, compileFailures{0}, launches{0},
      launchFailures{0}, referenceRuns{0}, compileNanoseconds{0};
};

class ContextImpl final : public Context {
public:
  explicit ContextImpl(ContextOptions options);
  ~ContextImpl() override;

  const Settings &settings() const override { return options_.settings; }
  const Logger &logger() const override { return options_.logger; }
  System &system() const override { return *options_.system; }
  Cache &cache() override;
  Expected<Toolchain> toolchain() override;
  std::string workerPath() override { return findWorkerProgram(); }
  Expected<TargetSpec> target(std::string_view name, int device) override;
  Expected<Device *> device(DeviceKind kind, int index) override { return devices_.get(kind, index); }
  Expected<int> deviceCount(DeviceKind kind) override { return devices_.count(kind); }
  Expected<Device *> deviceFor(const TargetSpec &target, int index) override {
    return devices_.forTarget(target, index);
  }
  Expected<KeyMaterial> keyMaterial(const Source &source, const TargetSpec &target,
                                    const CompileOptions &options) override;
  Expected<CompiledKernel> compile(const Source &source, const TargetSpec &target,
                                   const CompileOptions &options) override;
  Expected<std::shared_ptr<Kernel>> prepare(const Source &source, const TargetSpec &target,
                                            const CompileOptions &options) override;
  Expected<std::shared_ptr<Kernel>> load(CompiledKernel compiled, const Source &source, const TargetSpec &target,
                                         int device) override;
  ContextCounters counters() const override;
  std::string metricsText() const override;

  Counters &count() { return counters_; }

private:
  struct Attempt; // One try of compile(); in Compile.cpp.
  struct Flight;  // One prepare() that others wait for; in Prepare.cpp.
  struct Order;   // What a prepare() was asked for; in Prepare.cpp.
  struct Assembler {
    std::string path;
    FileInfo info;
    std::vector<ToolchainPart> parts;
  };

  std::string findWorkerProgram() const;
  std::shared_ptr<WorkerPool> workers();
  std::string toolchainFolder();
  Expected<Toolchain> findToolchainNow(bool &asked);
  Expected<std::vector<ToolchainPart>> assembler();
  Expected<KeyMaterial> materialFor(const Source &source, const TargetSpec &target, const CompileOptions &options,
                                    bool &asked);
  CrashMemory crashMemory(const CompileOptions &options);
  Expected<CachedKernel> runWorker(Attempt &attempt);
  Expected<CachedKernel> askWorker(Attempt &attempt);
  Expected<CachedKernel> compileTile(Attempt &attempt);
  Expected<abi::CompileResponse> exchange(Attempt &attempt, abi::EmitKind emit);
  Expected<CachedKernel> findKernel(Attempt &attempt);
  Status explainFailure(const Attempt &attempt, Status status);
  Expected<CompiledKernel> compileOnce(Attempt &attempt);

  std::shared_ptr<LoadedKernel> findLoaded(const std::string &key);
  void keepLoaded(const std::string &key, std::shared_ptr<LoadedKernel> kernel);
  Expected<std::shared_ptr<LoadedKernel>> loadOn(CompiledKernel compiled, Device &device);
  Expected<std::shared_ptr<LoadedKernel>> compileAndLoad(const Order &order);
  Expected<std::shared_ptr<LoadedKernel>> flyTogether(const std::string &key, const Order &order, bool &wasFirst);
  Expected<std::shared_ptr<Kernel>> fallBack(const Source &source, const TargetSpec &target, Status failure);

  const ContextOptions options_;
  mutable ForkMutex mutex_;
  std::unique_ptr<Cache> cache_;
  DeviceTable devices_;
  std::shared_ptr<WorkerPool> workers_;
  uint32_t workersGeneration_ = 0;
  std::optional<Toolchain> toolchain_;
  std::optional<Assembler> assembler_;                     ///< As it was found last.
  std::map<std::string, TargetSpec, std::less<>> targets_; ///< By name: reading CPUID takes long under a hypervisor.
  std::map<std::string, std::pair<std::shared_ptr<LoadedKernel>, uint64_t>> loaded_; ///< With the time of last use.
  uint64_t useClock_ = 0;
  std::map<std::string, std::shared_ptr<Flight>> flights_;
  Counters counters_;
  std::atomic<bool> warnedOfReference_{false};
};

/// A kernel object of a context over what was loaded. InvalidArgument where manifest and source contradict each other.
Expected<std::shared_ptr<Kernel>> makeKernel(std::shared_ptr<ContextImpl> context, std::shared_ptr<LoadedKernel> loaded,
                                             CompileReport report, Source source);

} // namespace tilejit

#endif // TILEJIT_LIB_RUNTIME_CONTEXTIMPL_H
