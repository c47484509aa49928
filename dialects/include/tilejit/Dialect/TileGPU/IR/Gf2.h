// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Linear algebra over GF(2) on vectors of at most 64 bits: a vector is a word, its sum with another is their xor. A set
// of vectors is selected by a word as well: bit i stands for the i-th vector. Nothing here knows about layouts.

#ifndef TILEJIT_DIALECT_TILEGPU_IR_GF2_H
#define TILEJIT_DIALECT_TILEGPU_IR_GF2_H

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

namespace tilejit::tilegpu::gf2 {

using Vector = uint64_t;
using Vectors = std::vector<uint64_t>;

/// The word with the `count` (0 to 64) lowest bits set.
constexpr Vector lowBits(int count) { return count >= 64 ? ~Vector(0) : (Vector(1) << count) - 1; }
/// Whether an odd number of bits is set.
constexpr bool parity(Vector v) { return std::popcount(v) & 1; }

/// The sum of the selected vectors.
Vector combine(const Vectors &vectors, Vector selection);
/// combine() of every one of `selections`.
Vectors combineEach(const Vectors &vectors, const Vectors &selections);
/// `count` unit vectors, the first of which has bit `first`.
Vectors units(int first, int count);
/// The vectors of `first`, then those of `second`.
Vectors concat(Vectors first, const Vectors &second);

/// The span of the vectors added so far (at most 64). Knows how its members are sums of the added vectors.
class Span {
public:
  Span() = default;
  explicit Span(const Vectors &vectors);

  /// Adds a vector. True if it was not in the span before.
  bool add(Vector v);
  bool contains(Vector v) const { return reduce(v).rest == 0; }
  bool containsAll(const Vectors &vectors) const;
  /// The added vectors whose sum is `v`; none if `v` is not in the span. A vector that was in the span when it was
  /// added is never selected, so that the selection is unique and prefers vectors added early.
  std::optional<Vector> express(Vector v) const;
  /// If the last add() returned false: the added vectors, the last among them, whose sum is zero.
  Vector relation() const { return relation_; }
  int rank() const { return std::popcount(leading_); }

private:
  struct Reduced {
    Vector rest, selection;
  };
  Reduced reduce(Vector v) const;

  Vector leading_ = 0;               ///< The leading bits of the rows below.
  std::array<Vector, 64> row_;       ///< By leading bit; the others are not there.
  std::array<Vector, 64> selection_; ///< The added vectors whose sum the row is.
  int added_ = 0;
  Vector relation_ = 0;
};

int rank(const Vectors &vectors);
/// Those vectors that are not sums of earlier ones.
Vectors independent(const Vectors &vectors);
/// Those `candidates` that are not sums of `base` and earlier candidates.
Vectors extension(const Vectors &base, const Vectors &candidates);
/// A basis of the selections whose sum is zero.
Vectors kernel(const Vectors &vectors);
/// A basis of what both spans contain; vectors of `x` themselves come first, in their order.
Vectors intersection(const Vectors &x, const Vectors &y);

/// A subspace of span(space), of rank(space) - size dimensions, that has only the zero vector in common with span(x)
/// and with span(y). Both must lie in span(space) and have at most `size` dimensions. For two subspaces one always
/// exists. The basis keeps vectors of `space` where it can; where it must mix one of x with one of y, the first vectors
/// that only x has meet the last that only y has; another `turn` pairs them otherwise, which gives other complements.
Vectors commonComplement(const Vectors &x, const Vectors &y, const Vectors &space, int size, int turn = 0);

} // namespace tilejit::tilegpu::gf2

#endif // TILEJIT_DIALECT_TILEGPU_IR_GF2_H
