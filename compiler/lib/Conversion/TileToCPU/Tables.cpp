// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Constants whose elements differ: a table in the module, laid out like a tile in scratch memory, that is read where it
// lies and never written.

#include "KernelLowering.h"

#include "../Common/ConstantTable.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace tilejit;
using namespace tilejit::cpu;

LogicalResult KernelLowering::placeTable(arith::ConstantOp op) {
  auto elements = cast<DenseElementsAttr>(op.getValue());
  auto type = cast<RankedTensorType>(op.getType());
  Stored place;
  place.isTable = true;
  int64_t places = layOut(place.buffer, type, /*dense=*/false);
  auto bits = static_cast<unsigned>(8 * byteSize(memoryType(type.getElementType())));
  DenseElementsAttr table = constantTable(elements, place.buffer.strides, places, bits);
  auto module = kernel->getParentOfType<ModuleOp>();
  std::string name = unusedSymbol(module, "tilejit_table_");
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
