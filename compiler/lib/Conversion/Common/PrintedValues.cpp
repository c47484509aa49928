// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// See PrintedValues.h.

#include "PrintedValues.h"

#include "tilejit/ABI/KernelABI.h"
#include "tilejit/Dialect/Tile/IR/ElementNames.h"

using namespace mlir;
using namespace tilejit;

SmallVector<int64_t> tilejit::printedElements(RankedTensorType tile) {
  int64_t count = tile.getNumElements();
  SmallVector<int64_t> shown;
  for (int64_t i = 0; i < count; ++i) {
    shown.push_back(i);
    if (count > 2 * abi::printedAtEachEnd && i + 1 == abi::printedAtEachEnd)
      i = count - abi::printedAtEachEnd - 1;
  }
  return shown;
}

SmallVector<int64_t> tilejit::elementCoordinates(ArrayRef<int64_t> shape, int64_t number) {
  SmallVector<int64_t> coordinates(shape.size());
  for (size_t d = shape.size(); d-- > 0; number /= shape[d])
    coordinates[d] = number % shape[d];
  return coordinates;
}

std::string tilejit::printedTypes(tile::PrintOp print) {
  std::string types;
  for (Type type : print.getValues().getTypes()) {
    types += types.empty() ? "" : " ";
    auto tile = dyn_cast<RankedTensorType>(type);
    types += tile::elementName(tile ? tile.getElementType() : type);
    if (tile)
      types += "[" + std::to_string(tile.getNumElements()) + "]";
  }
  return types;
}
