// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The pass tile-gpu-on-chip: what moves between warps goes through on-chip memory.

#include "../Common/LayoutPlan.h"
#include "../TileToTileGPU/LayoutRules.h"
#include "tilejit/Conversion/Passes.h"
#include "tilejit/Dialect/Tile/IR/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/Support/MathExtras.h"

namespace tilejit {
#define GEN_PASS_DEF_TILEGPUONCHIPPASS
#include "tilejit/Conversion/Passes.h.inc"
} // namespace tilejit

using namespace mlir;
using namespace tilejit;
using namespace tilejit::gpu;
using tilegpu::layoutOf;
using tilegpu::withLayout;

namespace {

RankedTensorType tileType(Value value) { return cast<RankedTensorType>(value.getType()); }

struct StagedProduct;

class Rewriter {
public:
  Rewriter(tile::KernelOp kernel, const tilegpu::BankModel &banks)
      : kernel_(kernel), banks_(banks), builder_(kernel.getContext()) {}
  void run();

private:
  void convert(tilegpu::ConvertLayoutOp convert);
  void dot(tile::DotOp dot);
  Value dotPiece(const StagedProduct &product, int64_t step, Value at, Value sum);
  void reduce(tile::ReduceOp reduce);
  void gather(tile::GatherInTileOp gather);
  void extract(tile::ExtractOp extract);
  void reshape(tile::ReshapeOp reshape);
  void shareResult(Operation *op);

  Value coordinates(LayoutAttr layout, ArrayRef<int64_t> shape, int dim);

  Value place(Value tile, ArrayRef<int64_t> shape, ArrayRef<int64_t> swizzle = {});
  SmallVector<int64_t> swizzleFor(RankedTensorType type, LayoutAttr reader) const;
  Value load(Value place, ValueRange coordinates, RankedTensorType type);
  Value index(int64_t value) { return arith::ConstantIndexOp::create(builder_, loc_, value); }
  Value moved(Value tile, LayoutAttr layout);

  tile::KernelOp kernel_;
  const tilegpu::BankModel &banks_;
  OpBuilder builder_;
  Location loc_ = UnknownLoc::get(kernel_.getContext());
};

void Rewriter::run() {
  SmallVector<Operation *> operations;
  kernel_.walk([&](Operation *op) { operations.push_back(op); });
  for (Operation *op : operations) {
    loc_ = op->getLoc();
    builder_.setInsertionPoint(op);
    if (auto conversion = dyn_cast<tilegpu::ConvertLayoutOp>(op))
      convert(conversion);
    else if (auto product = dyn_cast<tile::DotOp>(op))
      dot(product);
    else if (auto reduction = dyn_cast<tile::ReduceOp>(op))
      reduce(reduction);
    else if (auto pick = dyn_cast<tile::GatherInTileOp>(op))
      gather(pick);
    else if (auto part = dyn_cast<tile::ExtractOp>(op))
      extract(part);
    else if (auto other = dyn_cast<tile::ReshapeOp>(op))
      reshape(other);
    else if (isa<tile::AtomicRmwOp, tile::AtomicCasOp>(op))
      shareResult(op);
  }
}

/// A place of a shape, and the tile's elements in it by their row-major numbers.
Value Rewriter::place(Value tile, ArrayRef<int64_t> shape, ArrayRef<int64_t> swizzle) {
  RankedTensorType type = tileType(tile);
  SmallVector<int64_t> padded = tilegpu::paddedShape(shape), offsets(swizzle);
  int64_t count = ShapedType::getNumElements(padded);
  if (int64_t{1} << offsets.size() != count) {
    offsets.clear();
    for (int64_t step = 1; step < count; step *= 2)
      offsets.push_back(step);
  }
  auto memory = tilegpu::MemoryAttr::get(type.getContext(), padded, offsets);
  auto placeType = tilegpu::SharedType::get(type.getContext(), shape, type.getElementType(), memory);
  Value result = tilegpu::SharedAllocOp::create(builder_, loc_, placeType, IntegerAttr());
  tilegpu::SharedStoreOp::create(builder_, loc_, tile, result);
  return result;
}

/// The offsets of #tilegpu.memory; empty where the plan's memory holds copies.
static SmallVector<int64_t> offsetsOf(const tilegpu::SharedMove &move) {
  SmallVector<int64_t> offsets;
  if (move.memory.inverse())
    for (uint64_t column : move.memory.columns())
      offsets.push_back(int64_t(column));
  return offsets;
}

/// Offsets, as in #tilegpu.memory, of a place for a tile of `type` and a reader with another layout, without bank
/// conflicts for either; empty where there are none.
SmallVector<int64_t> Rewriter::swizzleFor(RankedTensorType type, LayoutAttr reader) const {
  auto plan = tilegpu::planSharedMemory(tilegpu::distinctRegisters(layoutOf(type).toLinear()).layout,
                                        tilegpu::distinctRegisters(reader.toLinear()).layout,
                                        conversionOptions(type.getElementType(), banks_));
  return plan ? offsetsOf(*plan) : SmallVector<int64_t>();
}

Value Rewriter::load(Value place, ValueRange coordinates, RankedTensorType type) {
  SmallVector<Value> at(coordinates);
  if (at.empty())
    at.assign(type.getRank(), index(0));
  return tilegpu::SharedLoadOp::create(builder_, loc_, type, place, at);
}

Value Rewriter::moved(Value tile, LayoutAttr layout) {
  if (layoutOf(tile) == layout)
    return tile;
  RankedTensorType type = tileType(tile);
  auto plan = planConversion(tile, layout, banks_);
  if (auto *move = std::get_if<tilegpu::SharedMove>(&plan.move))
    return load(place(tile, type.getShape(), offsetsOf(*move)), {}, withLayout(type, layout));
  return tilegpu::ConvertLayoutOp::create(builder_, loc_, withLayout(type, layout), tile);
}

void Rewriter::convert(tilegpu::ConvertLayoutOp convert) {
  Value result = moved(convert.getSource(), layoutOf(convert.getType()));
  convert.replaceAllUsesWith(result);
  convert.erase();
}

//===--- products -----------------------------------------------------------------------------------------------===//

/// A product whose operands lie in on-chip memory.
struct StagedProduct {
  tile::DotOp op;
  LayoutAttr accumulator;
  Value left, right;
  int64_t depth;
};

/// `step` elements of the depth, the `at`-th such piece (index), added to `sum`.
Value Rewriter::dotPiece(const StagedProduct &product, int64_t step, Value at, Value sum) {
  auto part = [&](Value whole, Value from, bool isLeft) {
    SmallVector<int64_t> shape(tileType(whole).getShape());
    shape[isLeft ? 1 : 0] = step;
    auto type = RankedTensorType::get(shape, tileType(whole).getElementType(),
                                      operandLayout(product.accumulator, isLeft, step));
    Value zero = index(0);
    return load(from, isLeft ? ValueRange{zero, at} : ValueRange{at, zero}, type);
  };
  tile::DotOp op = product.op;
  Value a = part(op.getA(), product.left, true), b = part(op.getB(), product.right, false);
  Operation *piece = builder_.clone(*op);
  piece->setOperands({a, b, sum});
  return piece->getResult(0);
}

/// Both operands go to on-chip memory; a few elements of the depth at a time come back to where the accumulators are.
/// Pieces have enough multiply-adds to hide the loads of the next one, and not so many that code grows, which the time
/// of a compile is made of: a long depth is a loop over pieces. A piece is at least a wide access of 32-bit elements.
void Rewriter::dot(tile::DotOp dot) {
  constexpr int64_t pieceWork = 256, leastPiece = 4, mostPiece = 16;
  LayoutAttr accumulator = layoutOf(dot.getType());
  int64_t depth = tileType(dot.getA()).getShape()[1], perStep = accumulator.numRegisters();
  auto staged = [&](Value operand, bool isLeft) {
    RankedTensorType type = tileType(operand);
    return place(operand, type.getShape(), swizzleFor(type, operandLayout(accumulator, isLeft, depth)));
  };
  StagedProduct product{dot, accumulator, staged(dot.getA(), true), staged(dot.getB(), false), depth};
  int64_t most = std::clamp(int64_t(llvm::bit_floor(uint64_t(pieceWork / perStep))), leastPiece, mostPiece);
  Value sum = dot.getAcc();
  int64_t k = 0;
  if (depth / most > 1) {
    auto loop = scf::ForOp::create(builder_, loc_, index(0), index(depth / most), index(1), ValueRange{sum});
    OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(loop.getBody());
    Value next = dotPiece(product, most, loop.getInductionVar(), loop.getRegionIterArg(0));
    scf::YieldOp::create(builder_, loc_, next);
    sum = loop.getResult(0);
    k = depth / most * most;
  }
  for (int64_t step; k < depth; k += step) {
    step = std::min<int64_t>({most, int64_t(llvm::bit_floor(uint64_t(depth - k))),
                              k == 0 ? most : int64_t{1} << llvm::countr_zero(uint64_t(k))});
    sum = dotPiece(product, step, index(k / step), sum);
  }
  dot.replaceAllUsesWith(sum);
  dot.erase();
}

//===--- reductions ---------------------------------------------------------------------------------------------===//

/// How warps share an axis: whether its highest bits, and only they, are bits of the warp.
struct WarpShares {
  int bits = 0; ///< Bits of the axis that belong to warps.
  bool isClean = true;
};

static int axisBits(LayoutAttr layout, int axis) { return int(llvm::Log2_64(uint64_t(layout.getShape()[axis]))); }

static WarpShares warpShares(LayoutAttr layout, int axis) {
  WarpShares shares;
  int64_t ofWarps = 0, ofOthers = 0;
  for (int64_t element : layout.getWarps())
    if (int64_t coordinate = layout.coordinateOf(element, axis)) {
      ++shares.bits;
      shares.isClean &= llvm::isPowerOf2_64(uint64_t(element));
      ofWarps |= coordinate;
    }
  for (ArrayRef<int64_t> part : {layout.getRegisters(), layout.getLanes()})
    for (int64_t element : part)
      ofOthers |= layout.coordinateOf(element, axis);
  int64_t top = ((int64_t{1} << shares.bits) - 1) << (axisBits(layout, axis) - shares.bits);
  shares.isClean &= ofWarps == top && (ofOthers & top) == 0;
  return shares;
}

/// The layout of per-warp results: warps keep their shares of the axis, everything else becomes copies.
static LayoutAttr sharesLayout(LayoutAttr layout, int axis, int shareBits) {
  int shift = layout.shiftOf(axis), bits = axisBits(layout, axis);
  SmallVector<int64_t> shape(layout.getShape());
  shape[axis] = int64_t{1} << shareBits;
  auto renumber = [&](int64_t element, bool keepsShare) {
    int64_t high = element >> (shift + bits), low = element & ((int64_t{1} << shift) - 1);
    int64_t share = keepsShare ? layout.coordinateOf(element, axis) >> (bits - shareBits) : 0;
    return ((high << shareBits | share) << shift) | low;
  };
  auto all = [&](ArrayRef<int64_t> elements, bool keepsShare) {
    return llvm::map_to_vector(elements, [&](int64_t element) { return renumber(element, keepsShare); });
  };
  SmallVector<int64_t> registers = all(layout.getRegisters(), false);
  llvm::erase(registers, 0);
  return LayoutAttr::get(layout.getContext(), shape, registers, all(layout.getLanes(), false),
                         all(layout.getWarps(), true));
}

/// A layout of the results in which each thread has all shares of its elements, in its lowest registers.
static LayoutAttr gatheredShares(LayoutAttr result, int axis, int shareBits) {
  LayoutAttr expanded = expandedLayout(result, axis);
  int shift = expanded.shiftOf(axis);
  SmallVector<int64_t> shape(expanded.getShape());
  shape[axis] = int64_t{1} << shareBits;
  auto renumber = [&](int64_t element) {
    int64_t low = element & ((int64_t{1} << shift) - 1);
    return (element >> shift << (shift + shareBits)) | low;
  };
  auto all = [&](ArrayRef<int64_t> elements) { return llvm::map_to_vector(elements, renumber); };
  SmallVector<int64_t> registers;
  for (int bit = 0; bit < shareBits; ++bit)
    registers.push_back(int64_t{1} << (shift + bit));
  registers.append(all(expanded.getRegisters()));
  return LayoutAttr::get(result.getContext(), shape, registers, all(expanded.getLanes()), all(expanded.getWarps()));
}

void Rewriter::reduce(tile::ReduceOp reduce) {
  LayoutAttr layout = layoutOf(reduce.getInputs().front());
  int axis = int(reduce.getAxis());
  WarpShares shares = warpShares(layout, axis);
  if (shares.bits == 0)
    return;
  LayoutAttr resultLayout = layoutOf(reduce.getResults().front());
  if (!shares.isClean) { // Move the tile to where each row belongs to one warp.
    SmallVector<int64_t> warps(layout.getWarps().size(), 0);
    LayoutAttr rows = rowLayout(layout.getContext(), layout.getShape(), 0, {int(layout.getLanes().size()), 0});
    LayoutAttr safe =
        LayoutAttr::get(layout.getContext(), layout.getShape(), rows.getRegisters(), rows.getLanes(), warps);
    Operation *clone = builder_.clone(*reduce);
    builder_.setInsertionPoint(clone);
    for (OpOperand &input : clone->getOpOperands())
      input.set(moved(input.get(), safe));
    builder_.setInsertionPointAfter(clone);
    for (auto [before, after] : llvm::zip(reduce.getResults(), clone->getResults())) {
      after.setType(withLayout(tileType(before), slicedLayout(safe, axis)));
      before.replaceAllUsesWith(moved(after, resultLayout));
    }
    reduce.erase();
    return;
  }
  int64_t size = tileType(reduce.getInputs().front()).getShape()[axis];
  int64_t share = layout.getShape()[axis] >> shares.bits, count = llvm::divideCeil(size, share);
  LayoutAttr partial = sharesLayout(layout, axis, shares.bits);
  LayoutAttr gathered = gatheredShares(resultLayout, axis, shares.bits);
  auto sharesType = [&](Value input, LayoutAttr in) {
    SmallVector<int64_t> shape(tileType(input).getShape());
    shape[axis] = count;
    return RankedTensorType::get(shape, tileType(input).getElementType(), in);
  };
  SmallVector<Type> types;
  for (Value input : reduce.getInputs())
    types.push_back(sharesType(input, partial));
  auto inWarps = tilegpu::ReduceInWarpsOp::create(builder_, loc_, types, reduce.getInputs(), axis);
  IRMapping mapping;
  reduce.getCombiner().cloneInto(&inWarps.getCombiner(), mapping);
  Operation *yield = inWarps.getCombiner().front().getTerminator();
  OpBuilder inside(yield);
  tilegpu::YieldOp::create(inside, yield->getLoc(), yield->getOperands());
  yield->erase();
  for (auto [operand, result] : llvm::zip(reduce->getOpOperands(), inWarps.getResults()))
    operand.set(moved(result, gathered));
}

//===--- picking ------------------------------------------------------------------------------------------------===//

void Rewriter::gather(tile::GatherInTileOp gather) {
  Value from = place(gather.getSource(), tileType(gather.getSource()).getShape());
  Value result =
      tilegpu::SharedGatherOp::create(builder_, loc_, gather.getType(), from, gather.getIndices(), gather.getAxis());
  gather.replaceAllUsesWith(result);
  gather.erase();
}

/// A part lies in on-chip memory where its coordinates say; a single element is one that all threads read.
void Rewriter::extract(tile::ExtractOp extract) {
  RankedTensorType source = tileType(extract.getSource());
  LayoutAttr layout = layoutOf(source);
  if (source.getNumElements() == 1 && !isa<RankedTensorType>(extract.getType()))
    return;
  auto type = dyn_cast<RankedTensorType>(extract.getType());
  if (!type) {
    SmallVector<int64_t> ones(source.getRank(), 1);
    auto copies = [](ArrayRef<int64_t> bits) { return SmallVector<int64_t>(bits.size(), 0); };
    type = RankedTensorType::get(
        ones, source.getElementType(),
        LayoutAttr::get(layout.getContext(), ones, {}, copies(layout.getLanes()), copies(layout.getWarps())));
  }
  Value part = load(place(extract.getSource(), source.getShape()), extract.getCoordinates(), type);
  if (isa<RankedTensorType>(extract.getType())) {
    extract.replaceAllUsesWith(part);
    extract.erase();
    return;
  }
  extract.getSourceMutable().set(part);
  SmallVector<Value> zeros(source.getRank(), index(0));
  extract.getCoordinatesMutable().assign(zeros);
}

/// For each element of a tile its coordinate along a dimension, as i32.
Value Rewriter::coordinates(LayoutAttr layout, ArrayRef<int64_t> shape, int dim) {
  Type i32 = builder_.getI32Type();
  int rank = int(shape.size());
  SmallVector<int64_t> ones(rank, 1);
  ones[dim] = shape[dim];
  LayoutAttr narrow = narrowedLayout(layout, ones), line = narrow;
  for (int other = rank - 1; other >= 0; --other)
    if (other != dim)
      line = slicedLayout(line, other);
  Value result = tile::IotaOp::create(builder_, loc_, RankedTensorType::get({shape[dim]}, i32, line));
  SmallVector<int64_t> sides = {shape[dim]};
  for (int other = 0; other < rank; ++other) {
    if (other == dim)
      continue;
    sides.insert(sides.begin() + other, 1);
    line = expandedLayout(line, other);
    result = tile::ExpandOp::create(builder_, loc_, RankedTensorType::get(sides, i32, line), result, other);
  }
  return tile::BroadcastOp::create(builder_, loc_, RankedTensorType::get(shape, i32, layout), result);
}

/// Where a side is no power of two, elements do not keep their numbers: each one is looked up.
void Rewriter::reshape(tile::ReshapeOp reshape) {
  RankedTensorType source = tileType(reshape.getSource()), type = reshape.getType();
  SmallVector<int64_t> padded = tilegpu::paddedShape(source.getShape());
  if (padded == llvm::to_vector(source.getShape()) &&
      tilegpu::paddedShape(type.getShape()) == llvm::to_vector(type.getShape()))
    return;
  auto indexType = RankedTensorType::get(type.getShape(), builder_.getI32Type(), type.getEncoding());
  auto constant = [&](int64_t value) -> Value {
    auto number = DenseElementsAttr::get(indexType, builder_.getI32IntegerAttr(int32_t(value)));
    return arith::ConstantOp::create(builder_, loc_, number);
  };
  Value number = constant(0);
  for (auto [dim, size] : llvm::enumerate(type.getShape())) {
    number = arith::MulIOp::create(builder_, loc_, number, constant(size));
    Value at = coordinates(layoutOf(type), type.getShape(), int(dim));
    number = arith::AddIOp::create(builder_, loc_, number, at);
  }
  Value inPlace = constant(0);
  int64_t weight = 1;
  for (int64_t dim = source.getRank() - 1; dim >= 0; --dim) {
    Value size = constant(source.getShape()[dim]);
    Value at = arith::RemUIOp::create(builder_, loc_, number, size);
    number = arith::DivUIOp::create(builder_, loc_, number, size);
    at = arith::MulIOp::create(builder_, loc_, at, constant(weight));
    inPlace = arith::AddIOp::create(builder_, loc_, inPlace, at);
    weight *= padded[dim];
  }
  auto flat = RankedTensorType::get({ShapedType::getNumElements(padded)}, source.getElementType());
  Value from = place(reshape.getSource(), flat.getShape());
  Value result = tilegpu::SharedGatherOp::create(builder_, loc_, type, from, inPlace, /*axis=*/0);
  reshape.replaceAllUsesWith(result);
  reshape.erase();
}

/// One of the threads with copies of an element updates memory and knows what was there before: the others are told.
void Rewriter::shareResult(Operation *op) {
  Value result = op->getResult(0);
  if (result.use_empty() || layoutOf(result).copyBits() == 0)
    return;
  builder_.setInsertionPointAfter(op);
  Value where = place(result, tileType(result).getShape());
  Value shared = load(where, {}, tileType(result));
  result.replaceUsesWithIf(shared, [&](OpOperand &use) { return !isa<tilegpu::SharedStoreOp>(use.getOwner()); });
}

struct TileGPUOnChip : tilejit::impl::TileGPUOnChipPassBase<TileGPUOnChip> {
  using TileGPUOnChipPassBase::TileGPUOnChipPassBase;

  void runOnOperation() override {
    const tilegpu::BankModel *model = tilegpu::findBankModel(banks.getValue());
    if (!model) {
      getOperation().emitError("expected the name of a bank model, got '") << banks.getValue() << "'";
      return signalPassFailure();
    }
    for (tile::KernelOp kernel : getOperation().getOps<tile::KernelOp>())
      Rewriter(kernel, *model).run();
  }
};

} // namespace
