// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Typing in three passes over the tree. Forward: each node's type from its operands'. Backward: what has no type yet
// (literals and functions of literals) gets the one its user computes in. Forward again: nodes with conversions.

#include "ExpressionTypes.h"

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>

namespace tilejit {
namespace {

using TypeKind = ValueType::Kind;

/// The type that values of a storage type are computed in.
DType arithmeticType(DType dtype) {
  if (isFloat(dtype))
    return dtype == DType::F64 ? DType::F64 : DType::F32;
  return dtype == DType::I4 ? DType::I8 : dtype == DType::U4 ? DType::U8 : dtype;
}

/// Of two arithmetic types.
DType promote(DType a, DType b) {
  if (a == b)
    return a;
  if (isFloat(a) || isFloat(b))
    return a == DType::F64 || b == DType::F64 ? DType::F64 : DType::F32;
  if (a == DType::Bool || b == DType::Bool)
    return a == DType::Bool ? b : a;
  if (isUnsigned(a) || isUnsigned(b)) {
    DType other = isUnsigned(a) ? b : a;
    return other == DType::I8 ? DType::I16 : other;
  }
  return bitWidth(a) > bitWidth(b) ? a : b;
}

bool fits(int64_t value, DType dtype) { return value >= minValue(dtype) && value <= maxValue(dtype); }

/// bool computes as i32.
ValueType withoutBool(ValueType type) {
  return type.isStrong(DType::Bool) ? ValueType{TypeKind::Strong, DType::I32} : type;
}

bool isIntegral(ValueType type) {
  return type.kind == TypeKind::WeakInteger || (type.kind == TypeKind::Strong && !isFloat(type.dtype));
}

/// How an operation relates its operands' type and its own.
enum class Rule : uint8_t { Arithmetic, Quotient, Power, Comparison, Logic, Floating, Rounding, Test, Choice };

Rule ruleOf(ExprOp op) {
  switch (op) {
  case ExprOp::Div:
    return Rule::Quotient;
  case ExprOp::Pow:
    return Rule::Power;
  case ExprOp::Lt:
  case ExprOp::Le:
  case ExprOp::Gt:
  case ExprOp::Ge:
  case ExprOp::Eq:
  case ExprOp::Ne:
    return Rule::Comparison;
  case ExprOp::And:
  case ExprOp::Or:
  case ExprOp::Not:
    return Rule::Logic;
  case ExprOp::Floor:
  case ExprOp::Ceil:
  case ExprOp::Round:
  case ExprOp::Trunc:
    return Rule::Rounding;
  case ExprOp::IsNan:
  case ExprOp::IsInf:
    return Rule::Test;
  case ExprOp::Where:
    return Rule::Choice;
  case ExprOp::Abs:
  case ExprOp::Sign:
  case ExprOp::Relu:
    return Rule::Arithmetic;
  default:
    return op >= ExprOp::Exp && op <= ExprOp::Softplus ? Rule::Floating : Rule::Arithmetic;
  }
}

/// What is known about a syntax node.
struct Fact {
  ValueType compute;      ///< What operands are converted to.
  ValueType type;         ///< Of the result.
  bool isProduct = false; ///< A power that is a product of its base.
  bool isLarge = false;   ///< Holds a literal that i32 does not.
  bool needed = false;
  DType wanted = DType::F32; ///< For a result without a type: the one it gets.
};

class Typer {
public:
  Typer(const Lexer &errors, const SyntaxTree &tree, std::span<const DType> inputs, DType output)
      : errors_(errors), tree_(tree), inputs_(inputs), output_(output), facts_(tree.nodes.size()),
        values_(tree.nodes.size(), -1) {}

  Expected<std::vector<ExprNode>> run() {
    for (size_t i = 0; i < facts_.size(); ++i)
      infer(tree_.nodes[i], facts_[i]);
    resolve();
    for (size_t i = 0; i < facts_.size(); ++i)
      if (facts_[i].needed) {
        TILEJIT_ASSIGN_OR_RETURN(values_[i], emitNode(static_cast<int>(i)));
        if (nodes_.size() > maxNodes)
          return errors_.error(tree_.nodes[i].column, "expected fewer operations, found more than 16384");
      }
    nodes_.resize(values_.back() + 1);
    return std::move(nodes_);
  }

private:
  static constexpr size_t maxNodes = 16384;

  // First pass.
  void infer(const SyntaxNode &node, Fact &fact) const;
  void inferApply(const SyntaxNode &node, Fact &fact) const;
  ValueType commonOperandType(const SyntaxNode &node, int first) const;
  ValueType comparisonType(const SyntaxNode &node) const;
  // Second pass.
  void resolve();
  void request(int operand, DType wanted);
  DType defaultFor(int operand, DType hint) const;
  DType computeType(size_t index) const;
  // Third pass.
  Expected<int> emitNode(int index);
  Expected<int> emitInteger(const SyntaxNode &node, DType type);
  int emitApply(const SyntaxNode &node, const Fact &fact, int index);
  int emitPower(int base, int64_t exponent, DType type);
  int emitOp(ExprOp op, DType type, int a, int b = -1, int c = -1);
  int emitConstant(DType type, double value, int64_t integer);
  int convert(int value, DType type);
  int emit(const ExprNode &node);

  const Lexer &errors_;
  const SyntaxTree &tree_;
  std::span<const DType> inputs_;
  DType output_;
  std::vector<Fact> facts_;
  std::vector<int> values_; ///< For each needed syntax node: its typed node.
  std::vector<ExprNode> nodes_;
  std::map<std::tuple<ExprOp, DType, std::array<int, 3>, int, uint64_t, int64_t>, int> known_;
};

void Typer::infer(const SyntaxNode &node, Fact &fact) const {
  switch (node.kind) {
  case SyntaxNode::Kind::Integer:
    fact.type = {TypeKind::WeakInteger};
    fact.isLarge = !fits(node.integer, DType::I32);
    return;
  case SyntaxNode::Kind::Real:
    fact.type = {TypeKind::WeakReal};
    return;
  case SyntaxNode::Kind::Input:
    fact.type = {TypeKind::Strong, inputs_[node.input]};
    return;
  case SyntaxNode::Kind::Cast:
    fact.type = {TypeKind::Strong, node.dtype};
    return;
  case SyntaxNode::Kind::Apply:
    return inferApply(node, fact);
  }
}

void Typer::inferApply(const SyntaxNode &node, Fact &fact) const {
  for (int operand : node.operands)
    fact.isLarge |= operand >= 0 && facts_[operand].isLarge;
  ValueType boolean{TypeKind::Strong, DType::Bool};
  ValueType common = commonOperandType(node, node.op == ExprOp::Where ? 1 : 0);
  switch (ruleOf(node.op)) {
  case Rule::Arithmetic:
  case Rule::Rounding:
    fact.compute = fact.type = withoutBool(common);
    return;
  case Rule::Floating:
  case Rule::Quotient:
    fact.compute = fact.type = floatingType(common);
    return;
  case Rule::Power: {
    const SyntaxNode &exponent = tree_.nodes[node.operands[1]];
    ValueType base = facts_[node.operands[0]].type;
    fact.isProduct = isIntegral(base) && exponent.kind == SyntaxNode::Kind::Integer && exponent.integer >= 0;
    fact.compute = fact.type = fact.isProduct ? withoutBool(commonType({&base, 1})) : floatingType(common);
    return;
  }
  case Rule::Comparison:
    fact.compute = comparisonType(node);
    fact.type = boolean;
    return;
  case Rule::Logic:
    fact.compute = fact.type = boolean;
    return;
  case Rule::Test:
    fact.compute = floatingType(common);
    fact.type = boolean;
    return;
  case Rule::Choice:
    fact.compute = fact.type = common;
    return;
  }
}

ValueType Typer::commonOperandType(const SyntaxNode &node, int first) const {
  std::array<ValueType, 3> types;
  size_t count = 0;
  for (int i = first; i < 3 && node.operands[i] >= 0; ++i)
    types[count++] = facts_[node.operands[i]].type;
  return commonType({types.data(), count});
}

/// Integers are compared with literals by value, so a type is taken that holds both.
ValueType Typer::comparisonType(const SyntaxNode &node) const {
  ValueType common = withoutBool(commonOperandType(node, 0));
  if (common.isWeak() || isFloat(common.dtype))
    return common;
  for (int operand : node.operands) {
    if (operand < 0 || tree_.nodes[operand].kind != SyntaxNode::Kind::Integer)
      continue;
    for (DType wider : {DType::I16, DType::I32, DType::I64})
      if (!fits(tree_.nodes[operand].integer, common.dtype))
        common.dtype = promote(common.dtype, wider);
  }
  return common;
}

DType Typer::defaultFor(int operand, DType hint) const {
  if (facts_[operand].type.kind == TypeKind::WeakReal)
    return hint == DType::F64 ? DType::F64 : DType::F32;
  return facts_[operand].isLarge ? DType::I64 : DType::I32;
}

/// The type a node computes in, once its own is decided.
DType Typer::computeType(size_t index) const {
  const Fact &fact = facts_[index];
  if (!fact.compute.isWeak())
    return fact.compute.dtype;
  if (fact.type.isWeak())
    return fact.wanted;
  return fact.compute.kind == TypeKind::WeakReal ? DType::F32 : DType::I64;
}

void Typer::request(int operand, DType wanted) {
  facts_[operand].needed = true;
  facts_[operand].wanted = wanted;
}

void Typer::resolve() {
  int root = static_cast<int>(facts_.size()) - 1;
  request(root, defaultFor(root, output_));
  for (int i = root; i >= 0; --i) {
    const SyntaxNode &node = tree_.nodes[i];
    if (!facts_[i].needed)
      continue;
    if (node.kind == SyntaxNode::Kind::Cast)
      request(node.operands[0], defaultFor(node.operands[0], node.dtype));
    if (node.kind != SyntaxNode::Kind::Apply)
      continue;
    Rule rule = ruleOf(node.op);
    DType compute = computeType(i);
    for (int k = 0; k < 3 && node.operands[k] >= 0; ++k) {
      bool isCondition = rule == Rule::Logic || (rule == Rule::Choice && k == 0);
      if (!(facts_[i].isProduct && k == 1))
        request(node.operands[k], isCondition ? defaultFor(node.operands[k], DType::F32) : compute);
    }
  }
}

int Typer::emit(const ExprNode &node) {
  auto key =
      std::tuple(node.op, node.type, node.operands, node.input, std::bit_cast<uint64_t>(node.value), node.integer);
  auto [place, isNew] = known_.try_emplace(key, static_cast<int>(nodes_.size()));
  if (isNew)
    nodes_.push_back(node);
  return place->second;
}

int Typer::emitOp(ExprOp op, DType type, int a, int b, int c) {
  ExprNode node;
  node.op = op;
  node.type = type;
  node.operands = {a, b, c};
  return emit(node);
}

int Typer::emitConstant(DType type, double value, int64_t integer) {
  ExprNode node;
  node.op = ExprOp::Constant;
  node.type = type;
  if (isFloat(type))
    node.value = type == DType::F32 ? static_cast<float>(value) : value;
  else
    node.integer = integer;
  return emit(node);
}

int Typer::convert(int value, DType type) {
  return nodes_[value].type == type ? value : emitOp(ExprOp::Cast, type, value);
}

Expected<int> Typer::emitInteger(const SyntaxNode &node, DType type) {
  if (!isFloat(type) && !fits(node.integer, type))
    return std::move(errors_.error(node.column, "expected a number that " + std::string(dtypeName(type)) +
                                                    " can hold, found " + std::to_string(node.integer)))
        .withHint("cast(x, i32) of the other operand makes room");
  return emitConstant(type, node.real, node.integer);
}

Expected<int> Typer::emitNode(int index) {
  const SyntaxNode &node = tree_.nodes[index];
  const Fact &fact = facts_[index];
  switch (node.kind) {
  case SyntaxNode::Kind::Integer:
    return emitInteger(node, fact.wanted);
  case SyntaxNode::Kind::Real:
    return emitConstant(fact.wanted, node.real, 0);
  case SyntaxNode::Kind::Input: {
    ExprNode input;
    input.op = ExprOp::Input;
    input.type = inputs_[node.input];
    input.input = node.input;
    return emit(input);
  }
  case SyntaxNode::Kind::Cast:
    return convert(values_[node.operands[0]], node.dtype);
  case SyntaxNode::Kind::Apply:
    return emitApply(node, fact, index);
  }
  return -1;
}

int Typer::emitApply(const SyntaxNode &node, const Fact &fact, int index) {
  DType compute = computeType(index);
  if (fact.isProduct)
    return emitPower(convert(values_[node.operands[0]], compute), tree_.nodes[node.operands[1]].integer, compute);
  std::array<int, 3> operands{-1, -1, -1};
  for (int k = 0; k < 3 && node.operands[k] >= 0; ++k) {
    bool isCondition = node.op == ExprOp::Where && k == 0;
    operands[k] = convert(values_[node.operands[k]], isCondition ? DType::Bool : compute);
  }
  if (ruleOf(node.op) == Rule::Rounding && !isFloat(compute))
    return operands[0];
  if (node.op == ExprOp::Fma && !isFloat(compute))
    return emitOp(ExprOp::Add, compute, emitOp(ExprOp::Mul, compute, operands[0], operands[1]), operands[2]);
  DType type = fact.type.isStrong(DType::Bool) ? DType::Bool : compute;
  return emitOp(node.op, type, operands[0], operands[1], operands[2]);
}

int Typer::emitPower(int base, int64_t exponent, DType type) {
  int result = -1;
  for (int64_t left = exponent; left > 0; left >>= 1) {
    if (left & 1)
      result = result < 0 ? base : emitOp(ExprOp::Mul, type, result, base);
    if (left > 1)
      base = emitOp(ExprOp::Mul, type, base, base);
  }
  return result < 0 ? emitConstant(type, 1, 1) : result;
}

} // namespace

ValueType commonType(std::span<const ValueType> types) {
  ValueType result{TypeKind::WeakInteger};
  bool hasReal = false;
  for (const ValueType &type : types) {
    hasReal |= type.kind == TypeKind::WeakReal;
    if (type.isWeak())
      continue;
    DType arithmetic = arithmeticType(type.dtype);
    result = {TypeKind::Strong, result.isWeak() ? arithmetic : promote(result.dtype, arithmetic)};
  }
  bool hasLiteral = std::any_of(types.begin(), types.end(), [](ValueType type) { return type.isWeak(); });
  if (hasReal)
    return result.isWeak() ? ValueType{TypeKind::WeakReal} : floatingType(result);
  return hasLiteral && types.size() > 1 ? withoutBool(result) : result;
}

ValueType floatingType(ValueType type) {
  if (type.kind == TypeKind::WeakInteger)
    return {TypeKind::WeakReal};
  if (type.kind == TypeKind::Strong && !isFloat(type.dtype))
    return {TypeKind::Strong, DType::F32};
  return type;
}

Expected<std::vector<ExprNode>> typeExpression(const Lexer &errors, SyntaxTree tree, std::span<const DType> inputs,
                                               DType output) {
  TILEJIT_RETURN_IF_ERROR(foldLiterals(errors, tree));
  return Typer(errors, tree, inputs, output).run();
}

} // namespace tilejit
