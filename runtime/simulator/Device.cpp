// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The simulated device: memory, modules, launches; and the one symbol of the plug-in.

#include "amd/State.h"
#include "core/GlobalShadow.h"
#include "core/Launch.h"
#include "decode/Loader.h"

#include <chrono>
#include <cstring>

namespace tilejit::sim {

namespace {

double millisecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

/// Memory that lives as long as one launch.
class LaunchMemory {
public:
  explicit LaunchMemory(GlobalMemory &memory) : memory_(memory) {}
  ~LaunchMemory() {
    for (void *part : parts_)
      memory_.release(part);
  }
  Expected<uint64_t> add(const std::vector<uint8_t> &bytes, std::string_view name, bool initialized, bool readOnly) {
    TILEJIT_ASSIGN_OR_RETURN(void *made, memory_.allocate(bytes.size(), name, initialized, readOnly));
    std::memcpy(made, bytes.data(), initialized ? bytes.size() : 0);
    parts_.push_back(made);
    return reinterpret_cast<uint64_t>(made);
  }

private:
  GlobalMemory &memory_;
  std::vector<void *> parts_;
};

class Device final : public Simulator {
public:
  explicit Device(const Chip &chip) : chip_(chip) {}

  Expected<void *> allocate(int64_t bytes, std::string_view name, bool initialized) override {
    if (bytes < 0)
      return Status(StatusCode::InvalidArgument, "can't allocate a negative number of bytes");
    return memory_.allocate(static_cast<uint64_t>(bytes), name, initialized);
  }
  void release(void *memory) override { memory_.release(memory); }
  void markWritten(void *memory, int64_t bytes) override { memory_.markWritten(memory, static_cast<uint64_t>(bytes)); }
  Expected<std::shared_ptr<Module>> load(std::string_view bytes, std::string_view name) override {
    TILEJIT_ASSIGN_OR_RETURN(std::shared_ptr<LoadedIr> loaded, LoadedIr::read(bytes, name, chip_));
    return std::shared_ptr<Module>(std::move(loaded));
  }
  Expected<Outcome> launch(const Module &module, const LaunchRequest &request, const Options &options) override;

private:
  Status checkLaunch(const Program &program, const LaunchRequest &request) const;
  Status checkCluster(const KernelInfo &kernel, const LaunchRequest &request) const;
  Status placeGlobals(LaunchState &state, LaunchMemory &memory);
  Status placeArguments(LaunchState &state, LaunchMemory &memory);
  static void fill(std::vector<uint8_t> &image, Reg reg, Kind kind, uint64_t bits, unsigned width);

  const Chip &chip_;
  GlobalMemory memory_;
  PagePool shadowPages_;
  HostThreads threads_;
};

Status Device::checkLaunch(const Program &program, const LaunchRequest &request) const {
  auto refuse = [](std::string text) { return Status(StatusCode::InvalidArgument, std::move(text)); };
  uint64_t threads = 1, blocks = 1;
  for (unsigned i = 0; i < 3; ++i) {
    if (!request.grid[i] || !request.block[i])
      return refuse("grid and block sizes must be positive");
    threads *= request.block[i];
    blocks *= request.grid[i];
  }
  if (threads > chip_.maxThreads)
    return refuse("a block of " + std::to_string(threads) + " threads; " + chip_.info.name + " takes at most " +
                  std::to_string(chip_.maxThreads));
  if (blocks > (1ull << 31))
    return refuse("a grid of " + std::to_string(blocks) + " blocks is more than can be simulated");
  uint64_t shared = uint64_t(program.dynamicShared) + request.dynamicSharedBytes;
  if (shared > chip_.info.sharedBytes)
    return refuse(std::to_string(shared) + " bytes of shared memory; " + chip_.info.name + " has " +
                  std::to_string(chip_.info.sharedBytes) + " for a block");
  if (request.arguments.size() > program.parameters.size())
    return refuse("kernel '" + program.kernel + "' takes " + std::to_string(program.parameters.size()) +
                  " arguments, got " + std::to_string(request.arguments.size()));
  for (size_t i = 0; i < program.parameters.size(); ++i) {
    const ParameterInfo &info = program.parameters[i].info;
    if (i >= request.arguments.size()) {
      if (!info.isPointer || info.isByValue)
        return refuse("argument " + std::to_string(i) + " ('" + info.name + "') of kernel '" + program.kernel +
                      "' is missing");
      continue;
    }
    if (request.arguments[i].size() != info.bytes)
      return refuse("argument " + std::to_string(i) + " ('" + info.name + "') of kernel '" + program.kernel + "' has " +
                    std::to_string(info.bytes) + " bytes, got " + std::to_string(request.arguments[i].size()));
  }
  return Status::ok();
}

Status Device::checkCluster(const KernelInfo &kernel, const LaunchRequest &request) const {
  constexpr uint64_t mostBlocks = 16;
  auto text = [](const uint32_t *sizes) { return BlockPlace{0, {sizes[0], sizes[1], sizes[2]}}.text(); };
  auto refuse = [](std::string what) { return Status(StatusCode::InvalidArgument, std::move(what)); };
  const uint32_t *cluster = request.cluster, *required = kernel.requiredCluster;
  if (!cluster[0] || !cluster[1] || !cluster[2])
    return refuse("cluster sizes must be positive");
  if (required[0] && !std::equal(cluster, cluster + 3, required))
    return refuse("kernel '" + kernel.name + "' is made for clusters of " + text(required) + " blocks, got " +
                  text(cluster));
  uint64_t blocks = uint64_t(cluster[0]) * cluster[1] * cluster[2];
  if (blocks > 1 && (!chip_.info.nvidia || chip_.generation < Generation::Hopper))
    return refuse("a cluster of " + std::to_string(blocks) + " blocks; " + chip_.info.name + " has no clusters");
  if (blocks > mostBlocks)
    return refuse("a cluster of " + std::to_string(blocks) + " blocks; " + chip_.info.name + " takes at most " +
                  std::to_string(mostBlocks));
  for (unsigned i = 0; i < 3; ++i)
    if (request.grid[i] % cluster[i])
      return refuse("a grid of " + text(request.grid) + " blocks is no multiple of clusters of " + text(cluster));
  return Status::ok();
}

void Device::fill(std::vector<uint8_t> &image, Reg reg, Kind kind, uint64_t bits, unsigned width) {
  unsigned bytes = sizeOf(kind);
  if (image.size() < reg + size_t(bytes) * width)
    image.resize(reg + size_t(bytes) * width);
  for (unsigned l = 0; l < width; ++l)
    std::memcpy(image.data() + reg + size_t(l) * bytes, &bits, bytes);
}

Status Device::placeGlobals(LaunchState &state, LaunchMemory &memory) {
  const Program &program = *state.program;
  for (const GlobalVariable &variable : program.globals) {
    TILEJIT_ASSIGN_OR_RETURN(uint64_t address,
                             memory.add(variable.bytes, variable.name, !variable.undefined, variable.constant));
    state.globals.push_back(address);
  }
  for (size_t i = 0; i < program.globals.size(); ++i)
    for (const GlobalVariable::Pointer &pointer : program.globals[i].pointers) {
      uint64_t value = state.globals[pointer.global] + pointer.addend;
      std::memcpy(reinterpret_cast<uint8_t *>(state.globals[i]) + pointer.offset, &value, 8);
    }
  for (const Constant &constant : program.constants) {
    uint64_t bits = constant.bits;
    if (constant.base == Constant::Base::Global)
      bits += state.globals[constant.global];
    fill(state.registerImage, constant.reg, constant.kind, bits, program.width);
  }
  return Status::ok();
}

Status Device::placeArguments(LaunchState &state, LaunchMemory &memory) {
  const Program &program = *state.program;
  for (size_t i = 0; i < program.parameters.size(); ++i) {
    const Parameter &parameter = program.parameters[i];
    std::vector<uint8_t> bytes(parameter.info.bytes, 0);
    if (i < state.request->arguments.size())
      bytes = state.request->arguments[i];
    if (parameter.info.isByValue) {
      TILEJIT_ASSIGN_OR_RETURN(uint64_t address, memory.add(bytes, "parameter " + parameter.info.name, true, false));
      bytes.assign(8, 0);
      std::memcpy(bytes.data(), &address, 8);
    }
    for (size_t k = 0; k < parameter.regs.size(); ++k) {
      uint64_t bits = 0;
      size_t size = sizeOf(parameter.kinds[k]);
      if (parameter.offsets[k] < bytes.size())
        std::memcpy(&bits, bytes.data() + parameter.offsets[k], std::min(size, bytes.size() - parameter.offsets[k]));
      fill(state.registerImage, parameter.regs[k], parameter.kinds[k], bits, program.width);
    }
  }
  return Status::ok();
}

Expected<Outcome> Device::launch(const Module &module, const LaunchRequest &request, const Options &options) {
  const auto &loaded = static_cast<const LoadedIr &>(module);
  auto start = std::chrono::steady_clock::now();
  TILEJIT_ASSIGN_OR_RETURN(std::shared_ptr<const Program> program, loaded.program(request.kernel));
  Outcome outcome;
  outcome.decodeMs = millisecondsSince(start);
  outcome.staticSharedBytes = program->staticShared;
  outcome.registerBytes = program->registerBytes;
  TILEJIT_RETURN_IF_ERROR(checkLaunch(*program, request));
  for (const KernelInfo &kernel : loaded.kernels())
    if (kernel.name == request.kernel)
      TILEJIT_RETURN_IF_ERROR(checkCluster(kernel, request));
  LaunchState state;
  LaunchMemory memory(memory_);
  state.program = program.get();
  state.chip = &chip_;
  state.request = &request;
  state.options = options;
  state.memory = &memory_;
  state.sharedBytes = program->dynamicShared + request.dynamicSharedBytes;
  state.threads = request.block[0] * request.block[1] * request.block[2];
  state.warps = (state.threads + program->width - 1) / program->width;
  state.clusters = ClusterShape(request);
  state.alone = state.clusters.clusters() == 1;
  TILEJIT_RETURN_IF_ERROR(placeGlobals(state, memory));
  TILEJIT_RETURN_IF_ERROR(placeArguments(state, memory));
  if (!chip_.info.nvidia)
    fillAmdLaunch(state);
  GlobalShadow shadow(state, shadowPages_);
  if (options.has(Check::Race) && (!state.alone || state.warps * state.clusters.blocks() > 1))
    state.globalShadow = &shadow;
  start = std::chrono::steady_clock::now();
  LaunchRunner(state, threads_).run(outcome);
  releaseAmdLaunch(state);
  outcome.runMs = millisecondsSince(start);
  return outcome;
}

std::span<const ChipInfo> listChips() {
  static const std::vector<ChipInfo> infos = [] {
    std::vector<ChipInfo> list;
    for (const Chip &chip : chips())
      list.push_back(chip.info);
    return list;
  }();
  return infos;
}

Expected<std::unique_ptr<Simulator>> createDevice(std::string_view name) {
  const Chip *chip = findChip(name);
  if (!chip) {
    std::string known;
    for (const Chip &other : chips())
      known += (known.empty() ? "" : ", ") + other.info.name;
    return Status(StatusCode::NotFound, "no simulator for '" + std::string(name) + "'")
        .withHint("simulated chips: " + known);
  }
  return std::unique_ptr<Simulator>(std::make_unique<Device>(*chip));
}

} // namespace

} // namespace tilejit::sim

extern "C" __attribute__((visibility("default"))) const tilejit::sim::Plugin *tilejit_simulator_plugin() {
  static const tilejit::sim::Plugin plugin{tilejit::sim::pluginVersion, &tilejit::sim::listChips,
                                           &tilejit::sim::createDevice};
  return &plugin;
}
