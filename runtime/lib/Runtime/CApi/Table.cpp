// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The function table.

#include "Handles.h"

const tilejit_api_t *tilejit_get_api(uint32_t abi_version) {
  static constexpr tilejit_api_t table = {
      sizeof(tilejit_api_t),
      TILEJIT_ABI_VERSION,
      0,
      tilejit_status_code,
      tilejit_status_message,
      tilejit_status_pointer,
      tilejit_status_hint,
      tilejit_status_detail,
      tilejit_status_release,
      tilejit_version,
      tilejit_string_release,
      tilejit_context_create,
      tilejit_context_retain,
      tilejit_context_release,
      tilejit_context_metrics,
      tilejit_device_count,
      tilejit_device_query,
      tilejit_buffer_create,
      tilejit_buffer_data,
      tilejit_buffer_size,
      tilejit_buffer_write,
      tilejit_buffer_read,
      tilejit_buffer_release,
      tilejit_kernel_prepare,
      tilejit_kernel_prepare_async,
      tilejit_task_wait,
      tilejit_task_take,
      tilejit_task_release,
      tilejit_kernel_retain,
      tilejit_kernel_release,
      tilejit_kernel_query,
      tilejit_kernel_launch,
      tilejit_kernel_workspace_size,
      tilejit_kernel_packed_size,
      tilejit_kernel_pack,
  };
  bool sameMajor = abi_version >> 16 == TILEJIT_ABI_MAJOR;
  return sameMajor && (abi_version & 0xffff) <= TILEJIT_ABI_MINOR ? &table : nullptr;
}
