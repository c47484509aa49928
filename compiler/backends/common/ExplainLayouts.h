// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The tilegpu form of a kernel for people: its text, which tile operation each line came from, and its layouts.

#ifndef TILEJIT_BACKENDS_COMMON_EXPLAINLAYOUTS_H
#define TILEJIT_BACKENDS_COMMON_EXPLAINLAYOUTS_H

#include "tilejit/ABI/StageTexts.h"

#include "mlir/IR/BuiltinOps.h"

namespace tilejit::backends {

/// Fills in `tilegpu`, `tileLines` and `layouts`, and makes the lines of the text the places of all operations, which
/// until now were lines of the tile text.
void explainLayouts(mlir::ModuleOp module, abi::StageTexts &texts);

} // namespace tilejit::backends

#endif // TILEJIT_BACKENDS_COMMON_EXPLAINLAYOUTS_H
