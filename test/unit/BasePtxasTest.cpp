// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Where ptxas is looked for, and in which order.

#include "TestSystem.h"
#include "tilejit/Base/Ptxas.h"

#include <catch2/catch.hpp>

using namespace tilejit;
using namespace tilejit::test;

namespace {

void put(const std::string &path, uint32_t mode = 0755) {
  REQUIRE(makeDirectories(realSystem(), parentPath(path), 0755) == 0);
  REQUIRE(writeFileAtomically(realSystem(), path, "#!/bin/true\n", mode).isOk());
}

} // namespace

TEST_CASE("the given ptxas is taken or refused", "[ptxas]") {
  TempFolder folder;
  TestSystem system;
  put(folder / "bin/ptxas");
  put(folder / "plain/ptxas", 0644);
  system.variables = {{"PATH", folder / "bin"}};
  CHECK(*findPtxas(system, folder / "bin/ptxas") == folder / "bin/ptxas");
  for (const char *bad : {"none/ptxas", "bin", "plain/ptxas"}) {
    INFO(bad);
    Expected<std::string> found = findPtxas(system, folder / bad);
    REQUIRE_FALSE(found);
    CHECK(found.status().code() == StatusCode::InvalidArgument);
    CHECK(found.status().message().find("TILEJIT_PTXAS") != std::string::npos);
    CHECK_FALSE(found.status().hint().empty());
  }
}

TEST_CASE("ptxas is looked for along PATH, the toolkit, and where tools/setup puts it", "[ptxas]") {
  TempFolder folder;
  TestSystem system;
  put(folder / "data/tilejit/ptxas/bin/ptxas");
  put(folder / "toolkit/bin/ptxas");
  put(folder / "second/ptxas");
  put(folder / "first/ptxas", 0644); // No program.
  system.variables = {{"PATH", "relative::" + (folder / "first") + ":" + (folder / "second")},
                      {"CUDA_HOME", folder / "toolkit"},
                      {"XDG_DATA_HOME", folder / "data"}};
  CHECK(*findPtxas(system, "") == folder / "second/ptxas");
  system.variables["PATH"] = folder / "first";
  CHECK(*findPtxas(system, "") == folder / "toolkit/bin/ptxas");
  system.variables.erase("CUDA_HOME");
  std::string last = *findPtxas(system, ""); // A machine may have a toolkit in the usual place.
  CHECK((last == folder / "data/tilejit/ptxas/bin/ptxas" || last == "/usr/local/cuda/bin/ptxas"));
}
