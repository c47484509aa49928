// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Blocks and their pool.

#include "Scratch.h"

#include <cstdlib>
#include <sys/mman.h>
#include <utility>

namespace tilejit::cpu {

namespace {

constexpr int64_t largePage = int64_t{2} << 20;

} // namespace

ScratchBlock::ScratchBlock(ScratchBlock &&other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

ScratchBlock::~ScratchBlock() { std::free(memory_); }

void *ScratchBlock::atLeast(int64_t bytes) {
  if (bytes <= bytes_)
    return bytes == 0 ? nullptr : memory_;
  std::free(memory_);
  int64_t alignment = bytes >= largePage ? largePage : 64;
  bytes_ = (bytes + alignment - 1) / alignment * alignment;
  memory_ = std::aligned_alloc(static_cast<size_t>(alignment), static_cast<size_t>(bytes_));
  if (!memory_)
    bytes_ = 0;
  else if (alignment == largePage)
    madvise(memory_, static_cast<size_t>(bytes_), MADV_HUGEPAGE); // Only a wish: fewer TLB misses in packed panels.
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
