// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// tilec explain: what bounds a kernel, and which lines of it cost most.

#include "Commands.h"
#include "Explanation.h"
#include "Sources.h"

#include "tilejit/Base/File.h"
#include "tilejit/Reference/Npy.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <unistd.h>

namespace tilejit::tilec {
namespace {

struct Options {
  std::string description, html;
  ExecutionOptions execution;
};

/// Unbound dimensions get at most this size: the simulator executes every thread.
constexpr int64_t defaultSize = 128;

Expected<Explanation> explainRequest(const Program &program, const Options &options) {
  TILEJIT_ASSIGN_OR_RETURN(std::shared_ptr<Context> context, program.context(options.execution.overrides()));
  TILEJIT_ASSIGN_OR_RETURN(int device, options.execution.deviceIndex());
  TILEJIT_ASSIGN_OR_RETURN(std::vector<TargetSpec> targets, parseTargets(*context, options.execution.target, device));
  if (targets.size() > 1)
    return Status(StatusCode::InvalidArgument, "--target: one target is explained at a time");
  TILEJIT_ASSIGN_OR_RETURN(Source source, readSource(options.description));
  if (!options.html.empty())
    TILEJIT_RETURN_IF_ERROR(checkWritable(options.html));
  bool isPatient = isatty(STDERR_FILENO) && targets.front().isGpu();
  if (isPatient)
    std::fprintf(stderr, "simulating %s ...", displayName(source).c_str());
  Expected<Explanation> explanation = explain(*context, source, targets.front(), options.execution, defaultSize);
  if (isPatient)
    std::fprintf(stderr, "\r\x1b[K");
  if (explanation && !options.html.empty())
    TILEJIT_RETURN_IF_ERROR(writeFileAtomically(realSystem(), options.html, explanationPage(*explanation), 0644));
  return explanation;
}

int run(const Program &program, const Options &options) {
  Expected<Explanation> explanation = explainRequest(program, options);
  if (!explanation)
    return program.fail(explanation.status());
  if (program.json)
    Program::print(explanationJson(*explanation));
  else
    std::fputs(explanationText(*explanation).c_str(), stdout);
  return explanation->execution && explanation->execution->hasReports() ? CheckFailed : Done;
}

} // namespace

void addExplain(Registry registry) {
  auto options = std::make_shared<Options>();
  options->execution.isExplained = true;
  CLI::App *command = registry.app.add_subcommand(
      "explain", "Say what bounds a kernel: occupancy, traffic, roofline, the lines that cost most");
  command->add_option("DESC", options->description, "Description (.json) or tile file (.mlir); - is standard input")
      ->required();
  options->execution.addTo(*command);
  options->execution.addFilesTo(*command);
  options->execution.simulatedBlocks = "64";
  command
      ->add_option("--blocks", options->execution.simulatedBlocks,
                   "Blocks that are simulated at most, of a launch that is one kernel (64; 0: all)")
      ->type_name("N");
  command->add_option("--html", options->html, "Write a page with all forms of the kernel beside their counters")
      ->type_name("FILE");
  registry.program.addCommonOptions(*command);
  command->footer("GPU targets are launched once on the simulator, with every check on; exit code 1 where something is "
                  "reported.\n\nExample:\n"
                  "  tilec explain examples/softmax.json --target sm_80 --set rows=64 --html softmax.html");
  registry.onRun(*command, [&program = registry.program, options] { return run(program, *options); });
}

} // namespace tilejit::tilec
