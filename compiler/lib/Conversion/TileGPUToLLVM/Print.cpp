// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// tile.print: each thread that holds numbers which are shown puts them as records into the launch's buffer
// (tilejit/ABI/GpuPrint.h), from where the runtime prints them. All threads of a block come by every print of an
// instance, so that records need no number for the line; that thread 0 writes cell 0 of every line gives the order.

#include "KernelEmitter.h"

#include "../Common/PrintedValues.h"

#include "tilejit/ABI/GpuPrint.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace tilejit;
using namespace tilejit::gpu;

namespace {
struct Cell {
  int64_t number = 0;
  Value bits; ///< i64; null: none.
};
/// By the number of the thread in its block.
using CellsOfThreads = llvm::MapVector<int64_t, SmallVector<Cell>>;
} // namespace

/// A number as the bits that it has in memory, in the low end of an i64.
static Value bitsOf(KernelEmitter &e, Value number, Type element) {
  Value value = e.toMemory(number, element);
  if (isa<FloatType>(value.getType()))
    value = arith::BitcastOp::create(e.b, e.loc, e.b.getIntegerType(value.getType().getIntOrFloatBitWidth()), value);
  return e.resize(value, e.b.getI64Type(), /*isSigned=*/false);
}

/// Adds the elements of a tile that are shown to the cells of the threads that hold them.
static void collectElements(KernelEmitter &e, Value value, int64_t &number, CellsOfThreads &cells) {
  auto tile = tileTypeOf(value);
  LayoutAttr layout = tilegpu::layoutOf(tile);
  tilegpu::LinearLayout map = layout.toLinear();
  tilegpu::gf2::Span places(map.columns());
  SmallVector<Value> elements = e.scalars(e.get(value));
  for (int64_t shown : printedElements(tile)) {
    int64_t element = 0;
    for (auto [dim, coordinate] : llvm::enumerate(elementCoordinates(tile.getShape(), shown)))
      element |= coordinate << layout.shiftOf(int(dim));
    std::optional<uint64_t> place = places.express(uint64_t(element));
    assert(place && "the verifier asks for a place of each element");
    int64_t registers = layout.numRegisters(), thread = int64_t(*place) / registers;
    Value bits = bitsOf(e, elements[size_t(int64_t(*place) % registers)], tile.getElementType());
    cells[thread].push_back({number++, bits});
  }
}

/// In one thread: takes room for its records and, where there is some, fills it.
static LogicalResult writeRecords(KernelEmitter &e, int64_t thread, ArrayRef<Cell> cells, int64_t print) {
  Type i64 = e.b.getI64Type();
  StringRef scope = e.threads.scopeName(tile::MemoryScope::Device);
  auto word = [&](int64_t index) { return e.address(e.printBuffer(), index, i64); };
  auto count = [&](int64_t index, int64_t by) {
    return LLVM::AtomicRMWOp::create(e.b, e.loc, LLVM::AtomicBinOp::add, word(index), e.integer(i64, by),
                                     LLVM::AtomicOrdering::monotonic, scope);
  };
  if (thread == 0)
    count(abi::PrintLines, 1);
  Value first = count(abi::PrintAsked, int64_t(cells.size()));
  Value room = e.loadFrom(i64, word(abi::PrintRoom), /*alignment=*/8);
  Value fits = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::ule,
                                     e.add(first, e.integer(i64, int64_t(cells.size()))), room);
  return e.when(fits, [&] {
    Value records = e.address(word(abi::printHeaderWords), e.mul(first, e.index(abi::printRecordWords)), i64);
    for (auto [i, cell] : llvm::enumerate(cells)) {
      Value words[abi::printRecordWords] = {e.instance(), e.integer(i64, ((print + 1) << 32) + cell.number), cell.bits};
      for (auto [k, value] : llvm::enumerate(words))
        if (value)
          e.storeTo(value, e.address(records, int64_t(i) * abi::printRecordWords + int64_t(k), i64), /*alignment=*/8);
    }
    return success();
  });
}

static LogicalResult lowerPrint(KernelEmitter &e, Operation *op) {
  auto print = cast<tile::PrintOp>(op);
  int64_t number = 0;
  CellsOfThreads cells;
  for (Value value : print.getValues()) {
    if (isa<RankedTensorType>(value.getType()))
      collectElements(e, value, number, cells);
    else
      cells[0].push_back({number++, bitsOf(e, e.get(value), value.getType())});
  }
  if (number == 0)
    cells[0].push_back({});
  for (const auto &entry : cells)
    if (failed(e.when(e.equal(e.thread(), entry.first),
                      [&] { return writeRecords(e, entry.first, entry.second, e.printNumber(op)); })))
      return failure();
  return success();
}

void gpu::registerPrint(LoweringTable &table) { table[tile::PrintOp::getOperationName()] = lowerPrint; }
