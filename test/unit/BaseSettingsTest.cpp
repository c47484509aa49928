// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Settings: precedence, origins, the default chain of the cache folder, and messages about wrong values.

#include "TestSystem.h"
#include "tilejit/Base/Settings.h"

#include <catch2/catch.hpp>

using namespace tilejit;
using namespace tilejit::test;

namespace {

/// A config file named by TILEJIT_CONFIG.
struct Configured {
  TempFolder folder;
  TestSystem system;
  std::string path = folder / "config.toml";

  explicit Configured(std::string_view text) {
    REQUIRE(writeFileAtomically(realSystem(), path, text, 0600));
    system.variables["TILEJIT_CONFIG"] = path;
  }
};

} // namespace

TEST_CASE("without anything set, all is default", "[settings]") {
  TestSystem system;
  Expected<Settings> settings = loadSettings(system);
  REQUIRE(settings);
  CHECK(settings->logLevel() == LogLevel::Warn);
  CHECK(settings->logFormat() == LogFormat::Text);
  CHECK(settings->numThreads() == 0);
  CHECK(settings->text(SettingId::Target) == "native");
  CHECK(settings->cacheEnabled());
  CHECK(settings->cacheFolders() == std::vector<std::string>{"/tmp/tilejit-" + std::to_string(system.userId())});
  CHECK(settings->configFile().empty());
  std::vector<EffectiveSetting> effective = settings->effective();
  CHECK(effective.size() == settingCount);
  for (const EffectiveSetting &setting : effective)
    CHECK(setting.where == "default");
}

TEST_CASE("command line over environment over file over default", "[settings]") {
  Configured c("log_level = \"info\"\nnum_threads = 3\n\n# a comment\ntarget = \"znver4\"\ncache = false\n");
  c.system.variables["TILEJIT_NUM_THREADS"] = "5";
  c.system.variables["TILEJIT_TARGET"] = "x86-64-v3";
  c.system.variables["TILEJIT_LOG_FORMAT"] = ""; // Empty counts as not set.
  std::vector<SettingOverride> overrides = {{SettingId::Target, "neoverse-v2", "--target"}};
  Expected<Settings> settings = loadSettings(c.system, overrides);
  REQUIRE(settings);
  CHECK(settings->text(SettingId::Target) == "neoverse-v2");
  CHECK((*settings)[SettingId::Target].where == "--target");
  CHECK((*settings)[SettingId::Target].origin == SettingOrigin::CommandLine);
  CHECK(settings->numThreads() == 5);
  CHECK((*settings)[SettingId::NumThreads].where == "TILEJIT_NUM_THREADS");
  CHECK(settings->logLevel() == LogLevel::Info);
  CHECK((*settings)[SettingId::LogLevel].where == c.path + ":1");
  CHECK_FALSE(settings->cacheEnabled());
  CHECK((*settings)[SettingId::LogFormat].origin == SettingOrigin::Default);
  CHECK(settings->configFile() == c.path);
}

TEST_CASE("two loads do not touch each other", "[settings]") {
  TestSystem one, two;
  one.variables["TILEJIT_CACHE_DIR"] = "/one";
  two.variables["TILEJIT_CACHE_DIR"] = "/two";
  Expected<Settings> first = loadSettings(one), second = loadSettings(two);
  CHECK(first->cacheFolders() == std::vector<std::string>{"/one"});
  CHECK(second->cacheFolders() == std::vector<std::string>{"/two"});
}

TEST_CASE("processors are listed as Linux lists them", "[settings]") {
  const std::pair<const char *, std::vector<int>> lists[] = {
      {"none", {}}, {"all", {}}, {"3", {3}}, {"0-2", {0, 1, 2}}, {"4,0-1,65535", {4, 0, 1, 65535}}};
  for (const auto &[text, processors] : lists) {
    TestSystem system;
    system.variables["TILEJIT_CPU_AFFINITY"] = text;
    Expected<Settings> settings = loadSettings(system);
    CAPTURE(text);
    REQUIRE(settings.isOk());
    CHECK(settings->cpuAffinity() == processors);
  }
  for (const char *text : {"some", "3-1", "-1", "1-", "1,", ",", "0 1", "65536", "0-99999999999999999999", "1-2-3"}) {
    TestSystem system;
    system.variables["TILEJIT_CPU_AFFINITY"] = text;
    CAPTURE(text);
    CHECK(loadSettings(system).status().code() == StatusCode::InvalidArgument);
  }
}

TEST_CASE("wrong values name their variable or place", "[settings]") {
  const std::pair<const char *, const char *> wrong[] = {
      {"TILEJIT_NUM_THREADS", "0"},     {"TILEJIT_NUM_THREADS", "many"}, {"TILEJIT_NUM_THREADS", "-1"},
      {"TILEJIT_CPU_AFFINITY", "some"}, {"TILEJIT_LOG_LEVEL", "loud"},   {"TILEJIT_LOG_FORMAT", "xml"},
      {"TILEJIT_CACHE", "maybe"},       {"TILEJIT_CACHE_MAX_SIZE", "x"}, {"TILEJIT_LOG_MAX_FILES", "0"},
      {"TILEJIT_COMPILE_TIMEOUT", "0"}};
  for (const auto &[variable, value] : wrong) {
    TestSystem system;
    system.variables[variable] = value;
    Status status = loadSettings(system).status();
    CAPTURE(variable, value, status.message());
    CHECK(status.code() == StatusCode::InvalidArgument);
    CHECK(status.message().find(variable) != std::string::npos);
    CHECK(status.message().find(value) != std::string::npos);
    CHECK(status.message().find("expected") != std::string::npos);
  }
  TestSystem system;
  std::vector<SettingOverride> overrides = {{SettingId::NumThreads, "x", "--threads"}};
  CHECK(loadSettings(system, overrides).status().message().starts_with("--threads is \"x\", expected"));
}

TEST_CASE("wrong files name file and line", "[settings]") {
  const std::pair<const char *, const char *> wrong[] = {{"\nnum_threads = \"x\"\n", ":2"},
                                                         {"\n\nlog_levle = \"info\"\n", ":3"},
                                                         {"target = [1]\n", ":1:"},
                                                         {"target = \n", ":1:"},
                                                         {"target = \"a\"\ntarget = \"b\"\n", ":2:"},
                                                         {"[log]\nlevel = \"info\"\n", ":1:"},
                                                         {"num_threads = 1.5\n", ":1:"},
                                                         {"target = \"\xFF\"\n", ":1:"}};
  for (const auto &[text, part] : wrong) {
    Configured c(text);
    Status status = loadSettings(c.system).status();
    CAPTURE(text, status.message());
    CHECK(status.code() == StatusCode::InvalidArgument);
    CHECK(status.pointer().starts_with(c.path + part));
    CHECK(status.message().find(c.path) == std::string::npos);
  }
  Configured mistyped("log_levle = \"info\"\n");
  CHECK(loadSettings(mistyped.system).status().hint() == "did you mean log_level?");
}

TEST_CASE("the config file that was asked for must exist, the default ones need not", "[settings]") {
  TempFolder folder;
  TestSystem system;
  system.variables["TILEJIT_CONFIG"] = folder / "none.toml";
  Status status = loadSettings(system).status();
  CHECK(status.code() == StatusCode::InvalidArgument);
  CHECK(status.message().find(folder / "none.toml") != std::string::npos);

  system.variables = {{"HOME", folder.path()}};
  CHECK(loadSettings(system));
  REQUIRE(makeDirectories(realSystem(), folder / ".config/tilejit", 0700) == 0);
  REQUIRE(writeFileAtomically(realSystem(), folder / ".config/tilejit/config.toml",
                              "num_threads = 7\ncache_dir = \"~/here\"\n", 0600));
  Expected<Settings> settings = loadSettings(system);
  REQUIRE(settings);
  CHECK(settings->numThreads() == 7);
  CHECK(settings->text(SettingId::CacheDir) == folder / "here");
}

TEST_CASE("the chain of default cache folders", "[settings]") {
  TestSystem system;
  system.user = 4242;
  system.variables = {{"XDG_CACHE_HOME", "/x"}, {"HOME", "/h"}};
  Expected<Settings> settings = loadSettings(system);
  REQUIRE(settings);
  CHECK(settings->cacheFolders() == std::vector<std::string>{"/x/tilejit", "/h/.cache/tilejit", "/tmp/tilejit-4242"});
  CHECK(settings->text(SettingId::CacheDir) == "/x/tilejit");
  system.variables = {{"XDG_CACHE_HOME", "relative"}, {"HOME", ""}};
  CHECK(loadSettings(system)->cacheFolders() == std::vector<std::string>{"/tmp/tilejit-4242"});
}
