// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Contexts, devices and buffers of the C interface.

#include "Handles.h"

#include <cstdlib>
#include <optional>
#include <string_view>

using namespace tilejit;
using namespace tilejit::capi;

namespace tilejit::capi {

static std::optional<DeviceKind> kindOf(DLDeviceType type) {
  switch (type) {
  case kDLCPU:
    return DeviceKind::Cpu;
  case kDLCUDA:
    return DeviceKind::Cuda;
  case kDLROCM:
    return DeviceKind::Hip;
  case kDLExtDev:
    return DeviceKind::Sim;
  default:
    return std::nullopt;
  }
}

Expected<Device *> findDevice(Context &context, DLDevice device) {
  if (auto kind = kindOf(device.device_type))
    return context.device(*kind, device.device_id);
  return Status(StatusCode::Unavailable, "there is no device of DLPack type " + std::to_string(device.device_type) +
                                             " that tilejit can use; it has the CPU, type 1, CUDA, type 2, ROCm, "
                                             "type 10, and simulated chips, type 12");
}

} // namespace tilejit::capi

namespace {

/// The settings of new contexts: the host's own over environment and file, or over the defaults alone.
Expected<Settings> settingsOf(const tilejit_context_options_t &options) {
  std::vector<SettingOverride> overrides;
  if (options.setting_count > 0 && !options.settings)
    return invalid("the context's settings are null");
  for (size_t i = 0; i < options.setting_count; ++i) {
    const tilejit_setting_t &setting = options.settings[i];
    if (!setting.name || !setting.value)
      return invalid("setting " + std::to_string(i) + " of the context has no name or no value");
    auto id = parseSettingName(setting.name);
    if (!id)
      return invalid("the context has no setting \"" + std::string(setting.name) + "\"");
    overrides.push_back({*id, setting.value, std::string("the context's setting ") + setting.name});
  }
  if (!(options.flags & TILEJIT_CONTEXT_NO_ENVIRONMENT))
    return loadSettings(realSystem(), overrides);
  Settings settings;
  for (SettingOverride &setting : overrides)
    TILEJIT_RETURN_IF_ERROR(
        settings.set(setting.id, std::move(setting.text), SettingOrigin::CommandLine, std::move(setting.where)));
  return settings;
}

Logger loggerOf(const tilejit_context_options_t &options, const Settings &settings) {
  if (!options.log)
    return {};
  auto sink = [callback = options.log, user = options.log_user,
               format = settings.logFormat()](const LogRecord &record) {
    std::string area(record.area);
    callback(user, static_cast<tilejit_log_level_t>(record.level), area.c_str(), formatRecord(record, format).c_str());
  };
  return Logger(settings.logLevel(), std::move(sink));
}

} // namespace

tilejit_status_t tilejit_context_create(const tilejit_context_options_t *given, tilejit_context_t *out_context) {
  return guarded([&]() -> Status {
    tilejit_context_options_t options;
    TILEJIT_RETURN_IF_ERROR(takeOptions(given, options, "tilejit_context_options_t"));
    if (!out_context)
      return invalid("there is no place for the context");
    if (options.flags & ~TILEJIT_CONTEXT_NO_ENVIRONMENT)
      return invalid("the context's flags " + std::to_string(options.flags) + " are not known");
    ContextOptions made;
    TILEJIT_ASSIGN_OR_RETURN(made.settings, settingsOf(options));
    made.logger = loggerOf(options, made.settings);
    if (options.executor)
      made.executor = {options.executor, options.executor_user, std::max<int64_t>(1, options.executor_threads)};
    auto handle = std::make_unique<tilejit_context_s>();
    TILEJIT_ASSIGN_OR_RETURN(handle->context, Context::create(std::move(made)));
    *out_context = handle.release();
    return Status::ok();
  });
}

void tilejit_context_retain(tilejit_context_t context) {
  if (context)
    context->owners.fetch_add(1, std::memory_order_relaxed);
}

void tilejit_context_release(tilejit_context_t context) {
  if (context && context->owners.fetch_sub(1, std::memory_order_acq_rel) == 1)
    delete context;
}

tilejit_status_t tilejit_context_metrics(tilejit_context_t context, char **out_text) {
  return guarded([&]() -> Status {
    if (!context || !out_text)
      return invalid("the context, or the place for its text, is null");
    std::string text = context->context->metricsText();
    char *copy = static_cast<char *>(std::malloc(text.size() + 1));
    if (!copy)
      throw std::bad_alloc();
    std::memcpy(copy, text.c_str(), text.size() + 1);
    *out_text = copy;
    return Status::ok();
  });
}

tilejit_status_t tilejit_device_count(tilejit_context_t context, DLDeviceType kind, int32_t *out_count) {
  return guarded([&]() -> Status {
    if (!context || !out_count)
      return invalid("the context, or the place for the count, is null");
    auto known = kindOf(kind);
    Expected<int> count = known ? context->context->deviceCount(*known) : Expected<int>(0);
    *out_count = count ? *count : 0;
    bool isMistake = !count && count.status().code() != StatusCode::Unavailable;
    return isMistake ? count.status() : Status::ok();
  });
}

tilejit_status_t tilejit_device_query(tilejit_context_t context, DLDevice device, tilejit_device_info_t *out_info) {
  return guarded([&]() -> Status {
    if (!context)
      return invalid("the context is null");
    TILEJIT_ASSIGN_OR_RETURN(Device * found, findDevice(*context->context, device));
    const DeviceProperties &properties = found->properties();
    tilejit_device_info_t info{};
    info.device = device;
    info.compute_units = properties.computeUnits;
    info.memory_bytes = properties.memoryBytes;
    fillText(info.name, properties.name);
    fillText(info.target, properties.target.name);
    return giveInfo(info, out_info, "tilejit_device_info_t");
  });
}

tilejit_status_t tilejit_buffer_create(tilejit_context_t context, DLDevice device, size_t bytes,
                                       tilejit_buffer_t *out_buffer) {
  return guarded([&]() -> Status {
    if (!context || !out_buffer)
      return invalid("the context, or the place for the buffer, is null");
    if (bytes > static_cast<size_t>(INT64_MAX))
      return invalid("can't allocate " + std::to_string(bytes) + " bytes");
    auto buffer = std::make_unique<tilejit_buffer_s>();
    buffer->context = context->context;
    buffer->bytes = bytes;
    TILEJIT_ASSIGN_OR_RETURN(buffer->device, findDevice(*buffer->context, device));
    TILEJIT_ASSIGN_OR_RETURN(buffer->data, buffer->device->allocate(static_cast<int64_t>(bytes)));
    *out_buffer = buffer.release();
    return Status::ok();
  });
}

void *tilejit_buffer_data(tilejit_buffer_t buffer) { return buffer ? buffer->data : nullptr; }

size_t tilejit_buffer_size(tilejit_buffer_t buffer) { return buffer ? buffer->bytes : 0; }

namespace {

/// The place of a copy in a buffer; InvalidArgument where the range lies outside.
Expected<char *> placeIn(tilejit_buffer_t buffer, size_t offset, size_t bytes, const void *host) {
  if (!buffer || (!host && bytes > 0))
    return invalid("the buffer, or the host memory, is null");
  if (offset > buffer->bytes || bytes > buffer->bytes - offset)
    return invalid("the range of " + std::to_string(bytes) + " bytes from " + std::to_string(offset) +
                   " is outside the buffer of " + std::to_string(buffer->bytes) + " bytes");
  return static_cast<char *>(buffer->data) + offset;
}

} // namespace

tilejit_status_t tilejit_buffer_write(tilejit_buffer_t buffer, size_t offset, const void *from, size_t bytes) {
  return guarded([&]() -> Status {
    TILEJIT_ASSIGN_OR_RETURN(char *place, placeIn(buffer, offset, bytes, from));
    return buffer->device->copyToDevice(place, from, static_cast<int64_t>(bytes));
  });
}

tilejit_status_t tilejit_buffer_read(tilejit_buffer_t buffer, size_t offset, void *to, size_t bytes) {
  return guarded([&]() -> Status {
    TILEJIT_ASSIGN_OR_RETURN(char *place, placeIn(buffer, offset, bytes, to));
    return buffer->device->copyToHost(to, place, static_cast<int64_t>(bytes));
  });
}

void tilejit_buffer_release(tilejit_buffer_t buffer) {
  if (!buffer)
    return;
  buffer->device->release(buffer->data);
  delete buffer;
}
