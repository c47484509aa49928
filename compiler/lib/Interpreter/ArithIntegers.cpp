// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// arith on integers: arithmetic, comparison, extension, constants and selection. Division by zero ends the program;
// what upstream leaves as poison (shifts by too much) gives zero.

#include "Elementwise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/APInt.h"

using namespace mlir;

namespace tilejit::interpreter {

//===--- constants and selection --------------------------------------------------------------------------------===//

/// The cell of an attribute that holds one number.
static Cell cellOf(Attribute value) {
  if (auto real = dyn_cast<FloatAttr>(value))
    return Format(real.getType()).decode(real.getValue().bitcastToAPInt().getZExtValue());
  return cast<IntegerAttr>(value).getValue().getZExtValue();
}

static Status runConstant(Instance &in, arith::ConstantOp op) {
  Type element = getElementTypeOrSelf(op.getType());
  auto elements = dyn_cast<ElementsAttr>(op.getValue());
  if (!elements) {
    if (!isa<FloatAttr, IntegerAttr>(op.getValue()))
      return failAt(op, "expected a constant of numbers", StatusCode::BadDescription);
    in.setScalar(op, cellOf(op.getValue()));
    return Status::ok();
  }
  auto dense = dyn_cast<DenseElementsAttr>(elements);
  if (!dense)
    return failAt(op, "expected a dense constant", StatusCode::BadDescription);
  Tile tile{element, llvm::SmallVector<int64_t, 4>(elements.getShapedType().getShape()), {}};
  if (dense.isSplat())
    tile.cells.assign(dense.getNumElements(), cellOf(dense.getSplatValue<Attribute>()));
  else
    for (Attribute value : dense.getValues<Attribute>())
      tile.cells.push_back(cellOf(value));
  in.setTile(op, std::move(tile));
  return Status::ok();
}

static Status runSelect(Instance &in, arith::SelectOp op) {
  if (in.get(op.getTrueValue()).view) {
    in.set(op, in.get(in.getInteger(op.getCondition()) != 0 ? op.getTrueValue() : op.getFalseValue()));
    return Status::ok();
  }
  return mapCells<3>(in, op, [](Cell condition, Cell yes, Cell no) { return condition ? yes : no; });
}

//===--- comparison ---------------------------------------------------------------------------------------------===//

static bool compare(arith::CmpIPredicate predicate, const Format &format, Cell a, Cell b) {
  int64_t x = format.toSigned(a), y = format.toSigned(b);
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return a == b;
  case arith::CmpIPredicate::ne:
    return a != b;
  case arith::CmpIPredicate::slt:
    return x < y;
  case arith::CmpIPredicate::sle:
    return x <= y;
  case arith::CmpIPredicate::sgt:
    return x > y;
  case arith::CmpIPredicate::sge:
    return x >= y;
  case arith::CmpIPredicate::ult:
    return a < b;
  case arith::CmpIPredicate::ule:
    return a <= b;
  case arith::CmpIPredicate::ugt:
    return a > b;
  case arith::CmpIPredicate::uge:
    return a >= b;
  }
  llvm_unreachable("all predicates are listed");
}

static Status runCompare(Instance &in, arith::CmpIOp op) {
  Format format(getElementTypeOrSelf(op.getLhs().getType()));
  return mapCells<2>(in, op, [&](Cell a, Cell b) -> Cell { return compare(op.getPredicate(), format, a, b); });
}

//===--- division -----------------------------------------------------------------------------------------------===//

/// Registers a division: a function of two signed numbers, the second of which is not zero.
template <typename OpTy, typename Fn> static void addDivision(HandlerTable &table, bool isSigned, Fn fn) {
  table.add<OpTy>([=](Instance &in, OpTy op) {
    Format format(getElementTypeOrSelf(op.getType()));
    for (Cell divisor : in.getTile(op.getRhs()).cells)
      if (divisor == 0)
        return failAt(op, "expected a divisor other than 0");
    return mapCells<2>(in, op, [&](Cell a, Cell b) {
      // The quotient of the smallest number and -1 does not fit and wraps, which int64_t would trap on.
      if (isSigned && format.toSigned(b) == -1 && a == format.getSignedMin())
        return format.wrap(fn(__int128(format.toSigned(a)), __int128(-1)));
      return isSigned ? format.wrap(fn(__int128(format.toSigned(a)), __int128(format.toSigned(b))))
                      : format.wrap(fn(__int128(a), __int128(b)));
    });
  });
}

static __int128 floorDivide(__int128 a, __int128 b) {
  __int128 quotient = a / b;
  return a % b != 0 && (a % b < 0) != (b < 0) ? quotient - 1 : quotient;
}

static __int128 ceilDivide(__int128 a, __int128 b) { return -floorDivide(-a, b); }

static void addDivisions(HandlerTable &table) {
  auto divide = [](__int128 a, __int128 b) { return uint64_t(a / b); };
  auto remainder = [](__int128 a, __int128 b) { return uint64_t(a % b); };
  auto ceiling = [](__int128 a, __int128 b) { return uint64_t(ceilDivide(a, b)); };
  auto floor = [](__int128 a, __int128 b) { return uint64_t(floorDivide(a, b)); };
  addDivision<arith::DivSIOp>(table, true, divide);
  addDivision<arith::DivUIOp>(table, false, divide);
  addDivision<arith::RemSIOp>(table, true, remainder);
  addDivision<arith::RemUIOp>(table, false, remainder);
  addDivision<arith::CeilDivSIOp>(table, true, ceiling);
  addDivision<arith::CeilDivUIOp>(table, false, ceiling);
  addDivision<arith::FloorDivSIOp>(table, true, floor);
}

//===--- arithmetic ---------------------------------------------------------------------------------------------===//

static void addArithmetic(HandlerTable &table) {
  addIntegers<arith::AddIOp, 2>(table, [](const Format &, Cell a, Cell b) { return a + b; });
  addIntegers<arith::SubIOp, 2>(table, [](const Format &, Cell a, Cell b) { return a - b; });
  addIntegers<arith::MulIOp, 2>(table, [](const Format &, Cell a, Cell b) { return a * b; });
  addIntegers<arith::AndIOp, 2>(table, [](const Format &, Cell a, Cell b) { return a & b; });
  addIntegers<arith::OrIOp, 2>(table, [](const Format &, Cell a, Cell b) { return a | b; });
  addIntegers<arith::XOrIOp, 2>(table, [](const Format &, Cell a, Cell b) { return a ^ b; });
  addIntegers<arith::ShLIOp, 2>(table, [](const Format &f, Cell a, Cell b) { return b < f.getWidth() ? a << b : 0; });
  addIntegers<arith::ShRUIOp, 2>(table, [](const Format &f, Cell a, Cell b) { return b < f.getWidth() ? a >> b : 0; });
  addIntegers<arith::ShRSIOp, 2>(
      table, [](const Format &f, Cell a, Cell b) -> uint64_t { return b < f.getWidth() ? f.toSigned(a) >> b : 0; });
  addIntegers<arith::MaxSIOp, 2>(
      table, [](const Format &f, Cell a, Cell b) { return f.toSigned(a) >= f.toSigned(b) ? a : b; });
  addIntegers<arith::MinSIOp, 2>(
      table, [](const Format &f, Cell a, Cell b) { return f.toSigned(a) <= f.toSigned(b) ? a : b; });
  addIntegers<arith::MaxUIOp, 2>(table, [](const Format &, Cell a, Cell b) { return std::max(a, b); });
  addIntegers<arith::MinUIOp, 2>(table, [](const Format &, Cell a, Cell b) { return std::min(a, b); });
}

/// Sets both results of an operation on two integers.
template <typename OpTy, typename Fn> static void addPair(HandlerTable &table, Fn fn) {
  table.add<OpTy>([fn](Instance &in, OpTy op) {
    Format format(getElementTypeOrSelf(op.getLhs().getType()));
    Tile first = makeLike(in, getElementTypeOrSelf(op->getResult(0).getType()), op->getOperands());
    Tile second = makeLike(in, getElementTypeOrSelf(op->getResult(1).getType()), op->getOperands());
    Cells lhs(in.getTile(op.getLhs())), rhs(in.getTile(op.getRhs()));
    for (size_t i = 0; i < first.cells.size(); ++i)
      std::tie(first.cells[i], second.cells[i]) = fn(format, lhs[i], rhs[i]);
    in.setTile(op->getResult(0), std::move(first));
    in.setTile(op->getResult(1), std::move(second));
    return Status::ok();
  });
}

static void addExtended(HandlerTable &table) {
  addPair<arith::AddUIExtendedOp>(table, [](const Format &format, Cell a, Cell b) {
    unsigned __int128 sum = (unsigned __int128)(a) + b;
    return std::make_pair(format.wrap(uint64_t(sum)), Cell((sum >> format.getWidth()) != 0));
  });
  addPair<arith::MulUIExtendedOp>(table, [](const Format &format, Cell a, Cell b) {
    unsigned __int128 product = (unsigned __int128)(a)*b;
    return std::make_pair(format.wrap(uint64_t(product)), format.wrap(uint64_t(product >> format.getWidth())));
  });
  addPair<arith::MulSIExtendedOp>(table, [](const Format &format, Cell a, Cell b) {
    __int128 product = __int128(format.toSigned(a)) * format.toSigned(b);
    return std::make_pair(format.wrap(uint64_t(product)), format.wrap(uint64_t(product >> format.getWidth())));
  });
}

//===--- conversion ---------------------------------------------------------------------------------------------===//

/// Registers a conversion between integer types that reads its operand as signed or not.
template <typename OpTy> static void addResize(HandlerTable &table, bool isSigned) {
  table.add<OpTy>([=](Instance &in, OpTy op) {
    Format from(getElementTypeOrSelf(op->getOperand(0).getType())), to(getElementTypeOrSelf(op.getType()));
    return mapCells<1>(in, op, [&](Cell cell) { return to.wrap(isSigned ? uint64_t(from.toSigned(cell)) : cell); });
  });
}

void addArithIntegerHandlers(HandlerTable &table) {
  table.add<arith::ConstantOp>(runConstant);
  table.add<arith::SelectOp>(runSelect);
  table.add<arith::CmpIOp>(runCompare);
  addArithmetic(table);
  addDivisions(table);
  addExtended(table);
  addResize<arith::ExtSIOp>(table, true);
  addResize<arith::ExtUIOp>(table, false);
  addResize<arith::TruncIOp>(table, false);
  addResize<arith::IndexCastOp>(table, true);
  addResize<arith::IndexCastUIOp>(table, false);
}

} // namespace tilejit::interpreter
