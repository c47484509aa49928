// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The pass tile-gpu-print-layouts: pictures of the layouts of a module.

#include "tilejit/Conversion/Passes.h"
#include "tilejit/Dialect/TileGPU/IR/LayoutPicture.h"
#include "tilejit/Dialect/TileGPU/IR/LayoutUses.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

namespace tilejit {
#define GEN_PASS_DEF_TILEGPUPRINTLAYOUTSPASS
#include "tilejit/Conversion/Passes.h.inc"
} // namespace tilejit

using namespace mlir;
using namespace tilejit;

static LogicalResult writeFile(ModuleOp module, StringRef folder, StringRef name, StringRef text) {
  SmallString<128> path(folder);
  llvm::sys::path::append(path, name);
  std::error_code error = llvm::sys::fs::create_directories(folder);
  if (!error) {
    llvm::raw_fd_ostream out(path, error);
    out << text;
    out.close();
    if (out.has_error()) {
      error = out.error();
      out.clear_error();
    }
  }
  if (error)
    return module.emitError("cannot write '") << path << "': " << error.message();
  return success();
}

namespace {
struct TileGPUPrintLayouts : tilejit::impl::TileGPUPrintLayoutsPassBase<TileGPUPrintLayouts> {
  using TileGPUPrintLayoutsPassBase::TileGPUPrintLayoutsPassBase;

  void runOnOperation() override {
    for (auto [number, use] : llvm::enumerate(tilegpu::layoutUses(getOperation()))) {
      llvm::outs() << "// " << use.title << "\n";
      std::string picture = tilegpu::textPicture(use.layout);
      SmallVector<StringRef> lines;
      StringRef(picture).rtrim('\n').split(lines, '\n');
      for (StringRef line : lines)
        llvm::outs() << "//   " << line << "\n";
      std::string name = ("layout-" + Twine(number) + ".svg").str();
      if (!svgDir.empty() &&
          failed(writeFile(getOperation(), svgDir, name, tilegpu::svgPicture(use.layout, use.title))))
        return signalPassFailure();
    }
    llvm::outs().flush();
    markAllAnalysesPreserved();
  }
};
} // namespace
