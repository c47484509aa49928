// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Attributes: printing, parsing and checking of the launch rule.

#include "tilejit/Dialect/Tile/IR/Tile.h"

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/IntegerSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilejit::tile;

#define GET_ATTRDEF_CLASSES
#include "tilejit/Dialect/Tile/IR/TileAttributes.cpp.inc"

void TileDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "tilejit/Dialect/Tile/IR/TileAttributes.cpp.inc"
      >();
}

namespace {
/// The fields of a launch rule while it is read.
struct LaunchFields {
  SmallVector<int64_t> sizes;
  AffineMapAttr grid, workspace;
  IntegerSetAttr when;
  int64_t phase = 0, packs = -1;
};
} // namespace

/// Reads the value of one field.
static ParseResult parseLaunchField(AsmParser &parser, StringRef key, SMLoc keyLoc, LaunchFields &fields) {
  if (key == "sizes")
    return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                          [&] { return parser.parseInteger(fields.sizes.emplace_back()); });
  if (key == "grid")
    return parser.parseAttribute(fields.grid);
  if (key == "when")
    return parser.parseAttribute(fields.when);
  if (key == "phase")
    return parser.parseInteger(fields.phase);
  if (key == "workspace")
    return parser.parseAttribute(fields.workspace);
  if (key == "packs")
    return parser.parseInteger(fields.packs);
  return parser.emitError(keyLoc, "expected 'sizes', 'grid', 'when', 'phase', 'workspace' or 'packs', got '")
         << key << "'";
}

Attribute LaunchAttr::parse(AsmParser &parser, Type) {
  LaunchFields fields;
  llvm::SmallDenseSet<StringRef> seen;
  SMLoc loc = parser.getCurrentLocation();
  auto parseField = [&]() -> ParseResult {
    StringRef key;
    SMLoc keyLoc = parser.getCurrentLocation();
    if (parser.parseKeyword(&key) || parser.parseEqual())
      return failure();
    if (!seen.insert(key).second)
      return parser.emitError(keyLoc, "expected '") << key << "' once";
    return parseLaunchField(parser, key, keyLoc, fields);
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, parseField))
    return {};
  if (!fields.grid) {
    parser.emitError(loc, "expected 'grid' in a launch rule");
    return {};
  }
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(), fields.sizes, fields.grid, fields.when,
                    fields.phase, fields.workspace, fields.packs);
}

void LaunchAttr::print(AsmPrinter &printer) const {
  printer << '<';
  if (!getSizes().empty()) {
    printer << "sizes = [";
    llvm::interleaveComma(getSizes(), printer);
    printer << "], ";
  }
  printer << "grid = " << getGrid();
  if (getWhen())
    printer << ", when = " << getWhen();
  if (getPhase() != 0)
    printer << ", phase = " << getPhase();
  if (getWorkspace())
    printer << ", workspace = " << getWorkspace();
  if (getPacks() >= 0)
    printer << ", packs = " << getPacks();
  printer << '>';
}

LogicalResult LaunchAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> sizes,
                                 AffineMapAttr grid, IntegerSetAttr when, int64_t phase, AffineMapAttr workspace,
                                 int64_t packs) {
  if (sizes.size() % 2 != 0)
    return emitError() << "expected pairs of argument and dimension in 'sizes', got " << sizes.size() << " numbers";
  for (int64_t number : sizes)
    if (number < 0)
      return emitError() << "expected numbers of at least 0 in 'sizes', got " << number;
  unsigned dims = sizes.size() / 2;
  AffineMap gridMap = grid.getValue();
  if (gridMap.getNumDims() != dims || gridMap.getNumSymbols() != 0)
    return emitError() << "expected 'grid' with " << dims << " dimensions and no symbols, got " << gridMap.getNumDims()
                       << " and " << gridMap.getNumSymbols();
  if (gridMap.getNumResults() < 1 || gridMap.getNumResults() > 3)
    return emitError() << "expected 1 to 3 results of 'grid', got " << gridMap.getNumResults();
  if (when && (when.getValue().getNumDims() != dims || when.getValue().getNumSymbols() != 0))
    return emitError() << "expected 'when' with " << dims << " dimensions and no symbols, got "
                       << when.getValue().getNumDims() << " and " << when.getValue().getNumSymbols();
  if (phase < 0)
    return emitError() << "expected a phase of at least 0, got " << phase;
  if (packs < -1)
    return emitError() << "expected the number of an argument in 'packs', got " << packs;
  if (packs >= 0 && phase != 0)
    return emitError() << "expected phase 0 of what packs an argument, got " << phase;
  if (packs >= 0 && (when || !workspace || !workspace.getValue().isSingleConstant()))
    return emitError() << "expected no condition and a workspace of constant size with 'packs'";
  if (!workspace)
    return success();
  AffineMap workspaceMap = workspace.getValue();
  if (workspaceMap.getNumDims() != dims || workspaceMap.getNumSymbols() != 0)
    return emitError() << "expected 'workspace' with " << dims << " dimensions and no symbols, got "
                       << workspaceMap.getNumDims() << " and " << workspaceMap.getNumSymbols();
  if (workspaceMap.getNumResults() != 1)
    return emitError() << "expected 1 result of 'workspace', got " << workspaceMap.getNumResults();
  return success();
}
