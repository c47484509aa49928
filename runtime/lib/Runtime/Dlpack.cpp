// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// DLPack's devices and element types, and ours.

#include "tilejit/Runtime/Kernel.h"

#include "tilejit/Base/DType.h"

namespace tilejit {

namespace {

constexpr uint8_t codeOf(DType dtype) {
  switch (dtype) {
  case DType::F64:
  case DType::F32:
  case DType::F16:
    return kDLFloat;
  case DType::BF16:
    return kDLBfloat;
  case DType::F8E4M3FN:
    return kDLFloat8_e4m3fn;
  case DType::F8E5M2:
    return kDLFloat8_e5m2;
  case DType::F8E4M3FNUZ:
    return kDLFloat8_e4m3fnuz;
  case DType::F8E5M2FNUZ:
    return kDLFloat8_e5m2fnuz;
  case DType::F8E8M0:
    return kDLFloat8_e8m0fnu;
  case DType::F4E2M1:
    return kDLFloat4_e2m1fn;
  case DType::I64:
  case DType::I32:
  case DType::I16:
  case DType::I8:
  case DType::I4:
    return kDLInt;
  case DType::U8:
  case DType::U4:
    return kDLUInt;
  case DType::Bool:
    return kDLBool;
  }
  return kDLOpaqueHandle;
}

} // namespace

DLDevice dlpackDevice(const Device &device) {
  const DeviceProperties &properties = device.properties();
  switch (properties.kind) {
  case DeviceKind::Cpu:
    return {kDLCPU, 0};
  case DeviceKind::Cuda:
    return {kDLCUDA, properties.index};
  case DeviceKind::Hip:
    return {kDLROCM, properties.index};
  case DeviceKind::Sim:
    return {kDLExtDev, properties.index};
  }
  return {kDLCPU, 0};
}

DLDataType toDlpackType(DType dtype) { return {codeOf(dtype), static_cast<uint8_t>(bitWidth(dtype)), 1}; }

std::optional<DType> fromDlpackType(DLDataType type) {
  for (DType dtype : allDTypes())
    if (DLDataType own = toDlpackType(dtype); own.code == type.code && own.bits == type.bits && type.lanes == 1)
      return dtype;
  return std::nullopt;
}

} // namespace tilejit
