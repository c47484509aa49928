// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Several processes and threads at one cache: races, single flight, and kill -9 at any moment.

#include "CacheFixture.h"
#include "tilejit/Cache/Toolchain.h"

#include <catch2/catch.hpp>

#include <atomic>
#include <fcntl.h>
#include <functional>
#include <random>
#include <signal.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace tilejit;
using namespace tilejit::test;

namespace {

constexpr int64_t minute = int64_t{60} * 1'000'000'000;

/// Runs a function in a child; its result is the exit code.
pid_t inChild(const std::function<int()> &body) {
  pid_t child = ::fork();
  if (child == 0)
    ::_exit(body());
  return child;
}

/// The exit code; 128 + signal for one that was killed.
int waitFor(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// A line in a file that all processes append to.
void note(const std::string &path) {
  int fd = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT, 0600);
  ssize_t done = ::write(fd, ".", 1);
  (void)done;
  ::close(fd);
}

int64_t notes(const std::string &path) {
  FileInfo info;
  return realSystem().stat(path, true, info) == 0 ? info.size : 0;
}

std::unique_ptr<Cache> openReal(const CacheFixture &f) { return Cache::open(f.settings, Logger()); }

} // namespace

TEST_CASE("16 processes that want one kernel compile it once", "[process]") {
  CacheFixture f;
  std::string compiles = f.folder / "compiles";
  std::vector<pid_t> children;
  for (int i = 0; i < 16; ++i)
    children.push_back(inChild([&] {
      std::unique_ptr<Cache> cache = openReal(f);
      CachedKernel kernel = sampleKernel();
      Expected<Cache::Found> found = cache->findOrCompile(kernel.material, minute, [&]() -> Expected<CachedKernel> {
        note(compiles);
        return kernel;
      });
      return found && same(found->kernel, kernel) ? 0 : 1;
    }));
  for (pid_t child : children)
    CHECK(waitFor(child) == 0);
  CHECK(notes(compiles) == 1);
  CHECK(CacheFixture::find(f.root, ".tjk").size() == 1);
  CacheUsage usage = openReal(f)->usage();
  CHECK(usage.counters.misses == 1);
  CHECK(usage.counters.hits == 15);
}

TEST_CASE("of many processes that meet an unknown worker one asks it", "[process]") {
  CacheFixture f;
  std::string asked = f.folder / "asked", worker = f.folder / "worker";
  CacheFixture::overwrite(worker, "worker 1");
  int start[2];
  REQUIRE(::pipe(start) == 0);
  std::vector<pid_t> children;
  for (int i = 0; i < 16; ++i)
    children.push_back(inChild([&] {
      ::close(start[1]);
      char nothing;
      if (::read(start[0], &nothing, 1) != 0) // Until the parent lets all go at once.
        return 2;
      std::unique_ptr<Cache> cache = openReal(f);
      Expected<Toolchain> found = findToolchain(
          realSystem(), cache->stateFolder(), worker,
          [&]() -> Expected<Toolchain> {
            note(asked);
            Toolchain toolchain{{}, "22.1.0"};
            TILEJIT_ASSIGN_OR_RETURN(std::string identity, fileIdentity(realSystem(), worker));
            toolchain.parts = {{"worker", identity, worker}};
            return toolchain;
          },
          [&] { return cache->beginFlight("toolchain", minute); });
      return found && found->llvmVersion == "22.1.0" ? 0 : 1;
    }));
  ::close(start[0]);
  ::close(start[1]);
  for (pid_t child : children)
    CHECK(waitFor(child) == 0);
  CHECK(notes(asked) == 1);
}

TEST_CASE("processes without single flight still agree", "[process]") {
  CacheFixture f;
  constexpr int keys = 20;
  std::vector<pid_t> children;
  for (int i = 0; i < 16; ++i)
    children.push_back(inChild([&, i] {
      std::unique_ptr<Cache> cache = openReal(f);
      for (int n = 0; n < keys; ++n) {
        CachedKernel kernel = sampleKernel((n * 7 + i) % keys);
        CacheLookup lookup = cache->lookup(kernel.material);
        if (lookup.isHit() ? !same(*lookup.kernel, kernel) : !cache->publish(kernel))
          return 1;
      }
      return cache->counters().quarantined == 0 ? 0 : 2;
    }));
  for (pid_t child : children)
    CHECK(waitFor(child) == 0);
  CHECK(CacheFixture::find(f.root, ".tjk").size() == keys);
  CHECK(CacheFixture::find(f.root, ".tmp").empty());
  CHECK(openReal(f)->verify().damaged.empty());
}

TEST_CASE("threads of one cache object", "[process]") {
  CacheFixture f;
  std::unique_ptr<Cache> cache = openReal(f);
  std::atomic<int> compiles{0}, wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      for (int n = 0; n < 10; ++n) {
        CachedKernel kernel = sampleKernel(n);
        Expected<Cache::Found> found = cache->findOrCompile(kernel.material, minute, [&]() -> Expected<CachedKernel> {
          ++compiles;
          return kernel;
        });
        wrong += !found || !same(found->kernel, kernel);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(wrong == 0);
  CHECK(compiles == 10);
}

TEST_CASE("who holds a flight and is killed lets the others go on", "[process]") {
  CacheFixture f;
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  std::string key = sampleKernel().key();
  pid_t holder = inChild([&] {
    std::unique_ptr<Cache> cache = openReal(f);
    CacheFlight flight = cache->beginFlight(key, minute);
    ssize_t done = ::write(ready[1], flight.isHeld() ? "y" : "n", 1);
    (void)done;
    ::pause();
    return 0;
  });
  char held = 0;
  REQUIRE(::read(ready[0], &held, 1) == 1);
  REQUIRE(held == 'y');
  std::unique_ptr<Cache> cache = openReal(f);
  CHECK_FALSE(cache->beginFlight(key, 0).isHeld());
  REQUIRE(::kill(holder, SIGKILL) == 0);
  CHECK(waitFor(holder) == 128 + SIGKILL);
  int64_t begin = realSystem().monotonicNanoseconds();
  CHECK(cache->beginFlight(key, minute).isHeld());
  CHECK(realSystem().monotonicNanoseconds() - begin < minute / 2);
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_CASE("waiting for a flight ends with its time", "[process]") {
  CacheFixture f;
  std::unique_ptr<Cache> cache = f.open();
  std::string key = sampleKernel().key();
  CacheFlight flight = cache->beginFlight(key, minute);
  REQUIRE(flight.isHeld());
  CHECK_FALSE(cache->beginFlight(key, minute).isHeld());
  CHECK(f.system.pausedNs > minute / 2); // The rest is real time.;
}

TEST_CASE("a child that was forked meanwhile does not keep the flight", "[process]") {
  CacheFixture f;
  std::unique_ptr<Cache> cache = openReal(f);
  std::string key = sampleKernel().key();
  pid_t child = 0;
  {
    CacheFlight flight = cache->beginFlight(key, minute);
    REQUIRE(flight.isHeld());
    child = inChild([] { return ::pause(); });
  }
  CHECK(cache->beginFlight(key, 0).isHeld());
  ::kill(child, SIGKILL);
  waitFor(child);
}

TEST_CASE("locks are on this machine where the cache is on a network", "[process]") {
  CacheFixture f;
  std::unique_ptr<Cache> cache = f.open();
  f.system.fakeMagic = 0x6969; // Everything is NFS: then there is no place for a lock at all.
  CHECK_FALSE(cache->beginFlight(sampleKernel().key(), minute).isHeld());
  Expected<Cache::Found> found =
      cache->findOrCompile(sampleMaterial(), minute, []() -> Expected<CachedKernel> { return sampleKernel(); });
  CHECK(found);
}

TEST_CASE("kill -9 at any call of a publish leaves nothing that counts as an entry", "[process]") {
  CachedKernel kernel = sampleKernel();
  // Death at each call in turn stands for death at any moment: between calls nothing changes on disk.
  int calls = 0;
  {
    CacheFixture f;
    f.system.fault = [&](std::string_view) { return ++calls, 0; };
    REQUIRE(f.open()->publish(kernel));
  }
  for (int at = 0; at < calls; ++at) {
    CacheFixture f;
    pid_t child = inChild([&] {
      int call = 0;
      f.system.largestWrite = 200; // So that writing takes several calls.
      f.system.fault = [&](std::string_view) {
        if (call++ == at)
          ::raise(SIGKILL);
        return 0;
      };
      f.open()->publish(kernel);
      return 0;
    });
    CAPTURE(at);
    CHECK(waitFor(child) == 128 + SIGKILL);
    std::unique_ptr<Cache> cache = f.open();
    CHECK(cache->verify().damaged.empty());
    CacheLookup lookup = cache->lookup(kernel.material);
    CHECK((!lookup.isHit() || same(*lookup.kernel, kernel)));
    CHECK(cache->publish(kernel));
    CHECK(cache->lookup(kernel.material).isHit());
    // What the killed one left is swept once it is old.
    f.system.clockOffsetNs = 2 * minute * 60;
    cache->collectGarbage();
    CHECK(CacheFixture::find(f.root, ".tmp").empty());
  }
}

TEST_CASE("kill -9 at random moments", "[process]") {
  uint32_t seed = std::random_device()();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  CacheFixture f;
  for (int round = 0; round < 100; ++round) {
    int ready[2];
    REQUIRE(::pipe(ready) == 0);
    pid_t child = inChild([&] {
      std::unique_ptr<Cache> cache = openReal(f);
      ssize_t done = ::write(ready[1], "y", 1);
      (void)done;
      for (int n = 0;; ++n)
        cache->publish(sampleKernel(n % 5, 5000));
      return 0;
    });
    char go = 0;
    REQUIRE(::read(ready[0], &go, 1) == 1);
    // Some work instead of a pause: the moment is random, not the test's order of things.
    std::string work;
    for (uint32_t i = 0, end = random() % 30; i < end; ++i)
      work += encodePackage(sampleKernel(0, 5000));
    ::kill(child, SIGKILL);
    waitFor(child);
    ::close(ready[0]);
    ::close(ready[1]);
    std::unique_ptr<Cache> cache = openReal(f);
    for (int n = 0; n < 5; ++n)
      if (CacheLookup lookup = cache->lookup(sampleMaterial(n)); lookup.isHit())
        REQUIRE(same(*lookup.kernel, sampleKernel(n, 5000)));
    REQUIRE(cache->verify().damaged.empty());
  }
}

TEST_CASE("readers beside eviction and clearing", "[process]") {
  CacheFixture f;
  Status status = f.settings.set(SettingId::CacheMaxEntries, "5", SettingOrigin::CommandLine, "test");
  REQUIRE(status);
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i)
    children.push_back(inChild([&, i] {
      std::unique_ptr<Cache> cache = openReal(f);
      for (int n = 0; n < 200; ++n) {
        CachedKernel kernel = sampleKernel(n % 10);
        CacheLookup lookup = cache->lookup(kernel.material);
        if (lookup.isHit() ? !same(*lookup.kernel, kernel) : !cache->publish(kernel))
          return 1;
        if (i == 0)
          cache->collectGarbage();
        if (i == 1 && n % 20 == 0)
          cache->clear();
      }
      return cache->counters().quarantined == 0 ? 0 : 2;
    }));
  for (pid_t child : children)
    CHECK(waitFor(child) == 0);
  std::unique_ptr<Cache> cache = openReal(f);
  cache->collectGarbage();
  CHECK(cache->usage().entries <= 5);
  CHECK(cache->verify().damaged.empty());
}
