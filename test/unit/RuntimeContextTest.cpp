// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Prepare and compile over a fake compiler: hits and misses, what must not compile, two contexts, many threads.

#include "RuntimeFixture.h"

#include <atomic>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace tilejit;
using namespace tilejit::test;

TEST_CASE("a kernel is compiled once, then comes from memory and from the cache", "[runtime]") {
  Folder folder;
  Source source = addition();
  {
    auto context = makeContext(fakeSettings(folder / "cache"));
    auto first = context->prepare(source, native(*context));
    INFO(first.status().message());
    REQUIRE(first.isOk());
    CHECK((*first)->report().cache == CacheUse::Miss);
    CHECK((*first)->report().workerStarted);
    CHECK((*first)->report().compileMs > 0);
    CHECK((*first)->report().key.size() == 64);
    CHECK((*first)->report().stagesMs.back().first == "codegen");
    CHECK((*first)->report().payloadKind == "elf");
    CHECK(runAddition(**first, 1000).isOk());
    auto second = context->prepare(source, native(*context));
    REQUIRE(second.isOk());
    CHECK((*second)->report().cache == CacheUse::Hit);
    CHECK((*second)->report().fromMemory);
    CHECK_FALSE((*second)->report().workerStarted);
    CHECK(context->counters().compiles == 1);
    CHECK(context->counters().memoryHits == 1);
    CHECK(context->counters().workerStarts == 1);
  }
  auto later = makeContext(fakeSettings(folder / "cache"));
  auto kernel = later->prepare(source, native(*later));
  REQUIRE(kernel.isOk());
  CHECK((*kernel)->report().cache == CacheUse::Hit);
  CHECK_FALSE((*kernel)->report().fromMemory);
  CHECK_FALSE((*kernel)->report().workerStarted);
  CHECK((*kernel)->report().compileMs == 0);
  CHECK(later->counters().workerStarts == 0);
  CHECK(runAddition(**kernel, 77).isOk());
}

TEST_CASE("where compiling is forbidden a miss is a status", "[runtime]") {
  Folder folder;
  auto context = makeContext(fakeSettings(folder / "cache"));
  CompileOptions options;
  options.noCompile = true;
  auto refused = context->prepare(addition(), native(*context), options);
  REQUIRE_FALSE(refused.isOk());
  CHECK(refused.status().code() == StatusCode::NotCached);
  CHECK(context->counters().compiles == 0);
  REQUIRE(context->prepare(addition(), native(*context)).isOk());
  auto later = makeContext(fakeSettings(folder / "cache"));
  auto found = later->prepare(addition(), native(*later), options);
  REQUIRE(found.isOk());
  CHECK(later->counters().workerStarts == 0);
}

TEST_CASE("without a cache everything is compiled, and nothing is written", "[runtime]") {
  Folder folder;
  auto context = makeContext(fakeSettings(folder / "cache"));
  CompileOptions options;
  options.noCache = true;
  for (int64_t round = 1; round <= 2; ++round) {
    auto kernel = context->prepare(addition(), native(*context), options);
    REQUIRE(kernel.isOk());
    CHECK((*kernel)->report().cache == CacheUse::Off);
    CHECK(context->counters().compiles == round);
  }
  CHECK(context->cache().list().empty());
  options.noCompile = true;
  CHECK(context->prepare(addition(), native(*context), options).status().code() == StatusCode::NotCached);
}

TEST_CASE("other targets compile but do not load", "[runtime]") {
  Folder folder;
  auto context = makeContext(fakeSettings(folder / "cache"));
  auto foreign = context->target("neoverse-v2");
  if (!foreign.isOk() || runsOnHost(*foreign).isOk())
    foreign = context->target("x86-64-v3");
  REQUIRE(foreign.isOk());
  auto compiled = context->compile(addition(), *foreign);
  REQUIRE(compiled.isOk());
  CHECK(compiled->manifest.target == foreign->keyText());
  CHECK(compiled->report.cache == CacheUse::Miss);
  CHECK(compiled->payload().size() > 100);
  auto prepared = context->prepare(addition(), *foreign);
  CHECK(prepared.status().code() == StatusCode::Unavailable);
  CompileOptions options;
  options.emit = abi::EmitKind::Asm;
  auto text = context->compile(addition(), native(*context), options);
  REQUIRE(text.isOk());
  CHECK(text->payload() == "text of assembly\n");
  CHECK(text->report.payloadKind == "text");
  CHECK(context->prepare(addition(), native(*context), options).status().code() == StatusCode::InvalidArgument);
}

TEST_CASE("two contexts do not touch each other", "[runtime]") {
  Folder folder;
  LogLines quietLines, loudLines;
  Settings oneSettings = fakeSettings(folder / "one"), otherSettings = fakeSettings(folder / "other");
  set(otherSettings, SettingId::Target, "x86-64-v3");
  set(otherSettings, SettingId::NumThreads, "1");
  auto one = makeContext(oneSettings, quietLines.logger(LogLevel::Warn));
  auto other = makeContext(otherSettings, loudLines.logger(LogLevel::Debug));
  CHECK(one->target("")->name == "native");
  CHECK(other->target("")->name == "x86-64-v3");
  CHECK((*one->device(DeviceKind::Cpu))->properties().computeUnits == 2);
  CHECK((*other->device(DeviceKind::Cpu))->properties().computeUnits == 1);
  REQUIRE(one->prepare(addition(), native(*one)).isOk());
  auto kernel = other->prepare(addition(), native(*other));
  REQUIRE(kernel.isOk());
  CHECK((*kernel)->report().cache == CacheUse::Miss);
  CHECK(one->cache().list().size() == 1);
  CHECK(other->cache().list().size() == 1);
  CHECK(quietLines.count("started a compile worker") == 0);
  CHECK(loudLines.count("started a compile worker") == 1);
  CHECK(one->counters().compiles == 1);
  CHECK(other->counters().compiles == 1);
}

TEST_CASE("many threads that want one kernel compile it once", "[runtime]") {
  Folder folder;
  bool cached = GENERATE(true, false);
  Settings settings = fakeSettings(folder / "cache");
  if (!cached)
    set(settings, SettingId::Cache, "off");
  auto context = makeContext(settings);
  TargetSpec target = native(*context);
  Source source = addition();
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 16; ++t)
    threads.emplace_back([&, t] {
      for (int round = 0; round < 20; ++round) {
        auto kernel = context->prepare(source, target);
        failures += !kernel || !runAddition(**kernel, static_cast<size_t>(t * 100 + round)).isOk();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(failures == 0);
  CHECK(context->counters().compiles == 1);
  CHECK(context->counters().launches == 320);
}

TEST_CASE("a child after fork uses the context as before", "[runtime]") {
  Folder folder;
  auto context = makeContext(fakeSettings(folder / "cache"));
  TargetSpec target = native(*context);
  Source source = addition(), another = addition("\"n\"", "b + a + 0.0");
  auto kernel = context->prepare(source, target);
  REQUIRE(kernel.isOk());
  REQUIRE(runAddition(**kernel, 5000).isOk()); // Threads and a worker exist now.
  pid_t child = fork();
  if (child == 0) {
    bool good = runAddition(**kernel, 5000).isOk() && context->prepare(source, target).isOk() &&
                context->prepare(another, target).isOk() && runAddition(**kernel, 5000).isOk();
    _exit(good ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CompileOptions options;
  options.noCache = true;
  CHECK(context->prepare(source, target, options).isOk()); // The worker is still the parent's.
  CHECK(context->counters().workerStarts == 1);
}

TEST_CASE("spellings of a tile file share one kernel", "[runtime]") {
  Folder folder;
  Settings settings = fakeSettings(folder / "cache");
  auto tile = [](const std::string &text) { return *parseSource(text, "kernel.mlir"); };
  Source first = tile("// one spelling\nmodule {}\n"), second = tile("// another\n// spelling\nmodule {}\n"),
         other = tile("// one spelling\nmodule { }\n");
  std::string canonicalKey;
  {
    auto context = makeContext(settings);
    TargetSpec target = native(*context);
    auto compiled = context->compile(first, target);
    REQUIRE(compiled.isOk());
    CHECK(compiled->report.cache == CacheUse::Miss);
    CHECK(compiled->entry.material.kind == DescriptionKind::TileIR);
    canonicalKey = compiled->entry.key();
    auto again = context->compile(second, target);
    REQUIRE(again.isOk());
    CHECK(again->report.cache == CacheUse::Hit);
    CHECK(again->report.workerStarted); // It said what the file means.
    CHECK(again->payload() == compiled->payload());
    CHECK(context->counters().compiles == 1);
    CHECK(context->counters().cacheMisses == 1);
    CHECK(context->counters().cacheHits == 1);
    CHECK(context->cache().counters().misses == 1);
    CHECK(context->cache().counters().hits == 1);
    REQUIRE(context->compile(other, target).isOk());
    CHECK(context->counters().compiles == 2);
  }
  auto context = makeContext(settings);
  TargetSpec target = native(*context);
  CompileOptions options;
  options.noCompile = true;
  for (const Source &source : {first, second}) {
    auto found = context->compile(source, target, options);
    REQUIRE(found.isOk());
    CHECK(found->report.cache == CacheUse::Hit);
    CHECK(found->entry.key() == canonicalKey);
  }
  CHECK(context->counters().workerStarts == 0);
  CHECK(context->cache().verify().damaged.empty());
  // The entry that an alias stands for may be evicted first.
  for (const CacheEntryInfo &entry : context->cache().list())
    if (entry.key == canonicalKey)
      std::filesystem::remove(entry.path);
  CHECK(context->compile(second, target, options).status().code() == StatusCode::NotCached);
  auto renewed = context->compile(second, target);
  REQUIRE(renewed.isOk());
  CHECK(renewed->report.cache == CacheUse::Miss);
  CHECK(context->compile(first, target, options).isOk());
}

TEST_CASE("of many first processes hardly any starts a worker", "[runtime]") {
  Folder folder;
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    pid_t child = fork();
    if (child == 0) {
      auto context = makeContext(fakeSettings(folder / "cache"));
      bool good = context->prepare(addition(), native(*context)).isOk();
      _exit(good ? static_cast<int>(context->counters().workerStarts) : 100);
    }
    children.push_back(child);
  }
  int starts = 0;
  for (pid_t child : children) {
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    starts += WEXITSTATUS(status);
  }
  // One asks the worker who it is. One compiles: nearly always the same, but another may be first at that lock.
  CHECK(starts >= 1);
  CHECK(starts <= 2);
}

TEST_CASE("the counters are text that Prometheus reads", "[runtime]") {
  Folder folder;
  auto context = makeContext(fakeSettings(folder / "cache"));
  REQUIRE(context->prepare(addition(), native(*context)).isOk());
  std::string text = context->metricsText();
  CHECK(text.find("# TYPE tilejit_compiles_total counter\ntilejit_compiles_total 1\n") != text.npos);
  CHECK(text.find("tilejit_cache_misses_total 1\n") != text.npos);
  CHECK(text.back() == '\n');
}

TEST_CASE("a package from elsewhere is loaded without a compiler", "[runtime]") {
  Folder folder;
  auto context = makeContext(fakeSettings(folder / "cache"));
  TargetSpec target = native(*context);
  auto compiled = context->compile(addition(), target);
  REQUIRE(compiled.isOk());
  auto other = makeContext(fakeSettings(folder / "other"));
  auto kernel = other->load(*compiled, addition(), target);
  REQUIRE(kernel.isOk());
  CHECK(runAddition(**kernel, 100).isOk());
  CHECK(other->counters().workerStarts == 0);
  compiled->entry.payloads.front().target = "another";
  CHECK(other->load(*compiled, addition(), target).status().code() == StatusCode::InvalidArgument);
}

TEST_CASE("where it is allowed, what can't be compiled runs as the reference", "[runtime]") {
  Folder folder;
  LogLines log;
  auto context = makeContext(fakeSettings(folder / "cache"), log.logger(LogLevel::Warn));
  CompileOptions options = asking(Refuse);
  REQUIRE_FALSE(context->prepare(addition(), native(*context), options).isOk());
  options.allowReference = true;
  for (int round = 0; round < 2; ++round) {
    auto kernel = context->prepare(addition(), native(*context), options);
    REQUIRE(kernel.isOk());
    CHECK((*kernel)->report().usesReference);
    LaunchInfo info;
    CHECK(runAddition(**kernel, 1000, {}, &info).isOk());
    CHECK(info.path == "reference");
    CHECK(runAddition(**kernel, 0).isOk());
    Tensor a(8), b(7), c(8);
    const DLTensor *tensors[] = {&a.tensor, &b.tensor, &c.tensor};
    CHECK((*kernel)->launch(tensors).code() == StatusCode::InvalidArgument);
  }
  CHECK(log.count("reference implementation") == 1);
  CHECK(context->counters().referenceRuns == 6);
}

TEST_CASE("sources are told apart by name and beginning", "[runtime]") {
  auto isTile = [](const char *text, const char *name) {
    auto source = parseSource(text, name);
    return source.isOk() && source->isTile();
  };
  CHECK(isTile("module {}", "<stdin>"));
  CHECK(isTile("// comment\n\n  #map = affine_map<(i) -> (i)>\nmodule {}", "<stdin>"));
  CHECK(isTile("\"builtin.module\"() ({}) : () -> ()", "<stdin>"));
  CHECK(isTile("nonsense", "kernel.mlir"));
  CHECK(isTile("", "kernel.mlir"));
  for (const char *text : {"", "null", "\"text\"", "nonsense", "[1]", "17", "// comment\n{}", "module {}"}) {
    auto source = parseSource(text, "d.json");
    CHECK(source.status().code() == StatusCode::BadDescription);
  }
  CHECK(parseSource("{}", "kernel.mlir").status().code() == StatusCode::BadDescription);
  CHECK(parseSource("true", "<stdin>").status().code() == StatusCode::BadDescription);
}
