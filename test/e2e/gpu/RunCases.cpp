// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// gpu-runner: every case of a folder on every device of the kinds asked for, compared with what must come out. Needs
// the folder, libtilejit and a driver; no compiler, no LLVM. Ends with "N passed, N failed, N skipped".

#include "CaseFolder.h"
#include "DeviceRun.h"

#include "tilejit/Base/File.h"
#include "tilejit/Reference/Verify.h"

#include <CLI/CLI.hpp>
#include <cstdio>

namespace tilejit::e2e {
namespace {

struct Tally {
  int passed = 0, failed = 0, skipped = 0;

  void pass(const std::string &name, const std::string &device, const std::string &text) {
    ++passed;
    print("ok", name, device, text);
  }
  void fail(const std::string &name, const std::string &device, const std::string &text) {
    ++failed;
    print("FAIL", name, device, text);
  }
  void skip(const std::string &name, const std::string &device, const std::string &text) {
    ++skipped;
    print("SKIP", name, device, text);
  }

private:
  static void print(const char *verdict, const std::string &name, const std::string &device, const std::string &text) {
    std::printf("%-4s  %-20s  %-22s  %s\n", verdict, name.c_str(), device.c_str(), text.c_str());
    std::fflush(stdout);
  }
};

/// Message, hint and details in one text.
std::string fullText(const Status &status) {
  std::string text = status.message();
  if (!status.hint().empty())
    text += " (" + status.hint() + ")";
  for (const std::string &line : status.details())
    text += "\n        " + line;
  return text;
}

Expected<VerifyResult> check(const Session &session, const std::string &folder, const RunDevice &device) {
  TILEJIT_ASSIGN_OR_RETURN(std::string package, readFile(realSystem(), packagePath(folder)));
  TILEJIT_ASSIGN_OR_RETURN(Case data, readCase(folder));
  TILEJIT_ASSIGN_OR_RETURN(std::vector<HostTensor> outputs, session.run(package, data, device));
  return compareWithReference(data.outputs, outputs);
}

void runOn(const Session &session, const std::string &folder, const std::vector<std::string> &cases,
           const RunDevice &device, Tally &tally) {
  std::printf("%s: %s\n", device.title().c_str(), device.chip.c_str());
  for (const std::string &name : cases) {
    Expected<VerifyResult> result = check(session, joinPath(folder, name), device);
    if (result)
      result->ok ? tally.pass(name, device.title(), result->summary())
                 : tally.fail(name, device.title(), result->summary());
    else if (result.status().code() == StatusCode::DoesNotFit)
      tally.skip(name, device.title(), fullText(result.status()));
    else
      tally.fail(name, device.title(), fullText(result.status()));
  }
}

/// The kind that a word speaks of: "cuda", "sim", "sim:sm_80".
Expected<DeviceKindName> kindOf(const std::string &word) {
  std::string known;
  for (const DeviceKindName &kind : deviceKinds()) {
    if (word.substr(0, word.find(':')) == kind.name)
      return kind;
    known += (known.empty() ? "" : ", ") + std::string(kind.name);
  }
  return Status(StatusCode::InvalidArgument, "--device: expected one of " + known + ", found '" + word + "'");
}

/// The devices that a word means: all of a kind, or those that are a target.
Expected<std::vector<RunDevice>> devicesOf(const Session &session, const std::string &word) {
  TILEJIT_ASSIGN_OR_RETURN(DeviceKindName kind, kindOf(word));
  TILEJIT_ASSIGN_OR_RETURN(std::vector<RunDevice> devices, session.devices(kind));
  std::erase_if(devices, [&](const RunDevice &device) { return word != device.kind && word != device.target; });
  if (devices.empty())
    return Status(StatusCode::Unavailable, "there is no device " + word);
  return devices;
}

Status run(const std::string &folder, const std::vector<std::string> &words, Tally &tally) {
  TILEJIT_ASSIGN_OR_RETURN(std::vector<std::string> cases, listCases(folder));
  TILEJIT_ASSIGN_OR_RETURN(Session session, Session::open());
  for (const std::string &word : words) {
    Expected<std::vector<RunDevice>> devices = devicesOf(session, word);
    if (devices)
      for (const RunDevice &device : *devices)
        runOn(session, folder, cases, device, tally);
    else if (devices.status().code() == StatusCode::Unavailable)
      tally.skip("all", word, fullText(devices.status()));
    else
      return devices.status();
  }
  return Status::ok();
}

} // namespace
} // namespace tilejit::e2e

int main(int argc, char **argv) {
  std::string folder;
  std::vector<std::string> words = {"cuda", "hip"};
  CLI::App app("Runs packages on real chips and compares with expected outputs");
  app.add_option("FOLDER", folder, "Folder of cases, from make_folder.py")->required();
  app.add_option("--device", words, "cuda, hip, cpu, sim, sim:TARGET; default: cuda and hip")
      ->delimiter(',')
      ->allow_extra_args(false);
  CLI11_PARSE(app, argc, argv);
  tilejit::e2e::Tally tally;
  tilejit::Status status = tilejit::e2e::run(folder, words, tally);
  if (!status) {
    std::fprintf(stderr, "gpu-runner: error: %s\n", status.message().c_str());
    return 2;
  }
  std::printf("%d passed, %d failed, %d skipped\n", tally.passed, tally.failed, tally.skipped);
  return tally.failed ? 1 : 0;
}
