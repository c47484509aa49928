// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What a kernel can at most reach on a chip that is not at hand: peak rates of one well-known board for each target,
// for rooflines. A measured peak is better wherever there is one.

#ifndef TILEJIT_TARGET_BOARD_H
#define TILEJIT_TARGET_BOARD_H

#include "tilejit/Target/TargetSpec.h"

#include <string_view>

namespace tilejit {

/// Rates at boost clock, as the maker states them; of boards with two dies those of one.
struct Board {
  std::string_view target; ///< The chip: "sm_90" for sm_90a too.
  std::string_view name;   ///< "A100 80GB SXM".
  int units = 0;           ///< Streaming multiprocessors, compute units, on RDNA work-group processors.
  double vectorTflops = 0; ///< f32 multiply-adds outside of matrix units.
  double matrixTflops = 0; ///< Dense products of f16 in matrix units; 0: none.
  double gbytesPerS = 0;   ///< Of the memory.
};

/// The board that stands for a target; null for generic targets, CPUs, and chips without a published figure.
const Board *boardOf(const TargetSpec &target);

} // namespace tilejit

#endif // TILEJIT_TARGET_BOARD_H
