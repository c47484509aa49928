// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// From the text of an expression to a tree without types. Knows names, arities and precedences; knows nothing of
// element types, which are ExpressionTypes.cpp's part.

#ifndef TILEJIT_LIB_DESCRIPTION_EXPRESSIONSYNTAX_H
#define TILEJIT_LIB_DESCRIPTION_EXPRESSIONSYNTAX_H

#include "Cursor.h"

#include "tilejit/Description/Expression.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilejit {

struct Token {
  enum class Kind : uint8_t { Integer, Real, Name, Symbol, End } kind = Kind::End;
  std::string_view text;
  size_t offset = 0;
  int64_t integer = 0;
  double real = 0;

  size_t column() const { return offset + 1; } ///< Everything before a token is ASCII.
  bool isSymbol(std::string_view symbol) const { return kind == Kind::Symbol && text == symbol; }
  bool isName(std::string_view name) const { return kind == Kind::Name && text == name; }
};

/// Cuts a text into tokens, one at a time, so that the first fault is the first in the text.
class Lexer {
public:
  /// Errors are made at `cursor`, with the column.
  explicit Lexer(const Cursor &cursor) : cursor_(cursor), text_(cursor.value().text) {}

  Expected<Token> next();
  Status error(size_t column, std::string_view message) const;
  const Cursor &cursor() const { return cursor_; }

private:
  Expected<Token> number(size_t start);
  Status unexpected(size_t start) const;

  const Cursor &cursor_;
  std::string_view text_;
  size_t place_ = 0;
};

/// A node; operands are earlier nodes, each the operand of exactly one other node.
struct SyntaxNode {
  enum class Kind : uint8_t { Integer, Real, Input, Apply, Cast } kind = Kind::Integer;
  ExprOp op = ExprOp::Constant; ///< Apply.
  std::array<int, 3> operands{-1, -1, -1};
  int input = -1; ///< Input.
  int64_t integer = 0;
  double real = 0;          ///< Real, and Integer as a double.
  DType dtype = DType::F32; ///< Cast.
  size_t column = 1;
};

/// Where the text names an input.
struct InputUse {
  size_t offset = 0;
  int input = -1;
};

struct SyntaxTree {
  std::vector<SyntaxNode> nodes; ///< The last one is the root.
  std::vector<InputUse> uses;    ///< In the order of the text.
};

/// `inputs` are the names that may occur.
Expected<SyntaxTree> parseSyntax(const Cursor &cursor, std::span<const std::string_view> inputs);

} // namespace tilejit

#endif // TILEJIT_LIB_DESCRIPTION_EXPRESSIONSYNTAX_H
