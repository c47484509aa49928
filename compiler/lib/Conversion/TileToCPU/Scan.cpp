// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// tile.scan. The operands are copied to scratch memory and combined there from one position to the next, whole vectors
// at a time where the scan runs across the lanes, single elements where it runs along them.

#include "KernelLowering.h"

using namespace mlir;
using namespace tilejit;
using namespace tilejit::cpu;

namespace {
class Scanner {
public:
  Scanner(KernelLowering &l, tile::ScanOp op)
      : l(l), op(op), shape(cast<RankedTensorType>(op.getInputs()[0].getType()).getShape()), axis(op.getAxis()),
        lane(KernelLowering::laneDimension(shape)) {}

  LogicalResult run();

private:
  using Values = SmallVector<Value, 2>;
  LogicalResult scanLine(Segment place);
  Values read(const Segment &place);
  void write(const Segment &place, ValueRange values);

  KernelLowering &l;
  tile::ScanOp op;
  ArrayRef<int64_t> shape;
  int axis, lane;
  SmallVector<Buffer> buffers;
};
} // namespace

Scanner::Values Scanner::read(const Segment &place) {
  Values values;
  for (auto [buffer, input] : llvm::zip(buffers, op.getInputs()))
    values.push_back(l.readBuffer(buffer, getElementTypeOrSelf(input.getType()), place));
  return values;
}

void Scanner::write(const Segment &place, ValueRange values) {
  for (auto [buffer, input, value] : llvm::zip(buffers, op.getInputs(), values))
    l.writeBuffer(buffer, getElementTypeOrSelf(input.getType()), place, value);
}

/// One line along the axis; the first element stays as it is.
LogicalResult Scanner::scanLine(Segment place) {
  int64_t size = shape[axis];
  auto position = [&](Index step) { return op.getReverse() ? l.e.sub(size - 1, step) : step; };
  place.at[axis] = position(0);
  SmallVector<Value> running(read(place));
  return l.loop(1, size, 1, running, [&](Index step, SmallVectorImpl<Value> &state) {
    place.at[axis] = position(step);
    SmallVector<Value, 2> next;
    if (!l.combineRegion(op.getCombiner(), state, read(place), next))
      return failure();
    write(place, next);
    llvm::copy(next, state.begin());
    return success();
  });
}

LogicalResult Scanner::run() {
  for (Value input : op.getInputs()) {
    FailureOr<Buffer> buffer = l.allocate(cast<RankedTensorType>(input.getType()), op);
    if (failed(buffer) || failed(l.assign(*buffer, input)))
      return failure();
    buffers.push_back(*buffer);
  }
  SmallVector<Index> limits(shape);
  limits[axis] = 1;
  int across = axis == lane ? -1 : lane;
  SmallVector<Value> nothing;
  LogicalResult done = l.forEachSegment(limits, across, {}, nothing,
                                        [&](const Segment &segment, Index, auto &) { return scanLine(segment); });
  for (auto [result, buffer] : llvm::zip(op.getResults(), buffers)) {
    Stored place;
    place.buffer = buffer;
    l.setStored(result, place);
  }
  return done;
}

static LogicalResult lowerScan(KernelLowering &l, Operation *op) { return Scanner(l, cast<tile::ScanOp>(op)).run(); }

void tilejit::cpu::registerScan(OpTables &tables) { tables.eager[tile::ScanOp::getOperationName()] = lowerScan; }
