// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The pass: which operation becomes which function, at which width. Only scalars and one-dimensional vectors are
// touched; tiles are not, they become vectors first.

#include "Functions.h"

#include "tilejit/Dialect/Tile/IR/Hints.h"
#include "tilejit/Transforms/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tilejit {

#define GEN_PASS_DEF_EXPANDMATHPASS
#include "tilejit/Transforms/Passes.h.inc"

namespace math {
namespace {

using UnaryFunction = Num (*)(Num);

/// The function of an operation that always has to be expanded; null for others.
UnaryFunction unaryFunction(Operation *op) {
  return llvm::TypeSwitch<Operation *, UnaryFunction>(op)
      .Case(
          [](mlir::math::ExpOp exp) { return exp->hasAttr(tile::distanceAttrName) ? expandExpOfDistance : expandExp; })
      .Case([](mlir::math::Exp2Op) { return expandExp2; })
      .Case([](mlir::math::ExpM1Op) { return expandExpM1; })
      .Case([](mlir::math::TanhOp) { return expandTanh; })
      .Case([](mlir::math::LogOp) { return expandLog; })
      .Case([](mlir::math::Log2Op) { return expandLog2; })
      .Case([](mlir::math::Log10Op) { return expandLog10; })
      .Case([](mlir::math::Log1pOp) { return expandLog1P; })
      .Case([](mlir::math::ErfOp) { return expandErf; })
      .Case([](mlir::math::ErfcOp) { return expandErfc; })
      .Case([](mlir::math::SinOp) { return expandSin; })
      .Case([](mlir::math::CosOp) { return expandCos; })
      .Case([](mlir::math::TanOp) { return expandTan; })
      .Case([](mlir::math::RsqrtOp) { return expandRsqrt; })
      .Case([](mlir::math::RoundOp) { return expandRoundAway; })
      .Default(UnaryFunction(nullptr));
}

/// Whether an operation of f32 allows approximation.
bool allowsApproximation(Operation *op) {
  auto fast = dyn_cast<arith::ArithFastMathInterface>(op);
  return fast && arith::bitEnumContainsAll(fast.getFastMathFlagsAttr().getValue(), arith::FastMathFlags::afn) &&
         getElementTypeOrSelf(op->getResult(0).getType()).isF32();
}

/// The shorter function of f32 that is enough where an operation allows approximation; null: there is none.
UnaryFunction fastFunction(Operation *op, bool hasFma) {
  if (!allowsApproximation(op))
    return nullptr;
  // What follows needs products that are not rounded.
  if (hasFma && isa<mlir::math::SinOp>(op))
    return expandFastSin;
  if (hasFma && isa<mlir::math::CosOp>(op))
    return expandFastCos;
  return llvm::TypeSwitch<Operation *, UnaryFunction>(op)
      .Case([](mlir::math::ExpOp) { return expandFastExp; })
      .Case([](mlir::math::Exp2Op) { return expandFastExp2; })
      .Case([](mlir::math::TanhOp) { return expandFastTanh; })
      .Case([](mlir::math::ErfOp) { return expandFastErf; })
      .Case([](mlir::math::LogOp) { return expandFastLog; })
      .Case([](mlir::math::Log2Op) { return expandFastLog2; })
      .Case([](mlir::math::Log1pOp) { return expandFastLog1P; })
      .Case([](mlir::math::RsqrtOp) { return expandFastRsqrt; })
      .Default(UnaryFunction(nullptr));
}

/// Functions that targets without fused multiply-add lack too.
UnaryFunction roundingFunction(Operation *op) {
  return llvm::TypeSwitch<Operation *, UnaryFunction>(op)
      .Case([](mlir::math::FloorOp) { return expandFloor; })
      .Case([](mlir::math::CeilOp) { return expandCeil; })
      .Case([](mlir::math::TruncOp) { return UnaryFunction(truncate); })
      .Case([](mlir::math::RoundEvenOp) { return expandRoundEven; })
      .Default(UnaryFunction(nullptr));
}

/// Math that instructions do, and that is left as it is.
bool isNative(Operation *op) {
  return isa<mlir::math::AbsFOp, mlir::math::AbsIOp, mlir::math::CeilOp, mlir::math::CopySignOp,
             mlir::math::CountLeadingZerosOp, mlir::math::CountTrailingZerosOp, mlir::math::CtPopOp,
             mlir::math::FloorOp, mlir::math::FmaOp, mlir::math::IsFiniteOp, mlir::math::IsInfOp, mlir::math::IsNaNOp,
             mlir::math::IsNormalOp, mlir::math::RoundEvenOp, mlir::math::SqrtOp, mlir::math::TruncOp>(op);
}

/// Operations on narrow floats that only move bits.
bool onlyMoves(Operation *op) {
  return isa<arith::ConstantOp, arith::SelectOp, arith::BitcastOp>(op) ||
         !isa<arith::ArithDialect, mlir::math::MathDialect>(op->getDialect()) || isa<vector::FMAOp>(op);
}

bool isNarrow(Type type) {
  auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type));
  return element && element.getWidth() < 32;
}
bool isNarrow(Value value) { return isNarrow(value.getType()); }

bool isScalarOrVector(Type type) {
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.getRank() == 1 && !vector.isScalable();
  return type.isIntOrIndexOrFloat();
}

int64_t lanesOf(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? vector.getDimSize(0) : 0;
}

class Expander {
public:
  explicit Expander(const MathExpansionOptions &options) : options_(options) {}

  /// Expands one operation where it has to be.
  LogicalResult expand(Operation *op) {
    if (!op->getDialect() || op->getNumResults() != 1 || !isScalarOrVector(op->getResult(0).getType()))
      return success();
    if (!isa<arith::ArithDialect, mlir::math::MathDialect>(op->getDialect()) && !isa<vector::FMAOp>(op))
      return success();
    OpBuilder builder(op);
    Emit emit{builder, op->getLoc(), lanesOf(op->getResult(0).getType()), options_};
    if (isConversion(op))
      return expandConversion(op, emit);
    if (llvm::any_of(op->getOperands(), [](Value v) { return isNarrow(v); }) && !onlyMoves(op))
      return computeInSingle(op, emit);
    return expandFunction(op, emit);
  }

private:
  static bool isConversion(Operation *op) {
    return isa<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::UIToFPOp, arith::FPToSIOp, arith::FPToUIOp>(op);
  }

  static void replace(Operation *op, Value value) {
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
  }

  LogicalResult expandFunction(Operation *op, const Emit &emit) {
    auto operand = [&](unsigned index) { return Num(emit, op->getOperand(index)); };
    if (UnaryFunction fast = fastFunction(op, options_.hasFma)) {
      replace(op, fast(operand(0)).value());
    } else if (UnaryFunction function = unaryFunction(op)) {
      replace(op, applyUnary(function, operand(0)).value());
    } else if (auto rounding = roundingFunction(op); rounding && !options_.hasFma) {
      replace(op, rounding(operand(0)).value());
    } else if (isa<mlir::math::PowFOp>(op)) {
      auto function = allowsApproximation(op) ? expandFastPow : expandPow;
      replace(op, function(operand(0), operand(1)).value());
    } else if (isa<mlir::math::FPowIOp>(op)) {
      replace(op, expandPowInt(operand(0), operand(1)).value());
    } else if (isa<arith::RemFOp>(op)) {
      replace(op, expandRemainder(operand(0), operand(1)).value());
    } else if (isa<mlir::math::FmaOp, vector::FMAOp>(op) && !options_.hasFma) {
      replace(op, expandFma(operand(0), operand(1), operand(2)).value());
    } else if (auto bounded = dyn_cast<mlir::math::ClampFOp>(op)) {
      Num low = operand(1), high = operand(2);
      Num raised = Num(emit, arith::MaximumFOp::create(emit.builder, emit.loc, operand(0).value(), low.value()));
      replace(op, arith::MinimumFOp::create(emit.builder, emit.loc, raised.value(), high.value()));
    } else if (isa<mlir::math::MathDialect>(op->getDialect()) && !isNative(op)) {
      return op->emitOpError("has no expansion for CPUs");
    }
    return success();
  }

  /// Without fused multiply-add f32 goes by way of f64, where the rounding of products does not show.
  Num applyUnary(UnaryFunction function, Num x) {
    if (options_.hasFma || x.isDouble() || function == expandRsqrt || function == expandRoundAway)
      return function(x);
    return narrow(function(widen(x)));
  }

  /// An operation on narrow floats as the same one on f32, its result rounded.
  LogicalResult computeInSingle(Operation *op, const Emit &emit) {
    OpBuilder &builder = emit.builder;
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      Emit shape{builder, op->getLoc(), lanesOf(operand.getType()), options_};
      operands.push_back(isNarrow(operand) ? extendNarrow(shape, operand, /*toDouble=*/false).value() : operand);
    }
    Type resultType = op->getResult(0).getType();
    bool narrowResult = isNarrow(resultType);
    OperationState state(op->getLoc(), op->getName());
    state.addOperands(operands);
    state.addTypes(narrowResult ? emit.typeOf(builder.getF32Type()) : resultType);
    state.addAttributes(op->getAttrs());
    Operation *wide = builder.create(state);
    Value result = wide->getResult(0);
    if (narrowResult) {
      auto type = cast<FloatType>(getElementTypeOrSelf(resultType));
      result = truncateToNarrow(Num(emit, result), type, /*towardZero=*/false);
    }
    replace(op, result);
    return expand(wide);
  }

  LogicalResult expandConversion(Operation *op, const Emit &emit) {
    Value source = op->getOperand(0);
    Type from = getElementTypeOrSelf(source.getType()), to = getElementTypeOrSelf(op->getResult(0).getType());
    if (isa<arith::FPToSIOp, arith::FPToUIOp>(op)) {
      if (isNarrow(source))
        op->setOperand(0, extendNarrow(emit, source, /*toDouble=*/false).value());
      return success();
    }
    if (isa<arith::SIToFPOp, arith::UIToFPOp>(op)) {
      if (isNarrow(to))
        replace(op, integerToNarrow(op, emit, cast<FloatType>(to)));
      return success();
    }
    bool towardZero = false;
    if (auto truncation = dyn_cast<arith::TruncFOp>(op))
      towardZero = truncation.getRoundingmode().value_or(arith::RoundingMode::to_nearest_even) ==
                   arith::RoundingMode::toward_zero;
    return convertFloat(op, emit, source, cast<FloatType>(from), cast<FloatType>(to), towardZero);
  }

  LogicalResult convertFloat(Operation *op, const Emit &emit, Value source, FloatType from, FloatType to,
                             bool towardZero) {
    bool isLeft =
        (to.isF32() && isLeftToCodeGenerator(from, options_)) || (from.isF32() && isLeftToCodeGenerator(to, options_));
    if (!isNarrow(from) && !isNarrow(to)) {
      if (towardZero)
        replace(op, narrowTowardZero(Num(emit, source)).value());
      return success();
    }
    if (isLeft && !towardZero)
      return success();
    Num wide = isNarrow(from) ? extendNarrow(emit, source, to.isF64()) : Num(emit, source);
    replace(op, isNarrow(to) ? truncateToNarrow(wide, to, towardZero) : wide.value());
    return success();
  }

  static Num narrowTowardZero(Num x) {
    Num nearest = narrow(x);
    Num above = abs(widen(nearest)) > abs(x);
    return floatOf(select(above, addInt(bitsOf(nearest), -1), bitsOf(nearest)));
  }

  /// By way of f64, which holds every integer exactly once 64-bit ones have their low bits gathered in one.
  Value integerToNarrow(Operation *op, const Emit &emit, FloatType to) {
    bool isSigned = isa<arith::SIToFPOp>(op);
    Num x(emit, op->getOperand(0));
    if (x.width() < 64) {
      x = extendInt(x, 64, isSigned);
    } else {
      Num low = x & 0xfff, sticky = select(isZeroInt(low), x.likeInt(0), x.likeInt(0x1000));
      Num large = compareInt(arith::CmpIPredicate::ugt, x + x.likeInt(int64_t{1} << 52), x.likeInt(int64_t{1} << 53));
      x = select(large, (x & ~int64_t{0xfff}) | sticky, x);
    }
    Type doubles = emit.typeOf(emit.builder.getF64Type());
    Value wide = isSigned ? Value(arith::SIToFPOp::create(emit.builder, emit.loc, doubles, x.value()))
                          : Value(arith::UIToFPOp::create(emit.builder, emit.loc, doubles, x.value()));
    return truncateToNarrow(Num(emit, wide), to, /*towardZero=*/false);
  }

  const MathExpansionOptions &options_;
};

} // namespace

using LossFunction = Tabulated (*)(Num);

/// What has the factors of a product with a hint on a gelu in a table; null for others.
static LossFunction lossFunction(arith::MulFOp product) {
  if (product->hasAttr(tile::geluLossAttrName))
    return geluLossByTable;
  return product->hasAttr(tile::geluTanhLossAttrName) ? geluTanhLossByTable : nullptr;
}

/// A distance before it was bounded by what lies where nothing is lost any more.
static Value unbounded(Value distance) {
  auto bounded = distance.getDefiningOp<arith::MinimumFOp>();
  llvm::APFloat bound(0.0f);
  return bounded && matchPattern(bounded.getRhs(), m_ConstantFloat(&bound)) && bound.convertToDouble() >= 6
             ? bounded.getLhs()
             : distance;
}

/// Erases what makes a value that nothing uses.
static void eraseUnused(Value value) {
  llvm::SmallSetVector<Operation *, 16> operations;
  auto visit = [&](Value made) {
    if (Operation *op = made.getDefiningOp())
      operations.insert(op);
  };
  visit(value);
  while (!operations.empty()) {
    Operation *op = operations.pop_back_val();
    if (!isOpTriviallyDead(op))
      continue;
    llvm::for_each(op->getOperands(), visit);
    op->erase();
  }
}

/// Puts tables in where hints on gelus allow it. That comes first, as what it saves must not be expanded before.
static void takeLossesFromTables(Operation *root, const MathExpansionOptions &options) {
  SmallVector<arith::MulFOp> products;
  root->walk([&](arith::MulFOp op) { products.push_back(op); });
  for (arith::MulFOp product : products) {
    LossFunction function = lossFunction(product);
    Type type = product.getType();
    if (!function || !isScalarOrVector(type) || !getElementTypeOrSelf(type).isF32())
      continue;
    OpBuilder builder(product);
    Emit emit{builder, product.getLoc(), lanesOf(type), options};
    Num distance(emit, unbounded(product.getLhs()));
    if (!scalesByInstruction(distance))
      continue;
    SmallVector<Value> before = product.getOperands();
    Tabulated loss = function(distance);
    product->setOperands({loss.distance.value(), loss.value.value()});
    llvm::for_each(before, eraseUnused);
  }
}

} // namespace math

LogicalResult expandMath(Operation *root, const MathExpansionOptions &options) {
  math::takeLossesFromTables(root, options);
  SmallVector<Operation *> operations;
  root->walk([&](Operation *op) { operations.push_back(op); });
  math::Expander expander(options);
  for (Operation *op : operations)
    if (failed(expander.expand(op)))
      return failure();
  return success();
}

namespace {

struct ExpandMathPass : impl::ExpandMathPassBase<ExpandMathPass> {
  using ExpandMathPassBase::ExpandMathPassBase;

  void runOnOperation() override {
    MathExpansionOptions expansion;
    expansion.hasFma = fma;
    expansion.hasHalfConvert = halfConvert;
    expansion.leavesBf16 = leaveBf16;
    expansion.hasBf16Convert = bf16Convert;
    expansion.hasScalef = scalef;
    expansion.hasLdexp = ldexp;
    if (failed(expandMath(getOperation(), expansion)))
      signalPassFailure();
  }
};

} // namespace

} // namespace tilejit
