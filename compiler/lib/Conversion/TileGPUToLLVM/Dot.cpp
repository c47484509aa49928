// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Products by multiply-adds, or by the chip's products of packed numbers: each thread has all the elements of the
// operands that its accumulators need.

#include "KernelEmitter.h"

#include "../Common/OperandParts.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilejit;
using namespace tilejit::gpu;

namespace {

class Product {
public:
  Product(KernelEmitter &e, tile::DotOp op)
      : e(e), op(op), accumulator(tilegpu::layoutOf(op.getType())), left(tilegpu::layoutOf(op.getA())),
        right(tilegpu::layoutOf(op.getB())), compute(tileTypeOf(op.getAcc()).getElementType()) {}

  LogicalResult run() {
    FailureOr<SmallVector<int64_t>> rows = registersOf(left, true), columns = registersOf(right, false);
    if (failed(rows) || failed(columns))
      return e.refuse(op, "its operands do not lie where its accumulators are (tile-gpu-on-chip)");
    SmallVector<Value> sums = e.scalars(e.get(op.getAcc()));
    int64_t depth = tileTypeOf(op.getA()).getShape()[1], terms = e.products.termsOf(types());
    if (terms > 1 && depth % terms == 0)
      addTogether(sums, *rows, *columns, depth, terms);
    else
      addSingly(sums, *rows, *columns, depth);
    e.set(op.getResult(), e.fromScalars(sums));
    return success();
  }

private:
  ProductTypes types() {
    return {getElementTypeOrSelf(op.getA()), getElementTypeOrSelf(op.getB()), compute, op.getUnsignedA(),
            op.getUnsignedB()};
  }

  /// One term at a time.
  void addSingly(SmallVector<Value> &sums, ArrayRef<int64_t> rows, ArrayRef<int64_t> columns, int64_t depth) {
    OperandParts parts = operandParts(op.getPrecision());
    SmallVector<SmallVector<Value>> a, b;
    for (unsigned part = 0; part < parts.count; ++part) {
      a.push_back(e.scalars(operandPart(e.b, e.loc, op.getPrecision(), part, widened(op.getA(), op.getUnsignedA()))));
      b.push_back(e.scalars(operandPart(e.b, e.loc, op.getPrecision(), part, widened(op.getB(), op.getUnsignedB()))));
    }
    int64_t width = e.products.sumsOf(types());
    if (!lieTogether(op.getA(), rows, width) || !lieTogether(op.getB(), columns, width))
      width = 1;
    SmallVector<Value> groups;
    for (size_t first = 0; first < sums.size(); first += width)
      groups.push_back(together(ArrayRef(sums).slice(first, width)));
    for (auto [partA, partB] : parts.products)
      for (int64_t k = 0; k < depth; ++k) {
        int64_t atA = registerOfDepth(left, true, k), atB = registerOfDepth(right, false, k);
        for (auto [group, sum] : llvm::enumerate(groups)) {
          auto factors = [&](ArrayRef<Value> elements, ArrayRef<int64_t> registers, int64_t at) {
            auto own = registers.slice(group * width, width);
            return together(llvm::map_to_vector(own, [&](int64_t reg) { return elements[reg + at]; }));
          };
          sum = multiplyAdd(factors(a[partA], rows, atA), factors(b[partB], columns, atB), sum);
        }
      }
    sums.clear();
    for (Value group : groups)
      llvm::append_range(sums, width == 1 ? SmallVector<Value>{group} : e.scalars(group));
  }

  /// The element of an operand that lies beside its first one in on-chip memory, by its number in the operand's tile;
  /// 0: it does not come from there.
  static int64_t elementBeside(Value operand) {
    auto load = operand.getDefiningOp<tilegpu::SharedLoadOp>();
    if (!load)
      return 0;
    tilegpu::MemoryAttr memory = load.getPlace().getType().getMemory();
    if (memory.getOffsets().empty())
      return 0;
    int64_t there = memory.getOffsets().front(), width = memory.getShape().back();
    return there / width * tilegpu::layoutOf(operand).getShape().back() + there % width;
  }

  /// Whether what each `width` neighbouring sums take of an operand is one element, or two that come from on-chip
  /// memory beside each other, in neighbouring registers. What lies otherwise would have to be moved first.
  static bool lieTogether(Value operand, ArrayRef<int64_t> registers, int64_t width) {
    LayoutAttr layout = tilegpu::layoutOf(operand);
    int64_t beside = elementBeside(operand);
    for (size_t at = 0; width == 2 && at < registers.size(); at += 2) {
      if (at + 1 == registers.size())
        return false;
      int64_t first = layout.elementOfRegister(registers[at]), second = layout.elementOfRegister(registers[at + 1]);
      if (first != second && (beside == 0 || (first & beside) || second != first + beside))
        return false;
    }
    return true;
  }

  /// A vector of several values; one for itself.
  Value together(ArrayRef<Value> values) { return values.size() == 1 ? values.front() : e.fromScalars(values); }

  /// Several terms at a time, in operands as they are.
  void addTogether(SmallVector<Value> &sums, ArrayRef<int64_t> rows, ArrayRef<int64_t> columns, int64_t depth,
                   int64_t terms) {
    SmallVector<Value> a = e.scalars(e.get(op.getA())), b = e.scalars(e.get(op.getB()));
    for (int64_t k = 0; k < depth; k += terms) {
      llvm::SmallDenseMap<int64_t, Value> ofRows, ofColumns;
      for (size_t reg = 0; reg < sums.size(); ++reg)
        sums[reg] = e.threads.addProducts(e.b, e.loc, types(), packed(ofRows, a, left, true, rows[reg], k, terms),
                                          packed(ofColumns, b, right, false, columns[reg], k, terms), sums[reg]);
    }
  }

  /// The terms of a row or column from `k` on as one vector, each made once.
  Value packed(llvm::SmallDenseMap<int64_t, Value> &made, ArrayRef<Value> elements, LayoutAttr operand, bool isLeft,
               int64_t reg, int64_t k, int64_t terms) {
    Value &vector = made[reg];
    if (!vector) {
      SmallVector<Value> parts;
      for (int64_t term = 0; term < terms; ++term)
        parts.push_back(elements[reg + registerOfDepth(operand, isLeft, k + term)]);
      vector = e.fromScalars(parts);
    }
    return vector;
  }

  Value widened(Value operand, bool isUnsigned) {
    Value value = e.get(operand);
    auto type = cast<VectorType>(value.getType());
    if (type.getElementType() == compute)
      return value;
    Type wide = type.clone(compute);
    if (isa<FloatType>(compute))
      return arith::ExtFOp::create(e.b, e.loc, wide, value);
    return isUnsigned ? Value(arith::ExtUIOp::create(e.b, e.loc, wide, value))
                      : Value(arith::ExtSIOp::create(e.b, e.loc, wide, value));
  }

  Value multiplyAdd(Value a, Value b, Value sum) {
    if (isa<FloatType>(compute))
      return math::FmaOp::create(e.b, e.loc, a, b, sum);
    return arith::AddIOp::create(e.b, e.loc, arith::MulIOp::create(e.b, e.loc, a, b), sum);
  }

  /// The number of a row (left) or column (right), and of a step of the depth, in an operand's tile.
  static int64_t elementOf(LayoutAttr operand, bool isLeft, int64_t index, int64_t k) {
    int64_t width = operand.getShape()[1];
    return isLeft ? index * width + k : k * width + index;
  }

  static std::optional<int64_t> findRegister(LayoutAttr layout, int64_t element) {
    for (int64_t reg = 0; reg < layout.numRegisters(); ++reg)
      if (layout.elementOfRegister(reg) == element)
        return reg;
    return std::nullopt;
  }

  static int64_t registerOfDepth(LayoutAttr operand, bool isLeft, int64_t k) {
    return *findRegister(operand, elementOf(operand, isLeft, 0, k));
  }

  /// For each accumulator the operand's register of its row or column, at depth 0. Fails where the thread's bits do not
  /// lead to the same rows and columns on both sides, or the depth is not in registers.
  FailureOr<SmallVector<int64_t>> registersOf(LayoutAttr operand, bool isLeft) const {
    int64_t columns = accumulator.getShape()[1];
    auto project = [&](int64_t element) {
      return elementOf(operand, isLeft, isLeft ? element / columns : element % columns, 0);
    };
    for (auto [own, other] :
         {std::pair(accumulator.getLanes(), operand.getLanes()), std::pair(accumulator.getWarps(), operand.getWarps())})
      for (auto [ofAccumulator, ofOperand] : llvm::zip_equal(own, other))
        if (project(ofAccumulator) != ofOperand)
          return failure();
    for (int64_t k = 0; k < operand.getShape()[isLeft ? 1 : 0]; ++k)
      if (!findRegister(operand, elementOf(operand, isLeft, 0, k)))
        return failure();
    SmallVector<int64_t> result;
    for (int64_t reg = 0; reg < accumulator.numRegisters(); ++reg) {
      std::optional<int64_t> found = findRegister(operand, project(accumulator.elementOfRegister(reg)));
      if (!found)
        return failure();
      result.push_back(*found);
    }
    return result;
  }

  KernelEmitter &e;
  tile::DotOp op;
  LayoutAttr accumulator, left, right;
  Type compute;
};

} // namespace

int64_t PackedProducts::termsOf(const ProductTypes &types) const {
  auto areBoth = [&](auto is) { return is(types.left) && is(types.right); };
  if (halfPairs && types.sum.isF32() && areBoth([](Type type) { return type.isF16(); }))
    return 2;
  bool fits = mixedSigns || types.isLeftUnsigned == types.isRightUnsigned;
  if (byteQuads && fits && types.sum.isInteger(32) && areBoth([](Type type) { return type.isInteger(8); }))
    return 4;
  return 1;
}

static LogicalResult lowerDot(KernelEmitter &e, Operation *op) { return Product(e, cast<tile::DotOp>(op)).run(); }

void gpu::registerDot(LoweringTable &table) { table[tile::DotOp::getOperationName()] = lowerDot; }
