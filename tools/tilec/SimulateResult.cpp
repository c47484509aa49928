// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Text and JSON of a simulated launch.

#include "SimulateResult.h"
#include "Reports.h"

namespace tilejit::tilec {
namespace {

void addSites(std::string &text, const SimulateResult &result) {
  text += "sites: executions, shared wavefronts, sectors (each with the ideal)\n";
  std::string block;
  for (const sim::SiteInfo &site : result.outcome.sites) {
    if (site.block != block)
      text += printable(site.block) + ":\n";
    block = site.block;
    const sim::Counters &c = site.counters;
    text += formatText("%12s %15s %15s  ", groupedText(c.instructions).c_str(),
                       pairText(c.sharedWavefronts, c.sharedWavefrontsIdeal).c_str(),
                       pairText(c.sectors, c.sectorsIdeal).c_str());
    text += placeText(site.location, site.text) + "\n";
  }
}

} // namespace

std::string sizesText(const uint32_t (&sizes)[3]) {
  return std::to_string(sizes[0]) + "x" + std::to_string(sizes[1]) + "x" + std::to_string(sizes[2]);
}

Json sitesJson(const sim::Outcome &outcome) {
  Json list = Json::array();
  for (const sim::SiteInfo &site : outcome.sites)
    list.push_back({{"kernel", site.kernel},
                    {"block", site.block},
                    {"site", site.text},
                    {"location", site.location},
                    {"counters", countersJson(site.counters)}});
  return list;
}

Json simulateJson(const SimulateResult &result) {
  const sim::Outcome &outcome = result.outcome;
  auto sizes = [](const uint32_t (&s)[3]) { return Json::array({s[0], s[1], s[2]}); };
  Json json = {{"file", result.file},
               {"kernel", result.request.kernel},
               {"target", result.target},
               {"device", "sim:" + result.target},
               {"ok", outcome.reports.empty()},
               {"grid", sizes(result.request.grid)},
               {"block", sizes(result.request.block)}};
  json["reports"] = simulatedReportsJson(outcome);
  json["counters"] = countersJson(outcome.counters);
  if (result.wantsSites)
    json["sites"] = sitesJson(outcome);
  json["printed"] = outcome.printed;
  json["resources"] = {{"shared_bytes", outcome.staticSharedBytes + result.request.dynamicSharedBytes}};
  json["decode_ms"] = rounded(outcome.decodeMs);
  json["time_ms"] = rounded(outcome.runMs);
  json["thread_instructions_per_s"] = rounded(threadInstructionsPerSecond(outcome));
  return json;
}

std::string simulateText(const SimulateResult &result) {
  const sim::Outcome &outcome = result.outcome;
  std::string text = simulatedReportsText(outcome);
  text += printable(result.request.kernel) + " on sim:" + result.target + ", grid " + sizesText(result.request.grid) +
          ", block " + sizesText(result.request.block) + ": ";
  text += outcome.reports.empty()       ? "no reports\n"
          : outcome.reports.size() == 1 ? "1 report\n"
                                        : groupedText(outcome.reports.size()) + " reports\n";
  text += simulatedCountersText(outcome);
  if (result.wantsSites)
    addSites(text, result);
  return text;
}

} // namespace tilejit::tilec
