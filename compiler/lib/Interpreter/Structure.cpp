// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// tile: program instances, assumptions, hints, assertions and printing.

#include "Instance.h"

#include "tilejit/Dialect/Tile/IR/Tile.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace tilejit::interpreter {

static Status runAssume(Instance &in, tile::AssumeOp op) {
  const Tile &value = in.getTile(op.getValue());
  in.set(op, in.get(op.getValue()));
  if (isa<tile::PtrType>(op.getValue().getType())) {
    Cell pointer = value.cells.front();
    unsigned buffer = pointerBuffer(pointer);
    if (buffer >= in.launch.buffers.size())
      return Status::ok();
    int64_t address = reinterpret_cast<intptr_t>(in.launch.buffers[buffer].data) + pointerOffset(pointer);
    if (op.getDivisible() && address % int64_t(*op.getDivisible()) != 0)
      return failAt(op, "expected an address divisible by " + Twine(*op.getDivisible()) + ", got a remainder of " +
                            Twine(address % int64_t(*op.getDivisible())));
    return Status::ok();
  }
  int64_t number = in.getInteger(op.getValue());
  if (op.getDivisible() && number % int64_t(*op.getDivisible()) != 0)
    return failAt(op, "expected a number divisible by " + Twine(*op.getDivisible()) + ", got " + Twine(number));
  if (op.getMin() && number < int64_t(*op.getMin()))
    return failAt(op, "expected at least " + Twine(int64_t(*op.getMin())) + ", got " + Twine(number));
  if (op.getMax() && number > int64_t(*op.getMax()))
    return failAt(op, "expected at most " + Twine(int64_t(*op.getMax())) + ", got " + Twine(number));
  if (op.getEqual() && number != int64_t(*op.getEqual()))
    return failAt(op, "expected " + Twine(int64_t(*op.getEqual())) + ", got " + Twine(number));
  return Status::ok();
}

static Status runAssert(Instance &in, tile::AssertOp op) {
  for (Cell cell : in.getTile(op.getCondition()).cells)
    if (cell == 0)
      return failAt(op, op.getMessage());
  return Status::ok();
}

/// Writes one number.
static void printCell(raw_ostream &os, const Format &format, Cell cell) {
  if (format.isFloat())
    os << llvm::format("%.9g", toReal(cell));
  else if (format.getWidth() == 1)
    os << cell; // Not -1.
  else
    os << format.toSigned(cell);
}

static Status runPrint(Instance &in, tile::PrintOp op) {
  constexpr size_t shown = 3; // At each end.
  std::string line;
  llvm::raw_string_ostream os(line);
  os << op.getText();
  for (Value value : op.getValues()) {
    const Tile &tile = in.getTile(value);
    Format format(tile.element);
    os << ' ';
    if (isa<RankedTensorType>(value.getType()))
      os << '[';
    for (size_t i = 0, e = tile.cells.size(); i < e; ++i) {
      if (e > 2 * shown && i == shown) {
        os << ", ...";
        i = e - shown;
      }
      if (i != 0)
        os << ", ";
      printCell(os, format, tile.cells[i]);
    }
    if (isa<RankedTensorType>(value.getType()))
      os << ']';
  }
  std::lock_guard<std::mutex> lock(in.launch.output);
  raw_ostream &output = in.launch.options.output ? *in.launch.options.output : llvm::errs();
  output << line << '\n';
  return Status::ok();
}

void addStructureHandlers(HandlerTable &table) {
  table.add<tile::ProgramIdOp>([](Instance &in, tile::ProgramIdOp op) {
    in.setScalar(op, in.id[op.getAxis()]);
    return Status::ok();
  });
  table.add<tile::NumProgramsOp>([](Instance &in, tile::NumProgramsOp op) {
    in.setScalar(op, in.launch.grid[op.getAxis()]);
    return Status::ok();
  });
  table.add<tile::HintOp>([](Instance &, tile::HintOp) { return Status::ok(); });
  table.add<tile::AssumeOp>(runAssume);
  table.add<tile::AssertOp>(runAssert);
  table.add<tile::PrintOp>(runPrint);
}

} // namespace tilejit::interpreter
