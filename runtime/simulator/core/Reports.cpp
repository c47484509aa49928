// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Collecting and merging findings; sums of counters.

#include "core/Reports.h"

#include <algorithm>

namespace tilejit::sim {

bool Reports::isNew(ReportKind kind, uint32_t site, uint32_t otherSite) {
  auto found = found_.find(Key(kind, site, otherSite));
  if (found == found_.end())
    return true;
  ++found->second.count;
  return false;
}

void Reports::add(ReportKind kind, uint32_t site, uint32_t otherSite, std::string message, std::string hint) {
  found_.try_emplace(Key(kind, site, otherSite), Finding{std::move(message), std::move(hint), 1, 0, next_++});
}

void Reports::merge(const Reports &block, uint64_t order) {
  for (const auto &[key, finding] : block.found_) {
    auto [mine, isNew] = found_.try_emplace(key, finding);
    if (isNew) {
      mine->second.order = order;
      continue;
    }
    uint64_t count = mine->second.count + finding.count;
    if (order < mine->second.order) {
      mine->second = finding;
      mine->second.order = order;
    }
    mine->second.count = count;
  }
}

std::vector<Report> Reports::list() const {
  std::vector<std::pair<const Key *, const Finding *>> sorted;
  for (const auto &[key, finding] : found_)
    sorted.emplace_back(&key, &finding);
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto &a, const auto &b) {
    return std::tie(a.second->order, a.second->sequence) < std::tie(b.second->order, b.second->sequence);
  });
  std::vector<Report> reports;
  for (const auto &[key, finding] : sorted) {
    Report report;
    report.kind = std::get<0>(*key);
    report.siteIndex = std::get<1>(*key);
    report.otherSiteIndex = std::get<2>(*key);
    report.message = finding->message;
    report.hint = finding->hint;
    report.count = finding->count;
    reports.push_back(std::move(report));
  }
  return reports;
}

} // namespace tilejit::sim
