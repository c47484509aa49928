// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Which chip is plugged in where, from HSA (libhsa-runtime64.so.1), which HIP itself stands on.

#ifndef TILEJIT_DEVICES_HIP_HSACHIPS_H
#define TILEJIT_DEVICES_HIP_HSACHIPS_H

#include <map>
#include <string>

namespace tilejit::hip {

/// LLVM's spellings ("gfx90a:sramecc+:xnack-") by place ("0000:3b:00.0").
class HsaChips {
public:
  void add(const std::string &bus, std::string chip) { chips_[bus] = std::move(chip); }
  /// Empty where there is none.
  std::string at(const std::string &bus) const {
    auto found = chips_.find(bus);
    return found == chips_.end() ? "" : found->second;
  }

private:
  std::map<std::string, std::string> chips_;
};

/// Empty where HSA is not there or does not start.
HsaChips readHsaChips();

/// "0000:3b:00.0" of HSA's number of bus, device and function, and its number of the domain.
std::string busOf(unsigned domain, unsigned location);

} // namespace tilejit::hip

#endif // TILEJIT_DEVICES_HIP_HSACHIPS_H
