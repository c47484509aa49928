// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A cache in a folder of its own, and kernels to put into it.

#ifndef TILEJIT_TEST_UNIT_CACHEFIXTURE_H
#define TILEJIT_TEST_UNIT_CACHEFIXTURE_H

#include "TestSystem.h"
#include "tilejit/ABI/Compile.h"
#include "tilejit/Cache/Cache.h"

#include <string>
#include <vector>

namespace tilejit::test {

/// Key material of the n-th kernel.
inline KeyMaterial sampleMaterial(int n = 0) {
  KeyMaterial material;
  material.description =
      R"({"dims":{"d0":{"max":512,"min":1}},"epilogue":[{"op":"add"}],"n":)" + std::to_string(n) + "}";
  material.config = {{"bm", 32}, {"threads", 4}};
  material.target = "x86_64-linux-gnu;znver4;+avx512f";
  material.targetFolder = "znver4";
  material.toolchain = {{"compiler", "0102"}, {"libLLVM", "0304"}, {"libMLIR", "0506"}, {"worker", "0708"}};
  material.llvmVersion = "22.1.0";
  material.tilejitVersion = "0.1.0";
  material.abiVersion = 1;
  return material;
}

inline CachedKernel sampleKernel(int n = 0, size_t payloadBytes = 300) {
  abi::Manifest manifest;
  manifest.op = "matmul";
  manifest.target = sampleMaterial(n).target;
  manifest.abiVersion = 1;
  std::string bytes(payloadBytes, '\0');
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<char>(i * 7 + n);
  return {sampleMaterial(n), abi::manifestJson(manifest), {{"elf", sampleMaterial(n).target, bytes}}};
}

inline bool same(const CachedKernel &a, const CachedKernel &b) {
  bool equal = a.material == b.material && a.manifest == b.manifest && a.payloads.size() == b.payloads.size();
  for (size_t i = 0; equal && i < a.payloads.size(); ++i)
    equal = a.payloads[i].kind == b.payloads[i].kind && a.payloads[i].target == b.payloads[i].target &&
            a.payloads[i].bytes == b.payloads[i].bytes;
  return equal;
}

inline Settings cacheSettings(const std::string &folder) {
  Settings settings;
  Status status = settings.set(SettingId::CacheDir, folder, SettingOrigin::CommandLine, "--cache-dir");
  (void)status;
  return settings;
}

/// A cache whose warnings are kept.
struct CacheFixture {
  TempFolder folder;
  TestSystem system;
  std::string root = folder / "cache";
  std::vector<std::string> warnings;
  Settings settings = cacheSettings(root);

  std::unique_ptr<Cache> open(Cache::OpenMode mode = Cache::OpenMode::Use) {
    Logger logger(LogLevel::Warn, [this](const LogRecord &record) { warnings.emplace_back(record.message); });
    return Cache::open(settings, logger, system, mode);
  }
  std::string formatRoot() const { return root + "/" + std::to_string(cacheFormat) + "/"; }
  std::string pathOf(const CachedKernel &kernel) const {
    std::string key = kernel.key();
    return formatRoot() + kernel.material.tilejitVersion + "/" + kernel.material.targetFolder + "/" + key.substr(0, 2) +
           "/" + key + ".tjk";
  }
  /// All files below a folder whose name ends so.
  static std::vector<std::string> find(const std::string &folder, std::string_view suffix) {
    std::vector<std::string> found;
    std::error_code ignored;
    for (const auto &entry : std::filesystem::recursive_directory_iterator(folder, ignored))
      if (entry.path().string().ends_with(suffix))
        found.push_back(entry.path().string());
    return found;
  }
  std::vector<std::string> quarantined() const { return find(formatRoot() + "quarantine", ""); }
  static void overwrite(const std::string &path, std::string_view content) {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
    Status status = writeFileAtomically(realSystem(), path, content, 0600);
    (void)status;
  }
};

} // namespace tilejit::test

#endif // TILEJIT_TEST_UNIT_CACHEFIXTURE_H
