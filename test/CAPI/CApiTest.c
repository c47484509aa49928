// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The C interface from C: every function once with good and once with bad arguments, over a fake compiler (its folder
// and the worker program are arguments).

#include "tilejit-c/tilejit.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

#define CHECK(condition)                                                                                               \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);                                    \
      ++failures;                                                                                                      \
    }                                                                                                                  \
  } while (0)

static const char *description =
    "{\"tilejit\": \"1.0\", \"op\": \"elementwise\", \"dims\": {\"n\": {\"min\": 0, \"max\": 1000}},"
    "\"inputs\": {\"a\": {\"dtype\": \"f32\", \"shape\": [\"n\"]}, \"b\": {\"dtype\": \"f32\", \"shape\": [\"n\"]}},"
    "\"outputs\": {\"c\": {\"dtype\": \"f32\", \"shape\": [\"n\"]}},"
    "\"attributes\": {\"expression\": {\"c\": \"a + b\"}}}";

static const DLDevice cpu = {kDLCPU, 0};

static void check_ok(tilejit_status_t status, int line) {
  if (status) {
    fprintf(stderr, "%s:%d: %s\n", __FILE__, line, tilejit_status_message(status));
    for (size_t i = 0; tilejit_status_detail(status, i); ++i)
      fprintf(stderr, "  %s\n", tilejit_status_detail(status, i));
    ++failures;
  }
  tilejit_status_release(status);
}
#define OK(call) check_ok((call), __LINE__)

static void check_fails(tilejit_status_t status, tilejit_status_code_t code, const char *part, int line) {
  if (tilejit_status_code(status) != code || !strstr(tilejit_status_message(status), part)) {
    fprintf(stderr, "%s:%d: code %d, message \"%s\"\n", __FILE__, line, (int)tilejit_status_code(status),
            tilejit_status_message(status));
    ++failures;
  }
  tilejit_status_release(status);
}
#define FAILS(call, code, part) check_fails((call), (code), (part), __LINE__)

static void count_log(void *user, tilejit_log_level_t level, const char *area, const char *line) {
  (void)level;
  if (strlen(area) > 0 && strlen(line) > 0)
    ++*(int *)user;
}

static DLTensor tensor_of(tilejit_buffer_t buffer, int64_t *shape) {
  DLTensor tensor;
  memset(&tensor, 0, sizeof tensor);
  tensor.data = tilejit_buffer_data(buffer);
  tensor.device = cpu;
  tensor.ndim = 1;
  tensor.dtype.code = kDLFloat;
  tensor.dtype.bits = 32;
  tensor.dtype.lanes = 1;
  tensor.shape = shape;
  return tensor;
}

static void test_launch(tilejit_context_t context, tilejit_kernel_t kernel) {
  enum { count = 100 };
  float a[count], b[count], c[count];
  int64_t shape[1] = {count}, shorter[1] = {count - 1};
  size_t bytes = 0;
  for (int i = 0; i < count; ++i) {
    a[i] = (float)i;
    b[i] = 1000.0f;
  }
  tilejit_buffer_t buffers[3];
  DLTensor tensors[3];
  const DLTensor *arguments[3];
  for (int i = 0; i < 3; ++i) {
    OK(tilejit_buffer_create(context, cpu, sizeof a, &buffers[i]));
    CHECK(tilejit_buffer_size(buffers[i]) == sizeof a);
    CHECK((uintptr_t)tilejit_buffer_data(buffers[i]) % 64 == 0);
    tensors[i] = tensor_of(buffers[i], shape);
    arguments[i] = &tensors[i];
  }
  OK(tilejit_buffer_write(buffers[0], 0, a, sizeof a));
  OK(tilejit_buffer_write(buffers[1], 0, b, sizeof b));
  OK(tilejit_kernel_launch(kernel, arguments, 3, NULL));
  OK(tilejit_buffer_read(buffers[2], 0, c, sizeof c));
  for (int i = 0; i < count; ++i)
    CHECK(c[i] == a[i] + b[i]);
  FAILS(tilejit_buffer_read(buffers[2], 4, c, sizeof c), TILEJIT_INVALID_ARGUMENT, "outside the buffer");
  FAILS(tilejit_buffer_write(buffers[2], 0, NULL, 1), TILEJIT_INVALID_ARGUMENT, "null");

  OK(tilejit_kernel_workspace_size(kernel, arguments, 3, NULL, &bytes));
  CHECK(bytes == 128);
  tilejit_buffer_t workspace;
  OK(tilejit_buffer_create(context, cpu, bytes, &workspace));
  tilejit_launch_options_t options;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.threads = 1;
  options.workspace = tilejit_buffer_data(workspace);
  options.workspace_bytes = bytes;
  OK(tilejit_kernel_launch(kernel, arguments, 3, &options));
  options.reserved[1] = 1;
  FAILS(tilejit_kernel_launch(kernel, arguments, 3, &options), TILEJIT_INVALID_ARGUMENT, "reserved");
  options.reserved[1] = 0;
  options.struct_size = 0;
  FAILS(tilejit_kernel_launch(kernel, arguments, 3, &options), TILEJIT_INVALID_ARGUMENT, "struct_size");
  OK(tilejit_kernel_packed_size(kernel, 1, &bytes));
  CHECK(bytes == 0);
  FAILS(tilejit_kernel_packed_size(kernel, 9, &bytes), TILEJIT_INVALID_ARGUMENT, "no operand 9");
  FAILS(tilejit_kernel_pack(kernel, 1, arguments[1], arguments[2]), TILEJIT_INVALID_ARGUMENT, "has no packed form");
  FAILS(tilejit_kernel_pack(kernel, 1, NULL, arguments[2]), TILEJIT_INVALID_ARGUMENT, "null");

  tensors[1].shape = shorter;
  FAILS(tilejit_kernel_launch(kernel, arguments, 3, NULL), TILEJIT_INVALID_ARGUMENT, "[99], expected [n = 100]");
  FAILS(tilejit_kernel_launch(kernel, arguments, 2, NULL), TILEJIT_INVALID_ARGUMENT, "expected 3");
  FAILS(tilejit_kernel_launch(kernel, NULL, 3, NULL), TILEJIT_INVALID_ARGUMENT, "null");
  tilejit_buffer_release(workspace);
  for (int i = 0; i < 3; ++i)
    tilejit_buffer_release(buffers[i]);
}

static void test_prepare(tilejit_context_t context) {
  tilejit_kernel_t kernel = NULL;
  tilejit_prepare_options_t options;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.flags = TILEJIT_PREPARE_NO_COMPILE;
  FAILS(tilejit_kernel_prepare(context, description, strlen(description), &options, &kernel), TILEJIT_NOT_CACHED, "");
  CHECK(kernel == NULL);
  FAILS(tilejit_kernel_prepare(context, "{]", 2, NULL, &kernel), TILEJIT_BAD_DESCRIPTION, "");
  options.flags = 0;
  options.target = "no-such-chip";
  FAILS(tilejit_kernel_prepare(context, description, strlen(description), &options, &kernel), TILEJIT_INVALID_ARGUMENT,
        "no-such-chip");
  options.target = "native";
  tilejit_config_t config = {"bn", 60007}; /* The fake compiler refuses this. */
  options.config = &config;
  options.config_count = 1;
  FAILS(tilejit_kernel_prepare(context, description, strlen(description), &options, &kernel), TILEJIT_COMPILE_FAILED,
        "refusal");
  options.config_count = 0;
  options.device = 7;
  FAILS(tilejit_kernel_prepare(context, description, strlen(description), &options, &kernel), TILEJIT_INVALID_ARGUMENT,
        "without TILEJIT_PREPARE_DEVICE");
  options.flags = TILEJIT_PREPARE_DEVICE;
  FAILS(tilejit_kernel_prepare(context, description, strlen(description), &options, &kernel), TILEJIT_UNAVAILABLE,
        "cpu 7");
  options.device = 0;

  tilejit_task_t task;
  OK(tilejit_kernel_prepare_async(context, description, strlen(description), &options, &task));
  CHECK(tilejit_task_wait(task, -1) == 1);
  CHECK(tilejit_task_wait(task, 0) == 1);
  OK(tilejit_task_take(task, &kernel));
  tilejit_kernel_t none = NULL;
  FAILS(tilejit_task_take(task, &none), TILEJIT_INVALID_ARGUMENT, "already");
  tilejit_task_release(task);

  tilejit_kernel_info_t info;
  memset(&info, 0, sizeof info);
  FAILS(tilejit_kernel_query(kernel, &info), TILEJIT_INVALID_ARGUMENT, "struct_size");
  info.struct_size = sizeof info;
  OK(tilejit_kernel_query(kernel, &info));
  CHECK(info.cache == TILEJIT_CACHE_MISS);
  CHECK(info.worker_started == 1); /* It ran before, for the refusal; this compile asked it. */
  CHECK(info.operand_count == 3);
  CHECK(strlen(info.key) == 64);
  test_launch(context, kernel);
  tilejit_kernel_retain(kernel);
  tilejit_kernel_release(kernel);
  tilejit_kernel_release(kernel);
}

static void test_rest(tilejit_context_t context) {
  int32_t count = -1;
  OK(tilejit_device_count(context, kDLCPU, &count));
  CHECK(count == 1);
  OK(tilejit_device_count(context, kDLVulkan, &count));
  CHECK(count == 0);
  tilejit_device_info_t info;
  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;
  OK(tilejit_device_query(context, cpu, &info));
  CHECK(info.compute_units == 2 && info.memory_bytes > 0 && strlen(info.name) > 0 && strlen(info.target) > 0);
  DLDevice other = {kDLVulkan, 0};
  FAILS(tilejit_device_query(context, other, &info), TILEJIT_UNAVAILABLE, "type 7");
  other.device_type = kDLCPU;
  other.device_id = 7;
  FAILS(tilejit_device_query(context, other, &info), TILEJIT_UNAVAILABLE, "cpu 7");

  char *text = NULL;
  OK(tilejit_context_metrics(context, &text));
  CHECK(text && strstr(text, "tilejit_compiles_total 2\n"));
  tilejit_string_release(text);

  CHECK(tilejit_abi_version() == TILEJIT_ABI_VERSION);
  CHECK(strchr(tilejit_version(), '.') != NULL);
  const tilejit_api_t *api = tilejit_get_api(TILEJIT_ABI_VERSION);
  CHECK(api && api->struct_size == sizeof *api && api->abi_version == TILEJIT_ABI_VERSION);
  CHECK(api && api->version == tilejit_version && api->kernel_packed_size == tilejit_kernel_packed_size &&
        api->kernel_pack == tilejit_kernel_pack);
  CHECK(tilejit_get_api(TILEJIT_ABI_VERSION + 1) == NULL);
  CHECK(tilejit_get_api((TILEJIT_ABI_MAJOR + 1) << 16) == NULL);

  CHECK(tilejit_status_code(NULL) == TILEJIT_OK);
  CHECK(strcmp(tilejit_status_message(NULL), "") == 0 && strcmp(tilejit_status_hint(NULL), "") == 0);
  CHECK(strcmp(tilejit_status_pointer(NULL), "") == 0 && tilejit_status_detail(NULL, 0) == NULL);
  tilejit_status_release(NULL);
  tilejit_context_release(NULL);
  tilejit_kernel_release(NULL);
  tilejit_buffer_release(NULL);
  tilejit_task_release(NULL);
}

int main(int argc, char **argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: CApiTest CACHE_FOLDER WORKER HOME\n");
    return 2;
  }
  tilejit_setting_t settings[] = {{"cache_dir", argv[1]}, {"worker", argv[2]},    {"home", argv[3]},
                                  {"num_threads", "2"},   {"log_level", "debug"}, {"no_such_setting", "1"}};
  int lines = 0;
  tilejit_context_options_t options;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.flags = TILEJIT_CONTEXT_NO_ENVIRONMENT;
  options.settings = settings;
  options.setting_count = 6;
  options.log = count_log;
  options.log_user = &lines;
  tilejit_context_t context = NULL;
  FAILS(tilejit_context_create(&options, &context), TILEJIT_INVALID_ARGUMENT, "no_such_setting");
  options.setting_count = 5;
  options.flags = 1u << 30;
  FAILS(tilejit_context_create(&options, &context), TILEJIT_INVALID_ARGUMENT, "flags");
  options.flags = TILEJIT_CONTEXT_NO_ENVIRONMENT;
  FAILS(tilejit_context_create(&options, NULL), TILEJIT_INVALID_ARGUMENT, "no place");
  OK(tilejit_context_create(&options, &context));
  tilejit_context_retain(context);
  tilejit_context_release(context);
  test_prepare(context);
  test_rest(context);
  CHECK(lines > 0);
  tilejit_context_release(context);
  printf("%d failed\n", failures);
  return failures != 0;
}
