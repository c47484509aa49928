// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The index space of an operator and how each operand lies in it: which dimension of an operand runs along which
// dimension of the space, and with what stride. collapse() merges neighbouring dimensions wherever every operand
// allows it, so that generators see as few and as long dimensions as possible. Pure data: no IR.

#ifndef TILEJIT_LIB_OPLIB_SPACE_H
#define TILEJIT_LIB_OPLIB_SPACE_H

#include "tilejit/Description/Description.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tilejit::oplib {

/// A constant, or a constant times one symbolic dimension.
struct Size {
  int64_t factor = 1;
  int symbol = -1; ///< Index in Description::dims; -1: the size is `factor`.

  static Size of(const Dim &dim) { return dim.isSymbolic() ? Size{1, dim.symbol} : Size{dim.size, -1}; }
  bool isStatic() const { return symbol < 0; }
  bool isOne() const { return isStatic() && factor == 1; }
  /// The product, where it is a Size again.
  std::optional<Size> times(const Size &other) const;
  bool operator==(const Size &) const = default;
};

/// a times b of numbers that are not negative, or the largest number.
int64_t saturatingProduct(int64_t a, int64_t b);

/// Largest and smallest value of a size, and a number that divides it, from what the description says.
int64_t largest(const Description &description, const Size &size);
int64_t smallest(const Description &description, const Size &size);
int64_t divisor(const Description &description, const Size &size);

/// How one operand lies along one dimension of the space.
struct AxisAccess {
  int dim = -1;               ///< Dimension of the operand (the last one of a merged group); -1: it does not move.
  std::optional<Size> stride; ///< In elements, where the description tells.
  int64_t times = 1;          ///< The stride is so many of the dimension's.

  bool moves() const { return dim >= 0; }
};

/// How one operand lies in the space: one entry for each dimension.
struct Access {
  int operand = 0; ///< Index among inputs, then outputs.
  std::vector<AxisAccess> axes;
};

/// One dimension of the space. Only dimensions with equal tags are merged.
struct SpaceDim {
  Size size;
  int tag = 0;
};

class Space {
public:
  explicit Space(const Description &description) : description_(&description) {}

  void addDim(const Dim &dim, int tag = 0) { dims.push_back({Size::of(dim), tag}); }
  /// Adds an operand; `along[d]` is its dimension along dimension d of the space, or -1. A dimension of size 1 along
  /// one of another size does not move.
  int addOperand(int operand, std::span<const int> along);
  /// Adds an operand whose last dimension runs along the last dimension of the space, and so on (NumPy's broadcast).
  int addBroadcast(int operand);
  /// Drops dimensions of size 1 and merges neighbours; at least one dimension stays.
  void collapse();
  /// The same for the first `count` dimensions only, all of which may go; how many are left of them.
  int collapseLeading(int count);
  /// Cuts a dimension of a constant size in two, the second of them of size `inner`, which divides it.
  void split(int dim, int64_t inner);
  /// Makes one dimension of `dim` and the next one, where every operand allows it; whether it does.
  bool merge(int dim);

  int rank() const { return static_cast<int>(dims.size()); }
  const Description &description() const { return *description_; }
  const Operand &operand(int index) const;

  std::vector<SpaceDim> dims;
  std::vector<Access> accesses; ///< In the order of addOperand(): its result is an index here ("slot").

private:
  bool canMerge(int dim) const;
  void drop(int dim);

  const Description *description_;
};

} // namespace tilejit::oplib

#endif // TILEJIT_LIB_OPLIB_SPACE_H
