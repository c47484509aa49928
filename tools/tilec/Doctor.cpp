// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// tilec doctor: is everything here that is needed, does it fit together, which settings hold and where from.

#include "Alignment.h"
#include "Commands.h"
#include "Devices.h"
#include "Reports.h"

#include "tilejit/Base/File.h"
#include "tilejit/Cache/Cache.h"
#include "tilejit/Device/Device.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <fcntl.h>

namespace tilejit::tilec {
namespace {

enum class Level { Ok, Note, Warning, Error };

/// One line of the report.
struct Check {
  std::string name;
  Level level = Level::Ok;
  std::string found, needed, hint;
};

using Checks = std::vector<Check>;

constexpr int64_t enoughBytes = int64_t{1} << 30;
constexpr double slowFsyncMs = 50;

/// Milliseconds of writing and syncing a small file in a folder; negative where that fails.
double fsyncMs(const std::string &folder) {
  System &system = realSystem();
  std::string path = joinPath(folder, ".doctor-" + std::to_string(system.processId()));
  FileHandle file(system, system.open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
  if (!file.isOpen())
    return -1;
  auto begin = std::chrono::steady_clock::now();
  bool written = writeAll(system, file.get(), "tilejit") == 0 && system.fsync(file.get()) == 0;
  double milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  system.unlink(path);
  return written ? milliseconds : -1;
}

void checkCache(Context &context, Checks &checks) {
  if (!context.settings().cacheEnabled()) {
    checks.push_back({"cache folder", Level::Note, "switched off", "", "set cache = \"on\" to use it"});
    return;
  }
  Cache &cache = context.cache();
  if (!cache.isUsable()) {
    checks.push_back({"cache folder", Level::Warning, cache.unusableReason(), "a private folder that can be written",
                      "set TILEJIT_CACHE_DIR; until then every process compiles anew"});
    return;
  }
  checks.push_back({"cache folder", Level::Ok, cache.root(), "", ""});
  FileSystemInfo info;
  if (realSystem().fileSystem(cache.root(), info) == 0)
    checks.push_back({"cache free space", info.freeBytes < enoughBytes ? Level::Warning : Level::Ok,
                      bytesText(info.freeBytes), bytesText(enoughBytes),
                      info.freeBytes < enoughBytes ? "free some space, or move the cache by TILEJIT_CACHE_DIR" : ""});
  bool network = isOnNetwork(realSystem(), cache.root());
  checks.push_back({"cache file system", network ? Level::Warning : Level::Ok, network ? "network" : "local", "local",
                    network ? "give each node a folder of its own by TILEJIT_CACHE_DIR" : ""});
  double milliseconds = fsyncMs(cache.root());
  bool slow = milliseconds < 0 || milliseconds > slowFsyncMs;
  checks.push_back({"cache fsync", slow ? Level::Warning : Level::Ok,
                    milliseconds < 0 ? "failed" : durationText(milliseconds), "at most " + durationText(slowFsyncMs),
                    slow ? "a slow disk delays the first use of each kernel" : ""});
}

/// Gives the version of LLVM, empty where the worker can't be asked.
std::string checkWorker(Context &context, Checks &checks) {
  std::string path = context.workerPath();
  Expected<Toolchain> toolchain = context.toolchain();
  if (!toolchain) {
    checks.push_back({"worker", Level::Error, toolchain.status().message(), "a worker program that answers",
                      "set TILEJIT_WORKER to the installed tilejit-worker, or reinstall"});
    return "";
  }
  checks.push_back({"worker", Level::Ok, path, "", ""});
  for (const ToolchainPart &part : toolchain->parts)
    checks.push_back({"toolchain " + part.name, Level::Ok, part.identity.substr(0, 16) + " " + part.path, "", ""});
  return toolchain->llvmVersion;
}

void checkAlignment(const std::string &llvmVersion, Checks &checks) {
  Expected<std::vector<AlignmentPair>> pairs = parseAlignment(builtInAlignment());
  if (!pairs) {
    checks.push_back({"alignment table", Level::Error, pairs.status().message(), "a table", ""});
    return;
  }
  std::map<std::string, std::string> versions = findVersions(llvmVersion);
  for (const AlignmentPair &pair : *pairs) {
    auto of = versions.find(pair.of), with = versions.find(pair.with);
    Check check{pair.of + " with " + pair.with, Level::Ok, "", pair.needs, ""};
    if (of == versions.end() || with == versions.end()) {
      check.found = (of == versions.end() ? pair.of : pair.with) + " is not here";
      check.level = pair.required ? Level::Error : Level::Note;
    } else {
      check.found = with->second;
      check.level = versionFits(with->second, pair.needs) ? Level::Ok : Level::Error;
    }
    if (check.level == Level::Error)
      check.hint = pair.hint;
    checks.push_back(std::move(check));
  }
}

/// A device that is there: what it is, how it is, and whether it gives memory.
void checkDevice(const FoundDevice &found, Checks &checks) {
  const DeviceProperties &properties = found.device->properties();
  std::string name = "device " + (found.kind == DeviceKind::Cpu ? "cpu" : found.name());
  std::string text = properties.name + ", " + std::to_string(properties.computeUnits) +
                     (found.kind == DeviceKind::Cpu ? " threads, " : " units, ") +
                     bytesText(found.device->freeBytes()) + " free";
  if (found.kind != DeviceKind::Cpu)
    text += ", " + properties.target.name + ", " + properties.driver;
  checks.push_back({name, Level::Ok, text, "", ""});
  if (!found.isHealthy())
    checks.push_back({name + " health", Level::Warning, found.healthText(), "none",
                      "results may be wrong: reset the device, and have it replaced if errors come back"});
  Expected<void *> trial = found.device->allocate(1 << 20);
  checks.push_back({name + " allocation", trial ? Level::Ok : Level::Error, trial ? "1 MiB" : trial.status().message(),
                    "1 MiB", trial ? "" : "free some memory"});
  if (trial)
    found.device->release(*trial);
}

void checkDevices(Context &context, Checks &checks) {
  std::vector<FoundDevice> all = findDevices(context);
  addHealth(all);
  for (const FoundDevice &found : all) {
    if (found.device) {
      checkDevice(found, checks);
      continue;
    }
    // A machine without GPUs is complete; one whose driver has none to show, or can't, may miss something.
    bool isWrong = found.kind == DeviceKind::Cpu || found.status.code() != StatusCode::Unavailable;
    checks.push_back({"device " + found.name(), isWrong ? Level::Error : Level::Note, found.status.message(),
                      "a device", found.status.hint()});
  }
}

const char *levelText(Level level) {
  switch (level) {
  case Level::Ok:
    return "ok";
  case Level::Note:
    return "note";
  case Level::Warning:
    return "warn";
  case Level::Error:
    return "FAIL";
  }
  return "";
}

Json checkJson(const Check &check) {
  const char *levels[] = {"ok", "note", "warning", "error"};
  return {{"name", check.name},
          {"ok", check.level != Level::Error},
          {"level", levels[static_cast<int>(check.level)]},
          {"found", check.found},
          {"needed", check.needed},
          {"hint", check.hint}};
}

void printText(const Checks &checks, const Settings &settings) {
  for (const Check &check : checks) {
    std::printf("%-4s  %s: %s", levelText(check.level), check.name.c_str(), check.found.c_str());
    if (!check.needed.empty() && check.level != Level::Ok)
      std::printf(" (needed: %s)", check.needed.c_str());
    std::printf("\n");
    if (!check.hint.empty())
      std::printf("      hint: %s\n", check.hint.c_str());
  }
  std::printf("\nsettings%s%s\n", settings.configFile().empty() ? "" : ", file ", settings.configFile().c_str());
  for (const EffectiveSetting &setting : settings.effective())
    std::printf("  %-18s %-30s %s\n", std::string(setting.name).c_str(), setting.value.c_str(), setting.where.c_str());
}

int run(const Program &program) {
  Expected<std::shared_ptr<Context>> context = program.context();
  if (!context)
    return program.fail(context.status());
  Checks checks;
  checkDevices(**context, checks);
  checkCache(**context, checks);
  checkAlignment(checkWorker(**context, checks), checks);
  bool failed = false;
  for (const Check &check : checks)
    failed |= check.level == Level::Error;
  const Settings &settings = (*context)->settings();
  if (program.json) {
    Json list = Json::array(), effective = Json::array();
    for (const Check &check : checks)
      list.push_back(checkJson(check));
    for (const EffectiveSetting &setting : settings.effective())
      effective.push_back({{"name", std::string(setting.name)}, {"value", setting.value}, {"where", setting.where}});
    Program::print(Json{{"ok", !failed}, {"checks", list}, {"settings", effective}});
  } else {
    printText(checks, settings);
  }
  return failed ? CheckFailed : Done;
}

} // namespace

void addDoctor(Registry registry) {
  CLI::App *command = registry.app.add_subcommand(
      "doctor", "Check devices, cache, compiler and versions, and show the settings in force");
  registry.program.addCommonOptions(*command);
  command->footer("Exit code 1 where something that is needed does not fit.\n\nExample:\n  tilec doctor --json");
  registry.onRun(*command, [&program = registry.program] { return run(program); });
}

} // namespace tilejit::tilec
