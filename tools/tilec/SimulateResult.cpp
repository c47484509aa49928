// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Text and JSON of a simulated launch.

#include "SimulateResult.h"
#include "Reports.h"

#include <algorithm>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>

namespace tilejit::tilec {
namespace {

Json countersJson(const sim::Counters &c) {
  return {{"instructions", c.instructions},
          {"thread_instructions", c.threadInstructions},
          {"divergent_instructions", c.divergentInstructions},
          {"matrix_instructions", c.matrixInstructions},
          {"atomics", c.atomics},
          {"shared_requests", c.sharedRequests},
          {"shared_wavefronts", c.sharedWavefronts},
          {"shared_wavefronts_ideal", c.sharedWavefrontsIdeal},
          {"global_requests", c.globalRequests},
          {"sectors", c.sectors},
          {"sectors_ideal", c.sectorsIdeal},
          {"bytes_global", c.bytesGlobalRead + c.bytesGlobalWritten},
          {"bytes_global_read", c.bytesGlobalRead},
          {"bytes_global_written", c.bytesGlobalWritten},
          {"bytes_shared", c.bytesShared}};
}

Json reportJson(const sim::Report &report) {
  Json json = {{"kind", std::string(sim::reportKindName(report.kind))},
               {"message", report.message},
               {"site", report.site},
               {"location", report.location}};
  if (!report.otherSite.empty()) {
    json["other_site"] = report.otherSite;
    json["other_location"] = report.otherLocation;
  }
  if (!report.hint.empty())
    json["hint"] = report.hint;
  json["count"] = report.count;
  return json;
}

__attribute__((format(printf, 2, 3))) void append(std::string &text, const char *format, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  text += line;
}

/// "reduce.cu:12:5: store ...", one line.
std::string placeText(const std::string &location, const std::string &site) {
  return printable(location.empty() ? site : location + ": " + site);
}

void addReport(std::string &text, const sim::Report &report) {
  std::string kind = std::string(sim::reportKindName(report.kind)) + ": ", message = printable(report.message);
  text += message.starts_with(kind) ? message : kind + message;
  if (report.count > 1)
    text += " (" + groupedText(report.count) + " times)";
  text += "\n  at    " + placeText(report.location, report.site) + "\n";
  if (!report.otherSite.empty())
    text += "  other " + placeText(report.otherLocation, report.otherSite) + "\n";
  if (!report.hint.empty())
    text += "  hint: " + printable(report.hint) + "\n";
}

/// "1,024 (ideal 512)".
std::string againstIdeal(uint64_t actual, uint64_t ideal) {
  return groupedText(actual) + (actual == ideal ? "" : " (ideal " + groupedText(ideal) + ")");
}

void addCounter(std::string &text, const char *name, const std::string &value) {
  append(text, "  %-24s %s\n", name, value.c_str());
}

void addCounters(std::string &text, const SimulateResult &result) {
  const sim::Counters &c = result.outcome.counters;
  std::string divergent;
  if (c.divergentInstructions) {
    char share[32];
    std::snprintf(share, sizeof share, " (%.3g%% divergent)",
                  100.0 * static_cast<double>(c.divergentInstructions) / static_cast<double>(c.instructions));
    divergent = share;
  }
  text += "counters\n";
  addCounter(text, "instructions", groupedText(c.instructions) + divergent);
  addCounter(text, "thread instructions", groupedText(c.threadInstructions));
  if (c.matrixInstructions)
    addCounter(text, "matrix instructions", groupedText(c.matrixInstructions));
  if (c.atomics)
    addCounter(text, "atomics", groupedText(c.atomics));
  if (c.sharedRequests)
    addCounter(text, "shared wavefronts", againstIdeal(c.sharedWavefronts, c.sharedWavefrontsIdeal));
  if (c.globalRequests) {
    addCounter(text, "global sectors", againstIdeal(c.sectors, c.sectorsIdeal));
    addCounter(text, "global bytes",
               bytesText(static_cast<int64_t>(c.bytesGlobalRead)) + " read, " +
                   bytesText(static_cast<int64_t>(c.bytesGlobalWritten)) + " written");
  }
  char rate[96];
  std::snprintf(rate, sizeof rate, "%s, %.3g G thread instructions/s; decoded in %s",
                durationText(result.outcome.runMs).c_str(), result.threadInstructionsPerSecond() * 1e-9,
                durationText(result.outcome.decodeMs).c_str());
  addCounter(text, "simulated in", rate);
}

void addSites(std::string &text, const SimulateResult &result) {
  text += "sites: executions, shared wavefronts, sectors (each with the ideal)\n";
  std::string block;
  for (const sim::SiteInfo &site : result.outcome.sites) {
    if (site.block != block)
      text += printable(site.block) + ":\n";
    block = site.block;
    const sim::Counters &c = site.counters;
    auto pair = [](uint64_t actual, uint64_t ideal) {
      return actual | ideal ? groupedText(actual) + "/" + groupedText(ideal) : std::string("-");
    };
    append(text, "%12s %15s %15s  ", groupedText(c.instructions).c_str(),
           pair(c.sharedWavefronts, c.sharedWavefrontsIdeal).c_str(), pair(c.sectors, c.sectorsIdeal).c_str());
    text += placeText(site.location, site.text) + "\n";
  }
}

} // namespace

double SimulateResult::threadInstructionsPerSecond() const {
  return outcome.runMs > 0 ? static_cast<double>(outcome.counters.threadInstructions) / outcome.runMs * 1e3 : 0;
}

std::string groupedText(uint64_t value) {
  std::string text = std::to_string(value);
  for (size_t at = text.size(); at > 3; at -= 3)
    text.insert(at - 3, ",");
  return text;
}

std::string sizesText(const uint32_t (&sizes)[3]) {
  return std::to_string(sizes[0]) + "x" + std::to_string(sizes[1]) + "x" + std::to_string(sizes[2]);
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
  json["reports"] = Json::array();
  for (const sim::Report &report : outcome.reports)
    json["reports"].push_back(reportJson(report));
  json["counters"] = countersJson(outcome.counters);
  if (result.wantsSites) {
    json["sites"] = Json::array();
    for (const sim::SiteInfo &site : outcome.sites)
      json["sites"].push_back({{"block", site.block},
                               {"site", site.text},
                               {"location", site.location},
                               {"counters", countersJson(site.counters)}});
  }
  json["printed"] = outcome.printed;
  json["resources"] = {{"shared_bytes", outcome.staticSharedBytes + result.request.dynamicSharedBytes}};
  json["decode_ms"] = rounded(outcome.decodeMs);
  json["time_ms"] = rounded(outcome.runMs);
  json["thread_instructions_per_s"] = rounded(result.threadInstructionsPerSecond());
  return json;
}

std::string simulateText(const SimulateResult &result) {
  const sim::Outcome &outcome = result.outcome;
  std::string text;
  for (const sim::Report &report : outcome.reports)
    addReport(text, report);
  text += printable(result.request.kernel) + " on sim:" + result.target + ", grid " + sizesText(result.request.grid) +
          ", block " + sizesText(result.request.block) + ": ";
  text += outcome.reports.empty()       ? "no reports\n"
          : outcome.reports.size() == 1 ? "1 report\n"
                                        : groupedText(outcome.reports.size()) + " reports\n";
  addCounters(text, result);
  if (result.wantsSites)
    addSites(text, result);
  return text;
}

} // namespace tilejit::tilec
