// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What every subcommand of tilec shares: settings and context, exit codes, and how results and errors are printed.

#ifndef TILEJIT_TOOLS_TILEC_PROGRAM_H
#define TILEJIT_TOOLS_TILEC_PROGRAM_H

#include "tilejit/Base/Settings.h"
#include "tilejit/Base/Status.h"
#include "tilejit/Runtime/Context.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace tilejit::tilec {

/// JSON objects keep the order in which keys are added.
using Json = nlohmann::ordered_json;

/// Exit codes, as command-line.md fixes them.
enum ExitCode : int {
  Done = 0,
  CheckFailed = 1,
  Usage = 2,
  CompileFailed = 3,
  NoDevice = 4,
  InternalError = 5,
  Interrupted = 130,
};
int exitCodeOf(const Status &status);

/// Options that all commands take, and what is made from them.
class Program {
public:
  bool json = false; ///< --json: one object on stdout.
  std::string cacheDir, logLevel;
  bool noCache = false;

  /// Adds --json, --cache-dir, --no-cache and --log-level to a command.
  void addCommonOptions(CLI::App &command, bool withJson = true);
  /// Settings of this call: command line over environment over file over default.
  Expected<Settings> settings(std::vector<SettingOverride> overrides = {}) const;
  /// A context with these settings whose warnings and errors go to stderr.
  Expected<std::shared_ptr<Context>> context(std::vector<SettingOverride> overrides = {}) const;
  /// A logger for stderr and, where set, the log file.
  static Expected<Logger> logger(const Settings &settings);

  /// Prints an error to stderr, and as an object to stdout under --json; gives the exit code.
  int fail(const Status &status) const;
  /// Prints one JSON object.
  static void print(const Json &object);
};

/// An error as the value of "error".
Json errorJson(const Status &status);
/// "tilec: error: ..." in one line of at most 400 characters, details indented below it, then the hint.
std::string errorText(const Status &status);
/// At most `limit` bytes, cut in the middle at a character's border.
std::string shortened(std::string_view text, size_t limit);
/// A text that is safe on a terminal: control characters are escaped.
std::string printable(std::string_view text);
/// "12.3 KiB".
std::string bytesText(int64_t bytes);

} // namespace tilejit::tilec

#endif // TILEJIT_TOOLS_TILEC_PROGRAM_H
