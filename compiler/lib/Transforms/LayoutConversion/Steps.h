// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What the parts of the planner share.

#ifndef TILEJIT_LIB_TRANSFORMS_LAYOUTCONVERSION_STEPS_H
#define TILEJIT_LIB_TRANSFORMS_LAYOUTCONVERSION_STEPS_H

#include "tilejit/Transforms/LayoutConversion.h"

#include <tuple>

namespace tilejit::tilegpu {

/// The columns of lanes, then warps.
gf2::Vectors threadColumns(const LinearLayout &layout);

/// The exchange combine(columns, thread) as a list: one select for each of its independent steps.
std::vector<Select> selectsOf(const gf2::Vectors &columns);

/// combine(basis, i) for i = 0, 1, ..., as register numbers.
std::vector<unsigned> registersOf(const gf2::Vectors &basis, uint64_t first = 0);

/// Whether every element that a warp wants is in the warp.
bool staysInWarp(const LinearLayout &from, const LinearLayout &to);

/// planSharedMemory() for layouts as they are: no copies share the work, and all the memory is there.
std::optional<SharedMove> planOnePass(const LinearLayout &from, const LinearLayout &to,
                                      const ConversionOptions &options);

/// Fewer bank conflicts first, then fewer in the other order of lanes, then a lower cost.
std::tuple<int64_t, int64_t, int> rankOf(const SharedMove &move, const ConversionOptions &options);

/// Costs of one warp, in the units of the bank model.
int costOf(const RegisterMove &move, const ConversionOptions &options);
int costOf(const ShuffleMove &move, const ConversionOptions &options);
int costOf(const SharedMove &move, const ConversionOptions &options);

} // namespace tilejit::tilegpu

#endif // TILEJIT_LIB_TRANSFORMS_LAYOUTCONVERSION_STEPS_H
