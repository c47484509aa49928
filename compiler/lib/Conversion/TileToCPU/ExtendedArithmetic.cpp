// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Operations of arith and math with two results, each by operations with one: tiles are evaluated value by value. The
// high half of a product of up to 32 bits comes from one of twice the width; that of 64 bits from halves of 32, as in
// algorithm M of Knuth's The Art of Computer Programming 2, 4.3.1.

#include "KernelLowering.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tilejit;
using namespace tilejit::cpu;

namespace {
/// Arithmetic on the operands' type.
struct Maker {
  OpBuilder b;
  Location loc;
  Type type;

  explicit Maker(Operation *op) : b(op), loc(op->getLoc()), type(op->getOperand(0).getType()) {}

  unsigned bits() const { return getElementTypeOrSelf(type).getIntOrFloatBitWidth(); }
  Type ofWidth(unsigned width) {
    Type element = b.getIntegerType(width);
    auto tile = dyn_cast<ShapedType>(type);
    return tile ? Type(tile.clone(element)) : element;
  }
  Value constant(Type of, int64_t value) {
    TypedAttr attr = b.getIntegerAttr(getElementTypeOrSelf(of), value);
    if (auto tile = dyn_cast<ShapedType>(of))
      attr = DenseElementsAttr::get(tile, attr);
    return arith::ConstantOp::create(b, loc, attr);
  }
  Value isLess(arith::CmpIPredicate how, Value x, Value y) { return arith::CmpIOp::create(b, loc, how, x, y); }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) { return arith::SubIOp::create(b, loc, x, y); }
  Value mul(Value x, Value y) { return arith::MulIOp::create(b, loc, x, y); }
  Value shift(Value x, int64_t by) { return arith::ShRUIOp::create(b, loc, x, constant(x.getType(), by)); }
  Value mask(Value x, int64_t bits) { return arith::AndIOp::create(b, loc, x, constant(x.getType(), bits)); }

  /// The upper half of a product of numbers without sign of 64 bits.
  Value highOf64(Value x, Value y) {
    constexpr int64_t low = 0xffffffff;
    Value x0 = mask(x, low), x1 = shift(x, 32), y0 = mask(y, low), y1 = shift(y, 32);
    Value ll = mul(x0, y0), lh = mul(x0, y1), hl = mul(x1, y0), hh = mul(x1, y1);
    Value middle = add(add(shift(ll, 32), mask(lh, low)), mask(hl, low));
    return add(add(hh, shift(lh, 32)), add(shift(hl, 32), shift(middle, 32)));
  }
  Value high(Value x, Value y, bool isSigned) {
    unsigned width = bits();
    if (width < 64) {
      Type wide = ofWidth(2 * width);
      auto extend = [&](Value v) {
        return isSigned ? Value(arith::ExtSIOp::create(b, loc, wide, v)) : arith::ExtUIOp::create(b, loc, wide, v);
      };
      return arith::TruncIOp::create(b, loc, type, shift(mul(extend(x), extend(y)), width));
    }
    Value product = highOf64(x, y);
    if (!isSigned)
      return product;
    // A negative number counts 2^64 too much in it.
    Value zero = constant(type, 0);
    auto excess = [&](Value sign, Value other) -> Value {
      return arith::SelectOp::create(b, loc, isLess(arith::CmpIPredicate::slt, sign, zero), other, zero);
    };
    return sub(sub(product, excess(x, y)), excess(y, x));
  }
};
} // namespace

static void expand(Operation *op) {
  Maker make(op);
  Value x = op->getOperand(0), first, second;
  if (isa<math::SincosOp>(op)) {
    first = math::SinOp::create(make.b, make.loc, x);
    second = math::CosOp::create(make.b, make.loc, x);
  } else if (isa<arith::AddUIExtendedOp>(op)) {
    first = make.add(x, op->getOperand(1));
    second = make.isLess(arith::CmpIPredicate::ult, first, x);
  } else {
    first = make.mul(x, op->getOperand(1));
    second = make.high(x, op->getOperand(1), isa<arith::MulSIExtendedOp>(op));
  }
  op->replaceAllUsesWith(ValueRange{first, second});
  op->erase();
}

void tilejit::cpu::expandExtendedArithmetic(tile::KernelOp kernel) {
  SmallVector<Operation *> found;
  kernel.walk([&](Operation *op) {
    if (isa<arith::AddUIExtendedOp, arith::MulSIExtendedOp, arith::MulUIExtendedOp, math::SincosOp>(op))
      found.push_back(op);
  });
  for (Operation *op : found)
    expand(op);
}
