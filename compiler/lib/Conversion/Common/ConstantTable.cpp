// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Constants that a module holds in memory.

#include "ConstantTable.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

DenseElementsAttr tilejit::constantTable(DenseElementsAttr elements, ArrayRef<int64_t> strides, int64_t places,
                                         unsigned bits) {
  ArrayRef<int64_t> shape = elements.getType().getShape();
  bool isFloat = isa<FloatType>(elements.getElementType());
  SmallVector<APInt> table(places, APInt(bits, 0));
  for (int64_t i = 0, count = elements.getNumElements(); i < count; ++i) {
    int64_t place = 0, rest = i;
    for (int64_t d = static_cast<int64_t>(shape.size()) - 1; d >= 0; --d) {
      place += rest % shape[d] * strides[d];
      rest /= shape[d];
    }
    APInt value = isFloat ? elements.getValues<APFloat>()[i].bitcastToAPInt() : elements.getValues<APInt>()[i];
    table[place] = value.zext(bits);
  }
  auto type = RankedTensorType::get({places}, IntegerType::get(elements.getContext(), bits));
  return DenseElementsAttr::get(type, table);
}

std::string tilejit::unusedSymbol(ModuleOp module, StringRef prefix) {
  std::string name;
  for (unsigned number = 0; name.empty() || module.lookupSymbol(name); ++number)
    name = prefix.str() + std::to_string(number);
  return name;
}
