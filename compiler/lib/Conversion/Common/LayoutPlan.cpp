// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Options of the planner, from the IR.

#include "LayoutPlan.h"

using namespace mlir;
using namespace tilejit;
using namespace tilejit::tilegpu;

ConversionOptions gpu::conversionOptions(Type element, const BankModel &banks) {
  ConversionOptions result;
  result.elementBits = int(8 * storageBytes(element));
  result.banks = &banks;
  result.spreadCopies = false; // Of copies one stores: the lowering plans each access on its own.
  return result;
}

ConversionPlan gpu::planConversion(Value tile, LayoutAttr layout, const BankModel &banks) {
  Type element = cast<RankedTensorType>(tile.getType()).getElementType();
  return tilegpu::planConversion(layoutOf(tile).toLinear(), layout.toLinear(), conversionOptions(element, banks));
}
