// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Tokens of expressions.

#include "ExpressionSyntax.h"

#include "tilejit/Base/Text.h"

#include <algorithm>
#include <charconv>

namespace tilejit {
namespace {

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool isBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// What people of other languages write, and what to write here.
std::string_view hintFor(std::string_view rest) {
  if (rest.starts_with("&"))
    return "logical and is written \"and\"";
  if (rest.starts_with("|"))
    return "logical or is written \"or\"";
  if (rest.starts_with("!"))
    return "logical not is written \"not\"";
  if (rest.starts_with("^"))
    return "powers are written \"**\"";
  if (rest.starts_with("="))
    return "equality is written \"==\"";
  if (rest.starts_with("?"))
    return "a choice is written where(condition, a, b)";
  return "";
}

} // namespace

Status Lexer::error(size_t column, std::string_view message) const {
  return cursor_.error("column " + std::to_string(column) + ": " + std::string(message));
}

Status Lexer::unexpected(size_t start) const {
  size_t length = 1;
  while (start + length < text_.size() && (text_[start + length] & 0xc0) == 0x80)
    ++length;
  Status status = error(start + 1, "expected a number, a name or an operator, found the character '" +
                                       shorten(text_.substr(start, length), 12) + '\'');
  std::string_view hint = hintFor(text_.substr(start));
  return hint.empty() ? status : std::move(status).withHint(std::string(hint));
}

Expected<Token> Lexer::next() {
  static constexpr std::string_view pairs[] = {"**", "<=", ">=", "==", "!="};
  while (place_ < text_.size() && isBlank(text_[place_]))
    ++place_;
  size_t start = place_;
  if (start == text_.size())
    return Token{Token::Kind::End, {}, start};
  char c = text_[start];
  bool startsFraction = c == '.' && start + 1 < text_.size() && isDigit(text_[start + 1]);
  if (isDigit(c) || startsFraction)
    return number(start);
  size_t length = 0;
  if (isLetter(c)) {
    while (start + length < text_.size() && (isLetter(text_[start + length]) || isDigit(text_[start + length])))
      ++length;
    place_ += length;
    return Token{Token::Kind::Name, text_.substr(start, length), start};
  }
  if (std::find(std::begin(pairs), std::end(pairs), text_.substr(start, 2)) != std::end(pairs))
    length = 2;
  else if (std::string_view("+-*/%(),<>").find(c) != std::string_view::npos)
    length = 1;
  else
    return unexpected(start);
  place_ += length;
  return Token{Token::Kind::Symbol, text_.substr(start, length), start};
}

Expected<Token> Lexer::number(size_t start) {
  size_t end = start;
  auto skipDigits = [&] {
    while (end < text_.size() && isDigit(text_[end]))
      ++end;
  };
  auto at = [&](size_t i) { return i < text_.size() ? text_[i] : '\0'; };
  bool isReal = false;
  skipDigits();
  if (at(end) == '.') {
    isReal = true;
    ++end;
    skipDigits();
  }
  if (at(end) == 'e' || at(end) == 'E') {
    size_t sign = at(end + 1) == '+' || at(end + 1) == '-';
    if (isDigit(at(end + 1 + sign))) {
      isReal = true;
      end += 1 + sign;
      skipDigits();
    }
  }
  if (isLetter(at(end)) || at(end) == '.')
    return error(start + 1, "expected a number such as 2, 0.5 or 1e-3, found " +
                                shorten(text_.substr(start, end + 1 - start), 40));
  Token token{isReal ? Token::Kind::Real : Token::Kind::Integer, text_.substr(start, end - start), start};
  const char *first = token.text.data(), *last = first + token.text.size();
  if (std::from_chars(first, last, token.real).ec != std::errc())
    return error(start + 1, "expected a number within the range of f64, found " + shorten(token.text, 40));
  if (!isReal && std::from_chars(first, last, token.integer).ec != std::errc())
    return error(start + 1, "expected an integer within the range of i64 (or a number with a point), found " +
                                shorten(token.text, 40));
  place_ = end;
  return token;
}

} // namespace tilejit
