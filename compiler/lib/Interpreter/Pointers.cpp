// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// tile: pointer tiles. Atomics of all program instances take turns, which is one of the orders that they may have.

#include "Elementwise.h"
#include "Memory.h"

using namespace mlir;

namespace tilejit::interpreter {

/// What an atomic update computes.
static Cell combine(Instance &in, tile::AtomicKind kind, const Format &format, Cell old, Cell value) {
  switch (kind) {
  case tile::AtomicKind::AddI:
    return format.wrap(old + value);
  case tile::AtomicKind::AddF:
    return toCell(in.round(format, toReal(old) + toReal(value)));
  case tile::AtomicKind::MaxS:
    return format.toSigned(old) >= format.toSigned(value) ? old : value;
  case tile::AtomicKind::MinS:
    return format.toSigned(old) <= format.toSigned(value) ? old : value;
  case tile::AtomicKind::MaxU:
    return std::max(old, value);
  case tile::AtomicKind::MinU:
    return std::min(old, value);
  case tile::AtomicKind::AndI:
    return old & value;
  case tile::AtomicKind::OrI:
    return old | value;
  case tile::AtomicKind::XorI:
    return old ^ value;
  case tile::AtomicKind::Exchange:
    return value;
  }
  llvm_unreachable("all kinds are listed");
}

Expected<Cell> updateAtomically(Instance &in, Operation *op, tile::AtomicKind kind, Cell pointer, const Format &format,
                                Cell value) {
  std::lock_guard<std::mutex> lock(in.launch.atomics);
  TILEJIT_ASSIGN_OR_RETURN(Cell old, in.loadCell(op, pointer, format));
  TILEJIT_RETURN_IF_ERROR(in.storeCell(op, pointer, format, combine(in, kind, format, old, value)));
  return old;
}

/// The element type behind pointers.
static Type pointeeOf(Value pointers) {
  return cast<tile::PtrType>(getElementTypeOrSelf(pointers.getType())).getPointee();
}

static Status runAddPtr(Instance &in, tile::AddPtrOp op) {
  Format offset(getElementTypeOrSelf(op.getOffset().getType()));
  int64_t bytes = Format(pointeeOf(op.getBase())).getBytes();
  return mapCells<2>(in, op, [&](Cell pointer, Cell distance) {
    return movePointer(pointer, int64_t(uint64_t(offset.toSigned(distance)) * uint64_t(bytes)));
  });
}

/// Whether element i takes part.
static bool isOn(Instance &in, Value mask, size_t i) { return !mask || in.getTile(mask).cells[i] != 0; }

static Status runGather(Instance &in, tile::GatherOp op) {
  const Tile &pointers = in.getTile(op.getPointers());
  Format format(pointeeOf(op.getPointers()));
  Tile result{pointeeOf(op.getPointers()), pointers.shape, std::vector<Cell>(pointers.cells.size())};
  for (size_t i = 0; i < pointers.cells.size(); ++i) {
    if (isOn(in, op.getMask(), i)) {
      TILEJIT_ASSIGN_OR_RETURN(result.cells[i], in.loadCell(op, pointers.cells[i], format));
    } else if (op.getOther()) {
      result.cells[i] = in.getTile(op.getOther()).cells[i];
    }
  }
  in.setTile(op, std::move(result));
  return Status::ok();
}

static Status runScatter(Instance &in, tile::ScatterOp op) {
  const Tile &pointers = in.getTile(op.getPointers()), &value = in.getTile(op.getValue());
  Format format(pointeeOf(op.getPointers()));
  for (size_t i = 0; i < pointers.cells.size(); ++i)
    if (isOn(in, op.getMask(), i))
      TILEJIT_RETURN_IF_ERROR(in.storeCell(op, pointers.cells[i], format, value.cells[i]));
  return Status::ok();
}

static Status runAtomicRmw(Instance &in, tile::AtomicRmwOp op) {
  const Tile &pointers = in.getTile(op.getPointers()), &value = in.getTile(op.getValue());
  Format format(value.element);
  Tile result{value.element, value.shape, std::vector<Cell>(value.cells.size())};
  for (size_t i = 0; i < pointers.cells.size(); ++i)
    if (isOn(in, op.getMask(), i)) {
      TILEJIT_ASSIGN_OR_RETURN(result.cells[i],
                               updateAtomically(in, op, op.getKind(), pointers.cells[i], format, value.cells[i]));
    }
  in.setTile(op, std::move(result));
  return Status::ok();
}

static Status runAtomicCas(Instance &in, tile::AtomicCasOp op) {
  const Tile &pointers = in.getTile(op.getPointers()), &expected = in.getTile(op.getExpected());
  const Tile &desired = in.getTile(op.getDesired());
  Format format(expected.element);
  Tile result{expected.element, expected.shape, std::vector<Cell>(expected.cells.size())};
  for (size_t i = 0; i < pointers.cells.size(); ++i) {
    std::lock_guard<std::mutex> lock(in.launch.atomics);
    TILEJIT_ASSIGN_OR_RETURN(result.cells[i], in.loadCell(op, pointers.cells[i], format));
    if (format.encode(result.cells[i]) == format.encode(expected.cells[i]))
      TILEJIT_RETURN_IF_ERROR(in.storeCell(op, pointers.cells[i], format, desired.cells[i]));
  }
  in.setTile(op, std::move(result));
  return Status::ok();
}

void addPointerHandlers(HandlerTable &table) {
  table.add<tile::AddPtrOp>(runAddPtr);
  table.add<tile::GatherOp>(runGather);
  table.add<tile::ScatterOp>(runScatter);
  table.add<tile::AtomicRmwOp>(runAtomicRmw);
  table.add<tile::AtomicCasOp>(runAtomicCas);
}

} // namespace tilejit::interpreter
