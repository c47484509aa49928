// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// tilejit in a C program: a context, a kernel from a description, two launches with different sizes, the counters. The
// description has a symbolic size, so that both launches run the same code. The second run of the program finds the
// kernel in the cache and starts no compiler.

#include <tilejit-c/tilejit.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *description = "{"
                                 "  \"tilejit\": \"1.0\","
                                 "  \"op\": \"elementwise\","
                                 "  \"dims\": {\"n\": {\"min\": 0, \"max\": 1048576}},"
                                 "  \"inputs\": {"
                                 "    \"a\": {\"dtype\": \"f32\", \"shape\": [\"n\"]},"
                                 "    \"b\": {\"dtype\": \"f32\", \"shape\": [\"n\"]}"
                                 "  },"
                                 "  \"outputs\": {\"c\": {\"dtype\": \"f32\", \"shape\": [\"n\"]}},"
                                 "  \"attributes\": {\"expression\": {\"c\": \"a + b\"}}"
                                 "}";

/* Ends the program with the status' text where there is one. */
static void check(tilejit_status_t status) {
  if (!status)
    return;
  fprintf(stderr, "error: %s %s\n", tilejit_status_message(status), tilejit_status_pointer(status));
  for (size_t i = 0; tilejit_status_detail(status, i); ++i)
    fprintf(stderr, "  %s\n", tilejit_status_detail(status, i));
  exit(1);
}

static void print_log(void *user, tilejit_log_level_t level, const char *area, const char *line) {
  (void)level;
  (void)area;
  fprintf((FILE *)user, "%s\n", line);
}

/* A borrowed view of host memory; strides left out: dense. */
static DLTensor vector_of(float *values, int64_t *shape) {
  DLTensor tensor;
  memset(&tensor, 0, sizeof tensor);
  tensor.data = values;
  tensor.device.device_type = kDLCPU;
  tensor.ndim = 1;
  tensor.dtype.code = kDLFloat;
  tensor.dtype.bits = 32;
  tensor.dtype.lanes = 1;
  tensor.shape = shape;
  return tensor;
}

static int add_vectors(tilejit_kernel_t kernel, int64_t count) {
  float *values = malloc(3 * (size_t)count * sizeof(float));
  int64_t shape[1];
  int wrong = 0;
  if (!values)
    return 1;
  shape[0] = count;
  for (int64_t i = 0; i < count; ++i) {
    values[i] = (float)i;
    values[count + i] = 0.5f;
  }
  DLTensor a = vector_of(values, shape), b = vector_of(values + count, shape), c = vector_of(values + 2 * count, shape);
  const DLTensor *tensors[] = {&a, &b, &c};
  check(tilejit_kernel_launch(kernel, tensors, 3, NULL));
  for (int64_t i = 0; i < count; ++i)
    wrong += values[2 * count + i] != (float)i + 0.5f;
  printf("%lld elements: %s\n", (long long)count, wrong ? "wrong" : "right");
  free(values);
  return wrong;
}

int main(void) {
  tilejit_context_options_t options;
  tilejit_context_t context;
  tilejit_kernel_t kernel;
  tilejit_kernel_info_t info;
  char *metrics;
  int wrong = 0;

  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.log = print_log;
  options.log_user = stderr;
  check(tilejit_context_create(&options, &context));

  check(tilejit_kernel_prepare(context, description, strlen(description), NULL, &kernel));
  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;
  check(tilejit_kernel_query(kernel, &info));
  printf("tilejit %s: kernel %.12s, %s, compiled in %.1f ms\n", tilejit_version(), info.key,
         info.cache == TILEJIT_CACHE_HIT ? "from the cache" : "not in the cache", info.compile_ms);

  wrong += add_vectors(kernel, 1000);
  wrong += add_vectors(kernel, 100000);

  check(tilejit_context_metrics(context, &metrics));
  printf("%zu bytes of metrics\n", strlen(metrics));
  tilejit_string_release(metrics);
  tilejit_kernel_release(kernel);
  tilejit_context_release(context);
  return wrong != 0;
}
