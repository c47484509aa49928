// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Blocks and their pool.

#include "Scratch.h"

#include "HostMemory.h"

#include <cstdlib>
#include <utility>

namespace tilejit::cpu {

ScratchBlock::ScratchBlock(ScratchBlock &&other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

ScratchBlock::~ScratchBlock() { std::free(memory_); }

void *ScratchBlock::atLeast(int64_t bytes) {
  if (bytes <= bytes_)
    return bytes == 0 ? nullptr : memory_;
  std::free(memory_);
  memory_ = allocateHostMemory(bytes);
  bytes_ = memory_ ? bytes : 0;
  return memory_;
}

std::unique_ptr<ScratchSet> ScratchPool::take(int64_t threads) {
  std::unique_ptr<ScratchSet> set;
  {
    std::lock_guard guard(mutex_);
    if (!free_.empty()) {
      set = std::move(free_.back());
      free_.pop_back();
    }
  }
  if (!set)
    set = std::make_unique<ScratchSet>();
  if (static_cast<int64_t>(set->threads.size()) < threads)
    set->threads.resize(static_cast<size_t>(threads));
  return set;
}

void ScratchPool::give(std::unique_ptr<ScratchSet> set) {
  std::lock_guard guard(mutex_);
  free_.push_back(std::move(set));
}

} // namespace tilejit::cpu
