// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Applying a function to the cells of operands. A scalar operand repeats, so that regions written for scalars also run
// on many elements at once.

#ifndef TILEJIT_INTERPRETER_ELEMENTWISE_H
#define TILEJIT_INTERPRETER_ELEMENTWISE_H

#include "Instance.h"

#include "mlir/IR/TypeUtilities.h"

#include <algorithm>
#include <utility>

namespace tilejit::interpreter {

/// The cells of an operand, repeated where there is one only.
class Cells {
public:
  explicit Cells(const Tile &tile) : cells(tile.cells.data()), step(tile.cells.size() == 1 ? 0 : 1) {}
  Cell operator[](size_t i) const { return cells[i * step]; }

private:
  const Cell *cells;
  size_t step;
};

/// A tile of an element type with the shape of the largest operand.
inline Tile makeLike(Instance &in, mlir::Type element, mlir::ValueRange operands) {
  const Tile *largest = &in.getTile(operands.front());
  for (mlir::Value operand : operands)
    if (in.getTile(operand).cells.size() > largest->cells.size())
      largest = &in.getTile(operand);
  return {element, largest->shape, std::vector<Cell>(largest->cells.size())};
}

/// Sets the only result of an operation to a function of the cells of its operands.
template <typename Fn, size_t... I> void mapCells(Instance &in, mlir::Operation *op, Fn fn, std::index_sequence<I...>) {
  Tile result = makeLike(in, mlir::getElementTypeOrSelf(op->getResult(0).getType()), op->getOperands());
  const Cells operands[] = {Cells(in.getTile(op->getOperand(I)))...};
  for (size_t i = 0, e = result.cells.size(); i < e; ++i)
    result.cells[i] = fn(operands[I][i]...);
  in.setTile(op->getResult(0), std::move(result));
}

template <size_t N, typename Fn> Status mapCells(Instance &in, mlir::Operation *op, Fn fn) {
  mapCells(in, op, fn, std::make_index_sequence<N>());
  return Status::ok();
}

/// Registers an operation on N integers of one type: a function of their format and cells.
template <typename OpTy, size_t N, typename Fn> void addIntegers(HandlerTable &table, Fn fn) {
  table.add<OpTy>([fn](Instance &in, OpTy op) {
    Format format(mlir::getElementTypeOrSelf(op->getOperand(0).getType()));
    return mapCells<N>(in, op, [&](auto... cells) { return format.wrap(fn(format, cells...)); });
  });
}

/// Registers an operation on N floating-point numbers of one type that gives another one.
template <typename OpTy, size_t N, typename Fn> void addReals(HandlerTable &table, Fn fn) {
  table.add<OpTy>([fn](Instance &in, OpTy op) {
    Format format(mlir::getElementTypeOrSelf(op->getResult(0).getType()));
    return mapCells<N>(in, op, [&](auto... cells) { return toCell(in.round(format, fn(toReal(cells)...))); });
  });
}

} // namespace tilejit::interpreter

#endif // TILEJIT_INTERPRETER_ELEMENTWISE_H
