// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Plans the reduction of a tile in registers along one dimension, for any layout: within threads, then by shuffles
// within warps, then, where the dimension runs over warps, by one conversion between two layouts. Like conversions, a
// plan names no IR and is carried out by the recipe below. The operation must be associative and commutative.

#ifndef TILEJIT_TRANSFORMS_LAYOUTREDUCTION_H
#define TILEJIT_TRANSFORMS_LAYOUTREDUCTION_H

#include "tilejit/Transforms/LayoutConversion.h"

namespace tilejit::tilegpu {

/// All registers at once: v[q] = op(v[q], the v[q ^ registerXor] of lane ^ laneXor).
struct ReductionStep {
  uint64_t laneXor, registerXor;
};

/// 1. s[i] = source[from.kept[i]]; v[p] = op over s[groups[p][0]], s[groups[p][1]], ... in this order (ascending along
/// the
///    dimension in thread 0).
/// 2. Carry out `steps` on v.
/// 3. If parts > 1: convert v, of layout `partial`, to layout `gathered`; then v[p] of the result is op over the
/// registers
///    p | i << result.inBits("register") for i = 0, 1, ..., parts - 1.
/// Then v has the layout `result`. It holds what layout.sliced(axis) holds, without copies in registers: a conversion
/// to that one costs nothing.
struct ReductionPlan {
  DistinctRegisters from;
  std::vector<std::vector<unsigned>> groups;
  std::vector<ReductionStep> steps;
  int parts = 1;
  LinearLayout partial, gathered; ///< Of tiles of the results with a leading dimension of the parts.
  LinearLayout result;
};

/// `layout` is over register, lane and warp and covers its tile; no element is counted twice, however many copies it
/// has.
ReductionPlan planReduction(const LinearLayout &layout, int axis);

} // namespace tilejit::tilegpu

#endif // TILEJIT_TRANSFORMS_LAYOUTREDUCTION_H
