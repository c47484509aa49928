// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// tilec: the command line of tilejit. Parses, runs one subcommand, maps its outcome to an exit code.

#include "Commands.h"
#include "Program.h"
#include "Version.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <unistd.h>

namespace {

using namespace tilejit;
using namespace tilejit::tilec;

/// The first word that should be a command of `app` or of one of its commands and is none; empty where all are.
std::string unknownCommand(const CLI::App &app, int argc, char **argv) {
  const CLI::App *level = &app;
  for (int i = 1; i < argc && !level->get_subcommands([](const CLI::App *) { return true; }).empty(); ++i) {
    std::string_view word = argv[i];
    if (word.empty() || word.front() == '-')
      continue;
    auto all = level->get_subcommands([](const CLI::App *) { return true; });
    auto found =
        std::find_if(all.begin(), all.end(), [&](const CLI::App *command) { return command->get_name() == word; });
    if (found == all.end())
      return std::string(word);
    level = *found;
  }
  return "";
}

/// The parser's own complaint in the form of ours.
int reportParseError(const CLI::App &app, const Program &program, const CLI::ParseError &error, int argc, char **argv) {
  std::string message = error.what();
  while (!message.empty() && message.back() == '\n')
    message.pop_back();
  if (std::string unknown = unknownCommand(app, argc, argv); !unknown.empty())
    message = "no command '" + unknown + "'";
  const CLI::App *command = &app;
  while (!command->get_subcommands().empty())
    command = command->get_subcommands().front();
  std::string name = command == &app ? "tilec" : "tilec " + command->get_name();
  return program.fail(Status(StatusCode::InvalidArgument, message).withHint("see " + name + " --help"));
}

void onInterrupt(int) { _exit(Interrupted); }

int runProgram(int argc, char **argv) {
  CLI::App app("Compiles operator descriptions for this machine's chips, runs and checks the result.\n"
               "DESC is a .json description or a .mlir file of tile IR; - is standard input.",
               "tilec");
  app.footer("Example:\n  tilec run examples/matmul.json --set m=128 --verify\n\n"
             "Exit codes: 0 done, 1 a check failed, 2 bad usage or input, 3 the compile failed, 4 no such device,\n"
             "5 internal error, 130 interrupted.");
  app.require_subcommand(1);
  app.set_version_flag("--version", versionText); // Called only when asked: it looks for a CUDA toolkit.
  app.get_formatter()->column_width(34);
  Program program;
  Action action;
  Registry registry{app, program, action};
  addCompile(registry);
  addRun(registry);
  addVerify(registry);
  addBench(registry);
  addExplain(registry);
  addSimulate(registry);
  addInspect(registry);
  addCache(registry);
  addDevices(registry);
  addDoctor(registry);
  addTargets(registry);
  addOps(registry);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success))
      return app.exit(error);
    return reportParseError(app, program, error, argc, argv);
  }
  int code = action();
  if (std::fflush(stdout) != 0 && code == Done)
    return program.fail(Status(StatusCode::IoError, "can't write to standard output"));
  return code;
}

} // namespace

int main(int argc, char **argv) {
  std::signal(SIGINT, onInterrupt);
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return runProgram(argc, argv);
  } catch (const std::bad_alloc &) {
    return Program().fail(Status(StatusCode::OutOfMemory, "out of memory"));
  } catch (const std::exception &error) {
    return Program().fail(Status(StatusCode::Internal, error.what()));
  }
}
