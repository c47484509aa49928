// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The page of a simulated launch: one HTML file without anything from outside, readable in light and dark. Each
// instruction stands beside its counters; the colour of a cell is its share of the column's largest value, or how far
// it is from the ideal. Reports stand at the top and again below the lines that they are about.

#include "Reports.h"
#include "SimulateResult.h"

#include <algorithm>
#include <cstdio>

namespace tilejit::tilec {
namespace {

constexpr const char *style = R"(
:root { color-scheme: light dark; --ink: #1d2430; --paper: #fbfbf9; --faint: #6b7280; --line: #e2e4e8; --heat: #e8590c;
  --bad: #c92a2a; --badPaper: #fff0f0; --good: #2b8a3e; --code: #f3f4f6; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e7eb; --paper: #14171c; --faint: #8d96a3; --line: #2c323b;
  --heat: #ff8c42; --bad: #ff8787; --badPaper: #33191b; --good: #69db7c; --code: #1d2229; } }
body { background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto;
  max-width: 110rem; padding: 0 1.5rem; }
h1 { font-size: 1.4rem; margin: 0; } h2 { font-size: 1.05rem; margin: 2rem 0 .5rem; }
p.sub { color: var(--faint); margin: .2rem 0 1.2rem; }
.cards { display: flex; flex-wrap: wrap; gap: .6rem; }
.card { border: 1px solid var(--line); border-radius: .5rem; padding: .5rem .9rem; }
.card b { display: block; font-size: 1.15rem; font-variant-numeric: tabular-nums; }
.card span { color: var(--faint); font-size: .82rem; }
.report { background: var(--badPaper); border-left: 4px solid var(--bad); border-radius: .3rem; margin: .5rem 0;
  padding: .5rem .9rem; }
.report b { color: var(--bad); } .report .hint { color: var(--faint); } .clean { color: var(--good); }
a { color: inherit; }
table { border-collapse: collapse; font: 12.5px/1.5 ui-monospace, monospace; width: 100%; }
th { background: var(--paper); border-bottom: 1px solid var(--line); color: var(--faint); font-weight: 600;
  position: sticky; text-align: right; top: 0; }
th, td { padding: 0 .6rem; white-space: nowrap; } th.ir, td.ir { text-align: left; white-space: pre; width: 100%; }
td.n { background: color-mix(in srgb, var(--heat) calc(var(--h, 0) * 75%), transparent);
  font-variant-numeric: tabular-nums; text-align: right; }
tr.block td { background: var(--code); color: var(--faint); padding-top: .3rem; }
tr.at td.ir { border-left: 4px solid var(--bad); } tr:target td { outline: 1px solid var(--bad); }
tr.says td { background: var(--badPaper); color: var(--bad); white-space: normal; }
.where { color: var(--faint); } summary { color: var(--faint); cursor: pointer; margin: .5rem 0; }
)";

std::string escaped(std::string_view text) {
  std::string out;
  for (char c : printable(text)) {
    switch (c) {
    case '&':
      out += "&amp;";
      break;
    case '<':
      out += "&lt;";
      break;
    case '>':
      out += "&gt;";
      break;
    case '"':
      out += "&quot;";
      break;
    default:
      out += c;
    }
  }
  return out;
}

std::string heatCell(double heat, const std::string &text) {
  char start[48];
  if (heat <= 0)
    return "<td class=n>" + text + "</td>";
  std::snprintf(start, sizeof start, "<td class=n style=\"--h:%.2f\">", std::min(heat, 1.0));
  return start + text + "</td>";
}

/// "1,024 / 512" in a colour that is full where four times the ideal is needed.
std::string idealCell(uint64_t actual, uint64_t ideal) {
  if (!actual && !ideal)
    return "<td class=n></td>";
  constexpr double worst = 4;
  double times = ideal ? static_cast<double>(actual) / static_cast<double>(ideal) : worst;
  std::string text = groupedText(actual);
  if (actual != ideal)
    text += " / " + groupedText(ideal);
  return heatCell((times - 1) / (worst - 1), text);
}

std::string linkTo(uint32_t site, const std::string &text, size_t sites) {
  if (site >= sites)
    return text;
  return "<a href=\"#s" + std::to_string(site) + "\">" + text + "</a>";
}

std::string placeHtml(const std::string &location, const std::string &site) {
  return (location.empty() ? "" : escaped(location) + ": ") + escaped(site);
}

std::string card(const std::string &value, const std::string &name) {
  return "<div class=card><b>" + value + "</b><span>" + name + "</span></div>";
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
    html += "<div class=report><b>" + std::string(sim::reportKindName(report.kind)) + "</b> " + escaped(report.message);
    if (report.count > 1)
      html += " <span class=where>(" + groupedText(report.count) + " times)</span>";
    html += "<br>at " + linkTo(report.siteIndex, "<code>" + placeHtml(report.location, report.site) + "</code>",
                               outcome.sites.size());
    if (!report.otherSite.empty())
      html += "<br>other " + linkTo(report.otherSiteIndex,
                                    "<code>" + placeHtml(report.otherLocation, report.otherSite) + "</code>",
                                    outcome.sites.size());
    if (!report.hint.empty())
      html += "<br><span class=hint>hint: " + escaped(report.hint) + "</span>";
    html += "</div>";
  }
  return html + (count > mostOpen ? "</details>" : "");
}

std::string cardsHtml(const SimulateResult &result) {
  const sim::Counters &c = result.outcome.counters;
  auto pair = [](uint64_t actual, uint64_t ideal) { return groupedText(actual) + " / " + groupedText(ideal); };
  char rate[32];
  std::snprintf(rate, sizeof rate, "%.3g G/s", threadInstructionsPerSecond(result.outcome) * 1e-9);
  return "<div class=cards>" + card(groupedText(c.instructions), "instructions of warps") +
         card(groupedText(c.threadInstructions), "instructions of threads") +
         card(groupedText(c.divergentInstructions), "divergent") +
         card(groupedText(c.matrixInstructions), "matrix instructions") + card(groupedText(c.atomics), "atomics") +
         card(pair(c.sharedWavefronts, c.sharedWavefrontsIdeal), "shared wavefronts / ideal") +
         card(pair(c.sectors, c.sectorsIdeal), "global sectors / ideal") +
         card(bytesText(static_cast<int64_t>(c.bytesGlobalRead)), "read from global memory") +
         card(bytesText(static_cast<int64_t>(c.bytesGlobalWritten)), "written to it") +
         card(rate, "simulated threads") + "</div>";
}

/// Reports of which a line is one side.
std::string remarksHtml(const SimulateResult &result, uint32_t site) {
  std::string html;
  for (const sim::Report &report : result.outcome.reports) {
    if (report.siteIndex != site && report.otherSiteIndex != site)
      continue;
    bool other = report.siteIndex != site;
    html += "<tr class=says><td colspan=5></td><td class=ir>" + std::string(sim::reportKindName(report.kind)) +
            (other ? " (other side): " : ": ") + escaped(report.message) + "</td></tr>\n";
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
      html += "<tr class=block><td colspan=5></td><td class=ir>" + escaped(site.block) + ":</td></tr>\n";
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
            idealCell(c.sectors, c.sectorsIdeal) + "<td class=ir>  " + escaped(site.text);
    if (!site.location.empty())
      html += "  <span class=where>" + escaped(site.location) + "</span>";
    html += "</td></tr>\n" + remarks;
  }
  return html + "</table>\n";
}

} // namespace

std::string simulatePage(const SimulateResult &result) {
  const sim::LaunchRequest &request = result.request;
  std::string title = escaped(request.kernel) + " on " + escaped(result.target);
  std::string html = "<!doctype html>\n<html lang=en><meta charset=utf-8><title>" + title +
                     "</title>\n<meta name=viewport content=\"width=device-width\"><style>" + style + "</style>\n";
  html += "<h1>" + title + "</h1><p class=sub>" + escaped(result.file) + ", grid " + sizesText(request.grid) +
          ", block " + sizesText(request.block) + ", simulated in " + durationText(result.outcome.runMs) + "</p>\n";
  html += cardsHtml(result) + "\n<h2>Reports</h2>\n" + reportsHtml(result) + "\n";
  if (!result.outcome.printed.empty())
    html += "<h2>Printed by the kernel</h2>\n<pre>" + escaped(result.outcome.printed) + "</pre>\n";
  return html + "<h2>Instructions</h2>\n" + linesHtml(result) + "</html>\n";
}

} // namespace tilejit::tilec
