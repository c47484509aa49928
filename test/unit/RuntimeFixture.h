// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What tests of the runtime share: contexts with a fake compiler and a folder of their own, descriptions, tensors.

#ifndef TILEJIT_TEST_UNIT_RUNTIMEFIXTURE_H
#define TILEJIT_TEST_UNIT_RUNTIMEFIXTURE_H

#include "RuntimeTrouble.h"

#include "tilejit/Base/File.h"
#include "tilejit/Runtime/Context.h"
#include "tilejit/Runtime/Kernel.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace tilejit::test {

/// A folder that is removed at the end.
class Folder {
public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tilejit-test-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()));
    path_ = pattern;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string operator/(const char *name) const { return (path_ / name).string(); }

private:
  std::filesystem::path path_;
};

/// Log lines of a context.
struct LogLines {
  std::mutex mutex;
  std::vector<std::string> lines;

  Logger logger(LogLevel level = LogLevel::Debug) {
    return Logger(level, [this](const LogRecord &record) {
      std::lock_guard lock(mutex);
      lines.push_back(formatText(record));
    });
  }
  size_t count(const std::string &part) {
    std::lock_guard lock(mutex);
    size_t found = 0;
    for (const std::string &line : lines)
      found += line.find(part) != std::string::npos;
    return found;
  }
};

inline void set(Settings &settings, SettingId id, const std::string &value) {
  REQUIRE(settings.set(id, value, SettingOrigin::CommandLine, "test").isOk());
}

/// Settings with the fake compiler and a cache in `folder`.
inline Settings fakeSettings(const std::string &folder) {
  Settings settings;
  set(settings, SettingId::CacheDir, folder);
  set(settings, SettingId::Worker, TILEJIT_TEST_WORKER);
  set(settings, SettingId::Home, TILEJIT_TEST_HOME);
  set(settings, SettingId::NumThreads, "2");
  return settings;
}

inline std::shared_ptr<Context> makeContext(Settings settings, Logger logger = {}) {
  ContextOptions options;
  options.settings = std::move(settings);
  options.logger = std::move(logger);
  auto context = Context::create(std::move(options));
  REQUIRE(context.isOk());
  return *context;
}

inline Source addition(const std::string &size = "\"n\"", const std::string &expression = "a + b",
                       bool isConstant = false) {
  std::string text = R"({"tilejit": "1.0", "op": "elementwise", "dims": {"n": {"min": 0, "max": 100000}},
    "inputs": {"a": {"dtype": "f32", "shape": [N]}, "b": {"dtype": "f32", "shape": [N]}},
    "outputs": {"c": {"dtype": "f32", "shape": [N]}}, "attributes": {"expression": {"c": "E"}}})";
  if (size != "\"n\"")
    text.erase(text.find("\"dims\""), text.find("\"inputs\"") - text.find("\"dims\""));
  for (size_t at; (at = text.find("[N]")) != text.npos;)
    text.replace(at, 3, "[" + size + "]");
  text.replace(text.find("\"E\""), 3, "\"" + expression + "\"");
  if (isConstant)
    text.insert(text.find("\"b\": {") + 6, "\"constant\": true, ");
  auto source = parseSource(text, "addition.json");
  INFO(source.status().message() << " " << source.status().pointer());
  REQUIRE(source.isOk());
  return *source;
}

inline CompileOptions asking(Trouble trouble) {
  CompileOptions options;
  if (trouble != NoTrouble)
    options.config["bn"] = trouble;
  return options;
}

inline TargetSpec native(Context &context) {
  auto target = context.target("native");
  REQUIRE(target.isOk());
  return *target;
}

/// A rank-1 f32 tensor over a vector.
struct Tensor {
  std::vector<float> values;
  int64_t shape[1], strides[1] = {1};
  DLTensor tensor{};

  explicit Tensor(size_t count, float first = 0) : values(count), shape{static_cast<int64_t>(count)} {
    for (size_t i = 0; i < count; ++i)
      values[i] = first + static_cast<float>(i);
    tensor = {values.data(), {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, shape, strides, 0};
  }
};

/// Runs c = a + b and checks it.
inline Status runAddition(Kernel &kernel, size_t count, const LaunchOptions &options = {}, LaunchInfo *info = nullptr) {
  Tensor a(count, 1), b(count, 10), c(count, -5);
  const DLTensor *tensors[] = {&a.tensor, &b.tensor, &c.tensor};
  Status status = kernel.launch(tensors, options, info);
  if (!status.isOk())
    return status;
  float factor = options.grid ? 2 : 1;
  for (size_t i = 0; i < count; ++i)
    if (c.values[i] != factor * (a.values[i] + b.values[i]))
      return Status(StatusCode::CheckFailed, "wrong value at " + std::to_string(i));
  return status;
}

} // namespace tilejit::test

#endif // TILEJIT_TEST_UNIT_RUNTIMEFIXTURE_H
