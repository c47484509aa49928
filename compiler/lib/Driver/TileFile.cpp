// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Operands from argument types. An argument is an output where a store, scatter or atomic reaches it through views and
// pointer arithmetic.

#include "TileFile.h"

#include "Diagnostics.h"

#include "tilejit/Dialect/Tile/IR/ElementNames.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tilejit {

namespace {

abi::OperandInfo operandOf(Type type, std::string name) {
  abi::OperandInfo operand;
  operand.name = std::move(name);
  if (auto view = dyn_cast<tile::ViewType>(type)) {
    operand.dtype = tile::elementName(view.getElementType());
    operand.rank = static_cast<int32_t>(view.getRank());
    for (int64_t i = 0; i < view.getRank(); ++i) {
      int64_t stride = view.getStaticStride(static_cast<unsigned>(i));
      operand.shape.push_back(view.isDynamicDim(static_cast<unsigned>(i)) ? -1 : view.getShape()[i]);
      operand.strides.push_back(ShapedType::isDynamic(stride) ? -1 : stride);
    }
    operand.align = view.getAlign();
  } else if (auto pointer = dyn_cast<tile::PtrType>(type)) {
    operand.dtype = tile::elementName(pointer.getPointee());
    operand.rank = -1;
  } else {
    operand.dtype = tile::elementName(type);
    operand.rank = -2;
  }
  return operand;
}

/// Whether something is written through a value.
bool isWritten(Value start) {
  llvm::SetVector<Value> values;
  values.insert(start);
  for (size_t i = 0; i < values.size(); ++i)
    for (OpOperand &use : values[i].getUses()) {
      Operation *op = use.getOwner();
      if (auto store = dyn_cast<tile::StoreOp>(op); store && store.getView() == values[i])
        return true;
      if (auto scatter = dyn_cast<tile::ScatterOp>(op); scatter && scatter.getPointers() == values[i])
        return true;
      if (isa<tile::AtomicOp, tile::AtomicRmwOp, tile::AtomicCasOp>(op))
        return true;
      // Through views, pointers and tiles of pointers, and into and out of loops.
      auto carries = [](Type type) { return isa<tile::ViewType, tile::PtrType>(getElementTypeOrSelf(type)); };
      for (Value result : op->getResults())
        if (carries(result.getType()))
          values.insert(result);
      for (Region &region : op->getRegions())
        for (Value argument : region.getArguments())
          if (carries(argument.getType()))
            values.insert(argument);
      if (op->hasTrait<OpTrait::IsTerminator>())
        for (Value result : op->getParentOp()->getResults())
          if (carries(result.getType()))
            values.insert(result);
    }
  return false;
}

bool takesWorkspace(tile::KernelOp kernel) { return kernel.getLaunchAttr() && kernel.getLaunchAttr().getWorkspace(); }

ArrayRef<Type> operandTypes(tile::KernelOp kernel) {
  ArrayRef<Type> types = kernel.getArgumentTypes();
  return takesWorkspace(kernel) ? types.drop_back() : types;
}

} // namespace

LogicalResult checkTileModule(ModuleOp module) {
  tile::KernelOp first;
  for (Operation &op : module.getOps()) {
    auto kernel = dyn_cast<tile::KernelOp>(op);
    if (!kernel)
      return op.emitOpError("is not a kernel: a tile file holds kernels only");
    if (!first) {
      first = kernel;
      continue;
    }
    if (operandTypes(kernel) != operandTypes(first)) {
      InFlightDiagnostic diagnostic = kernel.emitOpError("takes other arguments than @") << first.getSymName();
      diagnostic.attachNote(first.getLoc()) << "all kernels of a file are parts of one launch";
      return diagnostic;
    }
    if (!kernel.getLaunchAttr() || !first.getLaunchAttr())
      return kernel.emitOpError("expected a launch rule on every kernel of a file with several");
  }
  if (!first)
    return module.emitError("expected at least one tile.kernel");
  return success();
}

std::vector<std::string> kernelNames(ModuleOp module) {
  std::vector<std::string> names;
  for (tile::KernelOp kernel : module.getOps<tile::KernelOp>())
    names.push_back(kernel.getSymName().str());
  return names;
}

std::vector<std::string> assertionTexts(ModuleOp module) {
  std::vector<std::string> texts;
  module.walk([&](tile::AssertOp op) {
    std::string place = placeText(op.getLoc());
    texts.push_back(op.getMessage().str() + (place.empty() ? "" : " (" + place + ")"));
  });
  return texts;
}

std::optional<abi::PackedOperand> packedOperand(ModuleOp module) {
  for (tile::KernelOp kernel : module.getOps<tile::KernelOp>()) {
    tile::LaunchAttr launch = kernel.getLaunchAttr();
    if (launch && launch.getPacks() >= 0)
      return abi::PackedOperand{static_cast<int32_t>(launch.getPacks()),
                                launch.getWorkspace().getValue().getSingleConstantResult()};
  }
  return std::nullopt;
}

void describeKernels(ModuleOp module, abi::Manifest &manifest) {
  auto kernels = module.getOps<tile::KernelOp>();
  tile::KernelOp first = *kernels.begin();
  manifest.op = first.getSymName().str();
  manifest.hasLaunchRule = first.getLaunchAttr() != nullptr;
  for (auto [index, type] : llvm::enumerate(operandTypes(first))) {
    auto name = first.getArgAttrOfType<StringAttr>(static_cast<unsigned>(index), "tile.name");
    abi::OperandInfo operand = operandOf(type, name ? name.str() : "arg" + std::to_string(index));
    for (tile::KernelOp kernel : kernels)
      operand.isOutput |= isWritten(kernel.getArgument(static_cast<unsigned>(index)));
    manifest.operands.push_back(std::move(operand));
  }
}

} // namespace tilejit
