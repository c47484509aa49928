// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The tables of HIP's and HSA's symbols and the numbers beside them against the real headers, where they are at hand: a
// wrong signature or number does not compile.

#include <catch2/catch.hpp>

#ifdef TILEJIT_HIP_HEADERS
#include <hip/hip_runtime_api.h>

#include "devices/hip/Types.h"

#include <type_traits>

namespace {

#define NEEDED(symbol, result, parameters)                                                                             \
  static_assert(std::is_same_v<decltype(static_cast<result(*) parameters>(&symbol)), result(*) parameters>, #symbol);
#define OPTIONAL(symbol, result, parameters) NEEDED(symbol, result, parameters)
#include "devices/hip/Symbols.def"
#undef NEEDED
#undef OPTIONAL

#define SAME(name) static_assert(static_cast<int>(tilejit::hip::name) == static_cast<int>(::name), #name);
SAME(hipSuccess)
SAME(hipErrorOutOfMemory)
SAME(hipErrorInsufficientDriver)
SAME(hipErrorNoDevice)
SAME(hipErrorInvalidImage)
SAME(hipErrorNoBinaryForGpu)
SAME(hipErrorECCNotCorrectable)
SAME(hipErrorInvalidKernelFile)
SAME(hipErrorSharedObjectInitFailed)
SAME(hipErrorNotFound)
SAME(hipErrorNotReady)
SAME(hipErrorIllegalAddress)
SAME(hipErrorLaunchTimeOut)
SAME(hipErrorPeerAccessAlreadyEnabled)
SAME(hipErrorAssert)
SAME(hipErrorLaunchFailure)
SAME(hipErrorStreamCaptureUnsupported)
SAME(hipErrorStreamCaptureWrongThread)
SAME(hipDeviceAttributeManagedMemory)
SAME(hipDeviceAttributeMaxThreadsPerMultiProcessor)
SAME(hipDeviceAttributeMultiprocessorCount)
SAME(HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)
SAME(HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)
SAME(HIP_FUNC_ATTRIBUTE_NUM_REGS)
SAME(hipMemcpyHostToDevice)
SAME(hipMemcpyDeviceToHost)
SAME(hipMemcpyDeviceToDevice)
SAME(hipStreamCaptureStatusNone)

} // namespace

TEST_CASE("the table of HIP's symbols is that of the headers", "[cts][headers]") {
  CHECK(tilejit::hip::launchParamEnd == HIP_LAUNCH_PARAM_END);
  CHECK(tilejit::hip::launchParamBufferPointer == HIP_LAUNCH_PARAM_BUFFER_POINTER);
  CHECK(tilejit::hip::launchParamBufferSize == HIP_LAUNCH_PARAM_BUFFER_SIZE);
  CHECK(int{tilejit::hip::streamNonBlocking} == int{hipStreamNonBlocking});
  CHECK(int{tilejit::hip::eventDefault} == int{hipEventDefault});
  CHECK(int{tilejit::hip::memAttachGlobal} == int{hipMemAttachGlobal});
}

#else
#include <cstdio>

TEST_CASE("the table of HIP's symbols is that of the headers", "[cts][headers]") {
  std::puts("SKIP: HIP headers: no hip/hip_runtime_api.h was found when this was configured (TILEJIT_HIP_INCLUDE)");
}

#endif
