// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A stand-in for libhsa-runtime64.so.1: the chips of the devices that the stand-in for HIP has, and the host as the
// first agent, as it is on real machines.

#include "devices/hip/HsaTypes.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

using namespace tilejit::hip;

namespace {

int devices() {
  return std::atoi(std::getenv("TILEJIT_STANDIN_DEVICES") ? std::getenv("TILEJIT_STANDIN_DEVICES") : "2");
}

std::string isaName() {
  const char *arch = std::getenv("TILEJIT_STANDIN_ARCH");
  return std::string("amdgcn-amd-amdhsa--") + (arch && std::strstr(arch, "gfx") ? arch : "gfx942:sramecc+:xnack-");
}

} // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT hsa_status_t hsa_init() { return HSA_STATUS_SUCCESS; }
EXPORT hsa_status_t hsa_shut_down() { return HSA_STATUS_SUCCESS; }
EXPORT hsa_status_t hsa_iterate_agents(hsa_status_t (*visit)(hsa_agent_t, void *), void *data) {
  for (int i = 0; i <= devices(); ++i)
    if (hsa_status_t status = visit({static_cast<uint64_t>(i)}, data); status != HSA_STATUS_SUCCESS)
      return status;
  return HSA_STATUS_SUCCESS;
}
EXPORT hsa_status_t hsa_agent_get_info(hsa_agent_t agent, hsa_agent_info_t what, void *out) {
  uint32_t value = 0;
  if (what == HSA_AGENT_INFO_DEVICE)
    value = agent.handle != 0; // The host is 0, a GPU 1.
  else if (what == HSA_AMD_AGENT_INFO_BDFID)
    value = (0x20 + static_cast<uint32_t>(agent.handle) - 1) << 8;
  std::memcpy(out, &value, sizeof value);
  return HSA_STATUS_SUCCESS;
}
EXPORT hsa_status_t hsa_agent_iterate_isas(hsa_agent_t, hsa_status_t (*visit)(hsa_isa_t, void *), void *data) {
  return visit({1}, data);
}
EXPORT hsa_status_t hsa_isa_get_info_alt(hsa_isa_t, hsa_isa_info_t what, void *out) {
  std::string name = isaName();
  auto length = static_cast<uint32_t>(name.size() + 1);
  if (what == HSA_ISA_INFO_NAME_LENGTH)
    std::memcpy(out, &length, sizeof length);
  else
    std::memcpy(out, name.c_str(), length);
  return HSA_STATUS_SUCCESS;
}
