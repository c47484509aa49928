// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// tilec devices: what this machine has to run kernels on, and how it is.

#include "Devices.h"
#include "Commands.h"
#include "Reports.h"

#include <CLI/CLI.hpp>
#include <cstdio>

namespace tilejit::tilec {

std::string FoundDevice::name() const {
  std::string text(deviceKindName(kind));
  return device ? text + " " + std::to_string(device->properties().index) : text;
}

std::string FoundDevice::healthText() const {
  if (isHealthy())
    return "ok";
  return std::to_string(*health.memoryErrors) + " memory errors that could not be corrected";
}

std::vector<FoundDevice> findDevices(Context &context) {
  std::vector<FoundDevice> all;
  for (DeviceKind kind : {DeviceKind::Cpu, DeviceKind::Cuda, DeviceKind::Hip}) {
    Expected<int> count = context.deviceCount(kind);
    if (!count) {
      all.push_back({kind, nullptr, count.status(), {}, {}});
      continue;
    }
    for (int i = 0; i < *count; ++i) {
      Expected<Device *> device = context.device(kind, i);
      all.push_back({kind, device ? *device : nullptr, device.status(), {}, {}});
    }
  }
  return all;
}

void addHealth(std::vector<FoundDevice> &all) {
  for (FoundDevice &found : all) {
    if (!found.device || found.kind == DeviceKind::Cpu)
      continue;
    const std::string &bus = found.device->properties().bus;
    if (auto health = found.kind == DeviceKind::Cuda ? nvidiaHealth(bus) : amdHealth(bus))
      found.health = *std::move(health);
  }
}

namespace {

void addPeers(std::vector<FoundDevice> &all) {
  for (FoundDevice &one : all)
    for (const FoundDevice &other : all)
      if (one.device && other.device && one.device != other.device && one.kind == other.kind)
        if (auto reaches = one.device->reaches(*other.device); reaches && *reaches)
          one.peers.push_back(other.device->properties().index);
}

Json deviceJson(const FoundDevice &found) {
  Json json = {{"kind", std::string(deviceKindName(found.kind))}};
  if (!found.device) {
    json["error"] = errorJson(found.status);
    return json;
  }
  const DeviceProperties &properties = found.device->properties();
  json["index"] = properties.index;
  json["name"] = properties.name;
  json["target"] = properties.target.name;
  json["memory_bytes"] = properties.memoryBytes;
  json["free_bytes"] = found.device->freeBytes();
  json["compute_units"] = properties.computeUnits;
  if (found.kind == DeviceKind::Cpu)
    return json;
  json["interface"] = properties.driver;
  json["driver"] = found.health.driver;
  json["bus"] = properties.bus;
  json["ok"] = found.isHealthy();
  json["health"] = found.healthText();
  if (found.health.celsius)
    json["celsius"] = rounded(*found.health.celsius);
  if (found.health.watts)
    json["watts"] = rounded(*found.health.watts);
  if (found.health.wattsLimit)
    json["watts_limit"] = rounded(*found.health.wattsLimit);
  json["peers"] = found.peers;
  return json;
}

void printHealth(const FoundDevice &found) {
  const DeviceHealth &health = found.health;
  const DeviceProperties &properties = found.device->properties();
  std::printf("         %s%s%s at %s, health: %s", properties.driver.c_str(), health.driver.empty() ? "" : ", driver ",
              health.driver.c_str(), properties.bus.c_str(), found.healthText().c_str());
  if (health.celsius)
    std::printf(", %.0f C", *health.celsius);
  if (health.watts)
    std::printf(", %.0f W", *health.watts);
  if (health.wattsLimit)
    std::printf(" of %.0f W", *health.wattsLimit);
  std::printf("\n");
}

/// Which device reaches whose memory: a line for each that reaches one.
void printPeers(const std::vector<FoundDevice> &all) {
  for (const FoundDevice &found : all) {
    if (found.peers.empty())
      continue;
    std::printf("%s reaches the memory of", found.name().c_str());
    for (int peer : found.peers)
      std::printf(" %d", peer);
    std::printf("\n");
  }
}

void printText(const std::vector<FoundDevice> &all) {
  for (const FoundDevice &found : all) {
    if (!found.device) {
      std::printf("%-8s none: %s\n", found.name().c_str(), printable(found.status.message()).c_str());
      if (!found.status.hint().empty())
        std::printf("         hint: %s\n", found.status.hint().c_str());
      continue;
    }
    const DeviceProperties &properties = found.device->properties();
    std::printf("%-8s %s (%s), %d %s, %s of memory, %s free\n", found.name().c_str(), properties.name.c_str(),
                properties.target.name.c_str(), properties.computeUnits,
                found.kind == DeviceKind::Cpu ? "threads" : "units", bytesText(properties.memoryBytes).c_str(),
                bytesText(found.device->freeBytes()).c_str());
    if (found.kind != DeviceKind::Cpu)
      printHealth(found);
  }
  printPeers(all);
}

int run(const Program &program) {
  Expected<std::shared_ptr<Context>> context = program.context();
  if (!context)
    return program.fail(context.status());
  std::vector<FoundDevice> all = findDevices(**context);
  for (const FoundDevice &found : all)
    if (found.status.code() == StatusCode::InvalidArgument)
      return program.fail(found.status); // A setting that can't be read.
  addHealth(all);
  addPeers(all);
  if (!program.json) {
    printText(all);
    return Done;
  }
  Json devices = Json::array(), missing = Json::array();
  for (const FoundDevice &found : all)
    (found.device ? devices : missing).push_back(deviceJson(found));
  Program::print(Json{{"devices", devices}, {"missing", missing}});
  return Done;
}

} // namespace

void addDevices(Registry registry) {
  CLI::App *command =
      registry.app.add_subcommand("devices", "List what this machine has to run kernels on, and how it is");
  registry.program.addCommonOptions(*command);
  command->footer("Simulated chips (sim:sm_80, ...) run on any machine; tilec targets lists them.\n\nExample:\n"
                  "  tilec devices --json");
  registry.onRun(*command, [&program = registry.program] { return run(program); });
}

} // namespace tilejit::tilec
