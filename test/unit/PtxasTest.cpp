// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Finding and running ptxas, and reading what it says. The tool itself is stood in for by small scripts.

#include "TestSystem.h"

#include "backends/nvvm/ChildProcess.h"
#include "backends/nvvm/Ptxas.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

using namespace tilejit;
using namespace tilejit::nvvm;
using namespace tilejit::test;

namespace {

std::string writeScript(const TempFolder &folder, const std::string &body) {
  std::string path = folder / "ptxas";
  std::ofstream(path) << "#!/bin/sh\n" << body << "\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

} // namespace

TEST_CASE("the ptxas that a setting names is the one, or an error") {
  TempFolder folder;
  TestSystem system;
  std::string path = writeScript(folder, "exit 0");
  system.variables["TILEJIT_PTXAS"] = path;
  REQUIRE(findPtxas(system));
  CHECK(*findPtxas(system) == path);
  std::filesystem::permissions(path, std::filesystem::perms::owner_read);
  CHECK(findPtxas(system).status().code() == StatusCode::InvalidArgument);
  system.variables["TILEJIT_PTXAS"] = folder / "absent";
  CHECK(findPtxas(system).status().message().find("absent") != std::string::npos);
  system.variables = {{"PATH", "/nowhere:" + std::filesystem::path(path).parent_path().string()}};
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  CHECK(*findPtxas(system) == path);
}

TEST_CASE("what ptxas prints becomes numbers") {
  PtxasReport report = parsePtxasReport(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'one' for 'sm_80'\n"
      "ptxas info    : Function properties for one\n"
      "    128 bytes stack frame, 16 bytes spill stores, 24 bytes spill loads\n"
      "ptxas info    : Used 255 registers, used 2 barriers, 1024 bytes smem, 360 bytes cmem[0]\n"
      "ptxas info    : Compile time = 29.584 ms\n"
      "ptxas info    : Compiling entry function 'two' for 'sm_80'\n"
      "ptxas info    : Function properties for two\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 8 registers, used 0 barriers, 352 bytes cmem[0]\n"
      "ptxas warning : Registers are spilled to local memory in function 'one'\n"
      "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized\n");
  REQUIRE(report.kernels.size() == 2);
  const PtxasKernel &one = report.kernels[0], &two = report.kernels[1];
  CHECK(one.name == "one");
  CHECK(one.registers == 255);
  CHECK(one.barriers == 2);
  CHECK(one.stackBytes == 128);
  CHECK(one.spillStoreBytes == 16);
  CHECK(one.spillLoadBytes == 24);
  CHECK(one.sharedBytes == 1024);
  CHECK(two.registers == 8);
  CHECK(two.sharedBytes == 0);
  CHECK(report.errors.empty());
  CHECK(report.warnings.size() == 2);
}

TEST_CASE("errors of ptxas are told in its words") {
  TempFolder folder;
  auto failed =
      assemble(writeScript(folder, "echo \"ptxas /proc/self/fd/0, line 3; error   : Unknown symbol 'x'\" >&2\n"
                                   "echo 'ptxas fatal   : Ptx assembly aborted due to errors' >&2; exit 255"),
               "ptx", "sm_80");
  REQUIRE_FALSE(failed);
  CHECK(failed.status().message() == "ptxas failed with exit code 255 for sm_80: Unknown symbol 'x'");
  auto silent = assemble(writeScript(folder, "exit 0"), "ptx", "sm_80");
  CHECK(silent.status().message() == "ptxas wrote no cubin");
  auto absent = assemble(folder / "nothing", "ptx", "sm_80");
  CHECK(absent.status().message().find("can't start") != std::string::npos);
}

TEST_CASE("PTX goes in and the cubin comes out") {
  TempFolder folder;
  auto cubin = assemble(writeScript(folder, "cat $3 - > $5; echo \"args $1 $2\" >&2"), "the text", "sm_90a");
  REQUIRE(cubin);
  CHECK(cubin->bytes.starts_with("the text"));
}

TEST_CASE("what spills is assembled again for one block on a unit, and kept as it was where that is no better") {
  TempFolder folder;
  auto report = [](int spilled) {
    return "echo \"ptxas info    : Compiling entry function 'k' for 'sm_80'\" >&2; echo '    8 bytes stack frame, " +
           std::to_string(spilled) + " bytes spill stores, 4 bytes spill loads' >&2; ";
  };
  std::string clean = "echo \"ptxas info    : Compiling entry function 'k' for 'sm_80'\" >&2; echo '    0 bytes stack "
                      "frame, 0 bytes spill stores, 0 bytes spill loads' >&2; ";
  auto cubin = assemble(writeScript(folder, "if [ \"$6$7\" = --minnctapersm1 ]; then " + clean +
                                                "echo roomy > $5; else " + report(4) + "echo tight > $5; fi"),
                        "ptx", "sm_80");
  REQUIRE(cubin);
  CHECK(cubin->bytes == "roomy\n");
  CHECK(cubin->report.kernels.front().spillStoreBytes == 0);
  auto both = assemble(writeScript(folder, report(4) + "echo tight$6 > $5"), "ptx", "sm_80");
  REQUIRE(both);
  CHECK(both->bytes == "tight\n");
}

TEST_CASE("a program that takes too long is stopped") {
  ChildRequest request;
  request.command = {"/bin/sh", "-c", "while :; do :; done"};
  request.input = request.output = 2;
  request.timeLimitMs = 20;
  ChildEnd end = runChild(request);
  CHECK(end.started);
  CHECK(end.timedOut);
  CHECK(end.exitCode == 128 + 9);
}
