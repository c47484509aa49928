// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The layouts that a module of tilegpu uses, for pictures.

#ifndef TILEJIT_DIALECT_TILEGPU_IR_LAYOUTUSES_H
#define TILEJIT_DIALECT_TILEGPU_IR_LAYOUTUSES_H

#include "tilejit/Dialect/TileGPU/IR/LinearLayout.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace tilejit::tilegpu {

/// A #tilegpu.layout or #tilegpu.memory.
struct LayoutUse {
  std::string title; ///< "0: tile.load #tilegpu.layout<...>": number, the first operation that has it, the attribute.
  LinearLayout layout;
};

/// The different layouts of all values, in the order of first use.
std::vector<LayoutUse> layoutUses(mlir::ModuleOp module);

} // namespace tilejit::tilegpu

#endif // TILEJIT_DIALECT_TILEGPU_IR_LAYOUTUSES_H
