// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What layout each producer would choose for its result. Never changes the IR.

#include "LayoutAssignment.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilejit;
using namespace tilejit::gpu;

static RankedTensorType tileType(Value value) { return cast<RankedTensorType>(value.getType()); }

static bool isTile(Value value) { return isa<RankedTensorType>(value.getType()); }

static bool hasPowerSides(ArrayRef<int64_t> shape) {
  return llvm::all_of(shape, [](int64_t size) { return llvm::isPowerOf2_64(uint64_t(size)); });
}

bool gpu::isElementwise(Operation *op) {
  if (isa<tile::AddPtrOp, tile::FpToFpOp, tile::FpToIntOp>(op))
    return true;
  return op->getNumOperands() > 0 && isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op->getDialect());
}

bool gpu::isFreeOp(Operation *op) {
  if (!llvm::all_of(op->getResults(), isTile))
    return false;
  return isa<arith::ConstantOp, tile::SplatOp, tile::IotaOp, tile::BroadcastOp, tile::ExpandOp>(op) ||
         isElementwise(op);
}

SmallVector<int> gpu::accessOrder(tile::ViewType view) {
  SmallVector<int> order(llvm::reverse(llvm::seq<int>(0, int(view.getRank()))));
  auto key = [&](int dim) {
    int64_t stride = view.getStaticStride(dim);
    return ShapedType::isDynamic(stride) ? std::numeric_limits<int64_t>::max() : stride;
  };
  // A stride of 0 repeats one element: such a dimension is no good start.
  llvm::stable_sort(order, [&](int a, int b) {
    int64_t x = key(a), y = key(b);
    return (x == 0 ? std::numeric_limits<int64_t>::max() : x) < (y == 0 ? std::numeric_limits<int64_t>::max() : y);
  });
  return order;
}

int gpu::accessVectorBits(tile::ViewType view, ArrayRef<int64_t> tileShape) {
  constexpr int64_t mostBytes = 16;
  int64_t bytes = tilegpu::storageBytes(view.getElementType()), most = mostBytes;
  SmallVector<int> order = accessOrder(view);
  if (order.empty() || view.getStaticStride(order.front()) != 1 || !tilegpu::hasWholeBytes(view.getElementType()))
    return 0;
  auto multipleOf = [&](int64_t number) {
    if (number != 0)
      most = std::min<int64_t>(most, (int64_t{1} << llvm::countr_zero(uint64_t(number))) * bytes);
  };
  for (int dim : ArrayRef(order).drop_front()) {
    int64_t stride = view.getStaticStride(dim);
    if (view.getShape()[dim] != 1 && !ShapedType::isDynamic(stride))
      multipleOf(stride);
  }
  multipleOf(tileShape[order.front()]);
  return int(llvm::Log2_64(uint64_t(std::max<int64_t>(1, most / bytes))));
}

bool gpu::isKnownAligned(tile::ViewType view, int vectorBits) {
  int64_t bytes = tilegpu::storageBytes(view.getElementType());
  if (vectorBits == 0)
    return true;
  for (int dim : ArrayRef(accessOrder(view)).drop_front())
    if (view.getShape()[dim] != 1 && ShapedType::isDynamic(view.getStaticStride(dim)))
      return false;
  return view.getAlign() >= bytes << vectorBits;
}

LayoutAttr LayoutAssignment::naturalOfLoad(tile::LoadOp load) {
  tile::ViewType view = load.getView().getType();
  ArrayRef<int64_t> shape = tileType(load.getResult()).getShape();
  return blockedLayout(load.getContext(), shape, accessOrder(view), accessVectorBits(view, shape), block_);
}

LayoutAttr LayoutAssignment::naturalOrRows(Value tile) {
  if (LayoutAttr layout = natural(tile))
    return layout;
  return rowLayout(tile.getContext(), tileType(tile).getShape(), 0, block_);
}

/// Warps share nothing along the axis; those that other dimensions have no use for hold copies.
LayoutAttr LayoutAssignment::scanLayout(ArrayRef<int64_t> shape, int axis) {
  int bits = 0;
  for (auto [dim, size] : llvm::enumerate(tilegpu::paddedShape(shape)))
    if (int(dim) != axis)
      bits += int(llvm::Log2_64(uint64_t(size)));
  SmallVector<int> order = {axis};
  for (int dim : llvm::reverse(llvm::seq<int>(0, int(shape.size()))))
    if (dim != axis)
      order.push_back(dim);
  BlockShape block{block_.laneBits, std::min(block_.warpBits, bits)};
  LayoutAttr layout = blockedLayout(kernel_.getContext(), shape, order, 0, block);
  SmallVector<int64_t> warps(layout.getWarps());
  warps.resize(block_.warpBits, 0);
  return LayoutAttr::get(kernel_.getContext(), layout.getShape(), layout.getRegisters(), layout.getLanes(), warps);
}

/// A layout of a tile whose last dimension has pairs of neighbours in neighbouring registers.
LayoutAttr LayoutAssignment::pairLayout(Value source) {
  ArrayRef<int64_t> shape = tileType(source).getShape();
  SmallVector<int64_t> padded = tilegpu::paddedShape(shape), half = padded, pairs = padded;
  half.back() /= 2;
  pairs.back() = half.back();
  pairs.push_back(2);
  if (LayoutAttr layout = natural(source))
    if (splitLayout(reshapedLayout(layout, pairs)))
      return layout;
  return reshapedLayout(joinedLayout(rowLayout(kernel_.getContext(), half, 0, block_)), padded);
}

/// That of a result of a product or reduction if there is one, else the first that there is.
LayoutAttr LayoutAssignment::naturalOfAny(ValueRange values) {
  LayoutAttr first;
  for (Value value : values) {
    if (!isTile(value))
      continue;
    LayoutAttr layout = natural(value);
    if (!layout)
      continue;
    if (!value.getDefiningOp<tile::LoadOp>())
      return layout;
    if (!first)
      first = layout;
  }
  return first;
}

LayoutAttr LayoutAssignment::naturalOfResult(OpResult result) {
  Operation *op = result.getOwner();
  ArrayRef<int64_t> shape = tileType(result).getShape();
  using Case = LayoutAttr;
  return llvm::TypeSwitch<Operation *, Case>(op)
      .Case([&](tile::LoadOp load) { return naturalOfLoad(load); })
      .Case([&](tile::DotOp) { return accumulatorLayout(op->getContext(), shape, block_); })
      .Case([&](tile::ReduceOp reduce) {
        LayoutAttr inputs = naturalOfAny(reduce.getInputs());
        return slicedLayout(inputs ? inputs : naturalOrRows(reduce.getInputs().front()), int(reduce.getAxis()));
      })
      .Case([&](tile::ScanOp scan) { return scanLayout(shape, int(scan.getAxis())); })
      .Case([&](tile::TransposeOp transpose) {
        return transposedLayout(naturalOrRows(transpose.getSource()), transpose.getPermutation());
      })
      .Case([&](tile::ReshapeOp reshape) {
        if (!hasPowerSides(shape) || !hasPowerSides(tileType(reshape.getSource()).getShape()))
          return rowLayout(op->getContext(), shape, 0, block_);
        return reshapedLayout(naturalOrRows(reshape.getSource()), shape);
      })
      .Case([&](tile::JoinOp join) {
        LayoutAttr sides = naturalOfAny(join.getOperands());
        return joinedLayout(sides ? sides : naturalOrRows(join.getLhs()));
      })
      .Case([&](tile::SplitOp split) { return splitLayout(pairLayout(split.getSource())); })
      .Case([&](tile::PackOp pack) {
        SmallVector<int64_t> pairs = tilegpu::paddedShape(shape);
        pairs.push_back(2);
        return splitLayout(reshapedLayout(pairLayout(pack.getSource()), pairs));
      })
      .Case([&](tile::UnpackOp unpack) {
        return reshapedLayout(joinedLayout(naturalOrRows(unpack.getSource())), tilegpu::paddedShape(shape));
      })
      .Case([&](tile::GatherInTileOp gather) { return naturalOrRows(gather.getIndices()); })
      .Case<tile::GatherOp, tile::AtomicRmwOp, tile::AtomicCasOp>([&](auto) {
        LayoutAttr operands = naturalOfAny(op->getOperands());
        return operands ? operands : rowLayout(op->getContext(), shape, 0, block_);
      })
      .Case([&](scf::ForOp loop) { return natural(loop.getRegionIterArgs()[result.getResultNumber()]); })
      .Case([&](scf::IfOp branch) {
        LayoutAttr layout = natural(branch.thenYield().getOperand(result.getResultNumber()));
        return layout ? layout : natural(branch.elseYield().getOperand(result.getResultNumber()));
      })
      .Case([&](scf::WhileOp loop) { return natural(loop.getConditionOp().getArgs()[result.getResultNumber()]); })
      .Default([&](Operation *) -> LayoutAttr {
        if (isElementwise(op))
          return naturalOfAny(op->getOperands());
        return isFreeOp(op) ? LayoutAttr() : rowLayout(op->getContext(), shape, 0, block_);
      });
}

LayoutAttr LayoutAssignment::naturalOfArgument(BlockArgument argument) {
  Operation *parent = argument.getOwner()->getParentOp();
  auto orRows = [&](LayoutAttr layout) {
    return layout ? layout : rowLayout(argument.getContext(), tileType(argument).getShape(), 0, block_);
  };
  if (auto loop = dyn_cast<scf::ForOp>(parent)) {
    unsigned number = argument.getArgNumber() - loop.getNumInductionVars();
    LayoutAttr yielded = natural(loop.getBody()->getTerminator()->getOperand(number));
    return orRows(yielded ? yielded : natural(loop.getInitArgs()[number]));
  }
  if (auto loop = dyn_cast<scf::WhileOp>(parent)) {
    if (argument.getOwner() == loop.getAfterBody())
      return orRows(natural(loop.getConditionOp().getArgs()[argument.getArgNumber()]));
    LayoutAttr yielded = natural(loop.getYieldOp().getOperand(argument.getArgNumber()));
    return orRows(yielded ? yielded : natural(loop.getInits()[argument.getArgNumber()]));
  }
  return orRows({});
}

LayoutAttr LayoutAssignment::natural(Value tile) {
  if (auto found = natural_.find(tile); found != natural_.end())
    return found->second;
  if (!inProgress_.insert(tile).second)
    return {};
  auto argument = dyn_cast<BlockArgument>(tile);
  LayoutAttr layout = argument ? naturalOfArgument(argument) : naturalOfResult(cast<OpResult>(tile));
  inProgress_.erase(tile);
  return natural_[tile] = layout;
}
