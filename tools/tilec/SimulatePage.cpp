// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The page of a simulated launch: each instruction beside its counters. Reports stand at the top and again below the
// lines that they are about.

#include "Page.h"
#include "Reports.h"
#include "SimulateResult.h"

#include <algorithm>
#include <cstdio>

namespace tilejit::tilec {
namespace {

std::string linkTo(uint32_t site, const std::string &text, size_t sites) {
  if (site >= sites)
    return text;
  return "<a href=\"#s" + std::to_string(site) + "\">" + text + "</a>";
}

std::string placeHtml(const std::string &location, const std::string &site) {
  return (location.empty() ? "" : escapeHtml(location) + ": ") + escapeHtml(site);
}

std::string reportsHtml(const SimulateResult &result) {
  const sim::Outcome &outcome = result.outcome;
  if (outcome.reports.empty())
    return "<p class=clean>Nothing to report.</p>";
  // The first ones say most; one mistake often shows in many places.
  constexpr size_t mostOpen = 12;
  size_t count = outcome.reports.size();
  std::string html;
  for (const sim::Report &report : outcome.reports) {
    if (count > mostOpen && &report == &outcome.reports[mostOpen])
      html += "<details><summary>" + std::to_string(count - mostOpen) + " more</summary>";
    html +=
        "<div class=report><b>" + std::string(sim::reportKindName(report.kind)) + "</b> " + escapeHtml(report.message);
    if (report.count > 1)
      html += " <span class=where>(" + groupedText(report.count) + " times)</span>";
    html += "<br>at " + linkTo(report.siteIndex, "<code>" + placeHtml(report.location, report.site) + "</code>",
                               outcome.sites.size());
    if (!report.otherSite.empty())
      html += "<br>other " + linkTo(report.otherSiteIndex,
                                    "<code>" + placeHtml(report.otherLocation, report.otherSite) + "</code>",
                                    outcome.sites.size());
    if (!report.hint.empty())
      html += "<br><span class=hint>hint: " + escapeHtml(report.hint) + "</span>";
    html += "</div>";
  }
  return html + (count > mostOpen ? "</details>" : "");
}

std::string cardsHtml(const SimulateResult &result) {
  const sim::Counters &c = result.outcome.counters;
  char rate[32];
  std::snprintf(rate, sizeof rate, "%.3g G/s", threadInstructionsPerSecond(result.outcome) * 1e-9);
  return "<div class=cards>" + pageCard(groupedText(c.instructions), "instructions of warps") +
         pageCard(groupedText(c.threadInstructions), "instructions of threads") +
         pageCard(groupedText(c.divergentInstructions), "divergent") +
         pageCard(groupedText(c.matrixInstructions), "matrix instructions") +
         pageCard(groupedText(c.atomics), "atomics") +
         pageCard(idealText(c.sharedWavefronts, c.sharedWavefrontsIdeal), "shared wavefronts / ideal") +
         pageCard(idealText(c.sectors, c.sectorsIdeal), "global sectors / ideal") +
         pageCard(bytesText(static_cast<int64_t>(c.bytesGlobalRead)), "read from global memory") +
         pageCard(bytesText(static_cast<int64_t>(c.bytesGlobalWritten)), "written to it") +
         pageCard(rate, "simulated threads") + "</div>";
}

/// Reports of which a line is one side.
std::string remarksHtml(const SimulateResult &result, uint32_t site) {
  std::string html;
  for (const sim::Report &report : result.outcome.reports) {
    if (report.siteIndex != site && report.otherSiteIndex != site)
      continue;
    bool other = report.siteIndex != site;
    html += "<tr class=says><td colspan=5></td><td class=ir>" + std::string(sim::reportKindName(report.kind)) +
            (other ? " (other side): " : ": ") + escapeHtml(report.message) + "</td></tr>\n";
  }
  return html;
}

std::string linesHtml(const SimulateResult &result) {
  const std::vector<sim::SiteInfo> &sites = result.outcome.sites;
  uint64_t most = 1;
  for (const sim::SiteInfo &site : sites)
    most = std::max(most, site.counters.threadInstructions);
  std::string html = "<table><tr><th>executed<th>threads<th>divergent<th>wavefronts<th>sectors<th class=ir>IR</tr>\n";
  std::string block;
  for (uint32_t i = 0; i < sites.size(); ++i) {
    const sim::SiteInfo &site = sites[i];
    const sim::Counters &c = site.counters;
    if (site.block != block || i == 0)
      html += "<tr class=block><td colspan=5></td><td class=ir>" + escapeHtml(site.block) + ":</td></tr>\n";
    block = site.block;
    std::string remarks = remarksHtml(result, i);
    double share =
        c.instructions ? static_cast<double>(c.divergentInstructions) / static_cast<double>(c.instructions) : 0;
    char percent[16];
    std::snprintf(percent, sizeof percent, "%.0f%%", 100 * share);
    html += "<tr id=s" + std::to_string(i) + (remarks.empty() ? "" : " class=at") + "><td class=n>" +
            groupedText(c.instructions) + "</td>" +
            heatCell(static_cast<double>(c.threadInstructions) / static_cast<double>(most),
                     groupedText(c.threadInstructions)) +
            heatCell(share, share > 0 ? percent : "") + idealCell(c.sharedWavefronts, c.sharedWavefrontsIdeal) +
            idealCell(c.sectors, c.sectorsIdeal) + "<td class=ir>  " + escapeHtml(site.text);
    if (!site.location.empty())
      html += "  <span class=where>" + escapeHtml(site.location) + "</span>";
    html += "</td></tr>\n" + remarks;
  }
  return html + "</table>\n";
}

} // namespace

std::string simulatePage(const SimulateResult &result) {
  const sim::LaunchRequest &request = result.request;
  std::string title = escapeHtml(request.kernel) + " on " + escapeHtml(result.target);
  std::string html = pageHead(title) + "<h1>" + title + "</h1><p class=sub>" + escapeHtml(result.file) + ", grid " +
                     sizesText(request.grid) + ", block " + sizesText(request.block) + ", simulated in " +
                     durationText(result.outcome.runMs) + "</p>\n";
  html += cardsHtml(result) + "\n<h2>Reports</h2>\n" + reportsHtml(result) + "\n";
  if (!result.outcome.printed.empty())
    html += "<h2>Printed by the kernel</h2>\n<pre>" + escapeHtml(result.outcome.printed) + "</pre>\n";
  return html + "<h2>Instructions</h2>\n" + linesHtml(result) + "</html>\n";
}

} // namespace tilejit::tilec
