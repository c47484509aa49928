// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The tilegpu dialect itself, and small questions about tiles that everything on layouts asks.

#include "tilejit/Dialect/TileGPU/IR/TileGPU.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilejit::tilegpu;

#include "tilejit/Dialect/TileGPU/IR/TileGPUDialect.cpp.inc"

namespace {
/// Layouts are long and come again and again: texts name each once.
struct LayoutAliases : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;
  AliasResult getAlias(Attribute attr, raw_ostream &out) const override {
    if (isa<LayoutAttr>(attr))
      out << "layout";
    else if (isa<MemoryAttr>(attr))
      out << "memory";
    else
      return AliasResult::NoAlias;
    return AliasResult::FinalAlias;
  }
};
} // namespace

void TileGPUDialect::initialize() {
  addInterfaces<LayoutAliases>();
  registerAttributes();
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "tilejit/Dialect/TileGPU/IR/TileGPUOps.cpp.inc"
      >();
}

LayoutAttr tilejit::tilegpu::layoutOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? dyn_cast_or_null<LayoutAttr>(tensor.getEncoding()) : LayoutAttr();
}

RankedTensorType tilejit::tilegpu::withLayout(Type tile, LayoutAttr layout) {
  auto type = cast<RankedTensorType>(tile);
  return RankedTensorType::get(type.getShape(), type.getElementType(), layout);
}

BlockSize tilejit::tilegpu::blockSizeOf(Operation *kernel) {
  BlockSize size;
  auto read = [&](StringRef name, int64_t &into) {
    if (auto attr = kernel->getAttrOfType<IntegerAttr>(name))
      into = attr.getInt();
  };
  read(TileGPUDialect::lanesAttrName, size.lanes);
  read(TileGPUDialect::warpsAttrName, size.warps);
  read(TileGPUDialect::sharedBytesAttrName, size.sharedBytes);
  return size;
}

SmallVector<int64_t> tilejit::tilegpu::paddedShape(ArrayRef<int64_t> shape) {
  return llvm::map_to_vector(shape, [](int64_t size) { return int64_t(llvm::PowerOf2Ceil(uint64_t(size))); });
}

int64_t tilejit::tilegpu::storageBytes(Type element) {
  if (!element.isIntOrFloat())
    return 8;
  return std::max<int64_t>(1, llvm::divideCeil(element.getIntOrFloatBitWidth(), 8));
}

bool tilejit::tilegpu::hasWholeBytes(Type element) {
  return !element.isIntOrFloat() || element.getIntOrFloatBitWidth() % 8 == 0;
}
