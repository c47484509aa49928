// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Reductions within a warp: registers by halves, then lanes by butterflies, so that every lane ends with the result.
// The order is fixed by the layout. Where the dimension is no power of two, each value goes with whether it is one.

#include "Exchange.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilejit;
using namespace tilejit::gpu;

static Type likeVector(Type element, ValueRange values) {
  for (Value value : values)
    if (auto vector = dyn_cast<VectorType>(value.getType()))
      return vector.clone(element);
  return element;
}

/// A scalar for each element of `values`, where these are vectors.
static Value spread(KernelEmitter &e, Value scalar, ValueRange values) {
  auto vector = dyn_cast<VectorType>(likeVector(scalar.getType(), values));
  return vector ? e.splat(scalar, vector.getNumElements()) : scalar;
}

SmallVector<Value> gpu::combine(KernelEmitter &e, Region &region, ValueRange left, ValueRange right) {
  Block &block = region.front();
  IRMapping mapping;
  for (auto [argument, value] :
       llvm::zip(block.getArguments(), llvm::concat<const Value>(SmallVector<Value>(left), SmallVector<Value>(right))))
    mapping.map(argument, value);
  for (Operation &op : block.without_terminator()) {
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      Value scalar = arith::ConstantOp::create(e.b, e.loc, constant.getValue());
      mapping.map(constant.getResult(), spread(e, scalar, left));
      continue;
    }
    for (Value operand : op.getOperands())
      if (!mapping.contains(operand)) // From outside the region.
        mapping.map(operand, spread(e, e.get(operand), left));
    Operation *clone = e.b.clone(op, mapping);
    for (Value result : clone->getResults())
      result.setType(likeVector(result.getType(), left));
  }
  return llvm::map_to_vector(block.getTerminator()->getOperands(),
                             [&](Value value) { return mapping.lookupOrDefault(value); });
}

namespace {

/// The values of a reduction on their way, and which of them count.
class Reduction {
public:
  Reduction(KernelEmitter &e, Region &combiner, LayoutAttr layout, int axis)
      : e(e), combiner(combiner), layout(layout), axis(axis), registers(layout.getRegisters()) {}

  SmallVector<Value> values;
  Value valid; ///< Null: all.

  void run() {
    for (size_t bit = registers.size(); bit-- > 0;)
      if (along(registers[bit]) != 0)
        foldRegisters(bit);
    for (auto [bit, element] : llvm::enumerate(layout.getLanes()))
      if (along(element) != 0)
        foldLanes(bit);
  }

private:
  int64_t along(int64_t element) const { return layout.coordinateOf(element, axis); }

  void join(ArrayRef<Value> left, Value leftValid, ArrayRef<Value> right, Value rightValid) {
    SmallVector<Value> joined = combine(e, combiner, left, right); // `left` may be `values`.
    if (leftValid)
      joined = joinValid(joined, left, leftValid, right, rightValid);
    values = std::move(joined);
  }

  /// Of pairs of which one does not count the other.
  SmallVector<Value> joinValid(SmallVector<Value> joined, ArrayRef<Value> left, Value leftValid, ArrayRef<Value> right,
                               Value rightValid) {
    for (auto [value, l, r] : llvm::zip(joined, left, right)) {
      Value one = arith::SelectOp::create(e.b, e.loc, leftValid, l, r);
      Value bothCount = arith::AndIOp::create(e.b, e.loc, leftValid, rightValid);
      value = arith::SelectOp::create(e.b, e.loc, bothCount, value, one);
    }
    valid = arith::OrIOp::create(e.b, e.loc, leftValid, rightValid);
    return joined;
  }

  /// Combines the registers whose number has a bit with those that lack it.
  void foldRegisters(size_t bit) {
    SmallVector<int64_t> low, high;
    for (int64_t reg = 0; reg < int64_t{1} << registers.size(); ++reg)
      (reg >> bit & 1 ? high : low).push_back(reg);
    auto half = [&](ArrayRef<int64_t> which) {
      return llvm::map_to_vector(values, [&](Value value) { return e.pick(value, {}, which); });
    };
    SmallVector<Value> left = half(low), right = half(high);
    join(left, valid ? e.pick(valid, {}, low) : Value(), right, valid ? e.pick(valid, {}, high) : Value());
    registers.erase(registers.begin() + bit);
  }

  /// Both lanes of a pair combine in the same order, so that they get the same bits.
  void foldLanes(size_t bit) {
    SmallVector<Value> others =
        llvm::map_to_vector(values, [&](Value value) { return fromLaneXor(e, value, int64_t{1} << bit); });
    Value otherValid = valid ? fromLaneXor(e, valid, int64_t{1} << bit) : Value();
    if (isSymmetric())
      return join(values, valid, others, otherValid);
    Value isUpper = laneBit(e, bit);
    auto pickSide = [&](Value upper, Value lower) -> Value {
      return arith::SelectOp::create(e.b, e.loc, isUpper, upper, lower);
    };
    SmallVector<Value> left, right;
    for (auto [own, other] : llvm::zip(values, others)) {
      left.push_back(pickSide(other, own));
      right.push_back(pickSide(own, other));
    }
    join(left, valid ? pickSide(otherValid, valid) : Value(), right, valid ? pickSide(valid, otherValid) : Value());
  }

  /// One operation that gives the same bits for either order.
  bool isSymmetric() const {
    Block &block = combiner.front();
    return values.size() == 1 && llvm::hasSingleElement(block.without_terminator()) &&
           isa<arith::AddFOp, arith::MulFOp, arith::MaximumFOp, arith::MinimumFOp, arith::AddIOp, arith::MulIOp,
               arith::MaxSIOp, arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp, arith::AndIOp, arith::OrIOp,
               arith::XOrIOp>(block.front());
  }

  KernelEmitter &e;
  Region &combiner;
  LayoutAttr layout;
  int axis;
  SmallVector<int64_t> registers; ///< Bits that are not folded yet.
};

} // namespace

/// Whether each bit of the axis is a register or a lane of its own: then halves can be folded one by one.
static bool hasOwnBits(LayoutAttr layout, int axis) {
  int64_t seen = 0;
  for (ArrayRef<int64_t> part : {layout.getRegisters(), layout.getLanes()})
    for (int64_t element : part) {
      if (layout.coordinateOf(element, axis) == 0)
        continue;
      if (!llvm::isPowerOf2_64(uint64_t(element)) || (seen & element) != 0)
        return false;
      seen |= element;
    }
  return true;
}

static LogicalResult lower(KernelEmitter &e, Operation *op, Region &combiner, int axis) {
  auto tile = tileTypeOf(op->getOperand(0));
  LayoutAttr layout = tilegpu::layoutOf(tile);
  if (!hasOwnBits(layout, axis))
    return e.refuse(op, "its layout mixes the reduced dimension with others, or repeats it in lanes");
  Reduction reduction(e, combiner, layout, axis);
  for (Value operand : op->getOperands())
    reduction.values.push_back(e.get(operand));
  if (int64_t size = tile.getShape()[axis]; size != layout.getShape()[axis]) {
    Value at = e.coordinateVector(layout, axis);
    reduction.valid = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::ult, at, e.integer(at.getType(), size));
  }
  reduction.run();
  for (auto [result, value] : llvm::zip(op->getResults(), reduction.values))
    e.set(result, value);
  return success();
}

static LogicalResult lowerReduce(KernelEmitter &e, Operation *op) {
  auto reduce = cast<tile::ReduceOp>(op);
  return lower(e, op, reduce.getCombiner(), int(reduce.getAxis()));
}

static LogicalResult lowerReduceInWarps(KernelEmitter &e, Operation *op) {
  auto reduce = cast<tilegpu::ReduceInWarpsOp>(op);
  return lower(e, op, reduce.getCombiner(), int(reduce.getAxis()));
}

void gpu::registerReduce(LoweringTable &table) {
  table[tile::ReduceOp::getOperationName()] = lowerReduce;
  table[tilegpu::ReduceInWarpsOp::getOperationName()] = lowerReduceInWarps;
}
