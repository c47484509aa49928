// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Sets the types of all tiles in program order, see LayoutAssignment.h.

#include "LayoutAssignment.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilejit;
using namespace tilejit::gpu;
using tilegpu::layoutOf;
using tilegpu::withLayout;

static bool isTile(Value value) { return isa<RankedTensorType>(value.getType()); }

void LayoutAssignment::setLayout(Value tile, LayoutAttr layout) { tile.setType(withLayout(tile.getType(), layout)); }

LogicalResult LayoutAssignment::run() {
  // All choices are made on the IR as it came.
  kernel_.walk([&](Operation *op) {
    for (Value result : op->getResults())
      if (isTile(result))
        natural(result);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value argument : block.getArguments())
          if (isTile(argument))
            natural(argument);
  });
  if (failed(assignBlock(kernel_.getBody().front())))
    return failure();
  // Free values have been made anew where they are used.
  SmallVector<Operation *> all;
  kernel_.walk<WalkOrder::PreOrder>([&](Operation *op) { all.push_back(op); }); // What is inside goes first.
  for (Operation *op : llvm::reverse(all))
    if (isOpTriviallyDead(op))
      op->erase();
  return success();
}

LogicalResult LayoutAssignment::assignBlock(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block))
    if (failed(assignOp(&op)))
      return failure();
  return success();
}

LogicalResult LayoutAssignment::assignOp(Operation *op) {
  // What was made or converted on the way already has its layout.
  if (op->getNumResults() > 0 && layoutOf(op->getResult(0)))
    return success();
  if (isa<scf::ForOp>(op))
    return assignFor(op);
  if (isa<scf::IfOp>(op))
    return assignIf(op);
  if (isa<scf::WhileOp>(op))
    return assignWhile(op);
  bool hasTiles = llvm::any_of(op->getOperands(), isTile) || llvm::any_of(op->getResults(), isTile);
  if (!hasTiles || op->hasTrait<OpTrait::IsTerminator>())
    return success();
  if (isFreeOp(op) && !natural(op->getResult(0)))
    return success();

  llvm::TypeSwitch<Operation *>(op)
      .Case([&](tile::DotOp dot) { assignDot(dot); })
      .Case([&](tile::StoreOp store) { assignStore(op, store.getValueMutable(), store.getView().getType()); })
      .Case([&](tile::AtomicOp atomic) { assignStore(op, atomic.getValueMutable(), atomic.getView().getType()); })
      .Case([&](tile::ReduceOp reduce) {
        LayoutAttr layout = naturalOfAny(reduce.getInputs());
        if (!layout)
          layout = naturalOrRows(reduce.getInputs().front());
        assignTogether(op, layout);
        for (Value result : op->getResults())
          setLayout(result, slicedLayout(layout, int(reduce.getAxis())));
      })
      .Case<tile::TransposeOp, tile::ReshapeOp, tile::UnpackOp, tile::ExtractOp>([&](auto) {
        require(op->getOpOperand(0), naturalOrRows(op->getOperand(0)));
        if (isTile(op->getResult(0)))
          setLayout(op->getResult(0), natural(op->getResult(0)));
      })
      .Case([&](tile::PrintOp) { // Its tiles have nothing to do with each other.
        for (OpOperand &operand : op->getOpOperands())
          if (isTile(operand.get()))
            require(operand, naturalOrRows(operand.get()));
      })
      .Case<tile::SplitOp, tile::PackOp>([&](auto) {
        require(op->getOpOperand(0), pairLayout(op->getOperand(0)));
        for (Value result : op->getResults())
          setLayout(result, natural(result));
      })
      .Case([&](tile::JoinOp join) {
        LayoutAttr sides = naturalOfAny(op->getOperands());
        assignTogether(op, sides ? sides : naturalOrRows(join.getLhs()));
        setLayout(join.getResult(), natural(join.getResult()));
      })
      .Case([&](tile::GatherInTileOp gather) {
        require(gather.getSourceMutable(), naturalOrRows(gather.getSource()));
        require(gather.getIndicesMutable(), natural(gather.getResult()));
        setLayout(gather.getResult(), natural(gather.getResult()));
      })
      .Default([&](Operation *) {
        LayoutAttr layout = op->getNumResults() > 0 ? natural(op->getResult(0)) : naturalOfAny(op->getOperands());
        if (!layout)
          for (Value operand : op->getOperands())
            if (isTile(operand) && !layout)
              layout = naturalOrRows(operand);
        // A broadcast or expansion that is not free is one of an anchored value.
        for (OpOperand &operand : op->getOpOperands())
          if (isTile(operand.get()))
            require(operand, operandLayoutOf(op, operand.get(), layout));
        for (Value result : op->getResults())
          if (isTile(result))
            setLayout(result, layout);
      });
  return success();
}

void LayoutAssignment::assignTogether(Operation *op, LayoutAttr layout) {
  for (OpOperand &operand : op->getOpOperands())
    if (isTile(operand.get()))
      require(operand, layout);
}

/// Operands keep their own layouts: they go through on-chip memory in any case.
void LayoutAssignment::assignDot(tile::DotOp dot) {
  LayoutAttr accumulator = natural(dot.getResult());
  require(dot.getAMutable(), naturalOrRows(dot.getA()));
  require(dot.getBMutable(), naturalOrRows(dot.getB()));
  require(dot.getAccMutable(), accumulator);
  setLayout(dot.getResult(), accumulator);
}

/// Stores from where the value lies if that is coalesced: a whole sector at least, or all there is in a row.
void LayoutAssignment::assignStore(Operation *store, OpOperand &value, tile::ViewType view) {
  constexpr int64_t sectorBytes = 32;
  auto type = cast<RankedTensorType>(value.get().getType());
  SmallVector<int> order = accessOrder(view);
  int vectorBits = accessVectorBits(view, type.getShape());
  LayoutAttr layout = natural(value.get());
  if (layout && !order.empty()) {
    int64_t bytes = tilegpu::storageBytes(type.getElementType()),
            run = contiguousRun(layout, order.front(), vectorBits);
    int64_t side = layout.getShape()[order.front()];
    if (run != side && run * bytes < sectorBytes)
      layout = {};
  }
  require(value, layout ? layout : blockedLayout(store->getContext(), type.getShape(), order, vectorBits, block_));
}

//===--- control flow -------------------------------------------------------------------------------------------===//

LogicalResult LayoutAssignment::assignFor(Operation *op) {
  auto loop = cast<scf::ForOp>(op);
  for (auto [number, argument] : llvm::enumerate(loop.getRegionIterArgs())) {
    if (!isTile(argument))
      continue;
    LayoutAttr layout = natural(argument);
    require(loop.getInitArgsMutable()[number], layout);
    setLayout(argument, layout);
  }
  if (failed(assignBlock(*loop.getBody())))
    return failure();
  for (OpOperand &yielded : loop.getBody()->getTerminator()->getOpOperands())
    if (isTile(yielded.get())) {
      LayoutAttr layout = layoutOf(loop.getRegionIterArg(yielded.getOperandNumber()));
      require(yielded, layout);
      setLayout(loop.getResult(yielded.getOperandNumber()), layout);
    }
  return success();
}

LogicalResult LayoutAssignment::assignIf(Operation *op) {
  auto branch = cast<scf::IfOp>(op);
  for (Region &region : branch->getRegions())
    if (!region.empty() && failed(assignBlock(region.front())))
      return failure();
  for (Value result : branch.getResults()) {
    if (!isTile(result))
      continue;
    LayoutAttr layout = naturalOrRows(result);
    unsigned number = cast<OpResult>(result).getResultNumber();
    require(branch.thenYield()->getOpOperand(number), layout);
    require(branch.elseYield()->getOpOperand(number), layout);
    setLayout(result, layout);
  }
  return success();
}

LogicalResult LayoutAssignment::assignWhile(Operation *op) {
  auto loop = cast<scf::WhileOp>(op);
  for (auto [number, argument] : llvm::enumerate(loop.getBeforeArguments()))
    if (isTile(argument)) {
      require(loop.getInitsMutable()[number], natural(argument));
      setLayout(argument, natural(argument));
    }
  if (failed(assignBlock(*loop.getBeforeBody())))
    return failure();
  auto condition = loop.getConditionOp();
  for (auto [number, argument] : llvm::enumerate(loop.getAfterArguments()))
    if (isTile(argument)) {
      require(condition.getArgsMutable()[number], natural(argument));
      setLayout(argument, natural(argument));
      setLayout(loop.getResult(number), natural(argument));
    }
  if (failed(assignBlock(*loop.getAfterBody())))
    return failure();
  for (OpOperand &yielded : loop.getYieldOp()->getOpOperands())
    if (isTile(yielded.get()))
      require(yielded, layoutOf(loop.getBeforeArguments()[yielded.getOperandNumber()]));
  return success();
}

//===--- a value in a layout ------------------------------------------------------------------------------------===//

void LayoutAssignment::require(OpOperand &operand, LayoutAttr layout) { operand.set(inLayout(operand.get(), layout)); }

/// What an operand of a broadcast, expansion or elementwise operation must have so that the result has `layout`.
LayoutAttr LayoutAssignment::operandLayoutOf(Operation *op, Value operand, LayoutAttr layout) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(operand.getType()).getShape();
  if (auto expand = dyn_cast<tile::ExpandOp>(op))
    return slicedLayout(layout, int(expand.getAxis()));
  if (isa<tile::BroadcastOp>(op))
    return narrowedLayout(layout, shape);
  return layout;
}

Operation *LayoutAssignment::cloneFree(Operation *op, LayoutAttr layout) {
  OpBuilder builder(op);
  builder.setInsertionPointAfter(op);
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(isTile(operand) ? inLayout(operand, operandLayoutOf(op, operand, layout)) : operand);
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto type = withLayout(constant.getType(), layout);
    auto elements = cast<DenseElementsAttr>(constant.getValue());
    Attribute value = elements.isSplat() ? DenseElementsAttr(elements.resizeSplat(type)) : elements.reshape(type);
    return arith::ConstantOp::create(builder, op->getLoc(), type, cast<TypedAttr>(value));
  }
  Operation *clone = builder.clone(*op);
  clone->setOperands(operands);
  for (Value result : clone->getResults())
    setLayout(result, layout);
  return clone;
}

/// Whether reading memory again in another layout is no worse than moving what was read.
bool LayoutAssignment::isCheapLoad(Value tile, LayoutAttr layout) {
  constexpr int64_t fewBytes = 8192, goodRun = 64;
  auto load = tile.getDefiningOp<tile::LoadOp>();
  if (!load)
    return false;
  auto type = cast<RankedTensorType>(tile.getType());
  int64_t bytes = tilegpu::storageBytes(type.getElementType());
  SmallVector<int> order = accessOrder(load.getView().getType());
  if (order.empty() ||
      (type.getNumElements() * bytes <= fewBytes && type.getShape()[order.front()] == type.getNumElements()))
    return true;
  int vectorBits = accessVectorBits(load.getView().getType(), type.getShape());
  return contiguousRun(layout, order.front(), vectorBits) * bytes >= goodRun;
}

Value LayoutAssignment::inLayout(Value tile, LayoutAttr layout) {
  if (layoutOf(tile) == layout)
    return tile;
  if (Value found = made_.lookup({tile, layout}))
    return found;
  Operation *producer = tile.getDefiningOp();
  Value result;
  if (producer && isFreeOp(producer) && !natural(tile)) {
    result = cloneFree(producer, layout)->getResult(cast<OpResult>(tile).getResultNumber());
  } else if (isCheapLoad(tile, layout)) {
    OpBuilder builder(producer);
    result = builder.clone(*producer)->getResult(0);
    setLayout(result, layout);
  } else {
    OpBuilder builder(tile.getContext());
    builder.setInsertionPointAfterValue(tile);
    result = tilegpu::ConvertLayoutOp::create(builder, tile.getLoc(), withLayout(tile.getType(), layout), tile);
  }
  return made_[{tile, layout}] = result;
}
