// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Reports and counters of the simulator as text and JSON: the same for tilec simulate and for kernels on sim: devices.

#include "SimulatedOutcome.h"
#include "Reports.h"

#include <cstdio>

namespace tilejit::tilec {
namespace {

/// "1,024 (ideal 512)".
std::string againstIdeal(uint64_t actual, uint64_t ideal) {
  return groupedText(actual) + (actual == ideal ? "" : " (ideal " + groupedText(ideal) + ")");
}

void addCounter(std::string &text, const char *name, const std::string &value) {
  char padded[32];
  std::snprintf(padded, sizeof padded, "  %-24s ", name);
  text += padded + value + "\n";
}

} // namespace

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

static Json reportJson(const sim::Report &report) {
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

Json simulatedReportsJson(const sim::Outcome &outcome) {
  Json list = Json::array();
  for (const sim::Report &report : outcome.reports)
    list.push_back(reportJson(report));
  return list;
}

/// "reduce.cu:12:5: store ...", one line.
std::string placeText(const std::string &location, const std::string &site) {
  return printable(location.empty() ? site : location + ": " + site);
}

static std::string reportText(const sim::Report &report) {
  std::string text = std::string(sim::reportKindName(report.kind)) + ": " + printable(report.message);
  if (report.count > 1)
    text += " (" + groupedText(report.count) + " times)";
  text += "\n  at    " + placeText(report.location, report.site) + "\n";
  if (!report.otherSite.empty())
    text += "  other " + placeText(report.otherLocation, report.otherSite) + "\n";
  if (!report.hint.empty())
    text += "  hint: " + printable(report.hint) + "\n";
  return text;
}

std::string simulatedReportsText(const sim::Outcome &outcome) {
  std::string text;
  for (const sim::Report &report : outcome.reports)
    text += reportText(report);
  return text;
}

double threadInstructionsPerSecond(const sim::Outcome &outcome) {
  return outcome.runMs > 0 ? static_cast<double>(outcome.counters.threadInstructions) / outcome.runMs * 1e3 : 0;
}

std::string pairText(uint64_t actual, uint64_t ideal) {
  return actual | ideal ? groupedText(actual) + "/" + groupedText(ideal) : std::string("-");
}

std::string groupedText(uint64_t value) {
  std::string text = std::to_string(value);
  for (size_t at = text.size(); at > 3; at -= 3)
    text.insert(at - 3, ",");
  return text;
}

std::string simulatedCountersText(const sim::Outcome &outcome) {
  const sim::Counters &c = outcome.counters;
  std::string text, divergent;
  if (c.divergentInstructions) {
    char share[32];
    std::snprintf(share, sizeof share, " (%.3g%% divergent)",
                  100.0 * static_cast<double>(c.divergentInstructions) / static_cast<double>(c.instructions));
    divergent = share;
  }
  text = "counters\n";
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
                durationText(outcome.runMs).c_str(), threadInstructionsPerSecond(outcome) * 1e-9,
                durationText(outcome.decodeMs).c_str());
  addCounter(text, "simulated in", rate);
  return text;
}

} // namespace tilejit::tilec
