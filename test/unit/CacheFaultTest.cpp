// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Fault injection: every call to the system that a miss, a compile and a hit make, failing once or for ever with each
// errno of the field. Whatever happens, the right kernel comes out and nothing damaged stays.

#include "CacheFixture.h"

#include <catch2/catch.hpp>

#include <cerrno>

using namespace tilejit;
using namespace tilejit::test;

namespace {

constexpr int errors[] = {ENOSPC, EIO, ESTALE, EROFS, EMFILE, EACCES};
constexpr int64_t minute = int64_t{60} * 1'000'000'000;

/// What a process does: looks, compiles where it must, looks again. False where a wrong kernel came out.
bool useCache(CacheFixture &f, const CachedKernel &kernel) {
  std::unique_ptr<Cache> cache = f.open();
  bool right = true;
  for (int round = 0; round < 2; ++round) {
    Expected<Cache::Found> found =
        cache->findOrCompile(kernel.material, minute, [&]() -> Expected<CachedKernel> { return kernel; });
    right = right && found && same(found->kernel, kernel);
  }
  return right;
}

/// How many calls useCache() makes; each is one place for a fault.
int countCalls(bool warm) {
  CacheFixture f;
  if (warm)
    useCache(f, sampleKernel());
  int calls = 0;
  f.system.fault = [&](std::string_view) { return ++calls, 0; };
  REQUIRE(useCache(f, sampleKernel()));
  return calls;
}

/// After the fault is gone, everything must be as if it had never been.
void checkHealed(CacheFixture &f, const CachedKernel &kernel) {
  f.system.fault = nullptr;
  REQUIRE(useCache(f, kernel));
  std::unique_ptr<Cache> cache = f.open();
  REQUIRE(cache->lookup(kernel.material).isHit());
  REQUIRE(cache->verify().damaged.empty());
}

} // namespace

TEST_CASE("each call fails once, with each errno", "[fault]") {
  CachedKernel kernel = sampleKernel();
  for (bool warm : {false, true}) {
    int calls = countCalls(warm);
    REQUIRE(calls > 5);
    for (int at = 0; at < calls; ++at)
      for (int error : errors) {
        CacheFixture f;
        if (warm)
          REQUIRE(useCache(f, kernel));
        int call = 0;
        std::string name;
        f.system.fault = [&](std::string_view now) {
          if (call++ != at)
            return 0;
          name = now;
          return error;
        };
        bool right = useCache(f, kernel);
        CAPTURE(warm, at, error, name);
        REQUIRE(right);
        // An entry that could not be read is put aside with a word; what is lost is at most one other warning.
        REQUIRE(f.warnings.size() <= 2);
        checkHealed(f, kernel);
      }
  }
}

TEST_CASE("each kind of call always fails, with each errno", "[fault]") {
  CachedKernel kernel = sampleKernel();
  for (std::string_view name : {"open", "read", "write", "fsync", "close", "fstat", "lock", "touch", "stat",
                                "fileSystem", "makeDirectory", "rename", "unlink", "list"})
    for (bool warm : {false, true})
      for (int error : errors) {
        CacheFixture f;
        if (warm)
          REQUIRE(useCache(f, kernel));
        f.warnings.clear();
        f.system.fault = [&](std::string_view call) { return call == name ? error : 0; };
        CAPTURE(name, warm, error);
        REQUIRE(useCache(f, kernel));
        REQUIRE(f.warnings.size() <= 3);
        checkHealed(f, kernel);
      }
}

TEST_CASE("everything always fails", "[fault]") {
  for (int error : errors) {
    CacheFixture f;
    f.system.fault = [&](std::string_view) { return error; };
    CHECK(useCache(f, sampleKernel()));
    REQUIRE(f.warnings.size() == 1);
    CHECK(f.warnings[0].find(f.root) != std::string::npos);
    checkHealed(f, sampleKernel());
  }
}

TEST_CASE("a disk that fills up while an entry is written leaves nothing behind", "[fault]") {
  CacheFixture f;
  f.system.largestWrite = 100;
  int writes = 0;
  f.system.fault = [&](std::string_view call) { return call == "write" && ++writes > 3 ? ENOSPC : 0; };
  CachedKernel kernel = sampleKernel();
  CHECK(useCache(f, kernel));
  CHECK(CacheFixture::find(f.root, ".tjk").empty());
  CHECK(CacheFixture::find(f.root, ".tmp").empty());
  REQUIRE(f.warnings.size() == 1);
  CHECK(f.warnings[0].find("No space left on device") != std::string::npos);
  CHECK(f.warnings[0].find(f.root) != std::string::npos);
}

TEST_CASE("commands survive every failing call", "[fault]") {
  for (int error : errors)
    for (std::string_view name : {"open", "read", "fstat", "stat", "list", "unlink", "rename", "write"}) {
      CacheFixture f;
      std::unique_ptr<Cache> cache = f.open();
      REQUIRE(cache->publish(sampleKernel()));
      f.system.fault = [&](std::string_view call) { return call == name ? error : 0; };
      cache->list();
      cache->usage();
      cache->verify();
      cache->collectGarbage();
      Expected<CachedKernel> loaded = cache->load(sampleKernel().key());
      Expected<CachedKernel> nearest = cache->nearest(sampleMaterial(1));
      Expected<int64_t> exported = cache->exportTo(f.folder / "all.tjk");
      Expected<int64_t> imported = cache->importFrom(f.folder / "all.tjk");
      cache->clear();
      (void)loaded, (void)nearest, (void)exported, (void)imported;
    }
}
