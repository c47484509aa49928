// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Memory of one operand between two pages that nobody may touch, and what must not change in it. Around the operand,
// and between its elements where they lie apart, there are bytes that are NaN to whoever reads them beside an input,
// and any bytes beside an output.

#ifndef TILEJIT_TEST_SWEEP_GUARDEDMEMORY_H
#define TILEJIT_TEST_SWEEP_GUARDEDMEMORY_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tilejit::sweep {

/// Which guard a block of memory touches.
enum class Placement : uint8_t {
  AtEnd,   ///< The page behind its last byte is inaccessible.
  AtBegin, ///< The page before its first byte is.
  Inside   ///< Neither: it begins any number of bytes behind a page's begin.
};

class GuardedMemory {
public:
  GuardedMemory() = default;
  GuardedMemory(const GuardedMemory &) = delete;
  GuardedMemory &operator=(const GuardedMemory &) = delete;
  ~GuardedMemory();

  /// A block of so many bytes, valid until the next call; whatever was there before is gone. `align`: a power of two
  /// that its address is a multiple of. `offset`, such a multiple too and less than a page, counts for Inside only.
  std::byte *place(int64_t bytes, Placement placement, int64_t align, int64_t offset);
  /// Fills the block and what is near it: with NaN, or with numbers that follow from a seed.
  void fillWithNan();
  void fillWithNoise(uint64_t seed);
  /// Takes down what is there now.
  void remember();
  /// Takes down what is now in some bytes of the block: they may have changed.
  void allow(const std::byte *from, size_t bytes);
  /// What has changed since, "byte 3 behind the block", or nothing.
  std::string changes() const;
  /// What an address that could not be accessed is to this memory: the same words, or nothing.
  std::string describe(const void *address) const;

private:
  std::span<std::byte> window() const { return {windowBegin_, static_cast<size_t>(windowEnd_ - windowBegin_)}; }
  std::string placeText(const std::byte *address) const;
  void release();

  std::byte *mapping_ = nullptr;
  size_t mappedBytes_ = 0;
  std::byte *block_ = nullptr, *windowBegin_ = nullptr, *windowEnd_ = nullptr;
  int64_t blockBytes_ = 0;
  std::vector<std::byte> remembered_;
};

} // namespace tilejit::sweep

#endif // TILEJIT_TEST_SWEEP_GUARDEDMEMORY_H
