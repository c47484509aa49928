// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Making devices, and finding the one that a target is for. No lock is held while a device is made.

#include "DeviceTable.h"

#include "tilejit/Base/Text.h"
#include "tilejit/Device/Sim.h"
#include "tilejit/Target/CodeFit.h"

#include <algorithm>
#include <mutex>
#include <string>

namespace tilejit {

Expected<int> DeviceTable::count(DeviceKind kind) {
  switch (kind) {
  case DeviceKind::Cpu:
    return 1;
  case DeviceKind::Sim: {
    TILEJIT_ASSIGN_OR_RETURN(std::vector<std::string> chips, simulatedChips(settings_.text(SettingId::Home)));
    return static_cast<int>(chips.size());
  }
  case DeviceKind::Cuda:
  case DeviceKind::Hip:
    break;
  }
  TILEJIT_ASSIGN_OR_RETURN(Gpus found, gpus(kind));
  return static_cast<int>(found.ordinals.size());
}

namespace {

Status wrongVisible(const std::string &text) {
  return Status(StatusCode::InvalidArgument,
                "visible_devices is \"" + shorten(text, 60) +
                    "\", expected numbers such as 0,2 or cuda:0,hip:1 separated by commas, or none");
}

/// The ordinals of one kind that the setting names, of `count` there are.
Expected<std::vector<int>> visibleOrdinals(const std::string &text, DeviceKind kind, int count) {
  std::vector<int> ordinals;
  if (text.empty())
    for (int i = 0; i < count; ++i)
      ordinals.push_back(i);
  if (text.empty() || text == "none")
    return ordinals;
  for (size_t begin = 0, end; begin <= text.size(); begin = end + 1) {
    end = std::min(text.find(',', begin), text.size());
    std::string_view word = trimText(std::string_view(text).substr(begin, end - begin));
    std::string_view kinds[] = {"cuda", "hip"};
    size_t colon = word.find(':');
    std::string_view of = colon == word.npos ? "" : word.substr(0, colon);
    auto number = parseInteger(colon == word.npos ? word : word.substr(colon + 1));
    if (!number || *number < 0 || (!of.empty() && of != kinds[0] && of != kinds[1]))
      return wrongVisible(text);
    bool isNew = std::find(ordinals.begin(), ordinals.end(), *number) == ordinals.end();
    if ((of.empty() || of == deviceKindName(kind)) && *number < count && isNew)
      ordinals.push_back(static_cast<int>(*number));
  }
  return ordinals;
}

} // namespace

Expected<DeviceTable::Gpus> DeviceTable::findGpus(DeviceKind kind) const {
  const std::string &visible = settings_.text(SettingId::VisibleDevices);
  TILEJIT_RETURN_IF_ERROR(visibleOrdinals(visible, kind, 0).status());
  Gpus found;
  TILEJIT_ASSIGN_OR_RETURN(found.driver, kind == DeviceKind::Cuda ? openCudaDriver() : openHipDriver());
  TILEJIT_ASSIGN_OR_RETURN(int count, countDevices(*found.driver));
  TILEJIT_ASSIGN_OR_RETURN(found.ordinals, visibleOrdinals(visible, kind, count));
  if (found.ordinals.empty())
    return Status(StatusCode::Unavailable, "none of the " + std::to_string(count) + " " +
                                               std::string(deviceKindName(kind)) +
                                               " devices is visible: visible_devices is \"" + visible + "\"");
  return found;
}

Expected<DeviceTable::Gpus> DeviceTable::gpus(DeviceKind kind) {
  {
    std::lock_guard lock(mutex_);
    if (auto known = gpus_.find(kind); known != gpus_.end())
      return known->second;
  }
  Expected<Gpus> found = findGpus(kind);
  std::lock_guard lock(mutex_);
  return gpus_.try_emplace(kind, std::move(found)).first->second;
}

/// The CPU, its threads where the settings want them.
Expected<std::unique_ptr<Device>> DeviceTable::makeCpu() {
  const std::string &affinity = settings_.text(SettingId::CpuAffinity);
  if (affinity == "none")
    return makeCpuDevice({settings_.numThreads(), executor_, {}});
  std::vector<int> usable = usableProcessors(), wanted = settings_.cpuAffinity();
  for (int processor : wanted)
    if (!std::binary_search(usable.begin(), usable.end(), processor))
      return Status(StatusCode::InvalidArgument, "cpu_affinity is \"" + affinity + "\", but this process may not use " +
                                                     "processor " + std::to_string(processor))
          .withHint("`taskset -p PID` and `lscpu` show the processors there are; \"all\" takes those it may use");
  return makeCpuDevice({settings_.numThreads(), executor_, affinity == "all" ? usable : wanted});
}

Expected<std::unique_ptr<Device>> DeviceTable::make(DeviceKind kind, int index) {
  switch (kind) {
  case DeviceKind::Cpu:
    if (index == 0)
      return makeCpu();
    return Status(StatusCode::Unavailable,
                  "there is no device cpu " + std::to_string(index) + "; this machine has cpu 0");
  case DeviceKind::Sim:
    return makeSimDevice({settings_.text(SettingId::Home), settings_.numThreads()}, index);
  case DeviceKind::Cuda:
  case DeviceKind::Hip:
    break;
  }
  TILEJIT_ASSIGN_OR_RETURN(Gpus found, gpus(kind));
  if (index < 0 || static_cast<size_t>(index) >= found.ordinals.size())
    return Status(StatusCode::Unavailable, "there is no device " + std::string(deviceKindName(kind)) + " " +
                                               std::to_string(index) + "; there are " +
                                               std::to_string(found.ordinals.size()) + ", counted from 0");
  return makeGpuDevice(found.driver, {found.ordinals[static_cast<size_t>(index)], index, settings_.memoryFraction()});
}

Expected<Device *> DeviceTable::get(DeviceKind kind, int index) {
  std::pair key{kind, index};
  {
    std::lock_guard lock(mutex_);
    if (auto known = devices_.find(key); known != devices_.end())
      return known->second.get();
  }
  TILEJIT_ASSIGN_OR_RETURN(std::unique_ptr<Device> made, make(kind, index));
  std::lock_guard lock(mutex_);
  return devices_.try_emplace(key, std::move(made)).first->second.get();
}

/// Ok where code for the target runs on this machine's processor, else Unavailable.
Status DeviceTable::fitsHost(const TargetSpec &target) {
  std::string key = target.keyText();
  {
    std::lock_guard lock(mutex_);
    if (auto known = fits_.find(key); known != fits_.end())
      return known->second;
  }
  Status fits = runsOnHost(target);
  if (!fits.isOk())
    fits = Status(StatusCode::Unavailable, fits.message());
  std::lock_guard lock(mutex_);
  fits_.emplace(std::move(key), fits);
  return fits;
}

Expected<Device *> DeviceTable::simulatorOf(const TargetSpec &target) {
  TILEJIT_ASSIGN_OR_RETURN(std::vector<std::string> chips, simulatedChips(settings_.text(SettingId::Home)));
  auto found = std::find(chips.begin(), chips.end(), target.cpu);
  if (found == chips.end())
    return Status(StatusCode::Unavailable, "the simulator does not know " + target.cpu);
  return get(DeviceKind::Sim, static_cast<int>(found - chips.begin()));
}

/// The named device where the code fits it; else the first that it fits best.
Expected<Device *> DeviceTable::gpuFor(const TargetSpec &target, int index) {
  DeviceKind kind = target.kind == TargetKind::Nvidia ? DeviceKind::Cuda : DeviceKind::Hip;
  auto found = gpus(kind);
  std::string refused, advice = "tilec compile needs no device; --target sim:" + target.name + " runs on the simulator";
  if (!found)
    return Status(found.status().code(), "no device here runs " + target.name + ": " + found.status().message())
        .withHint(found.status().hint().empty() ? advice : found.status().hint() + "; " + advice);
  int count = static_cast<int>(found->ordinals.size());
  Device *best = nullptr;
  int bestFit = 0;
  for (int i = std::max(index, 0); i < (index < 0 ? count : index + 1) && bestFit != exactFit; ++i) {
    auto device = get(kind, i);
    refused += refused.empty() ? "" : ", ";
    if (!device && index >= 0)
      return device.status();
    if (!device) { // The others may still do.
      refused += device.status().message();
      continue;
    }
    const TargetSpec &here = (*device)->properties().target;
    if (int fit = codeFit(target, here); fit > bestFit) {
      best = *device;
      bestFit = fit;
    }
    refused += std::string(deviceKindName(kind)) + " " + std::to_string(i) + " is a " + here.name;
  }
  if (best)
    return best;
  return Status(StatusCode::Unavailable, "no device here runs " + target.name + ": " + refused).withHint(advice);
}

Expected<Device *> DeviceTable::forTarget(const TargetSpec &target, int index) {
  if (target.simulated) {
    if (index > 0)
      return Status(StatusCode::Unavailable, "there is no device " + std::to_string(index) + " of " + target.name +
                                                 "; a simulated chip has one, number 0");
    return simulatorOf(target);
  }
  if (target.isCpu()) {
    TILEJIT_RETURN_IF_ERROR(fitsHost(target));
    return get(DeviceKind::Cpu, std::max(index, 0));
  }
  return gpuFor(target, index);
}

} // namespace tilejit
