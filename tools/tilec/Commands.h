// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The subcommands: each adds itself to the command line; main() runs the one that was asked for.

#ifndef TILEJIT_TOOLS_TILEC_COMMANDS_H
#define TILEJIT_TOOLS_TILEC_COMMANDS_H

#include "Program.h"

#include <functional>

namespace tilejit::tilec {

/// Runs after parsing; gives the exit code.
using Action = std::function<int()>;
/// Where a command puts its action when it is the one that was asked for.
struct Registry {
  CLI::App &app;
  Program &program;
  Action &action;

  /// Runs `action` where `command` is the one that was asked for.
  void onRun(CLI::App &command, Action run) const;
};

void addCompile(Registry registry);
void addRun(Registry registry);
void addVerify(Registry registry);
void addBench(Registry registry);
void addExplain(Registry registry);
void addSimulate(Registry registry);
void addInspect(Registry registry);
void addCache(Registry registry);
void addDevices(Registry registry);
void addDoctor(Registry registry);
void addTargets(Registry registry);
void addOps(Registry registry);

} // namespace tilejit::tilec

#endif // TILEJIT_TOOLS_TILEC_COMMANDS_H
