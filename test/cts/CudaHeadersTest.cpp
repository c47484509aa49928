// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The table of CUDA's symbols and the numbers beside it against the real cuda.h, where a toolkit is at hand: a wrong
// signature or number does not compile.

#include <catch2/catch.hpp>

#ifdef TILEJIT_CUDA_HEADERS
#include <cuda.h>

#include "devices/cuda/Types.h"

#include <cstdio>
#include <type_traits>

namespace {

#define NEEDED(symbol, parameters)                                                                                     \
  static_assert(std::is_same_v<decltype(&symbol), CUresult(CUDAAPI *) parameters>, #symbol);
#define OPTIONAL(symbol, parameters) NEEDED(symbol, parameters)
#include "devices/cuda/Symbols.def"
#undef NEEDED
#undef OPTIONAL

#define SAME(name) static_assert(static_cast<int>(tilejit::cuda::name) == static_cast<int>(::name), #name);
SAME(CUDA_ERROR_OUT_OF_MEMORY)
SAME(CUDA_ERROR_STUB_LIBRARY)
SAME(CUDA_ERROR_NO_DEVICE)
SAME(CUDA_ERROR_INVALID_IMAGE)
SAME(CUDA_ERROR_NO_BINARY_FOR_GPU)
SAME(CUDA_ERROR_ECC_UNCORRECTABLE)
SAME(CUDA_ERROR_INVALID_PTX)
SAME(CUDA_ERROR_JIT_COMPILER_NOT_FOUND)
SAME(CUDA_ERROR_UNSUPPORTED_PTX_VERSION)
SAME(CUDA_ERROR_INVALID_SOURCE)
SAME(CUDA_ERROR_NOT_FOUND)
SAME(CUDA_ERROR_NOT_READY)
SAME(CUDA_ERROR_ILLEGAL_ADDRESS)
SAME(CUDA_ERROR_LAUNCH_TIMEOUT)
SAME(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED)
SAME(CUDA_ERROR_ASSERT)
SAME(CUDA_ERROR_HARDWARE_STACK_ERROR)
SAME(CUDA_ERROR_LAUNCH_FAILED)
SAME(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH)
SAME(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED)
SAME(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD)
SAME(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
SAME(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)
SAME(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)
SAME(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)
SAME(CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY)
SAME(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)
SAME(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)
SAME(CU_FUNC_ATTRIBUTE_NUM_REGS)
SAME(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
SAME(CU_JIT_ERROR_LOG_BUFFER)
SAME(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
SAME(CU_STREAM_CAPTURE_STATUS_NONE)
SAME(CU_STREAM_NON_BLOCKING)
SAME(CU_EVENT_DEFAULT)
SAME(CU_MEM_ATTACH_GLOBAL)

} // namespace

TEST_CASE("the table of CUDA's symbols is that of cuda.h", "[cts][headers]") {
  CHECK(tilejit::cuda::launchParamEnd == CU_LAUNCH_PARAM_END);
  CHECK(tilejit::cuda::launchParamBufferPointer == CU_LAUNCH_PARAM_BUFFER_POINTER);
  CHECK(tilejit::cuda::launchParamBufferSize == CU_LAUNCH_PARAM_BUFFER_SIZE);
  CHECK(sizeof(tilejit::cuda::CUdeviceptr) == sizeof(CUdeviceptr));
}

#else
#include <cstdio>

TEST_CASE("the table of CUDA's symbols is that of cuda.h", "[cts][headers]") {
  std::puts("SKIP: cuda.h: no CUDA toolkit was found when this was configured (TILEJIT_CUDA_INCLUDE)");
}

#endif
