// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The operands of one launch in a device's memory.

#ifndef TILEJIT_TEST_CTS_TRIAL_H
#define TILEJIT_TEST_CTS_TRIAL_H

#include "Subject.h"

#include <array>
#include <catch2/catch.hpp>
#include <memory>
#include <vector>

namespace tilejit::cts {

/// A buffer that is released at its end.
class Buffer {
public:
  Buffer(Device &device, int64_t bytes, std::string_view name = {}) : device_(device) {
    auto made = device.allocate(bytes, name);
    INFO(made.status().message());
    REQUIRE(made.isOk());
    memory_ = *made;
  }
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;
  ~Buffer() { device_.release(memory_); }
  void *get() const { return memory_; }

private:
  Device &device_;
  void *memory_ = nullptr;
};

/// a = first, first + 1, ...; b = 10 everywhere; c is what a launch makes of them.
class Trial {
public:
  Trial(Device &device, int64_t count, float first = 1)
      : device_(device), a_(device, 4 * count, "a"), b_(device, 4 * count, "b"), c_(device, 4 * count, "c"),
        first_(first), count_(count) {
    std::vector<float> a(static_cast<size_t>(count)), b(a.size(), 10);
    for (size_t i = 0; i < a.size(); ++i)
      a[i] = first + static_cast<float>(i);
    REQUIRE(device.copyToDevice(a_.get(), a.data(), 4 * count).isOk());
    REQUIRE(device.copyToDevice(b_.get(), b.data(), 4 * count).isOk());
    auto slot = [](void *memory) { return reinterpret_cast<int64_t>(memory); };
    slots_ = {slot(a_.get()), count, 1, slot(b_.get()), count, 1, slot(c_.get()), count, 1};
  }

  LaunchArguments arguments() const {
    LaunchArguments made;
    made.slots = slots_;
    return made;
  }
  std::array<int64_t, 9> &slots() { return slots_; }

  /// Whether c is factor * (a + b).
  bool isRight(float factor) {
    std::vector<float> c(static_cast<size_t>(count_));
    if (!device_.copyToHost(c.data(), c_.get(), 4 * count_).isOk())
      return false;
    for (size_t i = 0; i < c.size(); ++i)
      if (c[i] != factor * (first_ + static_cast<float>(i) + 10))
        return false;
    return true;
  }

private:
  Device &device_;
  Buffer a_, b_, c_;
  const float first_;
  const int64_t count_;
  std::array<int64_t, 9> slots_{};
};

inline std::unique_ptr<Device> makeDevice(const Subject &subject) {
  auto made = subject.make();
  INFO(subject.name << ": " << made.status().message());
  REQUIRE(made.isOk());
  return *std::move(made);
}

inline std::shared_ptr<LoadedModule> load(Device &device, const Code &code) {
  auto made = device.load(code.manifest, code.views());
  INFO(made.status().message());
  REQUIRE(made.isOk());
  return *made;
}

} // namespace tilejit::cts

#endif // TILEJIT_TEST_CTS_TRIAL_H
