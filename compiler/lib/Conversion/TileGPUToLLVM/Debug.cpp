// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Assertions. A thread whose condition is false leaves the assertion's number where the runtime looks after the launch,
// and its warp ends; nothing traps, so that the device stays usable.

#include "KernelEmitter.h"

using namespace mlir;
using namespace tilejit;
using namespace tilejit::gpu;

static LogicalResult lowerAssert(KernelEmitter &e, Operation *op) {
  auto assertion = cast<tile::AssertOp>(op);
  Value holds = e.get(assertion.getCondition());
  if (auto type = dyn_cast<VectorType>(holds.getType())) {
    auto tile = tileTypeOf(assertion.getCondition());
    // What lies beyond the tile does not count.
    if (Value inside = e.insideTile(tilegpu::layoutOf(tile), tile.getShape())) {
      Value outside = arith::XOrIOp::create(e.b, e.loc, inside, e.integer(type, 1));
      holds = arith::OrIOp::create(e.b, e.loc, holds, outside);
    }
    SmallVector<Value> elements = e.scalars(holds);
    holds = elements.front();
    for (Value element : ArrayRef(elements).drop_front())
      holds = arith::AndIOp::create(e.b, e.loc, holds, element);
  }
  Value fails = arith::XOrIOp::create(e.b, e.loc, holds, e.integer(holds.getType(), 1));
  auto known = op->getAttrOfType<IntegerAttr>(tilegpu::TileGPUDialect::assertionAttrName);
  int64_t number = known ? known.getInt() + 1 : 1;
  return e.when(fails, [&] {
    LLVM::AtomicRMWOp::create(e.b, e.loc, LLVM::AtomicBinOp::max, e.statusAddress(),
                              e.integer(e.b.getI64Type(), number), LLVM::AtomicOrdering::monotonic,
                              e.threads.scopeName(tile::MemoryScope::Device));
    e.threads.endWarp(e.b, e.loc);
    return success();
  });
}

void gpu::registerDebug(LoweringTable &table) { table[tile::AssertOp::getOperationName()] = lowerAssert; }
