// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// tilejit's C interface: contexts, buffers, kernels, launches. It never exits, prints, throws, installs signal handlers
// or changes the environment; loading the library runs no code and starts no thread.
//
// Status: every function that can fail returns a tilejit_status_t: NULL is success; anything else is an object that the
// caller releases with tilejit_status_release(). Outputs are written on success only.
// Ownership: what a function hands out through an `out_` parameter belongs to the caller, who releases it with the
// function of its type. Releasing NULL does nothing. Inputs are borrowed for the time of the call.
// Threads: all functions may be called from any thread at once; a release may not overlap with a use of what it
// releases. Handles may be used in a child after fork().
// Structs begin with `struct_size`, which the caller sets to sizeof; fields beyond it count as zero, so that programs
// built with an older header go on working. Reserved fields have to be zero.

#ifndef TILEJIT_C_TILEJIT_H
#define TILEJIT_C_TILEJIT_H

#include "tilejit-c/dlpack.h"

#include <stddef.h>
#include <stdint.h>

#if defined(TILEJIT_BUILDING_LIBRARY)
#define TILEJIT_API __attribute__((visibility("default")))
#else
#define TILEJIT_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. Within a major version functions and fields are added, never changed or removed. */
#define TILEJIT_ABI_MAJOR 0
#define TILEJIT_ABI_MINOR 2
#define TILEJIT_ABI_VERSION ((TILEJIT_ABI_MAJOR << 16) | TILEJIT_ABI_MINOR)

typedef struct tilejit_status_s *tilejit_status_t;
typedef struct tilejit_context_s *tilejit_context_t;
typedef struct tilejit_buffer_s *tilejit_buffer_t;
typedef struct tilejit_kernel_s *tilejit_kernel_t;
typedef struct tilejit_task_s *tilejit_task_t;

/* ---- Status ---- */

typedef enum tilejit_status_code_t {
  TILEJIT_OK = 0,
  TILEJIT_INVALID_ARGUMENT = 1, /* A call, option, setting or tensor that can't be what was meant. */
  TILEJIT_BAD_DESCRIPTION = 2,  /* A description or tile program that means nothing. */
  TILEJIT_NOT_FOUND = 3,
  TILEJIT_COMPILE_FAILED = 4, /* The compiler refused or failed. */
  TILEJIT_DOES_NOT_FIT = 5,   /* The result exceeds a limit of the chip. */
  TILEJIT_TIMED_OUT = 6,
  TILEJIT_NOT_CACHED = 7,     /* Compiling was forbidden and the cache has no entry. */
  TILEJIT_UNAVAILABLE = 8,    /* No such device, or code for another one. */
  TILEJIT_DEVICE_FAILED = 9,  /* A device was there and refused. */
  TILEJIT_WORKER_FAILED = 10, /* The compile worker can't be started or ended without an answer. */
  TILEJIT_IO_ERROR = 11,
  TILEJIT_CHECK_FAILED = 12, /* An assertion of a kernel did not hold. */
  TILEJIT_OUT_OF_MEMORY = 13,
  TILEJIT_INTERNAL = 14 /* A fault of tilejit. */
} tilejit_status_code_t;

/* TILEJIT_OK for NULL. */
TILEJIT_API tilejit_status_code_t tilejit_status_code(tilejit_status_t status);
/* One line for people; "" for NULL. The text lives as long as the status, as do the next ones. */
TILEJIT_API const char *tilejit_status_message(tilejit_status_t status);
/* JSON pointer or file:line:column of the fault; "" where it is not known. */
TILEJIT_API const char *tilejit_status_pointer(tilejit_status_t status);
/* What to do about it; "" where nobody knows. */
TILEJIT_API const char *tilejit_status_hint(tilejit_status_t status);
/* Further lines, from 0 on; NULL past the last one. */
TILEJIT_API const char *tilejit_status_detail(tilejit_status_t status, size_t index);
TILEJIT_API void tilejit_status_release(tilejit_status_t status);

/* ---- Version ---- */

/* "0.1.0"; never released. */
TILEJIT_API const char *tilejit_version(void);
/* TILEJIT_ABI_VERSION of the library. */
TILEJIT_API uint32_t tilejit_abi_version(void);
/* Releases a text that a function handed out. */
TILEJIT_API void tilejit_string_release(char *text);

/* ---- Context ---- */

typedef enum tilejit_log_level_t {
  TILEJIT_LOG_ERROR = 0,
  TILEJIT_LOG_WARN = 1,
  TILEJIT_LOG_INFO = 2,
  TILEJIT_LOG_DEBUG = 3,
  TILEJIT_LOG_TRACE = 4
} tilejit_log_level_t;

/* Takes one log line, without its end, from any thread. It must not call tilejit. The texts live as long as the call.
 */
typedef void (*tilejit_log_callback_t)(void *user, tilejit_log_level_t level, const char *area, const char *line);

/* A setting by its name in the configuration file: {"cache_dir", "/var/cache/x"}, {"num_threads", "4"}. */
typedef struct tilejit_setting_t {
  const char *name;
  const char *value;
} tilejit_setting_t;

/* A host's thread pool. Calls task(data, i) once for each i in [0, count), from any threads, and returns when all have
 * returned. It may be called from several threads at once. */
typedef void (*tilejit_parallel_for_t)(void *user, int64_t count, void (*task)(void *data, int64_t index), void *data);

typedef struct tilejit_context_options_t {
  size_t struct_size;
  uint32_t flags;                    /* TILEJIT_CONTEXT_... */
  uint32_t executor_threads;         /* How many tasks the executor runs at once; 0: one. */
  const tilejit_setting_t *settings; /* They win over environment and configuration file. */
  size_t setting_count;
  tilejit_log_callback_t log; /* NULL: silent. */
  void *log_user;
  tilejit_parallel_for_t executor; /* NULL: threads of the context's own, started when needed. */
  void *executor_user;
  uint64_t reserved[4];
} tilejit_context_options_t;

/* Neither environment variables nor configuration files are read. */
#define TILEJIT_CONTEXT_NO_ENVIRONMENT 1u

/* Makes a context: cache, workers, devices, log and counters hang on it and on nothing else. Opens and starts nothing.
 * `options` may be NULL. Thread-safe. */
TILEJIT_API tilejit_status_t tilejit_context_create(const tilejit_context_options_t *options,
                                                    tilejit_context_t *out_context);
/* One more owner. */
TILEJIT_API void tilejit_context_retain(tilejit_context_t context);
/* One owner less. Kernels, buffers and tasks keep what they need of it. */
TILEJIT_API void tilejit_context_release(tilejit_context_t context);
/* The context's counters in Prometheus' text format; release with tilejit_string_release(). */
TILEJIT_API tilejit_status_t tilejit_context_metrics(tilejit_context_t context, char **out_text);

/* ---- Devices and buffers ---- */

typedef struct tilejit_device_info_t {
  size_t struct_size; /* Set by the caller; fields beyond it are left alone. */
  DLDevice device;
  int32_t compute_units; /* CPU: threads that a launch may use; GPUs: multiprocessors or compute units. */
  int64_t memory_bytes;  /* 0: not known. */
  char name[128];
  char target[64]; /* A target name to prepare kernels with. */
} tilejit_device_info_t;

/* How many devices of a DLPack kind there are: kDLCPU, kDLCUDA, kDLROCM, and kDLExtDev for simulated chips. Kinds that
 * tilejit doesn't know, or that have no driver here, have none. */
TILEJIT_API tilejit_status_t tilejit_device_count(tilejit_context_t context, DLDeviceType kind, int32_t *out_count);
/* Facts about a device. TILEJIT_UNAVAILABLE where there is none. */
TILEJIT_API tilejit_status_t tilejit_device_query(tilejit_context_t context, DLDevice device,
                                                  tilejit_device_info_t *out_info);

/* Uninitialised device memory, aligned to at least 64 bytes. */
TILEJIT_API tilejit_status_t tilejit_buffer_create(tilejit_context_t context, DLDevice device, size_t bytes,
                                                   tilejit_buffer_t *out_buffer);
/* Where it lies on its device; for DLTensor's `data`. Valid until the release. */
TILEJIT_API void *tilejit_buffer_data(tilejit_buffer_t buffer);
TILEJIT_API size_t tilejit_buffer_size(tilejit_buffer_t buffer);
/* Copies from and to host memory; done when they return. A range outside the buffer is TILEJIT_INVALID_ARGUMENT. */
TILEJIT_API tilejit_status_t tilejit_buffer_write(tilejit_buffer_t buffer, size_t offset, const void *from,
                                                  size_t bytes);
TILEJIT_API tilejit_status_t tilejit_buffer_read(tilejit_buffer_t buffer, size_t offset, void *to, size_t bytes);
TILEJIT_API void tilejit_buffer_release(tilejit_buffer_t buffer);

/* ---- Kernels ---- */

/* A miss is TILEJIT_NOT_CACHED; nothing is compiled. */
#define TILEJIT_PREPARE_NO_COMPILE 1u
/* The cache is neither read nor written. */
#define TILEJIT_PREPARE_NO_CACHE 2u
/* What can't be compiled runs as the slow reference implementation. */
#define TILEJIT_PREPARE_ALLOW_REFERENCE 4u
/* GPU targets: what goes into the cache also has the optimised LLVM bitcode. Targets `sim:...` always have it. */
#define TILEJIT_PREPARE_WITH_BITCODE 8u
/* `device` is given; else the first device that runs the target's code is meant. */
#define TILEJIT_PREPARE_DEVICE 16u

typedef struct tilejit_config_t {
  const char *key; /* "bm" */
  int64_t value;
} tilejit_config_t;

typedef struct tilejit_prepare_options_t {
  size_t struct_size;
  uint32_t flags;     /* TILEJIT_PREPARE_... */
  int32_t device;     /* With TILEJIT_PREPARE_DEVICE: device_id of the target's kind; of a simulated chip 0. */
  const char *target; /* NULL: the context's setting, and that defaults to this machine. */
  const char *name;   /* Of the source, for messages; may be NULL. */
  const tilejit_config_t *config;
  size_t config_count;
  uint64_t reserved[4];
} tilejit_prepare_options_t;

/* From a description (JSON) or the text of a tile file to a kernel that is ready to launch: from the context, its
 * cache, or a compiler in a process of its own. May block for as long as a compile takes. The bytes of a package (.tjk)
 * of one operator are a source too: the code that fits the target is taken out of it, and nothing is compiled.
 * `options` may be NULL. */
TILEJIT_API tilejit_status_t tilejit_kernel_prepare(tilejit_context_t context, const char *source, size_t source_bytes,
                                                    const tilejit_prepare_options_t *options,
                                                    tilejit_kernel_t *out_kernel);
/* The same on a thread of its own; returns at once. All inputs are copied. */
TILEJIT_API tilejit_status_t tilejit_kernel_prepare_async(tilejit_context_t context, const char *source,
                                                          size_t source_bytes, const tilejit_prepare_options_t *options,
                                                          tilejit_task_t *out_task);
/* Waits at most so long (negative: without end; 0: only looks) and says whether the task is done. */
TILEJIT_API int tilejit_task_wait(tilejit_task_t task, int64_t timeout_ns);
/* Waits for the end and gives the kernel or the status; may be called once for a kernel, and again for nothing. */
TILEJIT_API tilejit_status_t tilejit_task_take(tilejit_task_t task, tilejit_kernel_t *out_kernel);
/* Gives the handle up and waits for a prepare that still runs. */
TILEJIT_API void tilejit_task_release(tilejit_task_t task);

TILEJIT_API void tilejit_kernel_retain(tilejit_kernel_t kernel);
/* One owner less; the last one must not release while a launch runs. */
TILEJIT_API void tilejit_kernel_release(tilejit_kernel_t kernel);

typedef enum tilejit_cache_use_t {
  TILEJIT_CACHE_OFF = 0,
  TILEJIT_CACHE_MISS = 1,
  TILEJIT_CACHE_HIT = 2
} tilejit_cache_use_t;

typedef struct tilejit_kernel_info_t {
  size_t struct_size; /* Set by the caller; fields beyond it are left alone. */
  tilejit_cache_use_t cache;
  int32_t worker_started; /* 1: this prepare started or asked a compiler. */
  int32_t uses_reference; /* 1: the slow reference implementation. */
  int32_t operand_count;  /* Tensors that a launch takes: inputs, then outputs. */
  int64_t payload_bytes;
  double compile_ms;
  char key[72];
} tilejit_kernel_info_t;

/* How a kernel was come by. */
TILEJIT_API tilejit_status_t tilejit_kernel_query(tilejit_kernel_t kernel, tilejit_kernel_info_t *out_info);

typedef struct tilejit_launch_options_t {
  size_t struct_size;
  uint32_t flags;  /* TILEJIT_LAUNCH_... */
  int32_t threads; /* CPU: at most so many; 0: the context's setting. */
  int64_t grid[3]; /* With TILEJIT_LAUNCH_GRID. */
  void *workspace; /* Aligned to 64 bytes, of the size that was asked for; NULL: the device keeps its own. */
  size_t workspace_bytes;
  void *stream; /* CUstream or hipStream_t; NULL: the default stream. CPU and simulated chips have none. */
  uint64_t reserved[4];
} tilejit_launch_options_t;

/* `grid` is given: for tile kernels without a launch rule. */
#define TILEJIT_LAUNCH_GRID 1u

/* Runs a kernel over borrowed tensors, in the order of the description's operands in canonical order: inputs, outputs.
 * Each is checked: device, dtype, rank, sizes, strides, alignment. Never compiles. CPU and simulated chips: done when
 * it returns. GPUs: given to the stream; kernels that assert or print are waited for. `options` may be NULL. */
TILEJIT_API tilejit_status_t tilejit_kernel_launch(tilejit_kernel_t kernel, const DLTensor *const *tensors,
                                                   size_t tensor_count, const tilejit_launch_options_t *options);
/* How much workspace a launch with these tensors uses. `options` may be NULL. */
TILEJIT_API tilejit_status_t tilejit_kernel_workspace_size(tilejit_kernel_t kernel, const DLTensor *const *tensors,
                                                           size_t tensor_count, const tilejit_launch_options_t *options,
                                                           size_t *out_bytes);
/* Bytes of the packed form of a constant operand; 0: packing gains nothing, launch with the tensor as it is. */
TILEJIT_API tilejit_status_t tilejit_kernel_packed_size(tilejit_kernel_t kernel, size_t operand, size_t *out_bytes);
/* Packs a constant operand, once for many launches: `tensor` is the operand as the description has it, `packed` is
 * written, u8[size from above], on the kernel's device, aligned to 64 bytes. Launches take `packed` in the place of the
 * tensor, which is not needed any more. They may still be given the tensor, and then pack it each time into their
 * workspace. What one kernel packed fits all kernels of the same key. */
TILEJIT_API tilejit_status_t tilejit_kernel_pack(tilejit_kernel_t kernel, size_t operand, const DLTensor *tensor,
                                                 const DLTensor *packed);

/* ---- Function table ---- */

/* All functions above, for hosts that open the library with dlopen() and look up one name. */
typedef struct tilejit_api_t {
  size_t struct_size;
  uint32_t abi_version;
  uint32_t reserved;
  tilejit_status_code_t (*status_code)(tilejit_status_t);
  const char *(*status_message)(tilejit_status_t);
  const char *(*status_pointer)(tilejit_status_t);
  const char *(*status_hint)(tilejit_status_t);
  const char *(*status_detail)(tilejit_status_t, size_t);
  void (*status_release)(tilejit_status_t);
  const char *(*version)(void);
  void (*string_release)(char *);
  tilejit_status_t (*context_create)(const tilejit_context_options_t *, tilejit_context_t *);
  void (*context_retain)(tilejit_context_t);
  void (*context_release)(tilejit_context_t);
  tilejit_status_t (*context_metrics)(tilejit_context_t, char **);
  tilejit_status_t (*device_count)(tilejit_context_t, DLDeviceType, int32_t *);
  tilejit_status_t (*device_query)(tilejit_context_t, DLDevice, tilejit_device_info_t *);
  tilejit_status_t (*buffer_create)(tilejit_context_t, DLDevice, size_t, tilejit_buffer_t *);
  void *(*buffer_data)(tilejit_buffer_t);
  size_t (*buffer_size)(tilejit_buffer_t);
  tilejit_status_t (*buffer_write)(tilejit_buffer_t, size_t, const void *, size_t);
  tilejit_status_t (*buffer_read)(tilejit_buffer_t, size_t, void *, size_t);
  void (*buffer_release)(tilejit_buffer_t);
  tilejit_status_t (*kernel_prepare)(tilejit_context_t, const char *, size_t, const tilejit_prepare_options_t *,
                                     tilejit_kernel_t *);
  tilejit_status_t (*kernel_prepare_async)(tilejit_context_t, const char *, size_t, const tilejit_prepare_options_t *,
                                           tilejit_task_t *);
  int (*task_wait)(tilejit_task_t, int64_t);
  tilejit_status_t (*task_take)(tilejit_task_t, tilejit_kernel_t *);
  void (*task_release)(tilejit_task_t);
  void (*kernel_retain)(tilejit_kernel_t);
  void (*kernel_release)(tilejit_kernel_t);
  tilejit_status_t (*kernel_query)(tilejit_kernel_t, tilejit_kernel_info_t *);
  tilejit_status_t (*kernel_launch)(tilejit_kernel_t, const DLTensor *const *, size_t,
                                    const tilejit_launch_options_t *);
  tilejit_status_t (*kernel_workspace_size)(tilejit_kernel_t, const DLTensor *const *, size_t,
                                            const tilejit_launch_options_t *, size_t *);
  tilejit_status_t (*kernel_packed_size)(tilejit_kernel_t, size_t, size_t *);
  tilejit_status_t (*kernel_pack)(tilejit_kernel_t, size_t, const DLTensor *, const DLTensor *); /* From 0.2 on. */
} tilejit_api_t;

/* The table for programs built with this version (TILEJIT_ABI_VERSION); NULL where the library has another major
 * version or an older minor one. Never released. */
TILEJIT_API const tilejit_api_t *tilejit_get_api(uint32_t abi_version);

#ifdef __cplusplus
}
#endif

#endif /* TILEJIT_C_TILEJIT_H */
