// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The pass tile-gpu-print-layouts: pictures of the layouts of a module.

#include "tilejit/Conversion/Passes.h"
#include "tilejit/Dialect/TileGPU/IR/LayoutPicture.h"
#include "tilejit/Dialect/TileGPU/IR/TileGPU.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

namespace tilejit {
#define GEN_PASS_DEF_TILEGPUPRINTLAYOUTSPASS
#include "tilejit/Conversion/Passes.h.inc"
} // namespace tilejit

using namespace mlir;
using namespace tilejit;

namespace {
/// A layout and the first operation that has it.
struct Use {
  Attribute layout;
  Operation *op;
};
} // namespace

/// The layouts of a module's values, in the order of first use.
static SmallVector<Use> findLayouts(ModuleOp module) {
  SmallVector<Use> uses;
  llvm::SetVector<Attribute> seen;
  auto visit = [&](Type type, Operation *op) {
    Attribute layout = tilegpu::layoutOf(type);
    if (auto shared = dyn_cast<tilegpu::SharedType>(type))
      layout = shared.getMemory();
    if (layout && seen.insert(layout))
      uses.push_back({layout, op});
  };
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Type type : op->getResultTypes())
      visit(type, op);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Type type : block.getArgumentTypes())
          visit(type, op);
  });
  return uses;
}

static tilegpu::LinearLayout toLinear(Attribute attr) {
  if (auto layout = dyn_cast<tilegpu::LayoutAttr>(attr))
    return layout.toLinear();
  return cast<tilegpu::MemoryAttr>(attr).toLinear();
}

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
    for (auto [number, use] : llvm::enumerate(findLayouts(getOperation()))) {
      std::string title = (Twine(number) + ": " + use.op->getName().getStringRef() + " ").str();
      llvm::raw_string_ostream(title) << use.layout;
      tilegpu::LinearLayout layout = toLinear(use.layout);
      llvm::outs() << "// " << title << "\n";
      std::string picture = tilegpu::textPicture(layout);
      SmallVector<StringRef> lines;
      StringRef(picture).rtrim('\n').split(lines, '\n');
      for (StringRef line : lines)
        llvm::outs() << "//   " << line << "\n";
      std::string name = ("layout-" + Twine(number) + ".svg").str();
      if (!svgDir.empty() && failed(writeFile(getOperation(), svgDir, name, tilegpu::svgPicture(layout, title))))
        return signalPassFailure();
    }
    llvm::outs().flush();
    markAllAnalysesPreserved();
  }
};
} // namespace
