// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Asking HSA for its agents.

#include "HsaChips.h"

#include "HsaTypes.h"
#include "devices/common/SharedLibrary.h"

#include <cstdio>

namespace tilejit::hip {

namespace {

struct HsaSymbols {
#define NEEDED(symbol, parameters) hsa_status_t(*symbol) parameters = nullptr;
#include "HsaSymbols.def"
#undef NEEDED
};

/// "gfx90a:sramecc+:xnack-" of "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-".
std::string chipOfIsa(const std::string &isa) {
  size_t at = isa.rfind("gfx");
  return at == isa.npos ? "" : isa.substr(at);
}

/// What the visits of agents and of their instruction sets share.
struct Visit {
  const HsaSymbols &call;
  HsaChips chips;
  std::string isa; ///< The first one of the agent: the others are generic ones.

  static hsa_status_t takeIsa(hsa_isa_t isa, void *self) {
    auto &visit = *static_cast<Visit *>(self);
    uint32_t length = 0;
    char name[256] = "";
    if (visit.call.hsa_isa_get_info_alt(isa, HSA_ISA_INFO_NAME_LENGTH, &length) == HSA_STATUS_SUCCESS &&
        length < sizeof name && visit.call.hsa_isa_get_info_alt(isa, HSA_ISA_INFO_NAME, name) == HSA_STATUS_SUCCESS)
      visit.isa = name;
    return HSA_STATUS_INFO_BREAK;
  }

  static hsa_status_t takeAgent(hsa_agent_t agent, void *self) {
    auto &visit = *static_cast<Visit *>(self);
    uint32_t type = 0, location = 0, domain = 0;
    auto ask = [&](hsa_agent_info_t what, uint32_t &value) {
      return visit.call.hsa_agent_get_info(agent, what, &value) == HSA_STATUS_SUCCESS;
    };
    if (!ask(HSA_AGENT_INFO_DEVICE, type) || type != HSA_DEVICE_TYPE_GPU || !ask(HSA_AMD_AGENT_INFO_BDFID, location))
      return HSA_STATUS_SUCCESS;
    ask(HSA_AMD_AGENT_INFO_DOMAIN, domain);
    visit.isa.clear();
    (void)visit.call.hsa_agent_iterate_isas(agent, &takeIsa, self);
    visit.chips.add(busOf(domain, location), chipOfIsa(visit.isa));
    return HSA_STATUS_SUCCESS;
  }
};

} // namespace

std::string busOf(unsigned domain, unsigned location) {
  char text[32];
  std::snprintf(text, sizeof text, "%04x:%02x:%02x.%x", domain, location >> 8 & 0xff, location >> 3 & 0x1f,
                location & 7);
  return text;
}

HsaChips readHsaChips() {
  auto library = gpu::SharedLibrary::open({"libhsa-runtime64.so.1", "libhsa-runtime64.so"});
  if (!library)
    return {};
  HsaSymbols symbols;
  std::string missing;
#define NEEDED(symbol, parameters) library->resolve(symbols.symbol, #symbol, true, missing);
#include "HsaSymbols.def"
#undef NEEDED
  if (!missing.empty() || symbols.hsa_init() != HSA_STATUS_SUCCESS)
    return {};
  Visit visit{symbols, {}, {}};
  (void)symbols.hsa_iterate_agents(&Visit::takeAgent, &visit);
  (void)symbols.hsa_shut_down(); // Counted: HIP holds it open.
  return std::move(visit.chips);
}

} // namespace tilejit::hip
