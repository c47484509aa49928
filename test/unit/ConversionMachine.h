// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A plain machine that carries out plans of layout conversions by the recipes in LayoutConversion.h, thread by thread,
// and sees whether every register ends up with its element. It shares no algebra with the planner: wavefronts, for one,
// are counted word by word.

#ifndef TILEJIT_TEST_UNIT_CONVERSIONMACHINE_H
#define TILEJIT_TEST_UNIT_CONVERSIONMACHINE_H

#include "tilejit/Transforms/LayoutConversion.h"

namespace tilejit::tilegpu::test {

/// What is wrong with the plan; empty if it does what it should. Sees, beside wrong elements: two writers of one place
/// in memory, reads of what nobody wrote, accesses that are not aligned, and counts (shuffles, wavefronts, bytes) that
/// are not the planned ones.
std::string carryOut(const ConversionPlan &plan, const LinearLayout &from, const LinearLayout &to,
                     const ConversionOptions &options);

} // namespace tilejit::tilegpu::test

#endif // TILEJIT_TEST_UNIT_CONVERSIONMACHINE_H
