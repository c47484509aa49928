// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Findings of a launch. Each block collects its own; they are merged so that the list depends on the program and the
// schedule seed only, not on how many host threads ran it.

#ifndef TILEJIT_SIMULATOR_CORE_REPORTS_H
#define TILEJIT_SIMULATOR_CORE_REPORTS_H

#include "tilejit/Simulator/Simulator.h"

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace tilejit::sim {

inline constexpr uint32_t noSite = ~0u;

class Reports {
public:
  /// Whether a finding of this kind at these sites is the first one here. If so, the caller builds its message and
  /// calls add(); if not, it has been counted.
  bool isNew(ReportKind kind, uint32_t site, uint32_t otherSite = noSite);
  void add(ReportKind kind, uint32_t site, uint32_t otherSite, std::string message, std::string hint);

  /// Takes over what a block found; `order` is the block's number in the grid.
  void merge(const Reports &block, uint64_t order);
  bool empty() const { return found_.empty(); }
  /// In order of the first block that found each, then in the order in which that block did.
  std::vector<Report> list() const;
  void clear() { found_.clear(), next_ = 0; }

private:
  struct Finding {
    std::string message, hint;
    uint64_t count = 0, order = 0, sequence = 0;
  };
  using Key = std::tuple<ReportKind, uint32_t, uint32_t>;
  std::map<Key, Finding> found_;
  uint64_t next_ = 0;
};

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_CORE_REPORTS_H
