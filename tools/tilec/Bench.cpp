// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// tilec bench: repeated launches of one kernel, as median and spread, beside the machine's peak of the same run.

#include "Commands.h"
#include "Execution.h"
#include "Reports.h"
#include "Sources.h"

#include "tilejit/Base/File.h"
#include "tilejit/Device/Peak.h"
#include "tilejit/Reference/Npy.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>

namespace tilejit::tilec {
namespace {

struct Options {
  std::string description, save, compare;
  ExecutionOptions execution;
};

constexpr int64_t defaultSize = 1024, simulatedSize = 128;
constexpr double measureMs = 500, warmupMs = 50;
constexpr int fewestRuns = 5, mostRuns = 10000;
/// A median this much above the saved one counts as slower even where spreads are small.
constexpr double slack = 1.10;

/// What was measured.
struct Timing {
  double min = 0, median = 0, max = 0;
  int runs = 0;
};

Expected<Timing> measure(Execution &execution) {
  double spent = 0;
  int warm = 0;
  while ((spent < warmupMs || warm < 2) && warm < mostRuns) {
    TILEJIT_ASSIGN_OR_RETURN(double milliseconds, execution.launch());
    spent += milliseconds;
    ++warm;
  }
  std::vector<double> times;
  spent = 0;
  while (static_cast<int>(times.size()) < fewestRuns ||
         (spent < measureMs && static_cast<int>(times.size()) < mostRuns)) {
    TILEJIT_ASSIGN_OR_RETURN(double milliseconds, execution.launch());
    times.push_back(milliseconds);
    spent += milliseconds;
  }
  std::sort(times.begin(), times.end());
  return Timing{times.front(), times[times.size() / 2], times.back(), static_cast<int>(times.size())};
}

/// Whether multiply-adds are what an operator does, so that arithmetic may be its limit; functions count as one
/// operation and take many.
bool isProduct(const Description *description) {
  return description && (description->family == Family::Matmul || isAttention(description->family));
}

/// The arithmetic whose peak a description is held against: that of its inputs, as far as there is a unit for it.
DType peakArithmetic(const Description *description) {
  if (!description || description->inputs.empty())
    return DType::F32;
  DType dtype = description->inputs.front().dtype;
  if (dtype == DType::F64 || dtype == DType::BF16)
    return dtype;
  bool integerProduct = isProduct(description) && isInteger(dtype);
  return integerProduct ? DType::I8 : DType::F32;
}

/// Rates and shares of peak of a median time. The share is of whichever limit is nearer: arithmetic or memory.
struct Rates {
  double gflops = 0, gbytesPerS = 0, percent = 0;
  MachinePeak peak;
  const char *bound = "memory";

  bool isKnown() const { return peak.gbytesPerS > 0; } ///< The peak.
};

Rates ratesOf(const Execution &execution, double medianMs) {
  Rates rates;
  int threads = static_cast<int>(std::max<int64_t>(1, execution.lastLaunch().threads));
  if (execution.kernel().device().properties().kind == DeviceKind::Cpu)
    rates.peak = measurePeak(
        {peakArithmetic(execution.description()), threads, execution.bytesRead(), execution.bytesWritten()});
  if (medianMs <= 0)
    return rates;
  rates.gflops = execution.flops() / medianMs * 1e-6;
  rates.gbytesPerS = static_cast<double>(execution.bytesRead() + execution.bytesWritten()) / medianMs * 1e-6;
  double ofArithmetic = rates.peak.gflops > 0 ? rates.gflops / rates.peak.gflops : 0;
  double ofMemory = rates.peak.gbytesPerS > 0 ? rates.gbytesPerS / rates.peak.gbytesPerS : 0;
  bool hasBoth = isProduct(execution.description());
  rates.bound = hasBoth && ofArithmetic >= ofMemory ? "arithmetic" : "memory";
  rates.percent = 100 * (hasBoth ? std::max(ofArithmetic, ofMemory) : ofMemory);
  return rates;
}

/// The result of an earlier --save.
struct Saved {
  double median = 0, max = 0;
};

Expected<Saved> readSaved(const std::string &path) {
  TILEJIT_ASSIGN_OR_RETURN(std::string text, readFile(realSystem(), path, 1 << 20));
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("times_ms") || !json["times_ms"].is_array() || json["times_ms"].size() != 3 ||
      !json["times_ms"][1].is_number() || !json["times_ms"][2].is_number())
    return Status(StatusCode::InvalidArgument, path + ": expected a result of tilec bench --save");
  return Saved{json["times_ms"][1], json["times_ms"][2]};
}

/// What the comparison with a saved result says.
struct Comparison {
  double ratio = 1; ///< This median over the saved one.
  bool slower = false;
};

Comparison compareWith(const Saved &saved, const Timing &timing) {
  Comparison comparison;
  comparison.ratio = saved.median > 0 ? timing.median / saved.median : 1;
  comparison.slower = comparison.ratio > slack && timing.min > saved.median;
  return comparison;
}

/// What is asked for, read and checked before anything runs.
struct Request {
  std::shared_ptr<Context> context;
  TargetSpec target;
  Source source;
  std::optional<Saved> saved;
};

Expected<Request> readRequest(const Program &program, const Options &options) {
  Request request;
  TILEJIT_ASSIGN_OR_RETURN(request.context, program.context(options.execution.overrides()));
  TILEJIT_ASSIGN_OR_RETURN(int device, options.execution.deviceIndex());
  TILEJIT_ASSIGN_OR_RETURN(std::vector<TargetSpec> targets,
                           parseTargets(*request.context, options.execution.target, device));
  request.target = targets.front();
  TILEJIT_ASSIGN_OR_RETURN(request.source, readSource(options.description));
  if (!options.compare.empty()) {
    if (request.target.simulated)
      return Status(StatusCode::InvalidArgument, "--compare: a simulated device has counters instead of times");
    TILEJIT_ASSIGN_OR_RETURN(request.saved, readSaved(options.compare));
  }
  if (!options.save.empty())
    TILEJIT_RETURN_IF_ERROR(checkWritable(options.save));
  return request;
}

void addTiming(Json &json, const Timing &timing, const Rates &rates) {
  json["time_ms"] = rounded(timing.median);
  json["times_ms"] = {rounded(timing.min), rounded(timing.median), rounded(timing.max)};
  json["runs"] = timing.runs;
  json["gflops"] = rounded(rates.gflops);
  json["gbytes_per_s"] = rounded(rates.gbytesPerS);
  if (!rates.isKnown())
    return;
  json["percent_of_peak"] = rounded(rates.percent, 4);
  json["bound"] = rates.bound;
  json["peak"] = {{"gflops", rounded(rates.peak.gflops)}, {"gbytes_per_s", rounded(rates.peak.gbytesPerS)}};
}

void printTiming(const Execution &execution, const Timing &timing, const Rates &rates) {
  std::string threads =
      execution.target().isCpu() ? ", " + std::to_string(execution.lastLaunch().threads) + " threads" : "";
  std::printf("%s on %s (%s)%s, %s: median %s of %d runs (%s to %s)\n", execution.title().c_str(),
              deviceName(execution.kernel().device()).c_str(), execution.target().name.c_str(), threads.c_str(),
              compileText(execution.kernel().report()).c_str(), durationText(timing.median).c_str(), timing.runs,
              durationText(timing.min).c_str(), durationText(timing.max).c_str());
  std::printf("%.4g GFLOP/s, %.4g GB/s", rates.gflops, rates.gbytesPerS);
  if (rates.isKnown())
    std::printf(": %.1f %% of the %s peak (%.4g GFLOP/s, %.4g GB/s)", rates.percent, rates.bound, rates.peak.gflops,
                rates.peak.gbytesPerS);
  std::printf("%s\n", execution.packedText().c_str());
}

Status save(const Options &options, const Json &json) {
  if (options.save.empty())
    return Status::ok();
  return writeFileAtomically(realSystem(), options.save, json.dump(2) + "\n", 0644);
}

/// One launch on a simulated device: what counts there are counts.
int runSimulated(const Program &program, const Options &options, Execution &execution) {
  Expected<double> milliseconds = execution.launch();
  if (!milliseconds)
    return program.fail(milliseconds.status());
  Json json = execution.json();
  json["time_ms"] = rounded(*milliseconds);
  if (Status written = save(options, json); !written)
    return program.fail(written);
  if (program.json) {
    Program::print(json);
  } else {
    execution.printOutcome();
    std::printf("%s on %s, %s\n%s", execution.title().c_str(), deviceName(execution.kernel().device()).c_str(),
                compileText(execution.kernel().report()).c_str(), simulatedCountersText(*execution.outcome()).c_str());
  }
  return execution.hasReports() ? CheckFailed : Done;
}

int run(const Program &program, const Options &options) {
  Expected<Request> request = readRequest(program, options);
  if (!request)
    return program.fail(request.status());
  Expected<Execution> execution =
      Execution::prepare(*request->context, request->source, request->target, options.execution,
                         request->target.simulated ? simulatedSize : defaultSize);
  if (!execution)
    return program.fail(execution.status());
  if (execution->kernel().device().properties().kind == DeviceKind::Sim)
    return runSimulated(program, options, *execution);
  Expected<Timing> timing = measure(*execution);
  if (!timing)
    return program.fail(timing.status());
  Rates rates = ratesOf(*execution, timing->median);
  Json json = execution->json();
  addTiming(json, *timing, rates);
  std::optional<Comparison> comparison;
  if (request->saved) {
    comparison = compareWith(*request->saved, *timing);
    json["compare"] = {{"ratio", rounded(comparison->ratio, 4)}, {"slower", comparison->slower}};
  }
  if (Status written = save(options, json); !written)
    return program.fail(written);
  if (program.json) {
    Program::print(json);
  } else {
    printTiming(*execution, *timing, rates);
    if (comparison)
      std::printf("%.3f of the saved median%s\n", comparison->ratio, comparison->slower ? ": slower" : "");
  }
  return comparison && comparison->slower ? CheckFailed : Done;
}

} // namespace

void addBench(Registry registry) {
  auto options = std::make_shared<Options>();
  CLI::App *command =
      registry.app.add_subcommand("bench", "Time a kernel: median, spread, share of the machine's peak");
  command
      ->add_option("DESC", options->description,
                   "Description (.json), tile file (.mlir) or package (.tjk); - is standard input")
      ->required();
  options->execution.addTo(*command);
  options->execution.addFilesTo(*command);
  command->add_option("--save", options->save, "Write the result to a file")->type_name("F");
  command->add_option("--compare", options->compare, "Compare with a saved result; exit code 1 where slower")
      ->type_name("F");
  registry.program.addCommonOptions(*command);
  command->footer("Example:\n  tilec bench examples/ffn_up.json --set tokens=128 --threads 1 --save before.json");
  registry.onRun(*command, [&program = registry.program, options] { return run(program, *options); });
}

} // namespace tilejit::tilec
