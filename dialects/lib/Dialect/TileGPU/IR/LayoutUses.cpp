// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A walk over all results and block arguments.

#include "tilejit/Dialect/TileGPU/IR/LayoutUses.h"

#include "tilejit/Dialect/TileGPU/IR/TileGPU.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace tilejit::tilegpu {

namespace {

class Collector {
public:
  void visit(Operation *op) {
    for (Type type : op->getResultTypes())
      add(type, op);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Type type : block.getArgumentTypes())
          add(type, op);
  }

  std::vector<LayoutUse> uses;

private:
  void add(Type type, Operation *op) {
    if (LayoutAttr layout = layoutOf(type))
      add(layout, layout.toLinear(), op);
    else if (auto shared = dyn_cast<SharedType>(type))
      add(shared.getMemory(), shared.getMemory().toLinear(), op);
  }

  void add(Attribute attr, LinearLayout layout, Operation *op) {
    if (!seen_.insert(attr).second)
      return;
    std::string title = (Twine(uses.size()) + ": " + op->getName().getStringRef() + " ").str();
    llvm::raw_string_ostream(title) << attr;
    uses.push_back({std::move(title), std::move(layout)});
  }

  llvm::DenseSet<Attribute> seen_;
};

} // namespace

std::vector<LayoutUse> layoutUses(ModuleOp module) {
  Collector collector;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) { collector.visit(op); });
  return std::move(collector.uses);
}

} // namespace tilejit::tilegpu
