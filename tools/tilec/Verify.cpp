// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// tilec verify: descriptions on random inputs, each compared with its double-precision reference.

#include "Checking.h"
#include "Commands.h"
#include "Execution.h"
#include "Reports.h"
#include "Sources.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <set>
#include <unistd.h>

namespace tilejit::tilec {
namespace {

struct Options {
  std::vector<std::string> descriptions;
  ExecutionOptions execution;
};

/// Unbound dimensions get at most this size.
constexpr int64_t defaultSize = 256;

/// The part of --set that a description has dimensions for.
std::vector<std::string> settingsFor(const Description &description, const std::vector<std::string> &all) {
  std::vector<std::string> own;
  for (const std::string &text : all)
    if (description.dimIndex(text.substr(0, text.find('='))) >= 0)
      own.push_back(text);
  return own;
}

/// A --set of a name that no description has is an error.
Status checkSettings(const std::vector<Source> &sources, const std::vector<std::string> &all) {
  for (const std::string &text : all) {
    bool known = false;
    std::string name = text.substr(0, text.find('='));
    for (const Source &source : sources)
      known |= source.description && source.description->dimIndex(name) >= 0;
    if (!known)
      return Status(StatusCode::InvalidArgument, "--set: no description has a dimension '" + name + "'");
  }
  return Status::ok();
}

void progress(size_t done, size_t all, const std::string &name) {
  if (isatty(STDERR_FILENO))
    std::fprintf(stderr, "\r\x1b[K[%zu/%zu] %s", done, all, name.c_str());
}

void endProgress() {
  if (isatty(STDERR_FILENO))
    std::fprintf(stderr, "\r\x1b[K");
}

/// One description on one target.
struct Verified {
  VerifyResult result;
  std::string text; ///< What a simulated device has to report.
  bool ok = false;  ///< Right numbers and no report.
  Json json;
};

/// Runs and checks one description for one target.
Expected<Verified> verifyOne(Context &context, const Source &source, const TargetSpec &target,
                             ExecutionOptions options) {
  options.operands.set = settingsFor(*source.description, options.operands.set);
  TILEJIT_ASSIGN_OR_RETURN(Execution execution, Execution::prepare(context, source, target, options, defaultSize));
  TILEJIT_ASSIGN_OR_RETURN(double milliseconds, execution.launch());
  TILEJIT_RETURN_IF_ERROR(execution.collect());
  Verified verified;
  TILEJIT_ASSIGN_OR_RETURN(verified.result, checkExecution(execution));
  verified.ok = verified.result.ok && !execution.hasReports();
  verified.json = execution.json();
  verified.json["time_ms"] = rounded(milliseconds);
  addCheck(verified.json, verified.result);
  verified.json["ok"] = verified.ok;
  if (execution.outcome())
    verified.text += simulatedReportsText(*execution.outcome());
  return verified;
}

int run(const Program &program, const Options &options) {
  Expected<std::shared_ptr<Context>> context = program.context(options.execution.overrides());
  if (!context)
    return program.fail(context.status());
  Expected<int> device = options.execution.deviceIndex();
  if (!device)
    return program.fail(device.status());
  Expected<std::vector<TargetSpec>> targets = parseTargets(**context, options.execution.target, *device);
  if (!targets)
    return program.fail(targets.status());
  Expected<std::vector<Source>> sources = readSources(options.descriptions);
  if (!sources)
    return program.fail(sources.status());
  for (const Source &source : *sources)
    if (source.isTile())
      return program.fail(Status(StatusCode::InvalidArgument, source.name + ": a tile file has no reference"));
  if (Status known = checkSettings(*sources, options.execution.operands.set); !known)
    return program.fail(known);
  Json results = Json::array();
  int failed = 0;
  size_t done = 0, all = sources->size() * targets->size();
  for (const Source &source : *sources)
    for (const TargetSpec &target : *targets) {
      progress(++done, all, displayName(source));
      auto result = verifyOne(**context, source, target, options.execution);
      endProgress();
      if (!result)
        return program.fail(std::move(result).status().inContext(displayName(source)));
      failed += !result->ok;
      if (program.json)
        results.push_back(std::move(result->json));
      else
        std::printf("%-4s %s on %s: %s\n%s", result->ok ? "ok" : "FAIL", displayName(source).c_str(),
                    target.name.c_str(), result->result.summary().c_str(), result->text.c_str());
    }
  if (program.json)
    Program::print(Json{{"results", results}});
  return failed ? CheckFailed : Done;
}

} // namespace

void addVerify(Registry registry) {
  auto options = std::make_shared<Options>();
  CLI::App *command =
      registry.app.add_subcommand("verify", "Compare descriptions on random inputs with their reference");
  command->add_option("DESC", options->descriptions, "Descriptions (.json) or packages (.tjk); - is standard input")
      ->required();
  options->execution.addTo(*command);
  registry.program.addCommonOptions(*command);
  command->footer("Example:\n  tilec verify examples/matmul.json examples/softmax.json --set m=17");
  registry.onRun(*command, [&program = registry.program, options] { return run(program, *options); });
}

} // namespace tilejit::tilec
