// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Arithmetic on literals, as Python does it with its own numbers: integers are exact (and must fit i64), division is
// true division, the remainder has the divisor's sign. Functions of literals are left to the expression's type.

#include "ExpressionTypes.h"

#include <cmath>
#include <optional>

namespace tilejit {
namespace {

bool isLiteral(const SyntaxNode &node) {
  return node.kind == SyntaxNode::Kind::Integer || node.kind == SyntaxNode::Kind::Real;
}

struct Folder {
  const Lexer &errors;
  SyntaxTree &tree;

  Status tooLarge(const SyntaxNode &node) const {
    return errors.error(node.column, "expected a constant within the range of i64, found a larger one");
  }

  static void setInteger(SyntaxNode &node, int64_t value) {
    node.kind = SyntaxNode::Kind::Integer;
    node.integer = value;
    node.real = static_cast<double>(value);
  }
  static void setReal(SyntaxNode &node, double value) {
    node.kind = SyntaxNode::Kind::Real;
    node.real = value;
  }

  static std::optional<int64_t> integerPower(int64_t base, int64_t exponent) {
    int64_t result = 1;
    for (; exponent > 0; exponent >>= 1) {
      if ((exponent & 1) && __builtin_mul_overflow(result, base, &result))
        return std::nullopt;
      if (exponent > 1 && __builtin_mul_overflow(base, base, &base))
        return std::nullopt;
    }
    return result;
  }

  Status foldIntegers(SyntaxNode &node, int64_t a, int64_t b) const {
    int64_t result = 0;
    switch (node.op) {
    case ExprOp::Add:
      if (__builtin_add_overflow(a, b, &result))
        return tooLarge(node);
      break;
    case ExprOp::Sub:
      if (__builtin_sub_overflow(a, b, &result))
        return tooLarge(node);
      break;
    case ExprOp::Mul:
      if (__builtin_mul_overflow(a, b, &result))
        return tooLarge(node);
      break;
    case ExprOp::Neg:
      if (__builtin_sub_overflow(int64_t{0}, a, &result))
        return tooLarge(node);
      break;
    case ExprOp::Mod:
      if (b == 0)
        return errors.error(node.column, "expected a divisor other than 0, found 0");
      result = b == -1 ? 0 : a % b;
      if (result != 0 && (result < 0) != (b < 0))
        result += b;
      break;
    default: {
      std::optional<int64_t> power = integerPower(a, b);
      if (!power)
        return tooLarge(node);
      result = *power;
    }
    }
    setInteger(node, result);
    return Status::ok();
  }

  static double realMod(double a, double b) {
    double result = std::fmod(a, b);
    return result != 0 && (result < 0) != (b < 0) ? result + b : result;
  }

  static void foldReals(SyntaxNode &node, double a, double b) {
    switch (node.op) {
    case ExprOp::Add:
      return setReal(node, a + b);
    case ExprOp::Sub:
      return setReal(node, a - b);
    case ExprOp::Mul:
      return setReal(node, a * b);
    case ExprOp::Div:
      return setReal(node, a / b);
    case ExprOp::Mod:
      return setReal(node, realMod(a, b));
    case ExprOp::Neg:
      return setReal(node, -a);
    default:
      return setReal(node, std::pow(a, b));
    }
  }

  Status fold(SyntaxNode &node) const {
    switch (node.op) {
    case ExprOp::Add:
    case ExprOp::Sub:
    case ExprOp::Mul:
    case ExprOp::Div:
    case ExprOp::Mod:
    case ExprOp::Neg:
    case ExprOp::Pow:
      break;
    default:
      return Status::ok();
    }
    const SyntaxNode &a = tree.nodes[node.operands[0]];
    const SyntaxNode &b = tree.nodes[node.operands[node.operands[1] < 0 ? 0 : 1]];
    if (!isLiteral(a) || !isLiteral(b))
      return Status::ok();
    bool integers = a.kind == SyntaxNode::Kind::Integer && b.kind == SyntaxNode::Kind::Integer;
    bool staysInteger = node.op != ExprOp::Div && !(node.op == ExprOp::Pow && b.integer < 0);
    if (integers && staysInteger)
      return foldIntegers(node, a.integer, b.integer);
    foldReals(node, a.real, b.real);
    return Status::ok();
  }
};

} // namespace

Status foldLiterals(const Lexer &errors, SyntaxTree &tree) {
  Folder folder{errors, tree};
  for (SyntaxNode &node : tree.nodes)
    if (node.kind == SyntaxNode::Kind::Apply)
      TILEJIT_RETURN_IF_ERROR(folder.fold(node));
  return Status::ok();
}

} // namespace tilejit
