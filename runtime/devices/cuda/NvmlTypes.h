// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The types of NVML that NvmlSymbols.def mentions.

#ifndef TILEJIT_DEVICES_CUDA_NVMLTYPES_H
#define TILEJIT_DEVICES_CUDA_NVMLTYPES_H

namespace tilejit::cuda {

enum nvmlReturn_t : int { NVML_SUCCESS = 0 };
enum nvmlTemperatureSensors_t : unsigned { NVML_TEMPERATURE_GPU = 0 };
enum nvmlMemoryErrorType_t : unsigned { NVML_MEMORY_ERROR_TYPE_UNCORRECTED = 1 };
enum nvmlEccCounterType_t : unsigned { NVML_VOLATILE_ECC = 0 };
using nvmlDevice_t = struct nvmlDevice_st *;

} // namespace tilejit::cuda

#endif // TILEJIT_DEVICES_CUDA_NVMLTYPES_H
