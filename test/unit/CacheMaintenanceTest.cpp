// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What the cache's own commands rest on: listing, checking, clearing, eviction, comparing, export and import.

#include "CacheFixture.h"

#include <catch2/catch.hpp>

#include <filesystem>

using namespace tilejit;
using namespace tilejit::test;
namespace fs = std::filesystem;

namespace {

constexpr int64_t hourNs = int64_t{3600} * 1'000'000'000;

CachedKernel kernelOf(int n, std::string version, std::string folder) {
  CachedKernel kernel = sampleKernel(n);
  kernel.material.tilejitVersion = std::move(version);
  kernel.material.targetFolder = std::move(folder);
  return kernel;
}

void setUsed(const std::string &path, std::chrono::hours ago) {
  fs::last_write_time(path, fs::file_time_type::clock::now() - ago);
}

} // namespace

TEST_CASE("entries are listed with what is known about them", "[maintenance]") {
  CacheFixture f;
  std::unique_ptr<Cache> cache = f.open();
  CachedKernel kernel = sampleKernel();
  REQUIRE(cache->publish(kernel));
  std::vector<CacheEntryInfo> entries = cache->list();
  REQUIRE(entries.size() == 1);
  CHECK(entries[0].key == kernel.key());
  CHECK(entries[0].version == "0.1.0");
  CHECK(entries[0].target == "znver4");
  CHECK(entries[0].op == "matmul");
  CHECK(entries[0].bytes == static_cast<int64_t>(encodePackage(kernel).size()));
  CacheUsage usage = cache->usage();
  CHECK(usage.entries == 1);
  CHECK(usage.bytes >= entries[0].bytes);
  // Damaged and foreign files neither crash nor hide anything.
  CacheFixture::overwrite(f.pathOf(kernel), "damaged");
  CacheFixture::overwrite(fs::path(f.pathOf(kernel)).parent_path() / "notes.txt", "foreign");
  CHECK(cache->list().size() == 1);
}

TEST_CASE("an alias is listed and counted as what it is", "[maintenance]") {
  CacheFixture f;
  std::unique_ptr<Cache> cache = f.open();
  CachedKernel kernel = sampleKernel();
  kernel.material.kind = DescriptionKind::TileIR;
  kernel.material.description = std::string(64, 'a');
  KeyMaterial file = kernel.material;
  file.kind = DescriptionKind::FileHash;
  file.description = std::string(64, 'b');
  CachedKernel alias = makeAlias(file, kernel);
  REQUIRE(cache->publish(kernel));
  REQUIRE(cache->publish(alias));
  std::vector<CacheEntryInfo> entries = cache->list();
  REQUIRE(entries.size() == 2);
  for (const CacheEntryInfo &entry : entries) {
    CHECK(entry.op == "matmul");
    CHECK(entry.aliasOf == (entry.key == alias.key() ? kernel.key() : ""));
  }
  CHECK(cache->usage().entries == 2);
  CHECK(cache->usage().aliases == 1);
}

TEST_CASE("verify names what is damaged and changes nothing", "[maintenance]") {
  CacheFixture f;
  std::unique_ptr<Cache> cache = f.open();
  for (int n = 0; n < 3; ++n)
    REQUIRE(cache->publish(sampleKernel(n)));
  CHECK(cache->verify().entries == 3);
  CHECK(cache->verify().damaged.empty());
  std::string path = f.pathOf(sampleKernel(1));
  std::string bytes = *readFile(realSystem(), path);
  bytes[bytes.size() / 2] ^= 1;
  CacheFixture::overwrite(path, bytes);
  CacheVerified verified = cache->verify();
  REQUIRE(verified.damaged.size() == 1);
  CHECK(verified.damaged[0].key == sampleKernel(1).key());
  CHECK(verified.damaged[0].reason == "the checksum is wrong");
  CHECK(fs::exists(path));
  fs::remove(path);
  fs::create_directory(path);
  CHECK(cache->verify().damaged.size() == 1);
  fs::remove(path);
  fs::create_symlink("/nowhere", path);
  CHECK(cache->verify().damaged.size() == 1);
}

TEST_CASE("clear by version, target and age", "[maintenance]") {
  CacheFixture f;
  std::unique_ptr<Cache> cache = f.open();
  CachedKernel old = kernelOf(0, "0.1.0", "znver4"), target = kernelOf(1, "0.1.0", "sm_90a"),
               newer = kernelOf(2, "0.2.0", "znver4"), stale = kernelOf(3, "0.2.0", "znver4");
  for (const CachedKernel &kernel : {old, target, newer, stale})
    REQUIRE(cache->publish(kernel));
  setUsed(f.pathOf(stale), std::chrono::hours(48));
  CHECK(cache->clear({"", "", 86400}).entries == 1);
  CHECK_FALSE(cache->lookup(stale.material).isHit());
  CHECK(cache->clear({"0.2.0", "", {}}).entries == 1);
  CHECK(cache->lookup(old.material).isHit());
  CHECK(cache->clear({"", "sm_90a", {}}).entries == 1);
  CHECK(cache->lookup(old.material).isHit());
  CacheFixture::overwrite(f.pathOf(target), "damaged");
  CHECK_FALSE(cache->lookup(target.material).isHit());
  CHECK(f.quarantined().size() == 1);
  CHECK(cache->clear().entries == 1);
  CHECK(f.quarantined().empty());
  CHECK(CacheFixture::find(f.root, ".tjk").empty());
}

TEST_CASE("eviction keeps what was used last", "[maintenance]") {
  CacheFixture f;
  REQUIRE(f.settings.set(SettingId::CacheMaxEntries, "3", SettingOrigin::CommandLine, "test"));
  std::unique_ptr<Cache> cache = f.open();
  for (int n = 0; n < 6; ++n) {
    REQUIRE(cache->publish(sampleKernel(n)));
    setUsed(f.pathOf(sampleKernel(n)), std::chrono::hours(10 - n));
  }
  REQUIRE(cache->lookup(sampleMaterial(0)).isHit()); // The oldest is used again.
  CHECK(cache->collectGarbage().entries == 3);
  for (int n : {0, 4, 5})
    CHECK(cache->lookup(sampleMaterial(n)).isHit());
  CHECK_FALSE(cache->lookup(sampleMaterial(1)).isHit());
}

TEST_CASE("eviction by size and age", "[maintenance]") {
  CacheFixture f;
  REQUIRE(f.settings.set(SettingId::CacheMaxSize, "100k", SettingOrigin::CommandLine, "test"));
  REQUIRE(f.settings.set(SettingId::CacheMaxAge, "30d", SettingOrigin::CommandLine, "test"));
  std::unique_ptr<Cache> cache = f.open();
  for (int n = 0; n < 10; ++n)
    REQUIRE(cache->publish(sampleKernel(n, 30'000)));
  cache->collectGarbage();
  CacheUsage usage = cache->usage();
  CHECK(usage.bytes <= 100 << 10);
  CHECK(usage.entries >= 2);
  f.system.clockOffsetNs = 31 * 24 * hourNs;
  cache->collectGarbage();
  CHECK(cache->usage().entries == 0);
}

TEST_CASE("recency is renewed at most once an hour", "[maintenance]") {
  CacheFixture f;
  int touches = 0;
  std::unique_ptr<Cache> cache = f.open();
  CachedKernel kernel = sampleKernel();
  REQUIRE(cache->publish(kernel));
  f.system.fault = [&](std::string_view call) { return touches += call == "touch", 0; };
  for (int i = 0; i < 10; ++i)
    REQUIRE(cache->lookup(kernel.material).isHit());
  CHECK(touches == 0);
  setUsed(f.pathOf(kernel), std::chrono::hours(5));
  for (int i = 0; i < 10; ++i)
    REQUIRE(cache->lookup(kernel.material).isHit());
  CHECK(touches == 1);
}

TEST_CASE("publishing sweeps at most once an hour", "[maintenance]") {
  CacheFixture f;
  REQUIRE(f.settings.set(SettingId::CacheMaxEntries, "2", SettingOrigin::CommandLine, "test"));
  std::unique_ptr<Cache> cache = f.open();
  for (int n = 0; n < 5; ++n)
    REQUIRE(cache->publish(sampleKernel(n)));
  CHECK(cache->usage().entries == 5);
  f.system.clockOffsetNs = 2 * hourNs;
  REQUIRE(cache->publish(sampleKernel(5)));
  CHECK(cache->usage().entries == 2);
}

TEST_CASE("an entry is loaded by its key or an unambiguous beginning", "[maintenance]") {
  CacheFixture f;
  std::unique_ptr<Cache> cache = f.open();
  CachedKernel kernel = sampleKernel();
  REQUIRE(cache->publish(kernel));
  std::string key = kernel.key();
  REQUIRE(cache->load(key));
  CHECK(same(*cache->load(key), kernel));
  CHECK(cache->load(key.substr(0, 8)));
  CHECK(cache->load(key.substr(0, 5)).status().code() == StatusCode::InvalidArgument);
  CHECK(cache->load("../../../x").status().code() == StatusCode::InvalidArgument);
  CHECK(cache->load(std::string(64, '0')).status().code() == StatusCode::NotFound);
}

TEST_CASE("the nearest entry is the one with the fewest differences", "[maintenance]") {
  CacheFixture f;
  std::unique_ptr<Cache> cache = f.open();
  CHECK(cache->nearest(sampleMaterial()).status().code() == StatusCode::NotFound);
  CachedKernel near = sampleKernel(1), far = sampleKernel(2);
  far.material.config["bm"] = 999;
  far.material.llvmVersion = "21";
  REQUIRE(cache->publish(near));
  REQUIRE(cache->publish(far));
  CHECK(cache->nearest(sampleMaterial(3))->key() == near.key());
}

TEST_CASE("export and import carry entries from one cache to another", "[maintenance]") {
  CacheFixture from, to;
  std::unique_ptr<Cache> a = from.open(), b = to.open();
  std::string package = from.folder / "all.tjk";
  CHECK(a->exportTo(package).status().code() == StatusCode::NotFound);
  for (int n = 0; n < 5; ++n)
    REQUIRE(a->publish(sampleKernel(n)));
  REQUIRE(*a->exportTo(package) == 5);
  REQUIRE(*b->importFrom(package) == 5);
  for (int n = 0; n < 5; ++n)
    CHECK(same(*b->lookup(sampleMaterial(n)).kernel, sampleKernel(n)));
  CHECK(b->verify().damaged.empty());
  CacheFixture::overwrite(package, "damaged");
  CHECK(b->importFrom(package).status().code() == StatusCode::InvalidArgument);
  CHECK(b->importFrom(from.folder / "none.tjk").status().code() == StatusCode::NotFound);
}

TEST_CASE("counters add up over processes and stay small", "[maintenance]") {
  CacheFixture f;
  for (int i = 0; i < 3000; ++i) {
    std::unique_ptr<Cache> cache = f.open();
    REQUIRE_FALSE(cache->lookup(sampleMaterial(i)).isHit());
  }
  CHECK(f.open()->usage().counters.misses == 3000);
  FileInfo info;
  REQUIRE(realSystem().stat(f.formatRoot() + "state/counters", true, info) == 0);
  CHECK(info.size <= 66 << 10);
  CacheFixture::overwrite(f.formatRoot() + "state/counters", "x");
  CHECK(f.open()->usage().counters.misses == 0);
}
