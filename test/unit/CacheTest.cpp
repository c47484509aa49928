// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Lookup and publish in one process: hits, misses, healing, trust, folders that can't be used.

#include "CacheFixture.h"

#include <catch2/catch.hpp>

#include <cerrno>
#include <filesystem>
#include <map>
#include <sys/stat.h>
#include <unistd.h>

using namespace tilejit;
using namespace tilejit::test;
namespace fs = std::filesystem;

TEST_CASE("a miss, then a hit, in the documented place", "[cache]") {
  CacheFixture f;
  std::unique_ptr<Cache> cache = f.open();
  CachedKernel kernel = sampleKernel();
  CacheLookup miss = cache->lookup(kernel.material);
  CHECK_FALSE(miss.isHit());
  CHECK(miss.missReason == "no entry");
  CHECK(cache->publish(kernel));
  CacheLookup hit = cache->lookup(kernel.material);
  REQUIRE(hit.isHit());
  CHECK(same(*hit.kernel, kernel));
  CHECK(CacheFixture::find(f.root, ".tjk") == std::vector<std::string>{f.pathOf(kernel)});
  CHECK(CacheFixture::find(f.root, ".tmp").empty());
  FileInfo info;
  REQUIRE(realSystem().stat(f.root, true, info) == 0);
  CHECK((info.mode & 0777) == 0700);
  CHECK_FALSE(cache->lookup(sampleKernel(1).material).isHit());
  CHECK(f.warnings.empty());
  // Another process finds it, and the counters.
  cache.reset();
  std::unique_ptr<Cache> other = f.open();
  CHECK(other->lookup(kernel.material).isHit());
  CacheUsage usage = other->usage();
  CHECK(usage.entries == 1);
  CHECK(usage.counters.hits == 2);
  CHECK(usage.counters.misses == 2);
  CHECK(usage.counters.published == 1);
}

TEST_CASE("an entry that is damaged in any way is a miss and heals", "[cache]") {
  CacheFixture f;
  std::unique_ptr<Cache> cache = f.open();
  CachedKernel kernel = sampleKernel(), other = sampleKernel(1);
  REQUIRE(cache->publish(kernel));
  std::string path = f.pathOf(kernel), good = *readFile(realSystem(), path);
  std::vector<std::string> bad = {"",
                                  "x",
                                  good.substr(0, good.size() / 2),
                                  good + "x",
                                  good + good,
                                  std::string(good.size(), '\0'),
                                  encodePackage(other),
                                  "hello\n"};
  for (size_t at = 0; at < good.size(); at += 61)
    bad.push_back(std::string(good).replace(at, 1, 1, static_cast<char>(good[at] ^ 1)));
  for (const std::string &content : bad) {
    CacheFixture::overwrite(path, content);
    CacheLookup lookup = cache->lookup(kernel.material);
    REQUIRE_FALSE(lookup.isHit());
    REQUIRE_FALSE(fs::exists(path));
    REQUIRE(cache->publish(kernel));
    REQUIRE(cache->lookup(kernel.material).isHit());
  }
  CHECK(cache->counters().quarantined == static_cast<int64_t>(bad.size()));
  CHECK(f.quarantined().size() == bad.size());
}

TEST_CASE("whatever stands in an entry's place gives way", "[cache]") {
  CacheFixture f;
  std::unique_ptr<Cache> cache = f.open();
  CachedKernel kernel = sampleKernel();
  REQUIRE(cache->publish(kernel));
  std::string path = f.pathOf(kernel), good = *readFile(realSystem(), path);
  auto plant = [&](int kind) {
    fs::remove_all(path);
    if (kind == 0)
      fs::create_directory(path);
    if (kind == 1)
      fs::create_directories(path + "/deep/inside");
    if (kind == 2)
      fs::create_symlink(f.root + "/nowhere", path);
    if (kind == 3) { // A link to a good entry is not an entry either.
      CacheFixture::overwrite(f.folder / "elsewhere", good);
      fs::create_symlink(f.folder / "elsewhere", path);
    }
    if (kind == 4)
      REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    if (kind == 5) {
      CacheFixture::overwrite(path, good);
      fs::permissions(path, fs::perms::others_write, fs::perm_options::add);
    }
  };
  for (int kind = 0; kind < 6; ++kind) {
    CAPTURE(kind);
    plant(kind);
    CHECK_FALSE(cache->lookup(kernel.material).isHit());
    CHECK(cache->publish(kernel));
    CHECK(cache->lookup(kernel.material).isHit());
    plant(kind); // Without a look first.
    if (kind < 5)
      CHECK(cache->publish(kernel));
  }
}

TEST_CASE("an entry that can't be read is replaced", "[cache]") {
  CacheFixture f;
  std::unique_ptr<Cache> cache = f.open();
  CachedKernel kernel = sampleKernel();
  REQUIRE(cache->publish(kernel));
  // Root reads everything, so the refusal is injected.
  bool first = true;
  f.system.fault = [&](std::string_view call) { return call == "open" && std::exchange(first, false) ? EACCES : 0; };
  CHECK_FALSE(cache->lookup(kernel.material).isHit());
  f.system.fault = nullptr;
  CHECK(f.quarantined().size() == 1);
  CHECK(cache->publish(kernel));
  CHECK(cache->lookup(kernel.material).isHit());
}

TEST_CASE("misnamed and swapped entries are no hits", "[cache]") {
  CacheFixture f;
  std::unique_ptr<Cache> cache = f.open();
  CachedKernel a = sampleKernel(1), b = sampleKernel(2);
  REQUIRE(cache->publish(a));
  REQUIRE(cache->publish(b));
  fs::rename(f.pathOf(a), f.folder / "a");
  fs::rename(f.pathOf(b), f.pathOf(a));
  fs::rename(f.folder / "a", f.pathOf(b));
  CHECK(cache->verify().damaged.size() == 2);
  CHECK_FALSE(cache->lookup(a.material).isHit());
  CHECK_FALSE(cache->lookup(b.material).isHit());
}

TEST_CASE("entries of another version or target are never found", "[cache]") {
  CacheFixture f;
  std::unique_ptr<Cache> cache = f.open();
  CachedKernel kernel = sampleKernel();
  REQUIRE(cache->publish(kernel));
  KeyMaterial newer = kernel.material, other = kernel.material;
  newer.tilejitVersion = "0.2.0";
  other.target = "sm_90a";
  CHECK_FALSE(cache->lookup(newer).isHit());
  CHECK_FALSE(cache->lookup(other).isHit());
  // Nor where a file is planted under the wanted name.
  CachedKernel wanted{other, kernel.manifest, kernel.payloads};
  fs::create_directories(fs::path(f.pathOf(wanted)).parent_path());
  fs::copy(f.pathOf(kernel), f.pathOf(wanted));
  CHECK_FALSE(cache->lookup(other).isHit());
}

TEST_CASE("what is no kernel is not stored", "[cache]") {
  CacheFixture f;
  std::unique_ptr<Cache> cache = f.open();
  CachedKernel kernel = sampleKernel();
  kernel.payloads[0].bytes.clear();
  CHECK_FALSE(cache->publish(kernel));
  kernel.payloads.clear();
  CHECK_FALSE(cache->publish(kernel));
  kernel = sampleKernel();
  kernel.payloads[0].target = "another";
  CHECK_FALSE(cache->publish(kernel));
  kernel = sampleKernel();
  kernel.material.targetFolder = "../../up";
  CHECK_FALSE(cache->publish(kernel));
  CHECK(CacheFixture::find(f.folder.path(), ".tjk").empty());
}

TEST_CASE("a rejected entry is put aside once", "[cache]") {
  CacheFixture f;
  std::unique_ptr<Cache> cache = f.open();
  CachedKernel kernel = sampleKernel();
  REQUIRE(cache->publish(kernel));
  cache->reject(kernel.material, "the device refused it");
  cache->reject(kernel.material, "the device refused it");
  CHECK(cache->counters().quarantined == 1);
  CHECK_FALSE(cache->lookup(kernel.material).isHit());
}

TEST_CASE("quarantine stays small", "[cache]") {
  CacheFixture f;
  std::unique_ptr<Cache> cache = f.open();
  CachedKernel kernel = sampleKernel();
  for (int i = 0; i < 100; ++i) {
    REQUIRE(cache->publish(kernel));
    CacheFixture::overwrite(f.pathOf(kernel), "damaged");
    REQUIRE_FALSE(cache->lookup(kernel.material).isHit());
  }
  CHECK(f.quarantined().size() == 64);
}

TEST_CASE("a folder that can't be used costs one warning that names it", "[cache]") {
  TempFolder folder;
  CacheFixture::overwrite(folder / "file", "not a folder");
  fs::create_directory(folder / "open");
  fs::permissions(folder / "open", fs::perms::all);
  fs::create_directory(folder / "group");
  fs::permissions(folder / "group", fs::perms::group_write, fs::perm_options::add);
  fs::create_directory(folder / "foreign");
  for (std::string place : {folder / "file", folder / "file/cache", std::string("/proc/no/cache"),
                            std::string("/dev/null"), folder / "open", folder / "group", folder / "foreign"}) {
    CacheFixture f;
    f.settings = cacheSettings(place);
    if (place.ends_with("foreign"))
      f.system.user += 1;
    std::unique_ptr<Cache> cache = f.open();
    CAPTURE(place);
    CHECK_FALSE(cache->isUsable());
    CHECK_FALSE(cache->lookup(sampleMaterial()).isHit());
    CHECK_FALSE(cache->publish(sampleKernel()));
    CHECK_FALSE(cache->beginFlight(sampleKernel().key(), 1'000'000).isHeld());
    REQUIRE(f.warnings.size() == 1);
    CHECK(f.warnings[0].find(place) != std::string::npos);
    CHECK(cache->root() == place);
  }
  CHECK(CacheFixture::find(folder.path(), ".tjk").empty());
}

TEST_CASE("the next folder of the default chain takes over", "[cache]") {
  CacheFixture f;
  CacheFixture::overwrite(f.folder / "file", "");
  f.system.variables = {{"XDG_CACHE_HOME", f.folder / "file"}, {"HOME", f.folder.path()}};
  f.settings = *loadSettings(f.system);
  std::unique_ptr<Cache> cache = f.open();
  CHECK(cache->root() == f.folder / ".cache/tilejit");
  CHECK(cache->publish(sampleKernel()));
  CHECK(f.warnings.empty());
}

TEST_CASE("the folder itself may be a symbolic link", "[cache]") {
  CacheFixture f;
  fs::create_directory(f.folder / "real");
  fs::permissions(f.folder / "real", fs::perms::owner_all);
  fs::create_symlink(f.folder / "real", f.root);
  std::unique_ptr<Cache> cache = f.open();
  CHECK(cache->publish(sampleKernel()));
  CHECK(cache->lookup(sampleMaterial()).isHit());
  CHECK(CacheFixture::find(f.folder / "real", ".tjk").size() == 1);
}

TEST_CASE("off means off", "[cache]") {
  CacheFixture f;
  REQUIRE(f.settings.set(SettingId::Cache, "off", SettingOrigin::CommandLine, "--no-cache"));
  std::unique_ptr<Cache> cache = f.open();
  CHECK_FALSE(cache->isEnabled());
  CHECK_FALSE(cache->publish(sampleKernel()));
  CHECK_FALSE(cache->lookup(sampleMaterial()).isHit());
  CHECK_FALSE(fs::exists(f.root));
  CHECK(cache->counters().misses == 0);
}

TEST_CASE("looking makes nothing", "[cache]") {
  CacheFixture f;
  std::unique_ptr<Cache> cache = f.open(Cache::OpenMode::Inspect);
  CHECK(cache->root() == f.root);
  CHECK(cache->list().empty());
  CHECK(cache->usage().entries == 0);
  CHECK(cache->verify().damaged.empty());
  CHECK(cache->clear().entries == 0);
  CHECK_FALSE(fs::exists(f.root));
  CHECK(f.warnings.empty());
}

TEST_CASE("two caches in one process do not touch each other", "[cache]") {
  CacheFixture one, two;
  std::unique_ptr<Cache> a = one.open(), b = two.open();
  REQUIRE(a->publish(sampleKernel()));
  CHECK_FALSE(b->lookup(sampleMaterial()).isHit());
  CHECK(a->lookup(sampleMaterial()).isHit());
}

TEST_CASE("a hit opens one file, however many there are", "[cache]") {
  // What a hit costs is what it asks of the system; times would say more about the machine.
  std::map<std::string, int> first;
  for (int kernels : {1, 100}) {
    CacheFixture f;
    std::unique_ptr<Cache> cache = f.open();
    for (int i = 0; i < kernels; ++i)
      REQUIRE(cache->publish(sampleKernel(i, 16 << 10)));
    std::map<std::string, int> calls;
    f.system.fault = [&](std::string_view call) {
      ++calls[std::string(call)];
      return 0;
    };
    REQUIRE(cache->lookup(sampleMaterial()).isHit());
    f.system.fault = nullptr;
    CHECK(calls["open"] == 1);
    for (const char *call : {"list", "lock", "write", "fsync", "stat"})
      CHECK(calls[call] == 0);
    if (kernels == 1)
      first = calls;
    CHECK(calls == first);
  }
}
