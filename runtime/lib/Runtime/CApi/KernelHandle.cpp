// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Preparing and launching kernels through the C interface.

#include "Handles.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

using namespace tilejit;
using namespace tilejit::capi;

namespace {

/// A prepare with all its inputs copied.
struct PrepareCall {
  std::shared_ptr<Context> context;
  std::string text, name, target;
  CompileOptions options;

  Expected<std::shared_ptr<Kernel>> run() {
    TILEJIT_ASSIGN_OR_RETURN(TargetSpec spec, context->target(target));
    TILEJIT_ASSIGN_OR_RETURN(Source source, parseSource(std::move(text), name));
    return context->prepare(source, spec, options);
  }
};

Expected<PrepareCall> makeCall(tilejit_context_t context, const char *source, size_t bytes,
                               const tilejit_prepare_options_t *given) {
  tilejit_prepare_options_t options;
  TILEJIT_RETURN_IF_ERROR(takeOptions(given, options, "tilejit_prepare_options_t"));
  if (!context || !source)
    return invalid("the context, or the source, is null");
  constexpr uint32_t known = TILEJIT_PREPARE_NO_COMPILE | TILEJIT_PREPARE_NO_CACHE | TILEJIT_PREPARE_ALLOW_REFERENCE |
                             TILEJIT_PREPARE_WITH_BITCODE | TILEJIT_PREPARE_DEVICE;
  if (options.flags & ~known)
    return invalid("flags of tilejit_prepare_options_t are not known");
  bool hasDevice = options.flags & TILEJIT_PREPARE_DEVICE;
  if (hasDevice ? options.device < 0 : options.device != 0)
    return invalid("device " + std::to_string(options.device) + " can't be, with" + (hasDevice ? "" : "out") +
                   " TILEJIT_PREPARE_DEVICE");
  if (options.config_count > 0 && !options.config)
    return invalid("the config is null");
  PrepareCall call;
  call.context = context->context;
  call.text.assign(source, bytes);
  call.name = options.name ? options.name : "description";
  call.target = options.target ? options.target : "";
  call.options.noCompile = options.flags & TILEJIT_PREPARE_NO_COMPILE;
  call.options.noCache = options.flags & TILEJIT_PREPARE_NO_CACHE;
  call.options.allowReference = options.flags & TILEJIT_PREPARE_ALLOW_REFERENCE;
  call.options.withBitcode = options.flags & TILEJIT_PREPARE_WITH_BITCODE;
  call.options.device = hasDevice ? options.device : -1;
  for (size_t i = 0; i < options.config_count; ++i) {
    if (!options.config[i].key)
      return invalid("config entry " + std::to_string(i) + " has no key");
    call.options.config[options.config[i].key] = options.config[i].value;
  }
  return call;
}

Status giveKernel(Expected<std::shared_ptr<Kernel>> made, tilejit_kernel_t *out) {
  if (!made)
    return made.status();
  auto handle = std::make_unique<tilejit_kernel_s>();
  handle->kernel = *std::move(made);
  *out = handle.release();
  return Status::ok();
}

Status takeLaunch(tilejit_kernel_t kernel, const DLTensor *const *tensors, size_t count,
                  const tilejit_launch_options_t *given, LaunchOptions &out) {
  if (!kernel || (!tensors && count > 0))
    return invalid("the kernel, or the list of tensors, is null");
  if (!given)
    return Status::ok();
  tilejit_launch_options_t options;
  TILEJIT_RETURN_IF_ERROR(takeOptions(given, options, "tilejit_launch_options_t"));
  if ((options.flags & ~TILEJIT_LAUNCH_GRID) || options.threads < 0)
    return invalid("flags or threads of tilejit_launch_options_t can't be");
  if (options.flags & TILEJIT_LAUNCH_GRID)
    out.grid = {options.grid[0], options.grid[1], options.grid[2]};
  out.threads = options.threads;
  out.workspace = options.workspace;
  out.workspaceBytes = static_cast<int64_t>(std::min<size_t>(options.workspace_bytes, INT64_MAX));
  out.stream = options.stream;
  return Status::ok();
}

} // namespace

struct tilejit_task_s {
  std::thread thread;
  std::mutex mutex;
  std::condition_variable ended;
  bool done = false;
  std::optional<Expected<std::shared_ptr<Kernel>>> result;

  void run(PrepareCall call) noexcept {
    Expected<std::shared_ptr<Kernel>> made = Status(StatusCode::OutOfMemory, "host memory ran out");
    try {
      made = call.run();
    } catch (const std::exception &) {
      // The status from above says it: nothing else is thrown below here.
    }
    std::lock_guard lock(mutex);
    result = std::move(made);
    done = true;
    ended.notify_all();
  }
};

tilejit_status_t tilejit_kernel_prepare(tilejit_context_t context, const char *source, size_t source_bytes,
                                        const tilejit_prepare_options_t *options, tilejit_kernel_t *out_kernel) {
  return guarded([&]() -> Status {
    if (!out_kernel)
      return invalid("there is no place for the kernel");
    TILEJIT_ASSIGN_OR_RETURN(PrepareCall call, makeCall(context, source, source_bytes, options));
    return giveKernel(call.run(), out_kernel);
  });
}

tilejit_status_t tilejit_kernel_prepare_async(tilejit_context_t context, const char *source, size_t source_bytes,
                                              const tilejit_prepare_options_t *options, tilejit_task_t *out_task) {
  return guarded([&]() -> Status {
    if (!out_task)
      return invalid("there is no place for the task");
    TILEJIT_ASSIGN_OR_RETURN(PrepareCall call, makeCall(context, source, source_bytes, options));
    auto task = std::make_unique<tilejit_task_s>();
    task->thread = std::thread(&tilejit_task_s::run, task.get(), std::move(call));
    *out_task = task.release();
    return Status::ok();
  });
}

int tilejit_task_wait(tilejit_task_t task, int64_t timeout_ns) {
  if (!task)
    return 1;
  std::unique_lock lock(task->mutex);
  auto isDone = [task] { return task->done; };
  if (timeout_ns < 0)
    task->ended.wait(lock, isDone);
  else if (timeout_ns > 0)
    task->ended.wait_for(lock, std::chrono::nanoseconds(timeout_ns), isDone);
  return task->done;
}

tilejit_status_t tilejit_task_take(tilejit_task_t task, tilejit_kernel_t *out_kernel) {
  return guarded([&]() -> Status {
    if (!task || !out_kernel)
      return invalid("the task, or the place for the kernel, is null");
    tilejit_task_wait(task, -1);
    std::optional<Expected<std::shared_ptr<Kernel>>> result;
    {
      std::lock_guard lock(task->mutex);
      result.swap(task->result);
    }
    if (!result)
      return invalid("the task's kernel has been taken already");
    return giveKernel(*std::move(result), out_kernel);
  });
}

void tilejit_task_release(tilejit_task_t task) {
  if (!task)
    return;
  task->thread.join();
  delete task;
}

void tilejit_kernel_retain(tilejit_kernel_t kernel) {
  if (kernel)
    kernel->owners.fetch_add(1, std::memory_order_relaxed);
}

void tilejit_kernel_release(tilejit_kernel_t kernel) {
  if (kernel && kernel->owners.fetch_sub(1, std::memory_order_acq_rel) == 1)
    delete kernel;
}

tilejit_status_t tilejit_kernel_query(tilejit_kernel_t kernel, tilejit_kernel_info_t *out_info) {
  return guarded([&]() -> Status {
    if (!kernel)
      return invalid("the kernel is null");
    const CompileReport &report = kernel->kernel->report();
    tilejit_kernel_info_t info{};
    info.cache = static_cast<tilejit_cache_use_t>(report.cache);
    info.worker_started = report.workerStarted;
    info.uses_reference = report.usesReference;
    info.operand_count = static_cast<int32_t>(kernel->kernel->operandCount());
    info.payload_bytes = report.payloadBytes;
    info.compile_ms = report.compileMs;
    fillText(info.key, report.key);
    return giveInfo(info, out_info, "tilejit_kernel_info_t");
  });
}

tilejit_status_t tilejit_kernel_launch(tilejit_kernel_t kernel, const DLTensor *const *tensors, size_t tensor_count,
                                       const tilejit_launch_options_t *given) {
  return guarded([&]() -> Status {
    LaunchOptions options;
    TILEJIT_RETURN_IF_ERROR(takeLaunch(kernel, tensors, tensor_count, given, options));
    return kernel->kernel->launch({tensors, tensor_count}, options);
  });
}

tilejit_status_t tilejit_kernel_workspace_size(tilejit_kernel_t kernel, const DLTensor *const *tensors,
                                               size_t tensor_count, const tilejit_launch_options_t *given,
                                               size_t *out_bytes) {
  return guarded([&]() -> Status {
    LaunchOptions options;
    TILEJIT_RETURN_IF_ERROR(takeLaunch(kernel, tensors, tensor_count, given, options));
    if (!out_bytes)
      return invalid("there is no place for the size");
    TILEJIT_ASSIGN_OR_RETURN(int64_t bytes, kernel->kernel->workspaceBytes({tensors, tensor_count}, options));
    *out_bytes = static_cast<size_t>(bytes);
    return Status::ok();
  });
}

tilejit_status_t tilejit_kernel_packed_size(tilejit_kernel_t kernel, size_t operand, size_t *out_bytes) {
  return guarded([&]() -> Status {
    if (!kernel || !out_bytes)
      return invalid("the kernel, or the place for the size, is null");
    TILEJIT_ASSIGN_OR_RETURN(int64_t bytes, kernel->kernel->packedBytes(operand));
    *out_bytes = static_cast<size_t>(bytes);
    return Status::ok();
  });
}

tilejit_status_t tilejit_kernel_pack(tilejit_kernel_t kernel, size_t operand, const DLTensor *tensor,
                                     const DLTensor *packed) {
  return guarded([&]() -> Status {
    if (!kernel || !tensor || !packed)
      return invalid("the kernel, the tensor, or the place for its packed form, is null");
    return kernel->kernel->pack(operand, *tensor, *packed);
  });
}
