// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// One operation of arith, math or tile for each node of a typed expression.

#include "Expression.h"

#include "Functions.h"

using namespace mlir;

namespace tilejit::oplib {

namespace {
class ExpressionBuilder {
public:
  ExpressionBuilder(KernelBuilder &b, const Expression &expression, ArrayRef<int64_t> shape,
                    function_ref<Value(int)> input)
      : b_(b), nodes_(expression.nodes), shape_(shape), input_(input) {}

  Value run() {
    for (const ExprNode &node : nodes_)
      values_.push_back(build(node));
    return broadcastTo(b_, values_.back(), shape_);
  }

private:
  Value build(const ExprNode &node);
  Value constant(const ExprNode &node);
  Value arithmetic(const ExprNode &node, Value x, Value y);
  Value compare(const ExprNode &node, DType operands, Value x, Value y);
  Value function(const ExprNode &node, DType operand, Value x);
  Value floatFunction(ExprOp op, Value x);
  Value extreme(const ExprNode &node, Value x, Value y);
  Value fma(const ExprNode &node, Value x, Value y, Value z);
  template <typename FloatOp, typename IntegerOp> Value either(DType dtype, Value x, Value y) {
    if (isFloat(dtype))
      return FloatOp::create(b_, x, y);
    return IntegerOp::create(b_, x, y);
  }

  KernelBuilder &b_;
  const std::vector<ExprNode> &nodes_;
  ArrayRef<int64_t> shape_;
  function_ref<Value(int)> input_;
  SmallVector<Value> values_;
};
} // namespace

Value ExpressionBuilder::constant(const ExprNode &node) {
  if (isFloat(node.type))
    return splat(b_, shape_, node.type, node.value);
  return splatInt(b_, tileType(b_, shape_, node.type), node.integer);
}

/// Add to Pow. bool takes + as or, * as and, which are its sum and product.
Value ExpressionBuilder::arithmetic(const ExprNode &node, Value x, Value y) {
  bool isBool = node.type == DType::Bool;
  switch (node.op) {
  case ExprOp::Add:
    return isBool ? arith::OrIOp::create(b_, x, y).getResult() : either<arith::AddFOp, arith::AddIOp>(node.type, x, y);
  case ExprOp::Sub:
    return either<arith::SubFOp, arith::SubIOp>(node.type, x, y);
  case ExprOp::Mul:
    return isBool ? arith::AndIOp::create(b_, x, y).getResult() : either<arith::MulFOp, arith::MulIOp>(node.type, x, y);
  case ExprOp::Div:
    return arith::DivFOp::create(b_, x, y);
  case ExprOp::Mod:
    return modulo(b_, x, y, node.type);
  default:
    return power(b_, x, y);
  }
}

Value ExpressionBuilder::compare(const ExprNode &node, DType operands, Value x, Value y) {
  int place = int(node.op) - int(ExprOp::Lt);
  if (isFloat(operands)) {
    using P = arith::CmpFPredicate;
    static constexpr std::array predicates{P::OLT, P::OLE, P::OGT, P::OGE, P::OEQ, P::UNE};
    return arith::CmpFOp::create(b_, predicates[place], x, y);
  }
  using P = arith::CmpIPredicate;
  static constexpr std::array asSigned{P::slt, P::sle, P::sgt, P::sge, P::eq, P::ne};
  static constexpr std::array asUnsigned{P::ult, P::ule, P::ugt, P::uge, P::eq, P::ne};
  return arith::CmpIOp::create(b_, (isUnsigned(operands) ? asUnsigned : asSigned)[place], x, y);
}

Value ExpressionBuilder::floatFunction(ExprOp op, Value x) {
  switch (op) {
  case ExprOp::Exp:
    return math::ExpOp::create(b_, x, functionFlags(b_));
  case ExprOp::Exp2:
    return math::Exp2Op::create(b_, x, functionFlags(b_));
  case ExprOp::Log:
    return math::LogOp::create(b_, x, functionFlags(b_));
  case ExprOp::Log2:
    return math::Log2Op::create(b_, x, functionFlags(b_));
  case ExprOp::Log1p:
    return math::Log1pOp::create(b_, x, functionFlags(b_));
  case ExprOp::Expm1:
    return math::ExpM1Op::create(b_, x);
  case ExprOp::Sqrt:
    return math::SqrtOp::create(b_, x);
  case ExprOp::Rsqrt:
    return math::RsqrtOp::create(b_, x, functionFlags(b_));
  case ExprOp::Sin:
    return math::SinOp::create(b_, x, functionFlags(b_));
  case ExprOp::Cos:
    return math::CosOp::create(b_, x, functionFlags(b_));
  case ExprOp::Tan:
    return math::TanOp::create(b_, x);
  case ExprOp::Tanh:
    return math::TanhOp::create(b_, x, functionFlags(b_));
  case ExprOp::Erf:
    return math::ErfOp::create(b_, x, functionFlags(b_));
  case ExprOp::Sigmoid:
    return sigmoid(b_, x);
  case ExprOp::Gelu:
    return gelu(b_, x);
  case ExprOp::GeluTanh:
    return geluTanh(b_, x);
  case ExprOp::Silu:
    return silu(b_, x);
  default:
    return softplus(b_, x);
  }
}

Value ExpressionBuilder::function(const ExprNode &node, DType operand, Value x) {
  bool isReal = isFloat(operand);
  switch (node.op) {
  case ExprOp::Neg:
    return isReal ? arith::NegFOp::create(b_, x).getResult()
                  : arith::SubIOp::create(b_, splatIntLike(b_, x, 0), x).getResult();
  case ExprOp::Not:
    return arith::XOrIOp::create(b_, x, splatIntLike(b_, x, 1));
  case ExprOp::Abs:
    if (isReal)
      return math::AbsFOp::create(b_, x);
    return isUnsigned(operand) ? x : math::AbsIOp::create(b_, x).getResult();
  case ExprOp::Relu:
    return relu(b_, x, operand);
  case ExprOp::Sign:
    return sign(b_, x, operand);
  case ExprOp::IsNan:
    return isReal ? isNan(b_, x) : splat(b_, shapeOf(x), DType::Bool, 0);
  case ExprOp::IsInf:
    return isReal ? isInf(b_, x) : splat(b_, shapeOf(x), DType::Bool, 0);
  case ExprOp::Floor:
    return isReal ? math::FloorOp::create(b_, x).getResult() : x;
  case ExprOp::Ceil:
    return isReal ? math::CeilOp::create(b_, x).getResult() : x;
  case ExprOp::Round:
    return isReal ? math::RoundEvenOp::create(b_, x).getResult() : x;
  case ExprOp::Trunc:
    return isReal ? math::TruncOp::create(b_, x).getResult() : x;
  default:
    return floatFunction(node.op, x);
  }
}

Value ExpressionBuilder::extreme(const ExprNode &node, Value x, Value y) {
  return node.op == ExprOp::Min ? minimum(b_, x, y, node.type) : maximum(b_, x, y, node.type);
}

Value ExpressionBuilder::fma(const ExprNode &node, Value x, Value y, Value z) {
  if (isFloat(node.type))
    return math::FmaOp::create(b_, x, y, z);
  return arith::AddIOp::create(b_, arith::MulIOp::create(b_, x, y), z);
}

Value ExpressionBuilder::build(const ExprNode &node) {
  Values x;
  for (int operand : node.operands)
    if (operand >= 0)
      x.push_back(broadcastTo(b_, values_[operand], shape_));
  DType operand = node.operands[0] >= 0 ? nodes_[node.operands[0]].type : node.type;
  switch (node.op) {
  case ExprOp::Input:
    return input_(node.input);
  case ExprOp::Constant:
    return constant(node);
  case ExprOp::Cast:
    return convert(b_, values_[node.operands[0]], operand, node.type);
  case ExprOp::Add:
  case ExprOp::Sub:
  case ExprOp::Mul:
  case ExprOp::Div:
  case ExprOp::Mod:
  case ExprOp::Pow:
    return arithmetic(node, x[0], x[1]);
  case ExprOp::Lt:
  case ExprOp::Le:
  case ExprOp::Gt:
  case ExprOp::Ge:
  case ExprOp::Eq:
  case ExprOp::Ne:
    return compare(node, operand, x[0], x[1]);
  case ExprOp::And:
    return arith::AndIOp::create(b_, x[0], x[1]);
  case ExprOp::Or:
    return arith::OrIOp::create(b_, x[0], x[1]);
  case ExprOp::Min:
  case ExprOp::Max:
    return extreme(node, x[0], x[1]);
  case ExprOp::Fma:
    return fma(node, x[0], x[1], x[2]);
  case ExprOp::Where:
    return arith::SelectOp::create(b_, x[0], x[1], x[2]);
  default:
    return function(node, operand, x[0]);
  }
}

Value buildExpression(KernelBuilder &b, const Expression &expression, ArrayRef<int64_t> shape,
                      function_ref<Value(int)> input) {
  return ExpressionBuilder(b, expression, shape, input).run();
}

} // namespace tilejit::oplib
