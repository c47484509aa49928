// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The spaces that tile sizes are chosen from, collapsed: for each family which dimensions its kernels see and what they
// do along them. Each is made in the .cpp of the family's generator.

#ifndef TILEJIT_LIB_OPLIB_SHAPES_H
#define TILEJIT_LIB_OPLIB_SHAPES_H

#include "Space.h"

#include <optional>

namespace tilejit::oplib {

/// All operands along the dimensions of the first output.
Space elementwiseSpace(const Description &description);

// Families that sweep: dimensions with tag `swept` are gone through for each result, the others are kept.

inline constexpr int kept = 0, swept = 1;

/// The dimensions of x, those that are reduced swept; slots: x, y.
Space reduceSpace(const Description &description);
/// The type that elements of a reduction are combined in.
DType reduceComputeType(ReduceKind kind, DType input, DType output);
/// The dimensions of x, the axis swept; slots: x, y.
Space softmaxSpace(const Description &description);
/// The dimensions of x, those that are normalised swept; slots: inputs, then outputs.
Space normSpace(const Description &description);

/// That of a softmax or a norm, whichever is described.
Space rowsSpace(const Description &description);
/// Whether a reduction gives places, and not values.
constexpr bool isArg(ReduceKind kind) { return kind == ReduceKind::ArgMax || kind == ReduceKind::ArgMin; }

/// Whether a sweep runs along the last dimension ("rows"), or each place along it has results of its own ("columns").
bool sweepsRows(const Space &space);
/// The dimension along which tiles of two dimensions run beside the last: of rows the innermost one that is kept, of
/// columns the innermost one that is swept; -1: there is none.
int sweepAcross(const Space &space);
/// The swept dimension, where there is exactly one; -1 else.
int onlySwept(const Space &space);

/// Rows (m), columns (n) and terms (k) of a product, m and n exchanged where that makes the long one the columns.
struct MatmulShape {
  Space space;              ///< Batch dimensions, then m, n, k. Slots: inputs, then c.
  int rows, columns, depth; ///< Dimensions of the space.
  int left, right;          ///< Slots.

  int batchRank() const { return space.rank() - 3; }
  const Size &size(int dim) const { return space.dims[dim].size; }
  const Operand &operand(int slot) const { return space.operand(space.accesses[slot].operand); }
  /// Whether the right operand lies row by row.
  bool columnsAreContiguous() const;
  /// Whether a launch rule can say how large several results are: at most one of their dimensions varies.
  bool canSplitDepth() const;
};
MatmulShape matmulShape(const Description &description);

/// Two kinds of spaces, since several heads of queries share one of keys.
struct AttentionShape {
  Space queries;                ///< b, hq, sq, skv, d. Slots: q, o, then lse and bias.
  std::optional<Space> grouped; ///< b, hkv, rows, skv, d, where heads that share keys can be rows together; same slots.
  Space keys;                   ///< b, hkv, skv, d, or pages, page, hkv, d. Slots: k, v.
  int64_t group;                ///< Heads of queries for each head of keys.
  int64_t page = 0;             ///< Keys of a page; 0: they lie in a row.
  int lse = -1;                 ///< Slots; -1: there is none.
  int bias = -1;
  int firstSlot = 0;                    ///< Input i, where a step of the epilogue reads it, is this slot and i more.
  int table = -1, lengths = -1;         ///< Operands, where there are pages.
  int queryStarts = -1, keyStarts = -1; ///< Operands, where there are sequences in a row.

  static constexpr int head = 1, query = 2, key = 3, element = 4; ///< Dimensions of the spaces of queries.
  static constexpr int q = 0, o = 1, k = 0, v = 1;                ///< Slots.

  bool isPaged() const { return page > 0; }
  bool hasSequences() const { return queryStarts >= 0; }
  const Size &size(int dim) const { return queries.dims[dim].size; }
  /// The space whose rows a regime's tiles run along.
  const Space &rowsOf(bool isGrouped) const { return isGrouped ? *grouped : queries; }
};
AttentionShape attentionShape(const Description &description);

/// The dimensions of y; slots: x, y.
struct TransposeShape {
  Space space;
  int outer, inner; ///< Dimensions of a block of y; outer -1: there is one dimension only.
  bool copiesRows;  ///< The last dimension stays last: nothing is turned.
};
TransposeShape transposeShape(const Description &description);

} // namespace tilejit::oplib

#endif // TILEJIT_LIB_OPLIB_SHAPES_H
