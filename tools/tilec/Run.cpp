// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// tilec run: one execution of a description or tile kernel on the user's arrays or random ones.

#include "Checking.h"
#include "Commands.h"
#include "Execution.h"
#include "Reports.h"
#include "Sources.h"

#include <CLI/CLI.hpp>
#include <cstdio>

namespace tilejit::tilec {
namespace {

struct Options {
  std::string description;
  ExecutionOptions execution;
  bool verify = false;
};

/// Unbound dimensions get at most this size, so that a first try is quick.
constexpr int64_t defaultSize = 128;

void addRates(Json &json, const Execution &execution, double milliseconds) {
  json["time_ms"] = rounded(milliseconds);
  if (execution.outcome())
    return; // Rates of the simulator say nothing about the chip.
  if (double flops = execution.flops(); flops > 0 && milliseconds > 0)
    json["gflops"] = rounded(flops / milliseconds * 1e-6);
  if (int64_t bytes = execution.bytesRead() + execution.bytesWritten(); bytes > 0 && milliseconds > 0)
    json["gbytes_per_s"] = rounded(static_cast<double>(bytes) / milliseconds * 1e-6);
}

void printText(const Execution &execution, double milliseconds, const std::optional<VerifyResult> &check) {
  execution.printOutcome();
  std::printf("%s on %s (%s): %s", execution.title().c_str(), deviceName(execution.kernel().device()).c_str(),
              execution.target().name.c_str(), durationText(milliseconds).c_str());
  if (double flops = execution.flops(); flops > 0 && milliseconds > 0 && !execution.outcome())
    std::printf(", %.3g GFLOP/s", flops / milliseconds * 1e-6);
  std::printf(", %s%s\n", compileText(execution.kernel().report()).c_str(), execution.packedText().c_str());
  if (const sim::Outcome *outcome = execution.outcome())
    std::fputs(simulatedCountersText(*outcome).c_str(), stdout);
  if (check)
    std::printf("%s\n", check->summary().c_str());
}

int run(const Program &program, const Options &options) {
  Expected<std::shared_ptr<Context>> context = program.context(options.execution.overrides());
  if (!context)
    return program.fail(context.status());
  Expected<int> device = options.execution.deviceIndex();
  if (!device)
    return program.fail(device.status());
  Expected<TargetSpec> target = (*context)->target(options.execution.target.value_or(""), *device);
  if (options.execution.target && options.execution.target->empty())
    target = Status(StatusCode::InvalidArgument, "--target: expected a target, found nothing");
  if (!target)
    return program.fail(target.status());
  Expected<Source> source = readSource(options.description);
  if (!source)
    return program.fail(source.status());
  if (options.verify && source->isTile())
    return program.fail(Status(StatusCode::InvalidArgument, "--verify: a tile file has no reference to compare with"));
  Expected<Execution> execution = Execution::prepare(**context, *source, *target, options.execution, defaultSize);
  if (!execution)
    return program.fail(execution.status());
  Expected<double> milliseconds = execution->launch();
  if (!milliseconds)
    return program.fail(milliseconds.status());
  if (Status collected = execution->collect(); !collected)
    return program.fail(collected);
  if (Status written = execution->operands().writeOutputs(); !written)
    return program.fail(written);
  std::optional<VerifyResult> check;
  if (options.verify) {
    Expected<VerifyResult> outcome = checkExecution(*execution);
    if (!outcome)
      return program.fail(outcome.status());
    check = *std::move(outcome);
  }
  if (program.json) {
    Json json = execution->json();
    addRates(json, *execution, *milliseconds);
    if (check)
      addCheck(json, *check);
    Program::print(json);
  } else {
    printText(*execution, *milliseconds, check);
  }
  return (check && !check->ok) || execution->hasReports() ? CheckFailed : Done;
}

} // namespace

void addRun(Registry registry) {
  auto options = std::make_shared<Options>();
  CLI::App *command = registry.app.add_subcommand("run", "Execute a description or tile file once");
  command
      ->add_option("DESC", options->description,
                   "Description (.json), tile file (.mlir) or package (.tjk); - is standard input")
      ->required();
  options->execution.addTo(*command);
  options->execution.addFilesTo(*command);
  command->add_flag("--verify", options->verify, "Compare with the double-precision reference; exit code 1 if wrong");
  registry.program.addCommonOptions(*command);
  command->footer("Inputs without a file are random; --output of a tile file is NAME=F.npy:f32[128,64].\n\nExample:\n"
                  "  tilec run examples/matmul.json --input a=a.npy --input b=b.npy --output c=c.npy --verify");
  registry.onRun(*command, [&program = registry.program, options] { return run(program, *options); });
}

} // namespace tilejit::tilec
