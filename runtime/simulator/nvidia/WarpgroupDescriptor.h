// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Operands of warpgroup products in shared memory: a 64-bit descriptor says how 16-byte pieces are laid out. For all
// element types a product consumes 32 bytes along k of each row (operands contiguous in k), or for 16-bit elements 16
// rows of k (operands contiguous in m or n).

#ifndef TILEJIT_SIMULATOR_NVIDIA_WARPGROUPDESCRIPTOR_H
#define TILEJIT_SIMULATOR_NVIDIA_WARPGROUPDESCRIPTOR_H

#include <cstdint>

namespace tilejit::sim {

class OperandDescriptor {
public:
  /// `base`: where the shared memory of the thread's block begins; the descriptor has the low 18 bits of an address in
  /// it.
  OperandDescriptor(uint64_t bits, uint32_t base)
      : start_(base + (((static_cast<uint32_t>(bits & 0x3fff) << 4) - base) & 0x3ffff)),
        leading_(static_cast<uint32_t>((bits >> 16) & 0x3fff) << 4),
        stride_(static_cast<uint32_t>((bits >> 32) & 0x3fff) << 4), baseOffset_((bits >> 49) & 7),
        rowBytes_(rowBytesOf(static_cast<unsigned>(bits >> 62))), phases_(rowBytes_ / 16 - 1) {}

  bool isSwizzled() const { return rowBytes_ != 16; }
  unsigned baseOffset() const { return baseOffset_; }

  /// Contiguous in k: the piece (0 or 1) of row `mn`.
  uint32_t alongK(uint32_t mn, uint32_t piece) const {
    if (!isSwizzled())
      return start_ + mn % 8 * 16 + mn / 8 * stride_ + piece * leading_;
    return swizzled(start_ + mn % 8 * rowBytes_ + mn / 8 * stride_ + piece * 16);
  }
  /// Contiguous in m or n, 16-bit elements: the piece of rows mn to mn + 7 at k.
  uint32_t acrossK(uint32_t mn, uint32_t k) const {
    if (!isSwizzled())
      return start_ + mn / 8 * stride_ + k % 8 * 16 + k / 8 * leading_;
    uint32_t width = rowBytes_ / 2;
    return swizzled(start_ + mn % width * 2 + mn / width * leading_ + k % 8 * rowBytes_ + k / 8 * stride_);
  }

private:
  static uint32_t rowBytesOf(unsigned mode) { return mode == 0 ? 16 : 256u >> mode; }
  /// By bits of the absolute address.
  uint32_t swizzled(uint32_t address) const { return address ^ ((address >> 7) & phases_) << 4; }

  uint32_t start_, leading_, stride_, baseOffset_, rowBytes_, phases_;
};

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_NVIDIA_WARPGROUPDESCRIPTOR_H
