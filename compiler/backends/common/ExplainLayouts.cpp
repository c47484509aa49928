// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Places are read, replaced by upstream's snapshot of locations, and read again.

#include "ExplainLayouts.h"

#include "tilejit/Dialect/TileGPU/IR/LayoutPicture.h"
#include "tilejit/Dialect/TileGPU/IR/LayoutUses.h"

#include "mlir/IR/Location.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Transforms/LocationSnapshot.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace tilejit::backends {

/// The first line of `file` that a location names; 0: none.
static int64_t lineIn(Location location, StringRef file) {
  int64_t line = 0;
  location->walk([&](Location part) {
    if (auto place = dyn_cast<FileLineColLoc>(part); place && place.getFilename() == file)
      line = place.getLine();
    return line ? WalkResult::interrupt() : WalkResult::advance();
  });
  return line;
}

void explainLayouts(ModuleOp module, abi::StageTexts &texts) {
  llvm::DenseMap<Operation *, int64_t> tileLines;
  module.walk([&](Operation *op) { tileLines[op] = lineIn(op->getLoc(), abi::tileFile); });
  llvm::raw_string_ostream stream(texts.tilegpu);
  generateLocationsFromIR(stream, abi::tilegpuFile, module, OpPrintingFlags());
  texts.tileLines.assign(size_t(llvm::count(texts.tilegpu, '\n')) + 1, 0);
  module.walk([&](Operation *op) {
    auto line = size_t(lineIn(op->getLoc(), abi::tilegpuFile));
    if (line > 0 && line <= texts.tileLines.size())
      texts.tileLines[line - 1] = tileLines[op];
  });
  // As large as a person takes in; larger tiles are cut, which the picture says.
  constexpr tilegpu::PictureOptions options = {.maxRows = 32, .maxColumns = 32};
  for (const tilegpu::LayoutUse &use : tilegpu::layoutUses(module))
    texts.layouts.push_back({use.title, tilegpu::svgPicture(use.layout, use.title, options)});
}

} // namespace tilejit::backends
