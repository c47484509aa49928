// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// One end of a way through shared memory: a layout and the instruction that moves its elements.

#ifndef TILEJIT_LIB_TRANSFORMS_LAYOUTCONVERSION_ENDS_H
#define TILEJIT_LIB_TRANSFORMS_LAYOUTCONVERSION_ENDS_H

#include "tilejit/Transforms/LayoutConversion.h"

namespace tilejit::tilegpu {

struct End {
  End(const LinearLayout &layout, SharedAccess access, bool isStore, const ConversionOptions &options);

  const LinearLayout &layout;
  SharedAccess access;
  bool isStore;
  int elementBits;
  const BankModel &banks;
  int registerBits, laneBits;
  uint64_t copies; ///< Places (bits) that do not write.

  bool isMatrix() const { return access == SharedAccess::MatrixLoad || access == SharedAccess::MatrixLoadTransposed; }
  /// Whether the instruction exists for these elements and registers at all.
  bool isPossible() const;
  gf2::Vectors elements(const gf2::Vectors &places) const;
  /// The places of 16 contiguous bytes, in order, if the instruction says which.
  std::optional<gf2::Vectors> prescribed() const;
  /// The places whose accesses share a wavefront, for vectors of 2^vectorLog elements; by the model's other order of
  /// lanes.
  gf2::Vectors phase(int vectorLog, bool otherwise = false) const;
  /// The longest vector, as a power of two, at the start of elements that follow each other in memory; -1 if the
  /// instruction cannot move them.
  int vectorLog(const gf2::Vectors &run) const;
};

} // namespace tilejit::tilegpu

#endif // TILEJIT_LIB_TRANSFORMS_LAYOUTCONVERSION_ENDS_H
