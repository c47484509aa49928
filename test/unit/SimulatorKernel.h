// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What tests of the simulator share: a simulated device that runs kernels given as IR text on arrays of the test, and
// gives their contents, the reports and the counters.

#ifndef TILEJIT_TEST_UNIT_SIMULATORKERNEL_H
#define TILEJIT_TEST_UNIT_SIMULATORKERNEL_H

#include "tilejit/Simulator/PluginLoader.h"
#include "tilejit/Simulator/Simulator.h"

#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace tilejit::sim::test {

/// The plug-in of this build.
inline const Plugin &plugin() {
  static const Plugin *loaded = [] {
    Expected<const Plugin *> opened = openSimulator({});
    INFO(opened.status().message());
    REQUIRE(opened.isOk());
    return *opened;
  }();
  return *loaded;
}

/// A device and one module on it.
class Machine {
public:
  explicit Machine(const std::string &chip) {
    auto made = plugin().create(chip);
    REQUIRE(made.isOk());
    device_ = *std::move(made);
  }
  Machine(const std::string &chip, const std::string &ir) : Machine(chip) {
    Status status = load(ir);
    INFO(status.message());
    REQUIRE(status.isOk());
  }

  Status load(const std::string &ir) {
    auto loaded = device_->load(ir, "test.ll");
    if (!loaded.isOk())
      return loaded.status();
    module_ = *std::move(loaded);
    return Status::ok();
  }

  /// An array on the device with these contents, as an argument.
  template <class T> T *array(const std::vector<T> &contents, const std::string &name = "array") {
    T *memory = allocate<T>(contents.size(), name, true);
    std::memcpy(memory, contents.data(), contents.size() * sizeof(T));
    return memory;
  }
  /// An array that nobody wrote.
  template <class T> T *output(size_t count, const std::string &name = "output") {
    return allocate<T>(count, name, false);
  }

  /// The bytes of an argument.
  template <class T> static std::vector<uint8_t> argument(T value) {
    std::vector<uint8_t> bytes(sizeof(T));
    std::memcpy(bytes.data(), &value, sizeof(T));
    return bytes;
  }

  template <class... Args>
  Expected<Outcome> tryRun(const std::string &kernel, std::array<uint32_t, 3> grid, std::array<uint32_t, 3> block,
                           Args... args) {
    LaunchRequest request;
    request.kernel = kernel;
    std::copy(grid.begin(), grid.end(), request.grid);
    std::copy(block.begin(), block.end(), request.block);
    std::copy(cluster.begin(), cluster.end(), request.cluster);
    request.dynamicSharedBytes = dynamicShared;
    request.arguments = {argument(args)...};
    return device_->launch(*module_, request, options);
  }
  /// Runs a kernel that must decode.
  template <class... Args>
  Outcome run(const std::string &kernel, std::array<uint32_t, 3> grid, std::array<uint32_t, 3> block, Args... args) {
    Expected<Outcome> outcome = tryRun(kernel, grid, block, args...);
    INFO(outcome.status().message());
    for (const std::string &line : outcome.status().details())
      UNSCOPED_INFO(line);
    REQUIRE(outcome.isOk());
    return *std::move(outcome);
  }

  /// With the bytes of each argument.
  Expected<Outcome> launch(const std::string &kernel, std::array<uint32_t, 3> grid, std::array<uint32_t, 3> block,
                           std::vector<std::vector<uint8_t>> arguments) {
    LaunchRequest request;
    request.kernel = kernel;
    std::copy(grid.begin(), grid.end(), request.grid);
    std::copy(block.begin(), block.end(), request.block);
    std::copy(cluster.begin(), cluster.end(), request.cluster);
    request.dynamicSharedBytes = dynamicShared;
    request.arguments = std::move(arguments);
    return device_->launch(*module_, request, options);
  }

  Simulator &device() { return *device_; }

  Options options;
  uint32_t dynamicShared = 0;
  std::array<uint32_t, 3> cluster = {1, 1, 1};

private:
  template <class T> T *allocate(size_t count, const std::string &name, bool initialized) {
    auto made = device_->allocate(static_cast<int64_t>(count * sizeof(T)), name, initialized);
    REQUIRE(made.isOk());
    return static_cast<T *>(*made);
  }

  std::unique_ptr<Simulator> device_;
  std::shared_ptr<Module> module_;
};

/// Reports in short, for comparison: "race race bounds".
inline std::string kinds(const Outcome &outcome) {
  std::string text;
  for (const Report &report : outcome.reports) {
    text += (text.empty() ? "" : " ") + std::string(reportKindName(report.kind));
    UNSCOPED_INFO(reportKindName(report.kind)
                  << ": " << report.message << "\n  " << report.site << "\n  " << report.otherSite);
  }
  return text;
}

} // namespace tilejit::sim::test

#endif // TILEJIT_TEST_UNIT_SIMULATORKERNEL_H
