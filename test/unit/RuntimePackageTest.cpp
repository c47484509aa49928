// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Packages as sources, and the rule by which a device takes its code out of one.

#include "RuntimeFixture.h"

#include "tilejit/ABI/KernelABI.h"
#include "tilejit/Runtime/Package.h"

using namespace tilejit;
using namespace tilejit::test;

namespace {

/// A kernel for a target with payloads of these kinds.
CachedKernel kernelFor(const char *name, const std::vector<std::string> &kinds) {
  TargetSpec target = *parseTarget(name);
  abi::Manifest manifest;
  manifest.op = "elementwise";
  manifest.target = target.keyText();
  manifest.abiVersion = abi::kernelAbiVersion;
  CachedKernel kernel;
  kernel.material.description = "{}";
  kernel.material.target = target.keyText();
  kernel.material.targetFolder = target.folderName();
  kernel.material.tilejitVersion = "1";
  kernel.manifest = abi::manifestJson(manifest);
  for (const std::string &kind : kinds)
    kernel.payloads.push_back({kind, target.keyText(), kind + " for " + name});
  return kernel;
}

/// The bytes that a device takes, or why it takes none.
std::string taken(const std::vector<CachedKernel> &kernels, const char *device) {
  Expected<CompiledKernel> kernel = takeFromPackage(kernels, *parseTarget(device));
  return kernel ? kernel->payload() : kernel.status().message();
}

} // namespace

TEST_CASE("a device takes its own code, else the nearest of its family", "[package]") {
  std::vector<CachedKernel> kernels = {
      kernelFor("x86-64", {"elf"}),           kernelFor("sm_80", {"cubin", "ptx", "bitcode"}),
      kernelFor("sm_86", {"cubin", "ptx"}),   kernelFor("sm_90a", {"cubin", "ptx"}),
      kernelFor("gfx9-4-generic", {"hsaco"}), kernelFor("gfx942:xnack-", {"hsaco", "bitcode"})};
  CHECK(taken(kernels, "sm_80") == "cubin for sm_80");
  CHECK(taken(kernels, "sim:sm_80") == "bitcode for sm_80");
  CHECK(taken(kernels, "sm_90a") == "cubin for sm_90a");
  CHECK(taken(kernels, "sm_90") == "ptx for sm_86");
  CHECK(taken(kernels, "sm_100a") == "ptx for sm_86");
  CHECK(taken(kernels, "gfx942") == "hsaco for gfx9-4-generic");
  CHECK(taken(kernels, "gfx942:sramecc+:xnack-") == "hsaco for gfx942:xnack-");
  CHECK(taken(kernels, "gfx942:xnack+") == "hsaco for gfx9-4-generic");
  CHECK(taken(kernels, "gfx950") == "hsaco for gfx9-4-generic");
  CHECK(taken(kernels, "znver4") == "elf for x86-64");
  Expected<CompiledKernel> kernel = takeFromPackage(kernels, *parseTarget("sm_90"));
  REQUIRE(kernel);
  CHECK(kernel->report.payloadKind == "ptx");
  CHECK(kernel->entry.payloads.size() == 2);
  CHECK(kernel->manifest.op == "elementwise");
}

TEST_CASE("where nothing fits both sides are named", "[package]") {
  std::vector<CachedKernel> kernels = {kernelFor("sm_90a", {"cubin", "ptx"}), kernelFor("gfx942", {"hsaco"}),
                                       kernelFor("sm_80", {"cubin"})};
  for (const char *device : {"sm_75", "sm_100a", "sm_86", "gfx906", "gfx1100", "znver4", "sim:sm_75"}) {
    INFO(device);
    Expected<PackageChoice> choice = choosePayload(kernels, *parseTarget(device));
    REQUIRE_FALSE(choice);
    CHECK(choice.status().code() == StatusCode::DoesNotFit);
    for (const char *name : {"sm_90a", "gfx942", "sm_80", device})
      CHECK(choice.status().message().find(name) != std::string::npos);
    CHECK(choice.status().hint().find(device) != std::string::npos);
  }
  std::string simulated = taken(kernels, "sim:gfx942");
  CHECK(simulated.find("bitcode") != std::string::npos);
  CHECK(simulated.find("sim:gfx942") != std::string::npos);
  CHECK(taken({}, "sm_80").find("sm_80") != std::string::npos);
  kernels[0].manifest.replace(kernels[0].manifest.find("\"abi\":"), 6, "\"abi\":9");
  CHECK(taken(kernels, "sm_90a").find("launch convention") != std::string::npos);
}

TEST_CASE("a package is a source that needs no compiler", "[package]") {
  Folder folder;
  auto context = makeContext(fakeSettings(folder / "cache"));
  auto compiled = context->compile(addition(), native(*context));
  REQUIRE(compiled.isOk());
  std::string bytes = encodePackage(compiled->entry);

  Settings settings = fakeSettings(folder / "other");
  set(settings, SettingId::Worker, folder / "no-worker");
  auto later = makeContext(settings);
  auto source = parseSource(bytes, "addition.tjk");
  INFO(source.status().message());
  REQUIRE(source.isOk());
  CHECK(source->package);
  CHECK_FALSE(source->isTile());
  auto kernel = later->prepare(*source, native(*later));
  INFO(kernel.status().message());
  REQUIRE(kernel.isOk());
  CHECK((*kernel)->report().cache == CacheUse::Off);
  CHECK((*kernel)->report().key == compiled->report.key);
  CHECK(runAddition(**kernel, 100).isOk());
  CHECK(later->counters().workerStarts == 0);

  CHECK(later->compile(*source, native(*later)).status().code() == StatusCode::InvalidArgument);
  CompileOptions options;
  options.config["bn"] = 8;
  CHECK(later->prepare(*source, native(*later), options).status().code() == StatusCode::InvalidArgument);
}

TEST_CASE("packages that are no source are refused", "[package]") {
  Folder folder;
  auto context = makeContext(fakeSettings(folder / "cache"));
  auto compiled = context->compile(addition(), native(*context));
  REQUIRE(compiled.isOk());
  CachedKernel other = compiled->entry;
  other.material.description = "{\"else\":1}";
  auto refused = parseSource(encodePackage({compiled->entry, other}), "two.tjk");
  REQUIRE_FALSE(refused.isOk());
  CHECK(refused.status().message().find("several operators") != std::string::npos);
  CHECK_FALSE(parseSource(encodePackage(other), "odd.tjk").isOk());
  std::string cut = encodePackage(compiled->entry);
  cut.resize(cut.size() - 1);
  auto damaged = parseSource(cut, "cut.tjk");
  REQUIRE_FALSE(damaged.isOk());
  CHECK(damaged.status().message().find("cut.tjk") != std::string::npos);
}

TEST_CASE("the assembler is part of the key of what it may have made", "[package]") {
  Folder folder;
  std::string ptxas = folder / "ptxas";
  auto replace = [&](const std::string &content) {
    REQUIRE(writeFileAtomically(realSystem(), ptxas, content, 0755).isOk());
  };
  Settings settings = fakeSettings(folder / "cache");
  set(settings, SettingId::Ptxas, ptxas);
  auto context = makeContext(settings);
  auto key = [&](const char *target, abi::EmitKind emit = abi::EmitKind::Package) {
    CompileOptions options;
    options.emit = emit;
    auto material = context->keyMaterial(addition(), *parseTarget(target), options);
    return material ? cacheKey(*material) : material.status().message();
  };
  CHECK(key("sm_80").find("no program") != std::string::npos);
  std::string amd = key("gfx942"), text = key("sm_80", abi::EmitKind::Ptx);
  replace("one assembler");
  std::string first = key("sm_80");
  CHECK(key("sm_80") == first);
  replace("another one");
  CHECK(key("sm_80") != first);
  replace("one assembler");
  CHECK(key("sm_80") == first);
  CHECK(key("gfx942") == amd);
  CHECK(key("sm_80", abi::EmitKind::Ptx) == text);
}

TEST_CASE("bitcode is part of the key of GPU packages alone", "[package]") {
  Folder folder;
  auto context = makeContext(fakeSettings(folder / "cache"));
  auto key = [&](const char *target, bool withBitcode, abi::EmitKind emit = abi::EmitKind::Package) {
    CompileOptions options;
    options.withBitcode = withBitcode;
    options.emit = emit;
    return cacheKey(*context->keyMaterial(addition(), *parseTarget(target), options));
  };
  CHECK(key("sm_80", true) != key("sm_80", false));
  CHECK(key("sim:sm_80", false) == key("sm_80", true));
  CHECK(key("native", true) == key("native", false));
  CHECK(key("sm_80", true, abi::EmitKind::Asm) == key("sm_80", false, abi::EmitKind::Asm));
}
