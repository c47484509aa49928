// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// How a tile changes its layout, for the pass that lays out on-chip memory and for the lowering of what stays within
// warps. Both must come to the same answer.

#ifndef TILEJIT_CONVERSION_COMMON_LAYOUTPLAN_H
#define TILEJIT_CONVERSION_COMMON_LAYOUTPLAN_H

#include "tilejit/Dialect/TileGPU/IR/TileGPU.h"
#include "tilejit/Transforms/LayoutConversion.h"

namespace tilejit::gpu {

/// Of tiles of `element`; accesses to memory are planned one by one.
tilegpu::ConversionOptions conversionOptions(mlir::Type element, const tilegpu::BankModel &banks);

/// From the layout that `tile` has to another one.
tilegpu::ConversionPlan planConversion(mlir::Value tile, tilegpu::LayoutAttr layout, const tilegpu::BankModel &banks);

} // namespace tilejit::gpu

#endif // TILEJIT_CONVERSION_COMMON_LAYOUTPLAN_H
