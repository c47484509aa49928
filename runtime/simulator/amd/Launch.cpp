// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What the runtime of an AMD chip puts before a kernel: its arguments as they lie in memory, the hidden arguments (code
// object version 5), the dispatch packet and the queue. One allocation holds them all.

#include "amd/Launch.h"

#include "amd/State.h"
#include "core/Block.h"

#include <algorithm>
#include <cstring>

namespace tilejit::sim {

namespace {

uint64_t roundUp(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }

template <class T> void put(uint8_t *to, uint64_t offset, T value) { std::memcpy(to + offset, &value, sizeof value); }

/// Bytes that the kernel declares, each at its natural alignment.
uint64_t explicitBytes(const LaunchState &launch, uint8_t *to) {
  uint64_t at = 0;
  for (size_t i = 0; i < launch.program->parameters.size(); ++i) {
    const Parameter &parameter = launch.program->parameters[i];
    uint64_t bytes = parameter.info.isPointer && !parameter.info.isByValue ? 8 : parameter.info.bytes;
    uint64_t alignment = 1;
    while (alignment < 16 && alignment * 2 <= bytes && bytes % (alignment * 2) == 0)
      alignment *= 2;
    at = roundUp(at, std::min<uint64_t>(alignment, parameter.info.isByValue ? 8 : 16));
    if (to && i < launch.request->arguments.size()) {
      const std::vector<uint8_t> &value = launch.request->arguments[i];
      std::memcpy(to + at, value.data(), std::min<uint64_t>(value.size(), bytes));
    }
    at += bytes;
  }
  return roundUp(at, 8);
}

void putHidden(const LaunchState &launch, uint8_t *to, uint64_t queue) {
  const uint32_t *grid = launch.request->grid, *block = launch.request->block;
  unsigned dimensions = 1;
  for (unsigned i = 0; i < 3; ++i) {
    put(to, hiddenBlockCounts + 4 * i, grid[i]);
    put(to, hiddenGroupSizes + 2 * i, static_cast<uint16_t>(block[i]));
    if (grid[i] * block[i] != 1)
      dimensions = i + 1;
  }
  put(to, hiddenGridDimensions, static_cast<uint16_t>(dimensions));
  put(to, hiddenDynamicLds, launch.request->dynamicSharedBytes);
  put(to, hiddenPrivateBase, static_cast<uint32_t>(localWindow >> 32));
  put(to, hiddenSharedBase, static_cast<uint32_t>(sharedWindow >> 32));
  put(to, hiddenQueue, queue);
}

/// hsa_kernel_dispatch_packet_t.
void putDispatch(const LaunchState &launch, uint8_t *to, uint64_t kernarg) {
  const uint32_t *grid = launch.request->grid, *block = launch.request->block;
  put(to, 2, uint16_t(3));
  for (unsigned i = 0; i < 3; ++i) {
    put(to, 4 + 2 * i, static_cast<uint16_t>(block[i]));
    put(to, 12 + 4 * i, grid[i] * block[i]);
  }
  put(to, 24, launch.program->localBytes);
  put(to, 28, launch.sharedBytes);
  put(to, 40, kernarg);
}

} // namespace

void fillAmdLaunch(LaunchState &launch) {
  uint64_t declared = explicitBytes(launch, nullptr), total = declared + hiddenBytes + dispatchBytes + queueBytes;
  Expected<void *> memory = launch.memory->allocate(total, "kernel arguments", true, true);
  if (!memory)
    return;
  auto *bytes = static_cast<uint8_t *>(*memory);
  auto base = reinterpret_cast<uint64_t>(bytes);
  launch.amdArguments = base;
  launch.amdHidden = base + declared;
  explicitBytes(launch, bytes);
  uint64_t queue = base + declared + hiddenBytes + dispatchBytes;
  putHidden(launch, bytes + declared, queue);
  putDispatch(launch, bytes + declared + hiddenBytes, base);
  put(bytes, queue - base + queueSharedBase, static_cast<uint32_t>(sharedWindow >> 32));
  put(bytes, queue - base + queuePrivateBase, static_cast<uint32_t>(localWindow >> 32));
}

void releaseAmdLaunch(LaunchState &launch) {
  if (launch.amdArguments)
    launch.memory->release(reinterpret_cast<void *>(launch.amdArguments));
  launch.amdArguments = launch.amdHidden = 0;
}

void startAmdBlock(Block &block) {
  for (Warp &warp : block.warps)
    if (!warp.amd)
      warp.amd = std::make_unique<AmdWarpState>();
    else
      *warp.amd = AmdWarpState{};
}

} // namespace tilejit::sim
