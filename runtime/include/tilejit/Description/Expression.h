// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A typed expression of the elementwise family: a list of nodes in evaluation order, each with the type its value has.
// Every implicit conversion is a node of its own (Cast), so that whoever evaluates it needs no promotion rules.

#ifndef TILEJIT_DESCRIPTION_EXPRESSION_H
#define TILEJIT_DESCRIPTION_EXPRESSION_H

#include "tilejit/Base/DType.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilejit {

enum class ExprOp : uint8_t {
  Input,
  Constant,
  Cast,
  // Arithmetic; both operands and the result have the node's type. Div and Pow of integers are floating by then.
  Add,
  Sub,
  Mul,
  Div,
  Mod,
  Pow,
  Neg,
  // Comparisons: operands of one type, result bool. And, Or, Not: bool.
  Lt,
  Le,
  Gt,
  Ge,
  Eq,
  Ne,
  And,
  Or,
  Not,
  // Functions of one value.
  Abs,
  Exp,
  Exp2,
  Log,
  Log2,
  Log1p,
  Expm1,
  Sqrt,
  Rsqrt,
  Sin,
  Cos,
  Tan,
  Tanh,
  Sigmoid,
  Erf,
  Relu,
  Gelu,
  GeluTanh,
  Silu,
  Softplus,
  Floor,
  Ceil,
  Round,
  Trunc,
  Sign,
  IsNan,
  IsInf,
  // Functions of more.
  Min,
  Max,
  Fma,
  Where,
};

/// The spelling in expressions: "gelu_tanh", "+", "where"; for Input, Constant and Cast a name for dumps.
std::string_view exprOpName(ExprOp op);

/// One node. Operands are indices of earlier nodes.
struct ExprNode {
  ExprOp op = ExprOp::Constant;
  DType type = DType::F32; ///< Type of the value: F64, F32, an integer type or Bool; Cast: any type.
  std::array<int, 3> operands{-1, -1, -1};
  int input = -1;      ///< Input: index in Description::inputs.
  double value = 0;    ///< Constant of floating type.
  int64_t integer = 0; ///< Constant of integer type or bool.
};

/// An expression; the last node is the result, before the cast to the output's dtype.
///
/// Input nodes have the operand's own dtype; a Cast to the arithmetic type follows where it differs (f16, bf16 and the
/// narrow floats compute in f32). A Cast has the meaning of the cast family without saturation: rounding to nearest
/// even; floating to integer toward zero, saturating, NaN to 0; to bool x != 0.
struct Expression {
  std::string text;
  std::vector<ExprNode> nodes;
};

} // namespace tilejit

#endif // TILEJIT_DESCRIPTION_EXPRESSION_H
