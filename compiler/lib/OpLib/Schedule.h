// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Tile sizes: what chooseConfig() picks from the facts of a CPU, and how generators read a config. The only place of
// the operator library that looks at a target.

#ifndef TILEJIT_LIB_OPLIB_SCHEDULE_H
#define TILEJIT_LIB_OPLIB_SCHEDULE_H

#include "Space.h"

#include "tilejit/ABI/Compile.h"
#include "tilejit/Target/TargetSpec.h"

#include <optional>
#include <string>
#include <vector>

namespace tilejit::oplib {

/// Tile sizes of one way to compute a matrix product, and up to how many rows it is taken.
struct MatmulRegime {
  std::string name; ///< "row", "skinny", "block".
  int64_t bm = 1, bn = 1, bk = 1;
  std::optional<int64_t> maxRows; ///< Nothing: for any number of rows.
};

/// What generators ask a schedule.
class Schedule {
public:
  Schedule(const Description &description, const TargetSpec &target, const abi::Config &config)
      : description_(description), facts_(target.cpuFacts), config_(config) {}

  int vectorBits() const { return facts_.vectorBits; }
  /// The value of a key, or `fallback` where the config lacks it.
  int64_t get(const char *key, int64_t fallback) const;
  /// All keys that apply to the family, filled in.
  abi::Config complete() const;

  /// A product of `rows` x `columns` with `depth` terms; `columnsAreContiguous`: the right operand lies row by row.
  std::vector<MatmulRegime> matmulRegimes(const Size &rows, const Size &columns, const Size &depth,
                                          bool columnsAreContiguous) const;
  /// Rows and columns of a program instance of an elementwise kernel over a collapsed space.
  std::pair<int64_t, int64_t> elementwiseTile(const Space &space) const;
  /// Elements of a step along the last dimension of a sweep over a collapsed space.
  int64_t sweepTile(const Space &space, DType compute, int registers) const;
  int64_t reduceTile(const Space &space) const;
  /// The same for softmax and norms, which sweep the dimensions with tag 1 more than once.
  int64_t rowTile(const Space &space) const;
  /// Side lengths of the blocks of a transposition of elements of `bytes` bytes.
  std::pair<int64_t, int64_t> transposeTile(int bytes) const;
  /// Elements that one program instance of a two-phase reduction combines.
  int64_t reduceChunk() const { return get("chunk", int64_t{1} << 16); }

private:
  MatmulRegime blockRegime(const Size &rows, const Size &columns, const Size &depth) const;

  const Description &description_;
  const CpuFacts &facts_;
  const abi::Config &config_;
};

} // namespace tilejit::oplib

#endif // TILEJIT_LIB_OPLIB_SCHEDULE_H
