// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Common parts of results.

#include "Reports.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace tilejit::tilec {

double rounded(double value, int digits) {
  if (!std::isfinite(value))
    return value;
  char text[64];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return std::strtod(text, nullptr);
}

std::string formatText(const char *format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  std::string text(static_cast<size_t>(std::max(0, std::vsnprintf(nullptr, 0, format, arguments))), 0);
  std::vsnprintf(text.data(), text.size() + 1, format, again);
  va_end(again);
  va_end(arguments);
  return text;
}

void addReport(Json &json, const CompileReport &report, const abi::Manifest &manifest) {
  json["cache"] = std::string(cacheUseName(report.cache));
  if (!report.missReason.empty())
    json["miss_reason"] = report.missReason;
  if (!report.key.empty())
    json["key"] = report.key;
  json["worker_started"] = report.workerStarted;
  json["compile_ms"] = rounded(report.compileMs);
  json["stages_ms"] = Json::object();
  for (const auto &[stage, milliseconds] : report.stagesMs)
    json["stages_ms"][stage] = rounded(milliseconds);
  json["config"] = Json::object();
  for (const auto &[key, value] : manifest.config)
    json["config"][key] = value;
  json["resources"] = Json::object();
  for (const auto &[name, value] : manifest.resources)
    json["resources"][name] = value;
  if (!manifest.reductionOrder.empty())
    json["reduction_order"] = manifest.reductionOrder;
}

std::string durationText(double milliseconds) {
  char text[32];
  if (milliseconds >= 1000)
    std::snprintf(text, sizeof text, "%.3g s", milliseconds / 1000);
  else if (milliseconds >= 1)
    std::snprintf(text, sizeof text, "%.3g ms", milliseconds);
  else
    std::snprintf(text, sizeof text, "%.3g us", milliseconds * 1000);
  return text;
}

std::string compileText(const CompileReport &report) {
  if (report.usesReference)
    return "reference implementation, the compile failed";
  if (report.cache == CacheUse::Hit)
    return "cache hit";
  if (report.cache == CacheUse::Off && !report.workerStarted && report.compileMs == 0)
    return "compiled before";
  return "compiled in " + durationText(report.compileMs) + (report.cache == CacheUse::Off ? ", cache off" : "");
}

std::string pathsText(const abi::Manifest &manifest) {
  if (manifest.paths.size() == 1)
    return manifest.paths.front();
  return std::to_string(manifest.paths.size()) + " code paths";
}

} // namespace tilejit::tilec
