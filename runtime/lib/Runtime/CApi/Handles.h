// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The objects behind the C handles, and the guard that every function runs in: no exception leaves the library.

#ifndef TILEJIT_LIB_RUNTIME_CAPI_HANDLES_H
#define TILEJIT_LIB_RUNTIME_CAPI_HANDLES_H

#define TILEJIT_BUILDING_LIBRARY
#include "tilejit-c/tilejit.h"

#include "tilejit/Runtime/Context.h"
#include "tilejit/Runtime/Kernel.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>

struct tilejit_status_s {
  tilejit::Status status;
};

struct tilejit_context_s {
  std::atomic<int64_t> owners{1};
  std::shared_ptr<tilejit::Context> context;
};

struct tilejit_buffer_s {
  std::shared_ptr<tilejit::Context> context;
  tilejit::Device *device = nullptr;
  void *data = nullptr;
  size_t bytes = 0;
};

struct tilejit_kernel_s {
  std::atomic<int64_t> owners{1};
  std::shared_ptr<tilejit::Kernel> kernel;
};

namespace tilejit::capi {

/// The handle of a status; null for success.
tilejit_status_t wrap(Status status) noexcept;
/// The one for when there is no memory for another.
tilejit_status_t outOfMemory() noexcept;

/// Runs a function that gives a Status; whatever it throws becomes one.
template <typename Function> tilejit_status_t guarded(Function function) noexcept {
  try {
    return wrap(function());
  } catch (const std::bad_alloc &) {
    return outOfMemory();
  } catch (const std::exception &error) {
    try {
      return wrap(Status(StatusCode::Internal, error.what()));
    } catch (...) {
      return outOfMemory();
    }
  } catch (...) {
    return outOfMemory();
  }
}

inline Status invalid(std::string message) { return Status(StatusCode::InvalidArgument, std::move(message)); }

/// Copies what an older or newer caller has of an options struct; fields that it lacks are zero. InvalidArgument for a
/// size that can't be, and for reserved fields that are set.
template <typename Options> Status takeOptions(const Options *given, Options &out, const char *what) {
  std::memset(&out, 0, sizeof out);
  if (!given)
    return Status::ok();
  if (given->struct_size < sizeof given->struct_size || given->struct_size > 1 << 16)
    return invalid(std::string(what) + ": struct_size is " + std::to_string(given->struct_size) + ", expected " +
                   std::to_string(sizeof out));
  std::memcpy(&out, given, std::min(given->struct_size, sizeof out));
  for (uint64_t reserved : out.reserved)
    if (reserved != 0)
      return invalid(std::string(what) + ": a reserved field is not zero");
  return Status::ok();
}

/// Writes an info struct as far as the caller has it; its struct_size stays.
template <typename Info> Status giveInfo(const Info &info, Info *out, const char *what) {
  if (!out || out->struct_size < sizeof out->struct_size)
    return invalid(std::string(what) + ": struct_size is not set");
  size_t bytes = std::min(out->struct_size, sizeof info);
  std::memcpy(reinterpret_cast<char *>(out) + sizeof info.struct_size,
              reinterpret_cast<const char *>(&info) + sizeof info.struct_size, bytes - sizeof info.struct_size);
  return Status::ok();
}

/// A C text that is always ended.
template <size_t size> void fillText(char (&out)[size], const std::string &text) {
  size_t bytes = std::min(text.size(), size - 1);
  std::memcpy(out, text.data(), bytes);
  out[bytes] = '\0';
}

/// The device of a DLPack device; Unavailable where there is none.
Expected<Device *> findDevice(Context &context, DLDevice device);

} // namespace tilejit::capi

#endif // TILEJIT_LIB_RUNTIME_CAPI_HANDLES_H
