// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// An explanation as text and JSON.

#include "Explanation.h"

#include "Reports.h"
#include "SimulateResult.h"

#include <algorithm>
#include <cstdio>

namespace tilejit::tilec {

namespace {

constexpr size_t mostLines = 8;

/// "12.5 G", with the prefix that leaves one to three digits before the point.
std::string scaledText(double value) {
  const char *prefixes[] = {"", "k", "M", "G", "T", "P"};
  size_t i = 0;
  for (; value >= 1000 && i + 1 < std::size(prefixes); ++i)
    value /= 1000;
  return formatText("%.3g %s", value, prefixes[i]);
}

class Table {
public:
  void add(const char *name, const std::string &value) { text_ += formatText("  %-12s ", name) + value + "\n"; }
  std::string text() && { return std::move(text_); }

private:
  std::string text_;
};

std::string countText(int64_t count, const char *one, const char *many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

std::string kernelText(const Explanation &e, const ExplainedKernel &kernel) {
  int64_t lanes = e.target.gpuFacts.warpLanes;
  std::string text = kernel.symbol + ": " + countText(kernel.threads, "thread", "threads") + " (" +
                     countText((kernel.threads + lanes - 1) / lanes, "warp", "warps") + " of " + std::to_string(lanes) +
                     ")";
  if (kernel.sharedBytes > 0)
    text += ", " + bytesText(kernel.sharedBytes) + " of on-chip memory";
  return text;
}

std::string occupancyText(const Explanation &e, const ExplainedKernel &kernel) {
  std::string text = std::to_string(kernel.occupancy.percent) +
                     " %: " + countText(kernel.occupancy.blocks, "block", "blocks") + " on a " + unitName(e.target) +
                     ", bounded by " + std::string(kernel.occupancy.limit);
  return text + (e.resource("registers") ? "" : " (registers unknown: no ptxas was found)");
}

std::string registersText(const Explanation &e) {
  std::string text = std::to_string(e.resource("registers").value_or(0)) + " a thread";
  if (int64_t spilled = e.resource("spill_bytes").value_or(0))
    text += ", " + bytesText(spilled) + " spilled";
  return text;
}

std::string gridText(const Explanation &e) {
  int64_t blocks = e.execution->lastLaunch().tasks;
  std::string text = countText(blocks, "block", "blocks");
  if (e.simulatedBlocks < blocks)
    text += ", the first " + std::to_string(e.simulatedBlocks) + " simulated";
  if (e.kernels.size() != 1)
    return text;
  if (int64_t resident = residentBlocks(e, e.kernels.front()))
    text += "; " + std::string(boardOf(e.target)->name) + " runs " + std::to_string(resident) + " at once";
  return text;
}

std::string timesIdeal(uint64_t actual, uint64_t ideal) {
  return ideal ? formatText("%.2f of the ideal", static_cast<double>(actual) / static_cast<double>(ideal)) : "none";
}

void addCounters(const Explanation &e, Table &table) {
  const sim::Counters &c = e.outcome()->counters;
  std::string traffic = bytesText(static_cast<int64_t>(c.bytesGlobalRead)) + " read, " +
                        bytesText(static_cast<int64_t>(c.bytesGlobalWritten)) + " written";
  if (e.roofline && e.roofline->leastBytes > 0)
    traffic += formatText(", %.2f of what moving each operand once takes",
                          static_cast<double>(c.bytesGlobalRead + c.bytesGlobalWritten) /
                              (static_cast<double>(e.roofline->leastBytes) * e.simulatedShare()));
  table.add("traffic", traffic);
  table.add("sectors", groupedText(c.sectors) + " of 32 bytes, " + timesIdeal(c.sectors, c.sectorsIdeal));
  if (c.sharedRequests)
    table.add("on-chip", groupedText(c.sharedWavefronts) + " wavefronts, " +
                             timesIdeal(c.sharedWavefronts, c.sharedWavefrontsIdeal));
  std::string executed =
      groupedText(c.instructions) + " of warps, " + groupedText(c.threadInstructions) + " of threads";
  if (c.matrixInstructions)
    executed += ", " + groupedText(c.matrixInstructions) + " in matrix units";
  if (c.instructions)
    executed += formatText("; %.3g %% divergent",
                           100.0 * static_cast<double>(c.divergentInstructions) / static_cast<double>(c.instructions));
  table.add("instructions", executed);
}

void addRoofline(const Roofline &roofline, Table &table) {
  table.add("work", scaledText(roofline.flops) + "FLOP, " + bytesText(roofline.leastBytes) +
                        formatText(" at least: %.3g operations a byte, the ridge is at %.3g", roofline.intensity(),
                                   roofline.ridge()));
  table.add("bound", std::string("by ") + roofline.bound + ": at least " + durationText(roofline.leastMs) + " on " +
                         roofline.machine + " (" + scaledText(roofline.gflops * 1e9) + "FLOP/s of " +
                         roofline.arithmetic + ", " + scaledText(roofline.gbytesPerS * 1e9) + "B/s)");
}

/// Numbers of the tile lines that executed most, those first.
std::vector<size_t> costliestLines(const LineCounters &lines) {
  std::vector<size_t> order;
  for (size_t i = 0; i < lines.size(); ++i)
    if (lines[i].threadInstructions > 0)
      order.push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return lines[a].threadInstructions > lines[b].threadInstructions; });
  order.resize(std::min(order.size(), mostLines));
  return order;
}

std::string trimmed(const std::string &line) {
  size_t start = line.find_first_not_of(' ');
  return start == std::string::npos ? "" : line.substr(start);
}

void addLines(const Explanation &e, std::string &text) {
  std::vector<std::string> lines = linesOf(e.texts.tile);
  std::vector<size_t> order = costliestLines(e.tile);
  if (order.empty())
    return;
  auto all = static_cast<double>(e.outcome()->counters.threadInstructions);
  text += "costliest lines of the tile program: instructions, sectors and wavefronts (each with the ideal)\n";
  for (size_t i : order) {
    const sim::Counters &c = e.tile[i];
    text += formatText("%5.1f %% %17s %17s %5zu: ", 100 * static_cast<double>(c.threadInstructions) / all,
                       pairText(c.sectors, c.sectorsIdeal).c_str(),
                       pairText(c.sharedWavefronts, c.sharedWavefrontsIdeal).c_str(), i + 1) +
            shortened(printable(trimmed(lines[i])), 120) + "\n";
  }
}

Json kernelsJson(const Explanation &e) {
  Json list = Json::array();
  for (const ExplainedKernel &kernel : e.kernels)
    list.push_back({{"name", kernel.symbol},
                    {"threads", kernel.threads},
                    {"shared_bytes", kernel.sharedBytes},
                    {"occupancy", kernel.occupancy.percent},
                    {"blocks_per_unit", kernel.occupancy.blocks},
                    {"limit", std::string(kernel.occupancy.limit)},
                    {"resident_blocks", residentBlocks(e, kernel)}});
  return list;
}

Json rooflineJson(const Roofline &roofline) {
  return {{"machine", roofline.machine},
          {"arithmetic", roofline.arithmetic},
          {"gflops", rounded(roofline.gflops)},
          {"gbytes_per_s", rounded(roofline.gbytesPerS)},
          {"flops", rounded(roofline.flops)},
          {"bytes_ideal", roofline.leastBytes},
          {"flops_per_byte", rounded(roofline.intensity())},
          {"ridge", rounded(roofline.ridge())},
          {"bound", roofline.bound},
          {"time_ms", rounded(roofline.leastMs)}};
}

/// Lines that executed something.
Json linesJson(const std::string &text, const LineCounters &counters) {
  Json list = Json::array();
  std::vector<std::string> lines = linesOf(text);
  for (size_t i = 0; i < std::min(lines.size(), counters.size()); ++i)
    if (counters[i].instructions > 0)
      list.push_back({{"line", i + 1}, {"text", trimmed(lines[i])}, {"counters", countersJson(counters[i])}});
  return list;
}

} // namespace

Json explanationJson(const Explanation &e) {
  Json json;
  if (e.execution) {
    json = e.execution->json();
    json["tasks"] = e.execution->lastLaunch().tasks;
    if (e.outcome())
      json["simulated_blocks"] = e.simulatedBlocks;
  } else {
    json = {{"op", e.manifest.op}, {"name", e.name}, {"description", e.name}, {"target", e.target.name}};
    addReport(json, e.report, e.manifest);
    json["not_run"] = e.notRun;
  }
  json["target"] = e.target.name;
  if (e.target.isGpu())
    json["kernels"] = kernelsJson(e);
  if (e.roofline)
    json["roofline"] = rooflineJson(*e.roofline);
  if (const sim::Outcome *outcome = e.outcome()) {
    json["tile_lines"] = linesJson(e.texts.tile, e.tile);
    json["tilegpu_lines"] = linesJson(e.texts.tilegpu, e.tilegpu);
    json["sites"] = sitesJson(*outcome);
  }
  json["layouts"] = Json::array();
  for (const abi::StageTexts::Layout &layout : e.texts.layouts)
    json["layouts"].push_back(layout.title);
  return json;
}

std::string explanationText(const Explanation &e) {
  std::string text;
  if (e.outcome())
    text += simulatedReportsText(*e.outcome());
  text += e.title + " for " + e.target.name + ", " + compileText(e.report) + "\n";
  Table table;
  table.add("path", e.execution ? e.execution->lastLaunch().path : pathsText(e.manifest));
  std::string config;
  for (const auto &[key, value] : e.manifest.config)
    config += (config.empty() ? "" : " ") + key + "=" + std::to_string(value);
  if (!config.empty())
    table.add("config", config);
  for (const ExplainedKernel &kernel : e.kernels) {
    table.add("kernel", kernelText(e, kernel));
    table.add("occupancy", occupancyText(e, kernel));
  }
  if (e.resource("registers"))
    table.add("registers", registersText(e));
  if (int64_t stack = e.resource("stack_bytes").value_or(0))
    table.add("stack", bytesText(stack));
  table.add("code", bytesText(e.resource("code_bytes").value_or(0)));
  if (e.outcome()) {
    table.add("grid", gridText(e));
    addCounters(e, table);
  } else if (e.execution) {
    table.add("launch", countText(e.execution->lastLaunch().tasks, "task", "tasks") + " on " +
                            countText(e.execution->lastLaunch().threads, "thread", "threads"));
  } else {
    table.add("not run", e.notRun);
  }
  if (e.roofline)
    addRoofline(*e.roofline, table);
  text += std::move(table).text();
  addLines(e, text);
  return text;
}

} // namespace tilejit::tilec
