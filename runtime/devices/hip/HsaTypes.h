// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The types of HSA that HsaSymbols.def mentions.

#ifndef TILEJIT_DEVICES_HIP_HSATYPES_H
#define TILEJIT_DEVICES_HIP_HSATYPES_H

#include <cstdint>

namespace tilejit::hip {

enum hsa_status_t : unsigned { HSA_STATUS_SUCCESS = 0, HSA_STATUS_INFO_BREAK = 1 };
enum hsa_agent_info_t : unsigned {
  HSA_AGENT_INFO_DEVICE = 17,
  HSA_AMD_AGENT_INFO_BDFID = 0xA006,
  HSA_AMD_AGENT_INFO_DOMAIN = 0xA00F,
};
enum hsa_isa_info_t : unsigned { HSA_ISA_INFO_NAME_LENGTH = 0, HSA_ISA_INFO_NAME = 1 };
enum : unsigned { HSA_DEVICE_TYPE_GPU = 1 };
struct hsa_agent_t {
  uint64_t handle;
};
struct hsa_isa_t {
  uint64_t handle;
};

} // namespace tilejit::hip

#endif // TILEJIT_DEVICES_HIP_HSATYPES_H
