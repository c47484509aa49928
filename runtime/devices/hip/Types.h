// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The types of HIP that Symbols.def mentions: those on which HIP 5, 6 and 7 agree. A test compiles the table against
// the real headers and compares the numbers.

#ifndef TILEJIT_DEVICES_HIP_TYPES_H
#define TILEJIT_DEVICES_HIP_TYPES_H

#include <cstddef>

namespace tilejit::hip {

enum hipError_t : int {
  hipSuccess = 0,
  hipErrorOutOfMemory = 2,
  hipErrorInsufficientDriver = 35,
  hipErrorNoDevice = 100,
  hipErrorInvalidImage = 200,
  hipErrorNoBinaryForGpu = 209,
  hipErrorECCNotCorrectable = 214,
  hipErrorInvalidKernelFile = 218,
  hipErrorSharedObjectInitFailed = 303,
  hipErrorNotFound = 500,
  hipErrorNotReady = 600,
  hipErrorIllegalAddress = 700,
  hipErrorLaunchTimeOut = 702,
  hipErrorPeerAccessAlreadyEnabled = 704,
  hipErrorAssert = 710,
  hipErrorLaunchFailure = 719,
  hipErrorStreamCaptureUnsupported = 900,
  hipErrorStreamCaptureWrongThread = 908,
};

enum hipDeviceAttribute_t : unsigned {
  hipDeviceAttributeManagedMemory = 24,
  hipDeviceAttributeMaxThreadsPerMultiProcessor = 57,
  hipDeviceAttributeMultiprocessorCount = 63,
};

enum hipFunction_attribute : unsigned {
  HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
  HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3,
  HIP_FUNC_ATTRIBUTE_NUM_REGS = 4,
};

enum hipMemcpyKind : unsigned {
  hipMemcpyHostToDevice = 1,
  hipMemcpyDeviceToHost = 2,
  hipMemcpyDeviceToDevice = 3,
};

enum hipStreamCaptureStatus : unsigned { hipStreamCaptureStatusNone = 0 };
/// Macros there, so that they need other names here: hipStreamNonBlocking, hipEventDefault, hipMemAttachGlobal.
enum : unsigned { streamNonBlocking = 1, eventDefault = 0, memAttachGlobal = 1 };

using hipDevice_t = int;
using hipModule_t = struct ihipModule_t *;
using hipFunction_t = struct ihipModuleSymbol_t *;
using hipStream_t = struct ihipStream_t *;
using hipEvent_t = struct ihipEvent_t *;

/// Words of the `extra` of hipModuleLaunchKernel.
inline void *const launchParamBufferPointer = reinterpret_cast<void *>(1);
inline void *const launchParamBufferSize = reinterpret_cast<void *>(2);
inline void *const launchParamEnd = reinterpret_cast<void *>(3);

} // namespace tilejit::hip

#endif // TILEJIT_DEVICES_HIP_TYPES_H
