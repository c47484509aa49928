// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Tiles side by side and parts of any size: each element says which one it is.

#include "OddShapes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilejit;

namespace {

class Rewriter {
public:
  explicit Rewriter(Operation *op) : b(op), loc(op->getLoc()) {}

  /// The coordinates along an axis as a tile of a shape (i32).
  Value coordinates(ArrayRef<int64_t> shape, int axis) {
    Type i32 = b.getI32Type();
    Value result = tile::IotaOp::create(b, loc, RankedTensorType::get({shape[axis]}, i32));
    SmallVector<int64_t> sides = {shape[axis]};
    for (int dim = 0; dim < int(shape.size()); ++dim) {
      if (dim == axis)
        continue;
      sides.insert(sides.begin() + dim, 1);
      result = tile::ExpandOp::create(b, loc, RankedTensorType::get(sides, i32), result, dim);
    }
    return tile::BroadcastOp::create(b, loc, RankedTensorType::get(shape, i32), result);
  }
  Value constant(ArrayRef<int64_t> shape, int64_t value) {
    auto type = RankedTensorType::get(shape, b.getI32Type());
    return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, b.getI32IntegerAttr(int32_t(value))));
  }
  Value pick(Value source, Value indices, int axis) {
    auto type = RankedTensorType::get(cast<RankedTensorType>(indices.getType()).getShape(),
                                      cast<RankedTensorType>(source.getType()).getElementType());
    return tile::GatherInTileOp::create(b, loc, type, source, indices, axis);
  }

  OpBuilder b;
  Location loc;
};

} // namespace

static void rewriteCat(tile::CatOp cat) {
  Rewriter r(cat);
  ArrayRef<int64_t> shape = cat.getType().getShape();
  int axis = int(cat.getAxis());
  Value at = r.coordinates(shape, axis), result;
  int64_t first = 0;
  for (Value source : cat.getSources()) {
    int64_t size = cast<RankedTensorType>(source.getType()).getShape()[axis];
    Value own = arith::SubIOp::create(r.b, r.loc, at, r.constant(shape, first));
    own = arith::MaxSIOp::create(r.b, r.loc, own, r.constant(shape, 0));
    own = arith::MinSIOp::create(r.b, r.loc, own, r.constant(shape, size - 1));
    Value picked = r.pick(source, own, axis);
    if (result) {
      Value isLater = arith::CmpIOp::create(r.b, r.loc, arith::CmpIPredicate::sge, at, r.constant(shape, first));
      picked = arith::SelectOp::create(r.b, r.loc, isLater, picked, result);
    }
    result = picked;
    first += size;
  }
  cat.replaceAllUsesWith(result);
  cat.erase();
}

static void rewriteExtract(tile::ExtractOp extract) {
  auto part = dyn_cast<RankedTensorType>(extract.getType());
  if (!part || llvm::all_of(part.getShape(), [](int64_t size) { return llvm::isPowerOf2_64(uint64_t(size)); }))
    return;
  Rewriter r(extract);
  Value result = extract.getSource();
  SmallVector<int64_t> shape(cast<RankedTensorType>(result.getType()).getShape());
  for (auto [axis, size] : llvm::enumerate(part.getShape())) {
    if (shape[axis] == size)
      continue;
    shape[axis] = size;
    Type i32 = r.b.getI32Type();
    Value first = arith::IndexCastUIOp::create(r.b, r.loc, i32, extract.getCoordinates()[axis]);
    first = arith::MulIOp::create(r.b, r.loc, first, arith::ConstantIntOp::create(r.b, r.loc, i32, size));
    Value firsts = tile::SplatOp::create(r.b, r.loc, RankedTensorType::get(shape, i32), first);
    Value at = arith::AddIOp::create(r.b, r.loc, r.coordinates(shape, int(axis)), firsts);
    result = r.pick(result, at, int(axis));
  }
  extract.replaceAllUsesWith(result);
  extract.erase();
}

void gpu::rewriteOddShapes(tile::KernelOp kernel) {
  SmallVector<Operation *> operations;
  kernel.walk([&](Operation *op) { operations.push_back(op); });
  for (Operation *op : operations) {
    if (auto cat = dyn_cast<tile::CatOp>(op))
      rewriteCat(cat);
    else if (auto extract = dyn_cast<tile::ExtractOp>(op))
      rewriteExtract(extract);
  }
}
