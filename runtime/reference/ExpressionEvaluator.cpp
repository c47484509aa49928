// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// One loop over elements for each node, by the kind of its operands.

#include "ExpressionEvaluator.h"

#include "Arithmetic.h"
#include "Families.h"

#include <algorithm>

namespace tilejit::reference {
namespace {

using Operands = std::array<const Lanes *, 3>;

Bounded at(const Lanes *lanes, size_t i) { return {lanes->values[i], lanes->errors[i]}; }

/// Applies a function of bounded values to each lane.
template <typename Function> void eachFloat(Lanes &out, size_t count, Function function) {
  for (size_t i = 0; i < count; ++i) {
    Bounded result = function(i);
    out.values[i] = result.value;
    out.errors[i] = result.error;
  }
}

void evaluateFloat(const ExprNode &node, Accuracy accuracy, const Operands &in, Lanes &out, size_t count) {
  Arithmetic arithmetic(node.type, accuracy);
  auto [a, b, c] = in;
  switch (node.op) {
  case ExprOp::Add:
    return eachFloat(out, count, [&](size_t i) { return arithmetic.add(at(a, i), at(b, i)); });
  case ExprOp::Sub:
    return eachFloat(out, count, [&](size_t i) { return arithmetic.sub(at(a, i), at(b, i)); });
  case ExprOp::Mul:
    return eachFloat(out, count, [&](size_t i) { return arithmetic.mul(at(a, i), at(b, i)); });
  case ExprOp::Div:
    return eachFloat(out, count, [&](size_t i) { return arithmetic.div(at(a, i), at(b, i)); });
  case ExprOp::Mod:
    return eachFloat(out, count, [&](size_t i) { return arithmetic.mod(at(a, i), at(b, i)); });
  case ExprOp::Pow:
    return eachFloat(out, count, [&](size_t i) { return arithmetic.pow(at(a, i), at(b, i)); });
  case ExprOp::Min:
    return eachFloat(out, count, [&](size_t i) { return minimum(at(a, i), at(b, i)); });
  case ExprOp::Max:
    return eachFloat(out, count, [&](size_t i) { return maximum(at(a, i), at(b, i)); });
  case ExprOp::Fma:
    return eachFloat(out, count, [&](size_t i) { return arithmetic.fma(at(a, i), at(b, i), at(c, i)); });
  default:
    return eachFloat(out, count, [&](size_t i) { return arithmetic.apply(node.op, at(a, i)); });
  }
}

/// Wrapping arithmetic of 64 bits; the node's type wraps the result further.
int64_t integerOperation(ExprOp op, int64_t a, int64_t b, int64_t c) {
  auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b), uc = static_cast<uint64_t>(c);
  switch (op) {
  case ExprOp::Add:
    return static_cast<int64_t>(ua + ub);
  case ExprOp::Sub:
    return static_cast<int64_t>(ua - ub);
  case ExprOp::Mul:
    return static_cast<int64_t>(ua * ub);
  case ExprOp::Fma:
    return static_cast<int64_t>(ua * ub + uc);
  case ExprOp::Mod:
    return modulo(a, b);
  case ExprOp::Neg:
    return static_cast<int64_t>(0 - ua);
  case ExprOp::Abs:
    return a < 0 ? static_cast<int64_t>(0 - ua) : a;
  case ExprOp::Sign:
    return (a > 0) - (a < 0);
  case ExprOp::Relu:
    return std::max<int64_t>(a, 0);
  case ExprOp::Min:
    return std::min(a, b);
  case ExprOp::Max:
    return std::max(a, b);
  default:
    return a; // floor, ceil, round and trunc of a whole number.
  }
}

/// How far an integer result may be off where its operands may be: they come from casts of inexact numbers.
double integerError(ExprOp op, const Operands &in, size_t i) {
  double error = 0;
  for (const Lanes *lanes : in)
    error += lanes ? lanes->errors[i] : 0;
  if (error == 0)
    return 0;
  if (op == ExprOp::Mul || op == ExprOp::Fma) {
    auto x = static_cast<double>(in[0]->integers[i]), y = static_cast<double>(in[1]->integers[i]);
    double ex = in[0]->errors[i], ey = in[1]->errors[i];
    return scaled(x, ey) + scaled(y, ex) + scaled(ex, ey) + (in[2] ? in[2]->errors[i] : 0);
  }
  return op == ExprOp::Mod ? infinity : error;
}

void evaluateInteger(const ExprNode &node, const Operands &in, Lanes &out, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    int64_t b = in[1] ? in[1]->integers[i] : 0, c = in[2] ? in[2]->integers[i] : 0;
    out.integers[i] = wrapInteger(integerOperation(node.op, in[0]->integers[i], b, c), node.type);
    out.errors[i] = integerError(node.op, in, i);
  }
}

template <typename T> bool compare(ExprOp op, T a, T b) {
  switch (op) {
  case ExprOp::Lt:
    return a < b;
  case ExprOp::Le:
    return a <= b;
  case ExprOp::Gt:
    return a > b;
  case ExprOp::Ge:
    return a >= b;
  case ExprOp::Eq:
    return a == b;
  default:
    return a != b;
  }
}

void evaluateComparison(const ExprNode &node, DType operandType, const Operands &in, Lanes &out, size_t count) {
  bool isFloating = isFloat(operandType);
  for (size_t i = 0; i < count; ++i) {
    double slack = in[0]->errors[i] + in[1]->errors[i], gap;
    if (isFloating) {
      double a = in[0]->values[i], b = in[1]->values[i];
      out.integers[i] = compare(node.op, a, b);
      gap = a == b ? 0 : std::fabs(a - b);
    } else {
      int64_t a = in[0]->integers[i], b = in[1]->integers[i];
      out.integers[i] = compare(node.op, a, b);
      gap = std::fabs(static_cast<double>(a) - static_cast<double>(b));
    }
    out.errors[i] = slack > 0 && !(gap > slack);
  }
}

/// And, Or, Not: certain where one certain operand decides.
void evaluateLogic(const ExprNode &node, const Operands &in, Lanes &out, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    bool a = in[0]->integers[i] != 0, aUnsure = in[0]->errors[i] > 0;
    if (node.op == ExprOp::Not) {
      out.integers[i] = !a;
      out.errors[i] = aUnsure;
      continue;
    }
    bool b = in[1]->integers[i] != 0, bUnsure = in[1]->errors[i] > 0, decides = node.op == ExprOp::Or;
    out.integers[i] = decides ? a || b : a && b;
    bool decided = (!aUnsure && a == decides) || (!bUnsure && b == decides);
    out.errors[i] = !decided && (aUnsure || bUnsure);
  }
}

void evaluateClass(const ExprNode &node, DType operandType, const Operands &in, Lanes &out, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    double value = isFloat(operandType) ? in[0]->values[i] : 0;
    out.integers[i] = node.op == ExprOp::IsNan ? std::isnan(value) : std::isinf(value);
    out.errors[i] = std::isinf(in[0]->errors[i]);
  }
}

void evaluateWhere(const ExprNode &node, const Operands &in, Lanes &out, size_t count) {
  bool isFloating = isFloat(node.type);
  for (size_t i = 0; i < count; ++i) {
    const Lanes *chosen = in[0]->integers[i] ? in[1] : in[2], *other = in[0]->integers[i] ? in[2] : in[1];
    out.values[i] = chosen->values[i];
    out.integers[i] = chosen->integers[i];
    out.errors[i] = chosen->errors[i];
    if (in[0]->errors[i] == 0)
      continue;
    double gap = isFloating ? chosen->values[i] - other->values[i]
                            : static_cast<double>(chosen->integers[i]) - static_cast<double>(other->integers[i]);
    double error = std::fabs(gap) + other->errors[i];
    out.errors[i] = std::isnan(error) ? infinity : std::max(error, chosen->errors[i]);
  }
}

void evaluateCastNode(DType from, DType to, const Lanes &in, Lanes &out, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    out.errors[i] = in.errors[i];
    if (isFloat(from) && isFloat(to)) {
      Bounded result = castToFloat({in.values[i], in.errors[i]}, from, to);
      out.values[i] = result.value;
      out.errors[i] = result.error;
    } else if (isFloat(from)) {
      castToInteger({in.values[i], in.errors[i]}, to, out.integers[i], out.errors[i]);
    } else if (isFloat(to)) {
      out.values[i] = roundToFloat(integerToFloat(in.integers[i], to), to);
      if (in.errors[i] > 0)
        out.errors[i] = in.errors[i] + ulpAt(std::fabs(out.values[i]) + in.errors[i], to);
    } else {
      out.integers[i] = wrapInteger(in.integers[i], to);
      if (to == DType::Bool)
        out.errors[i] = in.errors[i] > 0;
    }
  }
}

void evaluateConstant(const ExprNode &node, Lanes &out, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (isFloat(node.type))
      out.values[i] = roundToFloat(node.value, node.type);
    else
      out.integers[i] = node.integer;
    out.errors[i] = 0;
  }
}

} // namespace

void ExpressionEvaluator::evaluate(const ExprNode &node, Lanes &out, size_t count) {
  Operands in{};
  for (size_t i = 0; i < in.size(); ++i)
    if (node.operands[i] >= 0)
      in[i] = &lanes_[static_cast<size_t>(node.operands[i])];
  DType operandType = node.operands[0] >= 0 ? expression_.nodes[static_cast<size_t>(node.operands[0])].type : node.type;
  switch (node.op) {
  case ExprOp::Input:
    return;
  case ExprOp::Constant:
    return evaluateConstant(node, out, count);
  case ExprOp::Cast:
    return evaluateCastNode(operandType, node.type, *in[0], out, count);
  case ExprOp::Where:
    return evaluateWhere(node, in, out, count);
  case ExprOp::Lt:
  case ExprOp::Le:
  case ExprOp::Gt:
  case ExprOp::Ge:
  case ExprOp::Eq:
  case ExprOp::Ne:
    return evaluateComparison(node, operandType, in, out, count);
  case ExprOp::And:
  case ExprOp::Or:
  case ExprOp::Not:
    return evaluateLogic(node, in, out, count);
  case ExprOp::IsNan:
  case ExprOp::IsInf:
    return evaluateClass(node, operandType, in, out, count);
  default:
    return isFloat(node.type) ? evaluateFloat(node, accuracy_, in, out, count) : evaluateInteger(node, in, out, count);
  }
}

const Lanes &ExpressionEvaluator::run(size_t count) {
  for (size_t i = 0; i < lanes_.size(); ++i)
    evaluate(expression_.nodes[i], lanes_[i], count);
  return lanes_.back();
}

} // namespace tilejit::reference
