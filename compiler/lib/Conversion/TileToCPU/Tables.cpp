// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Constants whose elements differ: a table in the module, laid out like a tile in scratch memory, that is read where it
// lies and never written.

#include "KernelLowering.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace tilejit;
using namespace tilejit::cpu;

static APInt bitsOf(Attribute element) {
  if (auto number = dyn_cast<FloatAttr>(element))
    return number.getValue().bitcastToAPInt();
  return cast<IntegerAttr>(element).getValue();
}

/// The elements as integers, each at its place in a buffer of these strides; what lies between them is zero.
static DenseElementsAttr tableOf(DenseElementsAttr elements, ArrayRef<int64_t> strides, int64_t places, unsigned bits) {
  ArrayRef<int64_t> shape = elements.getType().getShape();
  SmallVector<APInt> table(places, APInt(bits, 0));
  for (auto [linear, element] : llvm::enumerate(elements.getValues<Attribute>())) {
    int64_t rest = static_cast<int64_t>(linear), place = 0;
    for (int d = static_cast<int>(shape.size()) - 1; d >= 0; --d) {
      place += rest % shape[d] * strides[d];
      rest /= shape[d];
    }
    table[place] = bitsOf(element).zextOrTrunc(bits);
  }
  auto type = RankedTensorType::get({places}, IntegerType::get(elements.getContext(), bits));
  return DenseElementsAttr::get(type, table);
}

LogicalResult KernelLowering::placeTable(arith::ConstantOp op, bool dense) {
  auto elements = cast<DenseElementsAttr>(op.getValue());
  auto type = cast<RankedTensorType>(op.getType());
  Stored place;
  place.isTable = true;
  int64_t places = layOut(place.buffer, type, dense);
  auto bits = static_cast<unsigned>(8 * byteSize(memoryType(type.getElementType())));
  DenseElementsAttr table = tableOf(elements, place.buffer.strides, places, bits);
  auto module = kernel->getParentOfType<ModuleOp>();
  std::string name;
  for (unsigned number = 0; name.empty() || module.lookupSymbol(name); ++number)
    name = "tilejit_table_" + std::to_string(number);
  OpBuilder top = OpBuilder::atBlockEnd(module.getBody());
  constexpr unsigned alignment = 64;
  LLVM::GlobalOp::create(top, e.loc, LLVM::LLVMArrayType::get(table.getElementType(), places), /*isConstant=*/true,
                         LLVM::Linkage::Internal, name, table, alignment);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&function.getBody().front());
  place.buffer.pointer = LLVM::AddressOfOp::create(b, e.loc, e.pointer(), name);
  setStored(op.getResult(), place);
  return success();
}
