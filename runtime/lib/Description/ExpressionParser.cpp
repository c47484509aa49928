// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Recursive descent with Python's precedences. Chains of one precedence are loops, so that they may be long; what nests
// counts its depth, so that hostile texts end in a message.

#include "ExpressionSyntax.h"

#include "tilejit/Base/Text.h"

#include <algorithm>

namespace tilejit {
namespace {

constexpr int maxNesting = 200;
constexpr size_t maxNodes = 8192;

struct Function {
  std::string_view name;
  ExprOp op;
  size_t least, most; ///< Arguments.
};

/// All functions but cast. Their names are those of exprOpName(), pow excepted, which is also `**`.
std::span<const Function> functions() {
  static const auto *const table = [] {
    auto *list = new std::vector<Function>();
    for (int i = static_cast<int>(ExprOp::Abs); i <= static_cast<int>(ExprOp::IsInf); ++i)
      list->push_back({exprOpName(static_cast<ExprOp>(i)), static_cast<ExprOp>(i), 1, 1});
    list->push_back({"min", ExprOp::Min, 2, 16});
    list->push_back({"max", ExprOp::Max, 2, 16});
    list->push_back({"pow", ExprOp::Pow, 2, 2});
    list->push_back({"fma", ExprOp::Fma, 3, 3});
    list->push_back({"where", ExprOp::Where, 3, 3});
    return list;
  }();
  return *table;
}

struct Operator {
  std::string_view symbol;
  ExprOp op;
};
constexpr Operator comparisons[] = {{"<", ExprOp::Lt},  {"<=", ExprOp::Le}, {">", ExprOp::Gt},
                                    {">=", ExprOp::Ge}, {"==", ExprOp::Eq}, {"!=", ExprOp::Ne}};
constexpr Operator sums[] = {{"+", ExprOp::Add}, {"-", ExprOp::Sub}};
constexpr Operator products[] = {{"*", ExprOp::Mul}, {"/", ExprOp::Div}, {"%", ExprOp::Mod}};

class Parser {
public:
  Parser(const Cursor &cursor, std::span<const std::string_view> inputs) : lexer_(cursor), inputs_(inputs) {}

  Expected<SyntaxTree> whole() {
    TILEJIT_RETURN_IF_ERROR(advance());
    TILEJIT_RETURN_IF_ERROR(disjunction().status());
    if (token_.kind != Token::Kind::End)
      return expected("an operator or the end");
    return std::move(tree_);
  }

private:
  /// Index of a node, or why there is none.
  using Node = Expected<int>;

  Status advance() {
    TILEJIT_ASSIGN_OR_RETURN(token_, lexer_.next());
    return Status::ok();
  }

  Status expected(std::string_view what) const {
    std::string found = token_.kind == Token::Kind::End ? "the end" : '\'' + shorten(token_.text, 40) + '\'';
    return lexer_.error(token_.column(), "expected " + std::string(what) + ", found " + found);
  }

  Node add(SyntaxNode node) {
    if (tree_.nodes.size() >= maxNodes)
      return lexer_.error(node.column, "expected at most " + std::to_string(maxNodes) + " operations, found more");
    tree_.nodes.push_back(node);
    return static_cast<int>(tree_.nodes.size()) - 1;
  }
  Node apply(ExprOp op, size_t column, int a, int b = -1, int c = -1) {
    SyntaxNode node;
    node.kind = SyntaxNode::Kind::Apply;
    node.op = op;
    node.operands = {a, b, c};
    node.column = column;
    return add(node);
  }

  /// Calls a rule one level deeper.
  Node nested(Node (Parser::*rule)()) {
    if (++depth_ > maxNesting)
      return lexer_.error(token_.column(),
                          "expected at most " + std::to_string(maxNesting) + " levels of nesting, found more");
    Node node = (this->*rule)();
    --depth_;
    return node;
  }

  /// `operand (symbol operand)*`, from left to right.
  template <size_t N> Node chain(const Operator (&operators)[N], Node (Parser::*operand)()) {
    TILEJIT_ASSIGN_OR_RETURN(int left, (this->*operand)());
    while (const Operator *found = match(operators)) {
      size_t column = token_.column();
      TILEJIT_RETURN_IF_ERROR(advance());
      TILEJIT_ASSIGN_OR_RETURN(int right, (this->*operand)());
      TILEJIT_ASSIGN_OR_RETURN(left, apply(found->op, column, left, right));
    }
    return left;
  }

  template <size_t N> const Operator *match(const Operator (&operators)[N]) const {
    for (const Operator &candidate : operators)
      if (token_.isSymbol(candidate.symbol))
        return &candidate;
    return nullptr;
  }

  /// `operand (word operand)*` for `and` and `or`.
  Node logic(std::string_view word, ExprOp op, Node (Parser::*operand)()) {
    TILEJIT_ASSIGN_OR_RETURN(int left, (this->*operand)());
    while (token_.isName(word)) {
      size_t column = token_.column();
      TILEJIT_RETURN_IF_ERROR(advance());
      TILEJIT_ASSIGN_OR_RETURN(int right, (this->*operand)());
      TILEJIT_ASSIGN_OR_RETURN(left, apply(op, column, left, right));
    }
    return left;
  }

  Node disjunction() { return logic("or", ExprOp::Or, &Parser::conjunction); }
  Node conjunction() { return logic("and", ExprOp::And, &Parser::negation); }

  Node negation() {
    if (!token_.isName("not"))
      return comparison();
    size_t column = token_.column();
    TILEJIT_RETURN_IF_ERROR(advance());
    TILEJIT_ASSIGN_OR_RETURN(int operand, nested(&Parser::negation));
    return apply(ExprOp::Not, column, operand);
  }

  Node comparison() {
    TILEJIT_ASSIGN_OR_RETURN(int left, sum());
    const Operator *found = match(comparisons);
    if (!found)
      return left;
    size_t column = token_.column();
    TILEJIT_RETURN_IF_ERROR(advance());
    TILEJIT_ASSIGN_OR_RETURN(int right, sum());
    if (match(comparisons))
      return std::move(expected("one comparison, since they do not chain"))
          .withHint("write a < b and b < c instead of a < b < c");
    return apply(found->op, column, left, right);
  }

  Node sum() { return chain(sums, &Parser::product); }
  Node product() { return chain(products, &Parser::factor); }

  Node factor() {
    size_t column = token_.column();
    if (token_.isSymbol("-")) {
      TILEJIT_RETURN_IF_ERROR(advance());
      TILEJIT_ASSIGN_OR_RETURN(int operand, nested(&Parser::factor));
      return apply(ExprOp::Neg, column, operand);
    }
    TILEJIT_ASSIGN_OR_RETURN(int base, atom());
    if (!token_.isSymbol("**"))
      return base;
    column = token_.column();
    TILEJIT_RETURN_IF_ERROR(advance());
    TILEJIT_ASSIGN_OR_RETURN(int exponent, nested(&Parser::factor));
    return apply(ExprOp::Pow, column, base, exponent);
  }

  Node atom() {
    Token token = token_;
    if (token.kind == Token::Kind::Integer || token.kind == Token::Kind::Real) {
      TILEJIT_RETURN_IF_ERROR(advance());
      SyntaxNode node;
      node.kind = token.kind == Token::Kind::Integer ? SyntaxNode::Kind::Integer : SyntaxNode::Kind::Real;
      node.integer = token.integer;
      node.real = token.real;
      node.column = token.column();
      return add(node);
    }
    if (token.isSymbol("(")) {
      TILEJIT_RETURN_IF_ERROR(advance());
      TILEJIT_ASSIGN_OR_RETURN(int inner, nested(&Parser::disjunction));
      TILEJIT_RETURN_IF_ERROR(close());
      return inner;
    }
    bool isWord = token.isName("and") || token.isName("or") || token.isName("not");
    if (token.kind != Token::Kind::Name || isWord)
      return expected("a number, an input, a function, '-' or '('");
    TILEJIT_RETURN_IF_ERROR(advance());
    return token_.isSymbol("(") ? call(token) : input(token);
  }

  Status close() {
    if (!token_.isSymbol(")"))
      return expected("')' or an operator");
    return advance();
  }

  Node input(const Token &name) {
    auto found = std::find(inputs_.begin(), inputs_.end(), name.text);
    if (found == inputs_.end())
      return unknown(name, "an input", inputs_);
    SyntaxNode node;
    node.kind = SyntaxNode::Kind::Input;
    node.input = static_cast<int>(found - inputs_.begin());
    node.column = name.column();
    tree_.uses.push_back({name.offset, node.input});
    return add(node);
  }

  Status unknown(const Token &name, std::string_view what, std::span<const std::string_view> known) const {
    Status status = lexer_.error(name.column(), "expected " + std::string(what) + " (" + alternatives(known) +
                                                    "), found '" + shorten(name.text, 40) + '\'');
    std::string_view nearest = nearestName(name.text, known);
    return nearest.empty() || name.text.size() < 2
               ? status
               : std::move(status).withHint("did you mean \"" + std::string(nearest) + "\"?");
  }

  Node call(const Token &name) {
    TILEJIT_RETURN_IF_ERROR(advance());
    if (name.text == "cast")
      return castCall(name);
    std::span<const Function> table = functions();
    auto function = std::find_if(table.begin(), table.end(), [&](const Function &f) { return f.name == name.text; });
    if (function == table.end()) {
      std::vector<std::string_view> known;
      for (const Function &candidate : table)
        known.push_back(candidate.name);
      known.push_back("cast");
      return unknown(name, "a function", known);
    }
    std::vector<int> arguments;
    while (true) {
      TILEJIT_ASSIGN_OR_RETURN(int argument, nested(&Parser::disjunction));
      arguments.push_back(argument);
      if (!token_.isSymbol(","))
        break;
      TILEJIT_RETURN_IF_ERROR(advance());
    }
    if (!token_.isSymbol(")"))
      return expected("',', ')' or an operator");
    if (arguments.size() < function->least || arguments.size() > function->most)
      return wrongCount(name, *function, arguments.size());
    TILEJIT_RETURN_IF_ERROR(advance());
    return applyFunction(name, function->op, arguments);
  }

  Status wrongCount(const Token &name, const Function &function, size_t count) const {
    std::string range = std::to_string(function.least);
    if (function.most != function.least)
      range += " to " + std::to_string(function.most);
    return lexer_.error(name.column(), "expected " + range + (range == "1" ? " argument" : " arguments") + " of " +
                                           std::string(function.name) + ", found " + std::to_string(count));
  }

  Node applyFunction(const Token &name, ExprOp op, const std::vector<int> &arguments) {
    if (op != ExprOp::Min && op != ExprOp::Max) {
      auto argument = [&](size_t i) { return i < arguments.size() ? arguments[i] : -1; };
      return apply(op, name.column(), argument(0), argument(1), argument(2));
    }
    int result = arguments[0];
    for (size_t i = 1; i < arguments.size(); ++i) {
      TILEJIT_ASSIGN_OR_RETURN(result, apply(op, name.column(), result, arguments[i]));
    }
    return result;
  }

  Node castCall(const Token &name) {
    TILEJIT_ASSIGN_OR_RETURN(int operand, nested(&Parser::disjunction));
    if (!token_.isSymbol(","))
      return expected("',' and a type");
    TILEJIT_RETURN_IF_ERROR(advance());
    if (token_.kind != Token::Kind::Name)
      return expected("a type");
    std::optional<DType> dtype = parseDType(token_.text);
    if (!dtype) {
      std::vector<std::string_view> known;
      for (DType candidate : allDTypes())
        known.push_back(dtypeName(candidate));
      return unknown(token_, "a type", known);
    }
    TILEJIT_RETURN_IF_ERROR(advance());
    TILEJIT_RETURN_IF_ERROR(close());
    SyntaxNode node;
    node.kind = SyntaxNode::Kind::Cast;
    node.operands[0] = operand;
    node.dtype = *dtype;
    node.column = name.column();
    return add(node);
  }

  Lexer lexer_;
  std::span<const std::string_view> inputs_;
  SyntaxTree tree_;
  Token token_;
  int depth_ = 0;
};

} // namespace

Expected<SyntaxTree> parseSyntax(const Cursor &cursor, std::span<const std::string_view> inputs) {
  return Parser(cursor, inputs).whole();
}

} // namespace tilejit
