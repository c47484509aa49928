// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A linear layout says which element of a tile is where: a linear map over GF(2) from the bits of a place to the bits
// of the tile's coordinates. A place is (register, lane, warp, block) for tiles in registers and `offset`, counted in
// elements, for tiles in memory. Everything about layouts is derived from this one class; no code compares kinds of
// them.
//
// Vectors are flat numbers. A flat input has the bits of the FIRST input dimension lowest (register, then lane, ...); a
// flat output has those of the LAST output dimension lowest, as row-major tensors do. All sizes are powers of two; both
// sides have at most 63 bits.

#ifndef TILEJIT_DIALECT_TILEGPU_IR_LINEARLAYOUT_H
#define TILEJIT_DIALECT_TILEGPU_IR_LINEARLAYOUT_H

#include "tilejit/Dialect/TileGPU/IR/Gf2.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tilejit::tilegpu {

/// Names of input dimensions.
inline constexpr std::string_view kRegister = "register", kLane = "lane", kWarp = "warp", kBlock = "block",
                                  kOffset = "offset";

/// A named coordinate with 2^bits values.
struct Dim {
  std::string name;
  int bits = 0;

  uint64_t size() const { return uint64_t(1) << bits; }
  bool operator==(const Dim &) const = default;
};
using Dims = std::vector<Dim>;

/// The dimensions "dim0", "dim1", ... of a tile. Every size must be a power of two.
Dims tileDims(const std::vector<int64_t> &shape);

class LinearLayout {
public:
  /// No inputs, no outputs.
  LinearLayout() = default;
  /// `columns[i]` is the flat output of the flat input with only bit i set. check() must find nothing.
  LinearLayout(Dims ins, Dims outs, gf2::Vectors columns);
  /// What is wrong with the arguments of the constructor, as part of a message; empty if nothing.
  static std::string check(const Dims &ins, const Dims &outs, const gf2::Vectors &columns);
  /// One dimension on each side, of the same 2^bits values, each mapped to itself.
  static LinearLayout identity(std::string_view in, std::string_view out, int bits);
  /// 2^bits values of one input that all map to zero: copies of the same element.
  static LinearLayout zero(std::string_view in, int bits, Dims outs = {});

  const Dims &ins() const { return ins_; }
  const Dims &outs() const { return outs_; }
  const gf2::Vectors &columns() const { return columns_; }
  int inBits() const { return static_cast<int>(columns_.size()); }
  int outBits() const { return outBits_; }
  /// Bits of one dimension: 0 if the layout lacks it.
  int inBits(std::string_view dim) const;
  int outBits(std::string_view dim) const;
  /// Where the bits of a dimension begin in the flat number; for one that the layout lacks, as if it were the last
  /// listed.
  int inShift(std::string_view dim) const;
  int outShift(std::string_view dim) const;
  /// The columns of one input dimension: none if the layout lacks it.
  gf2::Vectors columns(std::string_view dim) const;
  /// Sizes of the output dimensions.
  std::vector<int64_t> shape() const;

  /// The flat output of a flat input.
  uint64_t apply(uint64_t flatIn) const { return gf2::combine(columns_, flatIn); }
  /// A flat input from the values of some dimensions; the others are 0.
  uint64_t flatIn(const std::vector<std::pair<std::string_view, uint64_t>> &values) const;
  /// One number for each output dimension, in their order, and back.
  std::vector<uint64_t> splitOut(uint64_t flatOut) const;
  uint64_t joinOut(const std::vector<uint64_t> &coordinates) const;

  // --- Composition ---------------------------------------------------------------------------------------------------

  /// First this, then `next`. The outputs of this, flat, are the inputs of `next`: as many bits.
  LinearLayout then(const LinearLayout &next) const;
  /// Repeats this layout in the pattern of `outer`: in every dimension, by name, this has the low bits and `outer` the
  /// high ones. Dimensions that only `outer` has: inputs follow those of this, outputs come before them.
  LinearLayout product(const LinearLayout &outer) const;
  /// The layout with inner.product(it) == *this, if there is one; it keeps all dimensions of this, some with 0 bits.
  std::optional<LinearLayout> quotient(const LinearLayout &inner) const;
  /// A map back with l.then(back).then(l) == l: the inverse if there is one. Otherwise it prefers low input bits, that
  /// is registers, and sends what no input reaches to the place of what is left after dropping it.
  LinearLayout pseudoInverse() const;
  /// The inverse; none if the map is not one to one and onto.
  std::optional<LinearLayout> inverse() const;

  // --- Questions -----------------------------------------------------------------------------------------------------

  gf2::Vectors kernel() const { return gf2::kernel(columns_); }
  gf2::Vectors image() const { return gf2::independent(columns_); }
  /// Every element is in one place at most; in one place at least.
  bool isInjective() const { return gf2::rank(columns_) == inBits(); }
  bool isSurjective() const { return gf2::rank(columns_) == outBits(); }
  /// The bits of one input dimension (bit 0 is its lowest) on which the element does not depend.
  uint64_t broadcastBits(std::string_view dim) const;
  /// Of a layout over register, lane and warp: the bits of the thread, lane | warp << laneBits, whose places hold only
  /// what registers and lower bits of the thread hold.
  uint64_t copyBits() const;
  bool operator==(const LinearLayout &) const = default;

  // --- Other places --------------------------------------------------------------------------------------------------

  /// Without those bits of an input dimension that hold only what its lower bits hold.
  LinearLayout withoutBroadcast(std::string_view dim) const;
  /// With exactly these input dimensions in this order. One that the layout lacks gets 0 bits; of one that is left out,
  /// only the value 0 remains.
  LinearLayout withIns(const std::vector<std::string_view> &names) const;
  /// With exactly these output dimensions, all of which the layout has, in this order.
  LinearLayout withOuts(const std::vector<std::string_view> &names) const;

  // --- Other tiles: outputs are called dim0, dim1, ... afterwards
  // --------------------------------------------------------

  /// Of the tile without dimension `axis`: the result of a reduction along it. Places that differed only there are
  /// copies.
  LinearLayout sliced(int axis) const;
  /// With a dimension of size 1 inserted before dimension `axis` (at the end if `axis` is the rank).
  LinearLayout expanded(int axis) const;
  /// Dimension i of the result is dimension order[i] of this.
  LinearLayout transposed(const std::vector<int> &order) const;
  /// The same row-major numbers in a tile of another shape with as many elements.
  LinearLayout reshaped(const std::vector<int64_t> &shape) const;

  /// One line for each input dimension, the step of each of its bits: `lane: dim1=2 dim1=4 dim0=1+dim1=8 0`.
  std::string describe() const;

private:
  /// With output dimensions picked by number, under new names.
  LinearLayout pickOuts(const std::vector<int> &order, Dims outs) const;

  Dims ins_, outs_;
  gf2::Vectors columns_;
  int outBits_ = 0;
};

} // namespace tilejit::tilegpu

#endif // TILEJIT_DIALECT_TILEGPU_IR_LINEARLAYOUT_H
