// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What every kind of device promises (Device/Device.h), on each that this build has.

#include "CapturedErrors.h"
#include "Trial.h"

#include "tilejit/Simulator/Simulator.h"

#include <atomic>
#include <cstring>
#include <thread>

using namespace tilejit;
using namespace tilejit::cts;

namespace {

/// Runs `body` on each subject, named in what fails.
template <typename Body> void onEach(Body body) {
  for (const Subject &subject : subjects()) {
    INFO("device " << subject.name);
    std::unique_ptr<Device> device = makeDevice(subject);
    body(subject, *device);
  }
}

} // namespace

TEST_CASE("a device says what it is", "[cts]") {
  onEach([](const Subject &subject, Device &device) {
    const DeviceProperties &properties = device.properties();
    CHECK(properties.kind == subject.kind);
    CHECK_FALSE(properties.name.empty());
    CHECK(properties.computeUnits >= 1);
    CHECK_FALSE(properties.target.name.empty());
    CHECK(properties.target.simulated == (subject.kind == DeviceKind::Sim));
    CHECK(device.freeBytes() >= 0);
  });
}

TEST_CASE("memory is aligned, and keeps what is copied into it", "[cts]") {
  onEach([](const Subject &, Device &device) {
    for (int64_t bytes : {0, 1, 64, 1'000'003}) {
      Buffer from(device, bytes), to(device, bytes);
      CHECK(reinterpret_cast<uintptr_t>(from.get()) % 64 == 0);
      CHECK(from.get() != nullptr);
      std::string text(static_cast<size_t>(bytes), 'x'), back(text.size(), ' ');
      if (bytes > 0)
        text.back() = 'y';
      REQUIRE(device.copyToDevice(from.get(), text.data(), bytes).isOk());
      REQUIRE(device.copyOnDevice(to.get(), from.get(), bytes, nullptr).isOk());
      REQUIRE(device.synchronizeStream(nullptr).isOk());
      REQUIRE(device.copyToHost(back.data(), to.get(), bytes).isOk());
      CHECK(back == text);
      if (device.isHostMemory())
        CHECK(std::memcmp(to.get(), text.data(), text.size()) == 0);
    }
    device.release(nullptr);
  });
}

TEST_CASE("sizes that can't be are refused", "[cts]") {
  onEach([](const Subject &, Device &device) {
    CHECK(device.allocate(-1).status().code() == StatusCode::InvalidArgument);
    CHECK_FALSE(device.allocate(INT64_MAX).isOk());
    CHECK_FALSE(device.copyToHost(nullptr, nullptr, -1).isOk());
    CHECK_FALSE(device.copyToDevice(nullptr, nullptr, -1).isOk());
  });
}

TEST_CASE("streams and events order work", "[cts]") {
  onEach([](const Subject &, Device &device) {
    auto stream = device.createStream(), other = device.createStream();
    auto first = device.createEvent(), second = device.createEvent();
    REQUIRE(stream.isOk());
    REQUIRE(other.isOk());
    REQUIRE(first.isOk());
    REQUIRE(second.isOk());
    CHECK(*stream != *other);
    CHECK_FALSE(device.isCapturing(*stream));
    Buffer memory(device, 1000);
    std::string text(1000, 'a'), back(1000, ' ');
    CHECK(device.record(*first, *stream).isOk());
    CHECK(device.copyToDeviceAsync(memory.get(), text.data(), 1000, *stream).isOk());
    CHECK(device.record(*second, *stream).isOk());
    CHECK(device.wait(*other, *second).isOk());
    CHECK(device.copyToHostAsync(back.data(), memory.get(), 1000, *other).isOk());
    CHECK(device.synchronizeStream(*other).isOk());
    CHECK(back == text);
    auto happened = device.hasHappened(*second);
    CHECK((happened.isOk() && *happened));
    auto between = device.millisecondsBetween(*first, *second);
    REQUIRE(between.isOk());
    CHECK(*between >= 0);
    CHECK_FALSE(device.record(nullptr, *stream).isOk());
    device.destroyEvent(*first);
    device.destroyEvent(*second);
    device.destroyStream(*stream);
    device.destroyStream(*other);
  });
}

TEST_CASE("launches compute what the kernel says, for every size", "[cts]") {
  onEach([](const Subject &subject, Device &device) {
    auto module = load(device, subject.add);
    CHECK(module->bytes() > 0);
    for (int64_t count : {0, 1, 63, 64, 65, 1000}) {
      INFO(count << " elements");
      Trial trial(device, count);
      LaunchOutcome outcome;
      Status status = device.launch(*module, trial.arguments(), outcome);
      INFO(status.message());
      REQUIRE(status.isOk());
      REQUIRE(device.synchronize().isOk());
      CHECK(outcome.failedAssertion == -1);
      CHECK(outcome.path == 0);
      CHECK(outcome.tasks == (count + 63) / 64);
      CHECK(trial.isRight(1));
    }
  });
}

TEST_CASE("launches in a stream are done when the stream is", "[cts]") {
  onEach([](const Subject &subject, Device &device) {
    auto module = load(device, subject.add);
    auto stream = device.createStream();
    REQUIRE(stream.isOk());
    Trial trial(device, 200);
    LaunchArguments arguments = trial.arguments();
    arguments.stream = *stream;
    LaunchOutcome outcome;
    REQUIRE(device.launch(*module, arguments, outcome).isOk());
    REQUIRE(device.synchronizeStream(*stream).isOk());
    CHECK(trial.isRight(1));
    device.destroyStream(*stream);
  });
}

TEST_CASE("phases follow each other, over a workspace of the caller's or the device's own", "[cts]") {
  onEach([](const Subject &subject, Device &device) {
    if (subject.staged.bytes.empty())
      return;
    auto module = load(device, subject.staged);
    for (bool own : {false, true}) {
      Trial trial(device, 130);
      LaunchArguments arguments = trial.arguments();
      auto needed = device.workspaceBytes(*module, arguments);
      REQUIRE(needed.isOk());
      CHECK(*needed == 4 * 130);
      Buffer workspace(device, *needed);
      if (own) {
        arguments.workspace = workspace.get();
        arguments.workspaceBytes = *needed;
      }
      LaunchOutcome outcome;
      Status status = device.launch(*module, arguments, outcome);
      INFO(status.message());
      REQUIRE(status.isOk());
      REQUIRE(device.synchronize().isOk());
      CHECK(outcome.tasks == 6);
      CHECK(outcome.failedAssertion == -1);
      CHECK(trial.isRight(2));
    }
  });
}

TEST_CASE("a failed assertion is known after the launch, and does not spoil the next one", "[cts]") {
  onEach([](const Subject &subject, Device &device) {
    if (subject.staged.bytes.empty())
      return;
    auto module = load(device, subject.staged);
    Trial bad(device, 100, 999'950), good(device, 100);
    LaunchOutcome outcome, next;
    REQUIRE(device.launch(*module, bad.arguments(), outcome).isOk());
    CHECK(outcome.failedAssertion == 2);
    REQUIRE(device.launch(*module, good.arguments(), next).isOk());
    CHECK(next.failedAssertion == -1);
    CHECK(good.isRight(2));
  });
}

TEST_CASE("what a kernel prints is on standard error when its launch returns", "[cts]") {
  onEach([](const Subject &subject, Device &device) {
    if (subject.say.bytes.empty())
      return;
    auto module = load(device, subject.say);
    auto stream = device.createStream();
    REQUIRE(stream.isOk());
    for (Stream used : {Stream(nullptr), *stream}) {
      Trial trial(device, 130), empty(device, 0);
      LaunchArguments arguments = trial.arguments();
      arguments.stream = used;
      LaunchOutcome outcome;
      test::CapturedErrors errors;
      REQUIRE(device.launch(*module, arguments, outcome).isOk());
      REQUIRE(device.launch(*module, empty.arguments(), outcome).isOk());
      CHECK(errors.take() == "at 0 1\nat 1 65\nat 2 129\n");
      if (outcome.simulated)
        CHECK(outcome.simulated->reports.empty());
    }
    device.destroyStream(*stream);
  });
}

TEST_CASE("launches from several threads are right", "[cts]") {
  onEach([](const Subject &subject, Device &device) {
    auto module = load(device, subject.staged.bytes.empty() ? subject.add : subject.staged);
    float factor = subject.staged.bytes.empty() ? 1 : 2;
    std::vector<std::unique_ptr<Trial>> trials;
    for (int i = 0; i < 4; ++i)
      trials.push_back(std::make_unique<Trial>(device, 50 + 40 * i));
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (auto &trial : trials)
      threads.emplace_back([&] {
        for (int round = 0; round < 5; ++round) {
          LaunchOutcome outcome;
          wrong += !device.launch(*module, trial->arguments(), outcome).isOk() || !device.synchronize().isOk();
        }
      });
    for (std::thread &thread : threads)
      thread.join();
    CHECK(wrong == 0);
    for (auto &trial : trials)
      CHECK(trial->isRight(factor));
  });
}

TEST_CASE("code that the device can't take is refused with a reason", "[cts]") {
  onEach([](const Subject &subject, Device &device) {
    auto none = device.load(subject.add.manifest, {});
    CHECK(none.status().code() == StatusCode::DoesNotFit);
    CHECK_FALSE(none.status().message().empty());
    Code damaged = subject.add;
    for (std::string &bytes : damaged.bytes)
      bytes = "this is no code at all";
    CHECK(device.load(damaged.manifest, damaged.views()).status().code() == StatusCode::DeviceFailed);
    if (subject.kind == DeviceKind::Cpu)
      return;
    Code ruleless = subject.add, nameless = subject.add;
    ruleless.manifest.gpu = {};
    CHECK(device.load(ruleless.manifest, ruleless.views()).status().code() == StatusCode::DeviceFailed);
    nameless.manifest.gpu.kernels[0].symbol = "missing";
    auto missing = device.load(nameless.manifest, nameless.views());
    CHECK(missing.status().code() == StatusCode::DeviceFailed);
    CHECK(missing.status().message().find("missing") != std::string::npos);
  });
}
