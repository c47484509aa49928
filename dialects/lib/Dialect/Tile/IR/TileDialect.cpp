// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The tile dialect itself: what it registers, the version check, and constants that folders make.

#include "tilejit/Dialect/Tile/IR/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilejit::tile;

#include "tilejit/Dialect/Tile/IR/TileDialect.cpp.inc"
#include "tilejit/Dialect/Tile/IR/TileEnums.cpp.inc"

void TileDialect::initialize() {
  registerTypes();
  registerAttributes();
  registerBytecode();
  addOperations<
#define GET_OP_LIST
#include "tilejit/Dialect/Tile/IR/TileOps.cpp.inc"
      >();
}

Operation *TileDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

/// Reads "major.minor"; false where the text is anything else.
static bool parseVersion(StringRef text, unsigned &major, unsigned &minor) {
  auto [first, second] = text.split('.');
  return !first.getAsInteger(10, major) && !second.getAsInteger(10, minor);
}

LogicalResult TileDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() != versionAttrName)
    return success();
  if (!isa<ModuleOp>(op))
    return op->emitOpError("expected '") << versionAttrName << "' on a module only";
  auto text = dyn_cast<StringAttr>(attribute.getValue());
  unsigned major = 0, minor = 0;
  if (!text || !parseVersion(text, major, minor))
    return op->emitOpError("expected '") << versionAttrName << "' as \"major.minor\", got " << attribute.getValue();
  if (std::make_pair(major, minor) > std::make_pair(unsigned(versionMajor), unsigned(versionMinor)))
    return op->emitOpError("expected tile dialect version ")
           << versionMajor << "." << versionMinor << " or older, got " << text.getValue();
  return success();
}
