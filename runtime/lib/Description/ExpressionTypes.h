// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// From a syntax tree to typed nodes: which type each operation computes in, with every conversion spelled out.

#ifndef TILEJIT_LIB_DESCRIPTION_EXPRESSIONTYPES_H
#define TILEJIT_LIB_DESCRIPTION_EXPRESSIONTYPES_H

#include "ExpressionSyntax.h"

#include "tilejit/Description/Description.h"

#include <span>
#include <vector>

namespace tilejit {

/// The type of a value in an expression. Literals, and what is computed from literals alone, have no type yet: they
/// take the one of what they meet.
struct ValueType {
  enum class Kind : uint8_t { Strong, WeakInteger, WeakReal } kind = Kind::Strong;
  DType dtype = DType::F32; ///< Strong.

  bool isWeak() const { return kind != Kind::Strong; }
  bool isStrong(DType wanted) const { return kind == Kind::Strong && dtype == wanted; }
};

/// The type in which values of these types are computed together; bool with bool stays bool.
ValueType commonType(std::span<const ValueType> types);
/// A float to compute in: integers, bools and integer literals become f32, and f64 stays.
ValueType floatingType(ValueType type);

/// Replaces operations on literals by their value (integers exactly, floats in double). Errors name the column.
Status foldLiterals(const Lexer &errors, SyntaxTree &tree);

/// Types a tree over inputs of these types. `output` decides only what an expression of nothing but literals is.
Expected<std::vector<ExprNode>> typeExpression(const Lexer &errors, SyntaxTree tree, std::span<const DType> inputs,
                                               DType output);

} // namespace tilejit

#endif // TILEJIT_LIB_DESCRIPTION_EXPRESSIONTYPES_H
