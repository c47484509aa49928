// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Products by halves (Knuth, The Art of Computer Programming 2, 4.3.1, algorithm M with two digits of 32 bits).

#include "WideProducts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tilejit::backends {

static void expand(arith::MulUIExtendedOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  Type type = op.getLhs().getType();
  auto constant = [&](int64_t value) -> Value {
    TypedAttr attr = b.getI64IntegerAttr(value);
    if (auto vector = dyn_cast<VectorType>(type))
      attr = DenseElementsAttr::get(vector, attr);
    return arith::ConstantOp::create(b, loc, attr);
  };
  Value half = constant(32), mask = constant(0xffffffff);
  auto low = [&](Value x) -> Value { return arith::AndIOp::create(b, loc, x, mask); };
  auto high = [&](Value x) -> Value { return arith::ShRUIOp::create(b, loc, x, half); };
  auto mul = [&](Value x, Value y) -> Value { return arith::MulIOp::create(b, loc, x, y); };
  auto add = [&](Value x, Value y) -> Value { return arith::AddIOp::create(b, loc, x, y); };
  Value x = op.getLhs(), y = op.getRhs();
  Value ll = mul(low(x), low(y)), lh = mul(low(x), high(y)), hl = mul(high(x), low(y)), hh = mul(high(x), high(y));
  Value middle = add(add(high(ll), low(lh)), low(hl));
  Value top = add(add(hh, high(lh)), add(high(hl), high(middle)));
  op.getLow().replaceAllUsesWith(mul(x, y));
  op.getHigh().replaceAllUsesWith(top);
  op.erase();
}

void expandWideProducts(ModuleOp module) {
  SmallVector<arith::MulUIExtendedOp> products;
  module.walk([&](arith::MulUIExtendedOp op) {
    if (getElementTypeOrSelf(op.getLhs().getType()).isInteger(64))
      products.push_back(op);
  });
  for (arith::MulUIExtendedOp op : products)
    expand(op);
}

} // namespace tilejit::backends
