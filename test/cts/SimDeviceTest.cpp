// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What simulated devices have beyond others: reports and counters in the outcome of a launch, checks that can be
// switched off, memory that nobody wrote.

#include "Trial.h"

#include "tilejit/Simulator/Simulator.h"

using namespace tilejit;
using namespace tilejit::cts;

namespace {

template <typename Body> void onEachSimulator(Body body) {
  for (const Subject &subject : subjects()) {
    if (subject.kind != DeviceKind::Sim)
      continue;
    INFO("device " << subject.name);
    std::unique_ptr<Device> device = makeDevice(subject);
    body(subject, *device);
  }
}

size_t count(const sim::Outcome &outcome, sim::ReportKind kind) {
  size_t found = 0;
  for (const sim::Report &report : outcome.reports)
    found += report.kind == kind;
  return found;
}

} // namespace

TEST_CASE("counters of all phases are added up, and contiguous operands are ideal", "[cts][sim]") {
  onEachSimulator([](const Subject &subject, Device &device) {
    auto module = load(device, subject.staged);
    Trial trial(device, 256);
    LaunchOutcome outcome;
    REQUIRE(device.launch(*module, trial.arguments(), outcome).isOk());
    REQUIRE(outcome.simulated);
    const sim::Counters &counters = outcome.simulated->counters;
    CHECK(outcome.simulated->reports.empty());
    CHECK(counters.bytesGlobalRead == 3 * 1024);
    CHECK(counters.bytesGlobalWritten == 2 * 1024);
    CHECK(counters.sectors == counters.sectorsIdeal);
    CHECK(counters.threadInstructions > 0);
  });
}

TEST_CASE("a read past an operand is reported by the operand's name", "[cts][sim]") {
  onEachSimulator([](const Subject &subject, Device &device) {
    auto module = load(device, subject.add);
    Trial trial(device, 100);
    trial.slots()[1] = 101; // What the kernel takes for the size.
    LaunchOutcome outcome;
    REQUIRE(device.launch(*module, trial.arguments(), outcome).isOk());
    REQUIRE(count(*outcome.simulated, sim::ReportKind::Bounds) >= 1);
    const std::string &message = outcome.simulated->reports.front().message;
    INFO(message);
    CHECK(message.find("a") != std::string::npos);
  });
}

TEST_CASE("memory that nobody wrote is reported where it is read, unless that is switched off", "[cts][sim]") {
  onEachSimulator([](const Subject &subject, Device &device) {
    auto module = load(device, subject.add);
    Trial trial(device, 64);
    Buffer fresh(device, 256, "fresh");
    trial.slots()[0] = reinterpret_cast<int64_t>(fresh.get());
    LaunchOutcome outcome, unchecked;
    // A sum of undefined values may be stored; where it matters is where it is used.
    auto staged = load(device, subject.staged);
    REQUIRE(device.launch(*staged, trial.arguments(), outcome).isOk());
    CHECK(count(*outcome.simulated, sim::ReportKind::Uninitialized) >= 1);
    sim::Options options;
    options.checks &= ~(1u << static_cast<unsigned>(sim::Check::Uninitialized));
    LaunchArguments arguments = trial.arguments();
    arguments.simulation = &options;
    REQUIRE(device.launch(*staged, arguments, unchecked).isOk());
    CHECK(unchecked.simulated->reports.empty());
  });
}

TEST_CASE("other schedules give the same", "[cts][sim]") {
  onEachSimulator([](const Subject &subject, Device &device) {
    auto module = load(device, subject.staged);
    for (uint64_t seed : {1, 7}) {
      Trial trial(device, 300);
      sim::Options options;
      options.scheduleSeed = seed;
      LaunchArguments arguments = trial.arguments();
      arguments.simulation = &options;
      LaunchOutcome outcome;
      REQUIRE(device.launch(*module, arguments, outcome).isOk());
      CHECK(outcome.simulated->reports.empty());
      CHECK(trial.isRight(2));
    }
  });
}

TEST_CASE("code of another architecture is refused", "[cts][sim]") {
  onEachSimulator([](const Subject &subject, Device &device) {
    Code foreign = subject.add;
    foreign.bytes[0] = kernelsAsIr(subject.name != "sim:sm_80");
    auto refused = device.load(foreign.manifest, foreign.views());
    CHECK(refused.status().code() == StatusCode::DeviceFailed);
    INFO(refused.status().message());
    CHECK(refused.status().message().find(subject.name.substr(4)) != std::string::npos);
  });
}
