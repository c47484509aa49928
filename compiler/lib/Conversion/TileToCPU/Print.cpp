// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// tile.print: the bits of the elements that are shown go to scratch memory, and from there to the host's printer
// (tilejit/ABI/KernelABI.h), which turns them into text. A kernel without a printer prints nothing.

#include "Print.h"

#include "../Common/ConstantTable.h"
#include "../Common/PrintedValues.h"

#include "tilejit/ABI/KernelABI.h"

using namespace mlir;
using namespace tilejit;
using namespace tilejit::cpu;

/// The two pointers of the host's printer: private to the payload, zero until the host sets them. Made with the first
/// tile.print of a module, together with the function that sets them.
static LLVM::GlobalOp printerOf(KernelLowering &l) {
  constexpr StringLiteral name = "tilejit_printer";
  auto module = l.kernel->getParentOfType<ModuleOp>();
  if (auto global = module.lookupSymbol<LLVM::GlobalOp>(name))
    return global;
  OpBuilder::InsertionGuard guard(l.b);
  l.b.setInsertionPointToEnd(module.getBody());
  Location loc = module.getLoc();
  auto type = LLVM::LLVMArrayType::get(l.e.pointer(), 2);
  auto global =
      LLVM::GlobalOp::create(l.b, loc, type, /*isConstant=*/false, LLVM::Linkage::Internal, name, Attribute());
  Block *initial = l.b.createBlock(&global.getInitializerRegion());
  LLVM::ReturnOp::create(l.b, loc, LLVM::ZeroOp::create(l.b, loc, type).getResult());

  l.b.setInsertionPointAfter(initial->getParentOp());
  auto setterType =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(l.b.getContext()), {l.e.pointer(), l.e.pointer()});
  auto setter = LLVM::LLVMFuncOp::create(l.b, loc, abi::cpuSetPrinterSymbol, setterType);
  Block *entry = setter.addEntryBlock(l.b);
  l.b.setInsertionPointToEnd(entry);
  Value place = LLVM::AddressOfOp::create(l.b, loc, global);
  for (unsigned i = 0; i < 2; ++i) {
    Value slot = LLVM::GEPOp::create(l.b, loc, l.e.pointer(), l.e.pointer(), place, ArrayRef<LLVM::GEPArg>{int32_t(i)});
    LLVM::StoreOp::create(l.b, loc, entry->getArgument(i), slot);
  }
  LLVM::ReturnOp::create(l.b, loc, ValueRange());
  return global;
}

/// Address of constant bytes, which the module holds.
static Value constantBytes(KernelLowering &l, StringRef bytes) {
  auto module = l.kernel->getParentOfType<ModuleOp>();
  OpBuilder::InsertionGuard guard(l.b);
  std::string name = unusedSymbol(module, "tilejit_print_text_");
  Value address;
  {
    OpBuilder::InsertionGuard inner(l.b);
    l.b.setInsertionPointToEnd(module.getBody());
    auto type = LLVM::LLVMArrayType::get(l.b.getI8Type(), bytes.size());
    LLVM::GlobalOp::create(l.b, l.e.loc, type, /*isConstant=*/true, LLVM::Linkage::Internal, name,
                           l.b.getStringAttr(bytes));
  }
  address = LLVM::AddressOfOp::create(l.b, l.e.loc, l.e.pointer(), name);
  return address;
}

/// A value as the bits that it has in memory, in the low end of an i64.
static Value cellOf(KernelLowering &l, Value value, Type element) {
  value = l.toMemory(value, element);
  if (isa<FloatType>(value.getType()))
    value = arith::BitcastOp::create(l.b, l.e.loc, l.b.getIntegerType(value.getType().getIntOrFloatBitWidth()), value);
  return value.getType() == l.e.i64() ? value : Value(arith::ExtUIOp::create(l.b, l.e.loc, l.e.i64(), value));
}

/// Cells of a value of the kernel.
static LogicalResult collectCells(KernelLowering &l, Value value, SmallVectorImpl<Value> &cells) {
  auto tile = dyn_cast<RankedTensorType>(value.getType());
  if (!tile) {
    cells.push_back(cellOf(l, l.scalar(value), value.getType()));
    return success();
  }
  for (int64_t number : printedElements(tile)) {
    Segment segment;
    for (int64_t coordinate : elementCoordinates(tile.getShape(), number))
      segment.at.push_back(Index(coordinate));
    Value element = l.evaluate(value, segment);
    if (!element)
      return failure();
    cells.push_back(cellOf(l, element, tile.getElementType()));
  }
  return success();
}

static LogicalResult lowerPrint(KernelLowering &l, Operation *op) {
  auto print = cast<tile::PrintOp>(op);
  SmallVector<Value> cells;
  for (Value value : print.getValues())
    if (failed(collectCells(l, value, cells)))
      return failure();
  int64_t mark = l.scratchMark();
  FailureOr<Value> memory = l.allocateBytes(8 * std::max<int64_t>(1, cells.size()), op);
  if (failed(memory))
    return failure();
  l.scratchRelease(mark);
  for (auto [i, cell] : llvm::enumerate(cells))
    l.e.store(cell, l.e.address(*memory, static_cast<int64_t>(i), l.e.i64()));

  Value printer = LLVM::AddressOfOp::create(l.b, l.e.loc, printerOf(l));
  Value function = l.e.load(l.e.pointer(), printer);
  Value isSet = LLVM::ICmpOp::create(l.b, l.e.loc, LLVM::ICmpPredicate::ne, function,
                                     LLVM::ZeroOp::create(l.b, l.e.loc, l.e.pointer()));
  return l.branch(
      isSet,
      [&] {
        Value user = l.e.load(l.e.pointer(), l.e.address(printer, 1, l.e.pointer()));
        // One byte more than the text, as a global can't be empty.
        SmallVector<Value> operands{function,
                                    user,
                                    constantBytes(l, print.getText().str() + '\0'),
                                    l.e.constant(static_cast<int64_t>(print.getText().size())),
                                    constantBytes(l, printedTypes(print) + '\0'),
                                    *memory};
        auto type =
            LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(l.b.getContext()),
                                        {l.e.pointer(), l.e.pointer(), l.e.i64(), l.e.pointer(), l.e.pointer()});
        LLVM::CallOp::create(l.b, l.e.loc, type, operands);
        return success();
      },
      nullptr);
}

void tilejit::cpu::registerPrint(OpTables &tables) { tables.eager[tile::PrintOp::getOperationName()] = lowerPrint; }
