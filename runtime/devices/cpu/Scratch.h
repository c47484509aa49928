// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Scratch memory of launches: one shared block and one for each thread, kept from launch to launch and grown when one
// wants more. Launches that run at the same time have sets of their own.

#ifndef TILEJIT_DEVICES_CPU_SCRATCH_H
#define TILEJIT_DEVICES_CPU_SCRATCH_H

#include "tilejit/Device/Fork.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace tilejit::cpu {

/// Memory that grows; its content does not survive that. Aligned to 64 bytes.
class ScratchBlock {
public:
  ScratchBlock() = default;
  ScratchBlock(ScratchBlock &&other) noexcept;
  ScratchBlock &operator=(ScratchBlock &&other) = delete;
  ~ScratchBlock();

  /// Null where memory ran out. Zero bytes give null too, and that is no failure.
  void *atLeast(int64_t bytes);

private:
  void *memory_ = nullptr;
  int64_t bytes_ = 0;
};

struct ScratchSet {
  ScratchBlock shared;
  std::vector<ScratchBlock> threads;
};

class ScratchPool {
public:
  /// A set for one launch, with blocks for so many threads.
  std::unique_ptr<ScratchSet> take(int64_t threads);
  void give(std::unique_ptr<ScratchSet> set);

private:
  ForkMutex mutex_;
  std::vector<std::unique_ptr<ScratchSet>> free_;
};

} // namespace tilejit::cpu

#endif // TILEJIT_DEVICES_CPU_SCRATCH_H
