// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Status handles, versions, texts.

#include "Handles.h"

#include <cstdlib>

using namespace tilejit;

namespace {

/// Stands for "no memory even for the status". Never released; has no constructor to run.
constinit char noMemory = 0;

bool isNoMemory(tilejit_status_t status) { return reinterpret_cast<char *>(status) == &noMemory; }

} // namespace

namespace tilejit::capi {

tilejit_status_t outOfMemory() noexcept { return reinterpret_cast<tilejit_status_t>(&noMemory); }

tilejit_status_t wrap(Status status) noexcept {
  if (status.isOk())
    return nullptr;
  auto *handle = new (std::nothrow) tilejit_status_s{std::move(status)};
  return handle ? handle : outOfMemory();
}

} // namespace tilejit::capi

tilejit_status_code_t tilejit_status_code(tilejit_status_t status) {
  if (!status)
    return TILEJIT_OK;
  return isNoMemory(status) ? TILEJIT_OUT_OF_MEMORY : static_cast<tilejit_status_code_t>(status->status.code());
}

const char *tilejit_status_message(tilejit_status_t status) {
  if (!status)
    return "";
  return isNoMemory(status) ? "host memory ran out" : status->status.message().c_str();
}

const char *tilejit_status_pointer(tilejit_status_t status) {
  return !status || isNoMemory(status) ? "" : status->status.pointer().c_str();
}

const char *tilejit_status_hint(tilejit_status_t status) {
  return !status || isNoMemory(status) ? "" : status->status.hint().c_str();
}

const char *tilejit_status_detail(tilejit_status_t status, size_t index) {
  if (!status || isNoMemory(status) || index >= status->status.details().size())
    return nullptr;
  return status->status.details()[index].c_str();
}

void tilejit_status_release(tilejit_status_t status) {
  if (status && !isNoMemory(status))
    delete status;
}

const char *tilejit_version(void) { return tilejitVersion().data(); }

uint32_t tilejit_abi_version(void) { return TILEJIT_ABI_VERSION; }

void tilejit_string_release(char *text) { std::free(text); }
