// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// tile: conversions with stated rounding and saturation, and packing of 4-bit values.

#include "Elementwise.h"

#include "tilejit/Dialect/Tile/IR/Tile.h"

#include <cmath>

using namespace mlir;

namespace tilejit::interpreter {

static Status runFpToFp(Instance &in, tile::FpToFpOp op) {
  Format format(getElementTypeOrSelf(op.getType()));
  double largest = format.getLargest();
  bool towardZero = op.getRounding() == tile::Rounding::TowardZero;
  return mapCells<1>(in, op, [&](Cell cell) {
    double value = toReal(cell);
    if (op.getSaturate() && std::fabs(value) > largest)
      value = std::copysign(largest, value);
    if (in.launch.options.doublePrecision)
      return toCell(value);
    // What is inside the range can still have no number in the type: f8E8M0FNU lacks zero and a sign.
    return toCell(towardZero ? format.round(value, llvm::RoundingMode::TowardZero) : format.round(value));
  });
}

static Status runFpToInt(Instance &in, tile::FpToIntOp op) {
  Format format(getElementTypeOrSelf(op.getType()));
  bool isSigned = op.getSignedness() == tile::Signedness::Signed;
  double low = isSigned ? -std::ldexp(1.0, format.getWidth() - 1) : 0;
  double high = std::ldexp(1.0, isSigned ? format.getWidth() - 1 : format.getWidth());
  return mapCells<1>(in, op, [&](Cell cell) -> Cell {
    double value = std::trunc(toReal(cell));
    if (std::isnan(value))
      return 0;
    if (value <= low)
      return isSigned ? format.getSignedMin() : 0;
    if (value >= high)
      return isSigned ? format.getSignedMax() : format.wrap(~uint64_t(0));
    return format.wrap(value < 0 ? uint64_t(int64_t(value)) : uint64_t(value));
  });
}

static Status runPack(Instance &in, tile::PackOp op) {
  const Tile &source = in.getTile(op.getSource());
  Format format(source.element);
  Tile result{op.getType().getElementType(), llvm::SmallVector<int64_t, 4>(op.getType().getShape()), {}};
  for (size_t i = 0; i < source.cells.size(); i += 2)
    result.cells.push_back(format.encode(source.cells[i]) | format.encode(source.cells[i + 1]) << 4);
  in.setTile(op, std::move(result));
  return Status::ok();
}

static Status runUnpack(Instance &in, tile::UnpackOp op) {
  Format format(op.getType().getElementType());
  Tile result{op.getType().getElementType(), llvm::SmallVector<int64_t, 4>(op.getType().getShape()), {}};
  for (Cell byte : in.getTile(op.getSource()).cells) {
    result.cells.push_back(format.decode(byte & 15));
    result.cells.push_back(format.decode(byte >> 4));
  }
  in.setTile(op, std::move(result));
  return Status::ok();
}

void addConversionHandlers(HandlerTable &table) {
  table.add<tile::FpToFpOp>(runFpToFp);
  table.add<tile::FpToIntOp>(runFpToInt);
  table.add<tile::PackOp>(runPack);
  table.add<tile::UnpackOp>(runUnpack);
}

} // namespace tilejit::interpreter
