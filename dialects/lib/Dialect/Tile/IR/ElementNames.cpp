// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Names of element types: MLIR's, in lower case, "f8e8m0fnu" and "f4e2m1fn" without their tails.

#include "tilejit/Dialect/Tile/IR/ElementNames.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <utility>

std::string tilejit::tile::elementName(mlir::Type element) {
  std::string text;
  llvm::raw_string_ostream(text) << element;
  for (char &c : text)
    c = llvm::toLower(c);
  for (auto [mlirName, name] :
       {std::pair("f8e8m0fnu", "f8e8m0"), {"f4e2m1fn", "f4e2m1"}, {"i1", "bool"}, {"index", "i64"}})
    if (text == mlirName)
      return name;
  return text;
}
