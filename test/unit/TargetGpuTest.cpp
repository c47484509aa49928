// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// GPU targets: rows, settings in their names, simulated ones, text form and keys.

#include "tilejit/Target/CodeFit.h"

#include <catch2/catch.hpp>

#include <set>

using namespace tilejit;

namespace {

TargetSpec target(const char *name) {
  Expected<TargetSpec> spec = parseTarget(name);
  INFO(name);
  REQUIRE(spec);
  return *spec;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

} // namespace

TEST_CASE("GPU targets have LLVM's names and a driver's PTX version") {
  TargetSpec hopper = target("sm_90a");
  CHECK(hopper.kind == TargetKind::Nvidia);
  CHECK(hopper.isGpu());
  CHECK(hopper.triple == "nvptx64-nvidia-cuda");
  CHECK(hopper.cpu == "sm_90a");
  CHECK(hopper.features == std::vector<std::string>{"+ptx80"});
  CHECK(target("sm_75").features == std::vector<std::string>{"+ptx63"});
  TargetSpec cdna = target("gfx942");
  CHECK(cdna.kind == TargetKind::Amd);
  CHECK(cdna.triple == "amdgcn-amd-amdhsa");
  CHECK(cdna.features.empty());
  CHECK(cdna.gpuFacts.warpLanes == 64);
  CHECK(target("gfx1100").gpuFacts.warpLanes == 32);
}

TEST_CASE("facts of GPUs hang together") {
  int gpus = 0;
  for (const TargetSpec &spec : knownTargets()) {
    if (spec.isCpu())
      continue;
    INFO(spec.name);
    ++gpus;
    const GpuFacts &facts = spec.gpuFacts;
    CHECK(facts.maxBlockThreads == 1024);
    CHECK(facts.maxUnitThreads >= facts.maxBlockThreads);
    CHECK(facts.maxUnitThreads % facts.warpLanes == 0);
    CHECK(facts.maxBlockShared <= facts.unitShared);
    CHECK(facts.registersPerUnit % (facts.registerGranule * facts.warpLanes) == 0);
    // A full block fits, be it with few registers.
    CHECK(facts.maxBlockThreads * facts.registerGranule <= facts.registersPerUnit);
    CHECK(facts.maxThreadRegisters >= 255);
  }
  CHECK(gpus == 31 + 14);
  CHECK(target("sm_80").gpuFacts.maxBlockShared == 163 * 1024);
  CHECK(target("gfx950").gpuFacts.maxBlockShared == 160 * 1024);
  CHECK_FALSE(target("sm_75").gpuFacts.hasAsyncCopy);
  CHECK(target("gfx906").gpuFacts.hasDot2);
  CHECK_FALSE(target("gfx900").gpuFacts.hasDot4);
  CHECK(target("gfx90a").gpuFacts.hasPackedF32);
  CHECK_FALSE(target("gfx908").gpuFacts.hasPackedF32);
  CHECK_FALSE(target("gfx1100").gpuFacts.hasPackedF32);
  CHECK(target("gfx90a").gpuFacts.maxThreadRegisters == 512);
}

TEST_CASE("settings of AMD targets are parsed into features") {
  TargetSpec spec = target("gfx90a:sramecc+:xnack-");
  CHECK(spec.name == "gfx90a:sramecc+:xnack-");
  CHECK(spec.cpu == "gfx90a");
  CHECK(spec.features == std::vector<std::string>{"+sramecc", "-xnack"});
  CHECK(target("gfx90a:xnack-:sramecc+").keyText() == spec.keyText());
  CHECK(target("gfx90a:xnack-:sramecc+").name == spec.name);
  std::set<std::string> keys, folders;
  for (const char *name : {"gfx90a", "gfx90a:xnack+", "gfx90a:xnack-", "gfx90a:sramecc+", "gfx90a:sramecc-:xnack+"}) {
    TargetSpec each = target(name);
    CHECK(keys.insert(each.keyText()).second);
    CHECK(folders.insert(each.folderName()).second);
    CHECK(targetNameOf(each.keyText()) == name);
    Expected<TargetSpec> back = decodeTarget(encodeTarget(each));
    REQUIRE(back);
    CHECK(encodeTarget(*back) == encodeTarget(each));
  }
  CHECK(spec.folderName() == "gfx90a_sramecc__xnack-");
  for (const char *bad : {"gfx90a:", "gfx90a:xnack", "gfx90a:xnack*", "gfx90a:tgsplit+", "gfx90a:xnack+:xnack-",
                          "gfx90a:xnack+:xnack+", "gfx90a::xnack+", "gfx1100:xnack+", "sm_80:xnack+", "gfx906:+"}) {
    INFO(bad);
    CHECK(parseTarget(bad).status().code() == StatusCode::InvalidArgument);
  }
  CHECK(parseTarget("gfx90a:tgsplit+").status().hint().find("xnack+") != std::string::npos);
}

TEST_CASE("simulated targets compile as what they simulate") {
  TargetSpec real = target("sm_80"), simulated = target("sim:sm_80");
  CHECK(simulated.simulated);
  CHECK(simulated.name == "sim:sm_80");
  CHECK(simulated.keyText() == real.keyText());
  CHECK(simulated.folderName() == real.folderName());
  CHECK(targetNameOf(simulated.keyText()) == "sm_80");
  CHECK(encodeTarget(simulated) != encodeTarget(real));
  TargetSpec setting = target("sim:gfx90a:xnack-");
  CHECK(setting.name == "sim:gfx90a:xnack-");
  CHECK(setting.features == std::vector<std::string>{"-xnack"});
  for (const char *bad : {"sim:native", "sim:znver4", "sim:sm_100a", "sim:gfx9-generic", "sim:sim:sm_80", "sim"}) {
    INFO(bad);
    CHECK(parseTarget(bad).status().code() == StatusCode::InvalidArgument);
  }
  CHECK(parseTarget("sim:sm_100a").status().message().find("sm_90a") != std::string::npos);
}

TEST_CASE("code fits exactly, by family, or not") {
  struct Case {
    const char *code, *device;
    bool fits;
  };
  for (const Case &c : std::initializer_list<Case>{
           {"sm_80", "sm_86", true},
           {"sm_80", "sm_90a", true},
           {"sm_90", "sm_90a", true},
           {"sm_80", "sm_75", false},
           {"sm_90a", "sm_90", false},
           {"sm_90a", "sm_100a", false},
           {"sm_80", "gfx942", false},
           {"gfx9-generic", "gfx906", true},
           {"gfx9-generic", "gfx908", false},
           {"gfx9-4-generic", "gfx942", true},
           {"gfx9-4-generic", "gfx950:xnack-", true},
           {"gfx9-4-generic:xnack+", "gfx950:xnack-", false},
           {"gfx11-generic", "gfx1151", true},
           {"gfx11-generic", "gfx1201", false},
           {"gfx90a", "gfx90a:sramecc+:xnack-", true},
           {"gfx90a:xnack-", "gfx90a:sramecc+:xnack-", true},
           {"gfx90a:xnack+", "gfx90a:xnack-", false},
           {"gfx90a:xnack+", "gfx90a", false},
           {"gfx942", "gfx9-4-generic", false},
           {"x86-64-v3", "znver4", true},
           {"znver4", "x86-64-v3", false},
           {"neoverse-n1", "neoverse-v2", true},
           {"armv8-a", "x86-64-v3", false},
           {"x86-64", "sm_80", false},
       }) {
    INFO(c.code << " on " << c.device);
    int fit = codeFit(target(c.code), target(c.device));
    CHECK((fit > 0) == c.fits);
    CHECK(fit < exactFit);
    CHECK(codeFit(target(c.code), target(c.code)) == exactFit);
  }
  CHECK(codeFit(target("sm_80"), target("sim:sm_80")) == exactFit);
  CHECK(codeFit(target("sm_86"), target("sm_90a")) > codeFit(target("sm_80"), target("sm_90a")));
  CHECK(codeFit(target("gfx942"), target("gfx942:xnack-")) >
        codeFit(target("gfx9-4-generic"), target("gfx942:xnack-")));
  CHECK(codeFit(target("x86-64-v3"), target("znver4")) > codeFit(target("x86-64-v2"), target("znver4")));
  for (const TargetSpec &spec : knownTargets()) {
    Expected<TargetSpec> back = targetOfKey(spec.keyText());
    REQUIRE(back);
    CHECK(codeFit(*back, spec) == exactFit);
  }
}

TEST_CASE("code for GPUs does not run on the host's processor") {
  for (const char *name : {"sm_80", "gfx942", "sim:sm_80"})
    CHECK(runsOnHost(target(name)).code() == StatusCode::Unavailable);
}

TEST_CASE("damaged lines of GPU targets are refused") {
  std::string line = encodeTarget(target("gfx90a:sramecc+:xnack-"));
  for (size_t length = 0; length < line.rfind(';'); ++length)
    CHECK_FALSE(decodeTarget(line.substr(0, length)));
  CHECK_FALSE(decodeTarget(replaced(line, "amdgcn-amd-amdhsa", "nvptx64-nvidia-cuda")));
  CHECK_FALSE(decodeTarget(replaced(line, "+sramecc,-xnack", "-xnack,+sramecc")));
  CHECK_FALSE(decodeTarget(replaced(line, "+sramecc,-xnack", "+xnack,-xnack")));
  CHECK_FALSE(decodeTarget(replaced(line, "+sramecc,-xnack", "+ptx80")));
  CHECK_FALSE(decodeTarget(replaced(line, ";gfx90a;", ";gfx90b;")));
  CHECK_FALSE(decodeTarget(replaced(line, "x64;", "x48;")));
  CHECK_FALSE(decodeTarget(replaced(line, "x64;", "x64;z")));
  CHECK_FALSE(decodeTarget(replaced(line, ";1024,", ";0,")));
  CHECK_FALSE(decodeTarget(replaced(line, ";1024,", ";1024,1024,")));
  CHECK_FALSE(decodeTarget(replaced(line, "xnack-;;", "xnack-;simulated;")));
  CHECK(decodeTarget(replaced(line, "xnack-;;", "xnack-;sim;"))->simulated);
  std::string nvidia = encodeTarget(target("sm_90a"));
  CHECK_FALSE(decodeTarget(replaced(nvidia, "+ptx80", "+ptx70")));
  CHECK_FALSE(decodeTarget(replaced(nvidia, "+ptx80", "")));
  CHECK_FALSE(decodeTarget(replaced(encodeTarget(target("znver4")), "znver4;;", "znver4;sim;")));
}
