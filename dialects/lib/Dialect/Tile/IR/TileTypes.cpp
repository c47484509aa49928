// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Types: printing, parsing and checking of views and pointers.

#include "tilejit/Dialect/Tile/IR/Tile.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilejit::tile;

#define GET_TYPEDEF_CLASSES
#include "tilejit/Dialect/Tile/IR/TileTypes.cpp.inc"

void TileDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "tilejit/Dialect/Tile/IR/TileTypes.cpp.inc"
      >();
}

/// Whether a type can be the element of a tile or view.
static bool isNumber(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return integer.isSignless() && llvm::is_contained({1u, 4u, 8u, 16u, 32u, 64u}, integer.getWidth());
  return isa<Float16Type, BFloat16Type, Float32Type, FloatTF32Type, Float64Type, Float8E4M3FNType, Float8E5M2Type,
             Float8E4M3FNUZType, Float8E5M2FNUZType, Float8E8M0FNUType, Float4E2M1FNType, Float6E2M3FNType,
             Float6E3M2FNType>(type);
}

int64_t ViewType::getStaticStride(unsigned dim) const {
  if (!getStrides().empty())
    return getStrides()[dim];
  int64_t stride = 1;
  for (int64_t size : getShape().drop_front(dim + 1)) {
    if (ShapedType::isDynamic(size))
      return ShapedType::kDynamic;
    stride *= size;
  }
  return stride;
}

/// Reads a stride: a number, or `?` for one known at run time only.
static ParseResult parseStride(AsmParser &parser, SmallVectorImpl<int64_t> &strides) {
  if (succeeded(parser.parseOptionalQuestion())) {
    strides.push_back(ShapedType::kDynamic);
    return success();
  }
  return parser.parseInteger(strides.emplace_back());
}

Type ViewType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape, strides;
  Type elementType;
  int64_t align = 0;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/true) || parser.parseType(elementType))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    StringRef key;
    SMLoc keyLoc = parser.getCurrentLocation();
    if (parser.parseKeyword(&key) || parser.parseEqual())
      return {};
    if (key == "strides" && strides.empty()) {
      if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] { return parseStride(parser, strides); }))
        return {};
    } else if (key == "align" && align == 0) {
      if (parser.parseInteger(align))
        return {};
    } else {
      parser.emitError(keyLoc, "expected 'strides' or 'align' once each, got '") << key << "'";
      return {};
    }
  }
  if (parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(), shape, elementType, strides, align);
}

/// Prints a size or stride.
static void printSize(AsmPrinter &printer, int64_t size) {
  if (ShapedType::isDynamic(size))
    printer << '?';
  else
    printer << size;
}

void ViewType::print(AsmPrinter &printer) const {
  printer << '<';
  for (int64_t size : getShape()) {
    printSize(printer, size);
    printer << 'x';
  }
  printer << getElementType();
  if (!getStrides().empty()) {
    printer << ", strides = [";
    llvm::interleaveComma(getStrides(), printer, [&](int64_t stride) { printSize(printer, stride); });
    printer << ']';
  }
  if (getAlign() != 0)
    printer << ", align = " << getAlign();
  printer << '>';
}

LogicalResult ViewType::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> shape, Type elementType,
                               ArrayRef<int64_t> strides, int64_t align) {
  if (!isNumber(elementType))
    return emitError() << "expected a number as element of a view, got " << elementType;
  for (int64_t size : shape)
    if (size < 0 && !ShapedType::isDynamic(size))
      return emitError() << "expected a size of at least 0, got " << size;
  if (!strides.empty() && strides.size() != shape.size())
    return emitError() << "expected strides for rank " << shape.size() << ", got " << strides.size();
  for (int64_t stride : strides)
    if (stride < 0 && !ShapedType::isDynamic(stride))
      return emitError() << "expected a stride of at least 0, got " << stride;
  if (align < 0 || (align != 0 && !llvm::isPowerOf2_64(align)))
    return emitError() << "expected a power of two as alignment, got " << align;
  return success();
}

LogicalResult PtrType::verify(function_ref<InFlightDiagnostic()> emitError, Type pointee) {
  if (!isNumber(pointee))
    return emitError() << "expected a number as pointee, got " << pointee;
  return success();
}
