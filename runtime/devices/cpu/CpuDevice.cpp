// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The CPU device: loads payloads, and runs the phases of a launch over the threads. Each thread owns a stretch of a
// phase's tasks and takes it in pieces; who has finished helps the others. Small launches run on the caller alone.

#include "ElfImage.h"
#include "HostMemory.h"
#include "HostThreads.h"
#include "Scratch.h"
#include "ThreadPool.h"

#include "devices/common/ImmediateDevice.h"
#include "devices/common/Printer.h"
#include "tilejit/ABI/KernelABI.h"
#include "tilejit/Device/Cpu.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <utility>
#include <vector>

namespace tilejit {

namespace cpu {
namespace {

/// A launch that is expected to take less than this isn't worth waking a thread for.
constexpr int64_t inlineNanoseconds = 10'000;
/// No plan of ours asks for more; a larger number is a broken kernel.
constexpr int64_t maxScratchBytes = int64_t{1} << 40;

int64_t nowNanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

class CpuModule : public LoadedModule {
public:
  CpuModule(ElfImage image, abi::CpuPlanFunction plan, abi::CpuRunFunction run)
      : image_(std::move(image)), plan(plan), run(run) {}

  int64_t bytes() const override { return static_cast<int64_t>(image_.bytes()); }

private:
  ElfImage image_;

public:
  const abi::CpuPlanFunction plan;
  const abi::CpuRunFunction run;
  /// What a task took in the last launch; 0: not known yet.
  mutable std::atomic<int64_t> taskNanoseconds{0};
};

/// The tasks of one phase, split over the threads that run it.
class Phase {
public:
  Phase(const CpuModule &module, const LaunchArguments &arguments, const abi::CpuPlan &plan, ScratchSet &scratch,
        void *shared)
      : module_(module), arguments_(arguments), plan_(plan), scratch_(scratch), shared_(shared) {}

  /// Prepares phase `index` for so many threads.
  void begin(int64_t index, int64_t threads) {
    index_ = index;
    threads_ = threads;
    int64_t tasks = plan_.tasks[index];
    if (static_cast<int64_t>(stretches_.size()) < threads)
      stretches_ = std::vector<Stretch>(static_cast<size_t>(threads));
    for (int64_t t = 0; t < threads; ++t) {
      Stretch &stretch = stretches_[static_cast<size_t>(t)];
      stretch.next.store(share(tasks, threads, t), std::memory_order_relaxed);
      stretch.end = share(tasks, threads, t + 1);
    }
    // A quarter of a stretch at a time: neighbours share work (packed panels) and still little is left over at the end.
    piece_ = std::max<int64_t>(1, tasks / threads / 4);
  }

  /// All tasks of phase `index` on the calling thread.
  void runAlone(int64_t index) {
    index_ = index;
    int64_t started = nowNanoseconds();
    if (void *scratch; takeScratch(0, scratch))
      run(0, plan_.tasks[index], scratch);
    callerNanoseconds_ += nowNanoseconds() - started;
    callerTasks_ += plan_.tasks[index];
  }

  /// The work of one thread: its own stretch, then what is left of the others'.
  static void work(void *self, int64_t thread) {
    Phase &phase = *static_cast<Phase *>(self);
    void *scratch;
    if (!phase.takeScratch(thread, scratch))
      return;
    int64_t started = thread == 0 ? nowNanoseconds() : 0, tasks = 0;
    for (int64_t i = 0; i < phase.threads_; ++i)
      tasks += phase.drain(phase.stretches_[static_cast<size_t>((thread + i) % phase.threads_)], scratch);
    if (thread != 0)
      return;
    phase.callerNanoseconds_ += nowNanoseconds() - started;
    phase.callerTasks_ += tasks;
  }

  /// What a task took on thread 0, waking and waiting for others not counted; at least 1.
  int64_t taskNanoseconds() const {
    return std::max<int64_t>(1, callerNanoseconds_ / std::max<int64_t>(1, callerTasks_));
  }

  bool failed() const { return outOfMemory_.load(std::memory_order_relaxed) || failure_.load() != 0; }
  bool outOfMemory() const { return outOfMemory_.load(std::memory_order_relaxed); }
  int64_t failedAssertion() const { return failure_.load() - 1; }

private:
  struct alignas(64) Stretch {
    std::atomic<int64_t> next{0};
    int64_t end = 0;
  };

  /// First task of thread t; even where tasks times threads would overflow.
  static int64_t share(int64_t tasks, int64_t threads, int64_t t) {
    return tasks / threads * t + std::min(t, tasks % threads);
  }

  /// Runs what is left of a stretch; gives the number of tasks.
  int64_t drain(Stretch &stretch, void *scratch) {
    int64_t tasks = 0;
    while (!failed()) {
      int64_t begin = stretch.next.fetch_add(piece_, std::memory_order_relaxed);
      if (begin >= stretch.end)
        break;
      int64_t end = std::min(begin + piece_, stretch.end);
      run(begin, end, scratch);
      tasks += end - begin;
    }
    return tasks;
  }

  void run(int64_t begin, int64_t end, void *scratch) {
    int64_t none = 0;
    if (int64_t result =
            module_.run(arguments_.slots.data(), arguments_.grid, &plan_, index_, begin, end, shared_, scratch))
      failure_.compare_exchange_strong(none, result);
  }

  bool takeScratch(int64_t thread, void *&scratch) {
    scratch = scratch_.threads[static_cast<size_t>(thread)].atLeast(plan_.threadScratchBytes);
    if (scratch || plan_.threadScratchBytes == 0)
      return true;
    outOfMemory_.store(true, std::memory_order_relaxed);
    return false;
  }

  const CpuModule &module_;
  const LaunchArguments &arguments_;
  const abi::CpuPlan &plan_;
  ScratchSet &scratch_;
  void *const shared_;
  int64_t index_ = 0, threads_ = 1, piece_ = 1;
  int64_t callerNanoseconds_ = 0, callerTasks_ = 0; ///< Of thread 0.
  std::vector<Stretch> stretches_;
  std::atomic<bool> outOfMemory_{false};
  std::atomic<int64_t> failure_{0}; ///< 1 + the number of an assertion.
};

class CpuDevice : public ImmediateDevice {
public:
  explicit CpuDevice(const CpuDeviceOptions &options)
      : executor_(options.executor), pool_(options.executor.run ? 1 : threadsFor(options), options.processors),
        threads_(options.executor.run ? std::max<int64_t>(1, options.executor.threads) : pool_.threads()) {}

  const DeviceProperties &properties() const override;
  Expected<void *> allocate(int64_t bytes, std::string_view name) override;
  void release(void *memory) override { std::free(memory); }
  Status copyToDevice(void *to, const void *from, int64_t bytes) override { return copyBytes(to, from, bytes); }
  Status copyToHost(void *to, const void *from, int64_t bytes) override { return copyBytes(to, from, bytes); }
  int64_t freeBytes() const override { return freeMemoryBytes(); }
  Expected<std::shared_ptr<LoadedModule>> load(const abi::Manifest &manifest,
                                               std::span<const PayloadView> payloads) override;
  Expected<int64_t> workspaceBytes(const LoadedModule &module, const LaunchArguments &arguments) override;
  Status launch(const LoadedModule &module, const LaunchArguments &arguments, LaunchOutcome &outcome) override;

private:
  static int64_t threadsFor(const CpuDeviceOptions &options) {
    int64_t all = options.processors.empty() ? usableThreads() : static_cast<int64_t>(options.processors.size());
    return std::clamp<int64_t>(options.threads > 0 ? options.threads : all, 1, 4096);
  }
  int64_t threadsOf(const LaunchArguments &arguments) const {
    return arguments.threads > 0 ? std::min(arguments.threads, threads_) : threads_;
  }
  static Status makePlan(const CpuModule &module, const LaunchArguments &arguments, int64_t threads,
                         abi::CpuPlan &plan);
  void runPhase(Phase &phase, int64_t index, int64_t threads);

  const Executor executor_;
  ThreadPool pool_;
  const int64_t threads_;
  ScratchPool scratch_;
  mutable std::once_flag propertiesRead_;
  mutable DeviceProperties properties_;
};

const DeviceProperties &CpuDevice::properties() const {
  std::call_once(propertiesRead_, [this] {
    properties_.name = processorName();
    properties_.memoryBytes = memoryBytes();
    properties_.computeUnits = static_cast<int>(threads_);
    properties_.target = hostTarget();
  });
  return properties_;
}

Expected<void *> CpuDevice::allocate(int64_t bytes, std::string_view) {
  if (bytes < 0 || bytes > maxScratchBytes)
    return Status(StatusCode::InvalidArgument, "can't allocate " + std::to_string(bytes) + " bytes");
  int64_t rounded = std::max<int64_t>(1, bytes);
  void *memory = allocateHostMemory(rounded);
  if (!memory)
    return Status(StatusCode::OutOfMemory, "no memory for a buffer of " + std::to_string(bytes) + " bytes");
  return memory;
}

Expected<std::shared_ptr<LoadedModule>> CpuDevice::load(const abi::Manifest &, std::span<const PayloadView> payloads) {
  const PayloadView *payload = findPayload(payloads, abi::PayloadKind::Elf);
  if (!payload)
    return Status(StatusCode::DoesNotFit, "the kernel has no code for a CPU");
  TILEJIT_ASSIGN_OR_RETURN(ElfImage image, ElfImage::load(payload->bytes));
  auto plan = reinterpret_cast<abi::CpuPlanFunction>(image.function(abi::cpuPlanSymbol));
  auto run = reinterpret_cast<abi::CpuRunFunction>(image.function(abi::cpuRunSymbol));
  if (!plan || !run)
    return Status(StatusCode::DeviceFailed,
                  std::string("the CPU payload has no function ") + (plan ? abi::cpuRunSymbol : abi::cpuPlanSymbol));
  if (auto set = reinterpret_cast<abi::CpuSetPrinterFunction>(image.function(abi::cpuSetPrinterSymbol)))
    set(&printToStandardError, nullptr);
  return std::shared_ptr<LoadedModule>(std::make_shared<CpuModule>(std::move(image), plan, run));
}

Status CpuDevice::makePlan(const CpuModule &module, const LaunchArguments &arguments, int64_t threads,
                           abi::CpuPlan &plan) {
  module.plan(arguments.slots.data(), threads, arguments.grid, &plan);
  bool good = plan.phases >= 0 && plan.phases <= abi::maxPhases && plan.sharedScratchBytes >= 0 &&
              plan.sharedScratchBytes <= maxScratchBytes && plan.threadScratchBytes >= 0 &&
              plan.threadScratchBytes <= maxScratchBytes;
  for (int64_t phase = 0; good && phase < plan.phases; ++phase)
    good = plan.tasks[phase] >= 0;
  if (!good)
    return Status(StatusCode::DeviceFailed, "the kernel made an impossible plan for these sizes");
  return Status::ok();
}

Expected<int64_t> CpuDevice::workspaceBytes(const LoadedModule &module, const LaunchArguments &arguments) {
  abi::CpuPlan plan;
  TILEJIT_RETURN_IF_ERROR(makePlan(static_cast<const CpuModule &>(module), arguments, threadsOf(arguments), plan));
  return plan.sharedScratchBytes;
}

void CpuDevice::runPhase(Phase &phase, int64_t index, int64_t threads) {
  if (threads == 1)
    return phase.runAlone(index);
  phase.begin(index, threads);
  if (executor_.run)
    executor_.run(executor_.user, threads, &Phase::work, &phase);
  else if (!pool_.run(threads, &Phase::work, &phase))
    phase.runAlone(index);
}

Status CpuDevice::launch(const LoadedModule &loaded, const LaunchArguments &arguments, LaunchOutcome &outcome) {
  const auto &module = static_cast<const CpuModule &>(loaded);
  int64_t threads = threadsOf(arguments);
  abi::CpuPlan plan;
  TILEJIT_RETURN_IF_ERROR(makePlan(module, arguments, threads, plan));
  int64_t tasks = 0, most = 0, end = std::min(plan.phases, arguments.endPhase);
  for (int64_t phase = arguments.firstPhase; phase < end; ++phase) {
    tasks = tasks > INT64_MAX - plan.tasks[phase] ? INT64_MAX : tasks + plan.tasks[phase];
    most = std::max(most, plan.tasks[phase]);
  }
  outcome.path = plan.path;
  outcome.tasks = tasks;
  if (tasks == 0)
    return Status::ok();
  threads = std::min(threads, most);
  int64_t expected = module.taskNanoseconds.load(std::memory_order_relaxed);
  if (expected > 0 && tasks < inlineNanoseconds / expected)
    threads = 1;
  outcome.threads = threads;

  auto scratch = scratch_.take(threads);
  void *shared = arguments.workspace;
  if (!shared || arguments.workspaceBytes < plan.sharedScratchBytes)
    shared = scratch->shared.atLeast(plan.sharedScratchBytes);
  Phase phase(module, arguments, plan, *scratch, shared);
  bool outOfMemory = !shared && plan.sharedScratchBytes > 0;
  for (int64_t index = arguments.firstPhase; index < end && !outOfMemory && !phase.failed(); ++index) {
    int64_t used = std::min(threads, plan.tasks[index]);
    if (used > 0)
      runPhase(phase, index, used);
  }
  module.taskNanoseconds.store(phase.taskNanoseconds(), std::memory_order_relaxed);
  outOfMemory = outOfMemory || phase.outOfMemory();
  outcome.failedAssertion = phase.failedAssertion();
  scratch_.give(std::move(scratch));
  if (outOfMemory)
    return Status(StatusCode::OutOfMemory,
                  "no memory for the kernel's scratch: " + std::to_string(plan.sharedScratchBytes) + " bytes, and " +
                      std::to_string(plan.threadScratchBytes) + " for each thread");
  return Status::ok();
}

} // namespace
} // namespace cpu

std::unique_ptr<Device> makeCpuDevice(const CpuDeviceOptions &options) {
  return std::make_unique<cpu::CpuDevice>(options);
}

} // namespace tilejit
