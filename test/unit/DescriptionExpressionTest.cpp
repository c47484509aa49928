// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Expressions: precedence, types with every conversion spelled out, literals, and errors with their column.

#include "DescriptionBuilder.h"

#include <sstream>

using namespace tilejit;
using namespace tilejit::test;

namespace {

/// A typed expression in prefix form: "(+:f32 (cast:f32 x:bf16) 1:f32)".
std::string dump(const Description &description, const Expression &expression, int index) {
  const ExprNode &node = expression.nodes[index];
  std::ostringstream out;
  if (node.op == ExprOp::Input)
    out << description.inputs[node.input].name;
  else if (node.op == ExprOp::Constant && isFloat(node.type))
    out << node.value;
  else if (node.op == ExprOp::Constant)
    out << node.integer;
  else
    out << '(' << (node.op == ExprOp::Neg ? "neg" : exprOpName(node.op));
  out << ':' << dtypeName(node.type);
  for (int operand : node.operands)
    if (operand >= 0) {
      CHECK(operand < index);
      out << ' ' << dump(description, expression, operand);
    }
  if (node.op != ExprOp::Input && node.op != ExprOp::Constant)
    out << ')';
  return out.str();
}

/// The typed form of an expression over inputs x: the given type, f: f32, h: f16, d: f64, i: i32, b: i8, u: u8, t:
/// bool.
std::string typed(std::string_view text, std::string_view x = "f32", std::string_view output = "f32") {
  std::string inputs;
  const std::pair<std::string_view, std::string_view> all[] = {{"x", x},     {"f", "f32"}, {"h", "f16"}, {"d", "f64"},
                                                               {"i", "i32"}, {"b", "i8"},  {"u", "u8"},  {"t", "bool"}};
  for (auto [name, dtype] : all)
    inputs +=
        (inputs.empty() ? "'" : ", '") + std::string(name) + "': {'dtype': '" + std::string(dtype) + "', 'shape': [3]}";
  Description description = parsed(describe(
      "elementwise", "'inputs': {" + inputs + "}, 'outputs': {'y': {'dtype': '" + std::string(output) +
                         "', 'shape': [3]}}, 'attributes': {'expression': {'y': '" + std::string(text) + "'}}"));
  const Expression &expression = description.as<ElementwiseAttributes>().expressions[0];
  return dump(description, expression, static_cast<int>(expression.nodes.size()) - 1);
}

/// "column N: message" of a refused expression over a and b.
std::string fault(std::string_view text) {
  Status status = refused(elementwise(text));
  CHECK(status.pointer() == "/attributes/expression/y");
  return status.message() + (status.hint().empty() ? "" : " | " + status.hint());
}

} // namespace

TEST_CASE("expressions have Python's precedences", "[expression]") {
  CHECK(typed("-x ** 2") == "(neg:f32 (**:f32 x:f32 2:f32))");
  CHECK(typed("2 ** x ** f") == "(**:f32 2:f32 (**:f32 x:f32 f:f32))");
  CHECK(typed("2 ** -x") == "(**:f32 2:f32 (neg:f32 x:f32))");
  CHECK(typed("x - f - x") == "(-:f32 (-:f32 x:f32 f:f32) x:f32)");
  CHECK(typed("x + f * x % f") == "(+:f32 x:f32 (%:f32 (*:f32 f:f32 x:f32) f:f32))");
  CHECK(typed("x / (f / x)") == "(/:f32 x:f32 (/:f32 f:f32 x:f32))");
  CHECK(typed("not x < f and t or t") == "(or:bool (and:bool (not:bool (<:bool x:f32 f:f32)) t:bool) t:bool)");
  CHECK(typed("--x") == "(neg:f32 (neg:f32 x:f32))");
  CHECK(typed("\\tx\\n+ f ") == "(+:f32 x:f32 f:f32)");
}

TEST_CASE("narrow floats compute in f32, and f64 wins", "[expression]") {
  CHECK(typed("h + h") == "(+:f32 (cast:f32 h:f16) (cast:f32 h:f16))");
  CHECK(typed("x * 2", "f8e4m3fn") == "(*:f32 (cast:f32 x:f8e4m3fn) 2:f32)");
  CHECK(typed("h * d") == "(*:f64 (cast:f64 h:f16) d:f64)");
  CHECK(typed("f + i") == "(+:f32 f:f32 (cast:f32 i:i32))");
  CHECK(typed("d + i") == "(+:f64 d:f64 (cast:f64 i:i32))");
  CHECK(typed("x", "bf16") == "x:bf16");
  CHECK(typed("exp(x)", "bf16") == "(exp:f32 (cast:f32 x:bf16))");
  CHECK(typed("cast(f, f16) + 1") == "(+:f32 (cast:f32 (cast:f16 f:f32)) 1:f32)");
}

TEST_CASE("integers have NumPy's widths", "[expression]") {
  CHECK(typed("b + b") == "(+:i8 b:i8 b:i8)");
  CHECK(typed("b + u") == "(+:i16 (cast:i16 b:i8) (cast:i16 u:u8))");
  CHECK(typed("u * i") == "(*:i32 (cast:i32 u:u8) i:i32)");
  CHECK(typed("x + i", "i64") == "(+:i64 x:i64 (cast:i64 i:i32))");
  CHECK(typed("x + x", "i4") == "(+:i8 (cast:i8 x:i4) (cast:i8 x:i4))");
  CHECK(typed("x + x", "u4") == "(+:u8 (cast:u8 x:u4) (cast:u8 x:u4))");
  CHECK(typed("t + t") == "(+:i32 (cast:i32 t:bool) (cast:i32 t:bool))");
  CHECK(typed("t * b") == "(*:i8 (cast:i8 t:bool) b:i8)");
  CHECK(typed("i / i") == "(/:f32 (cast:f32 i:i32) (cast:f32 i:i32))");
  CHECK(typed("x / 2", "i64") == "(/:f32 (cast:f32 x:i64) 2:f32)");
  CHECK(typed("i % 3") == "(%:i32 i:i32 3:i32)");
  CHECK(typed("-t") == "(neg:i32 (cast:i32 t:bool))");
  CHECK(typed("fma(i, i, b)") == "(+:i32 (*:i32 i:i32 i:i32) (cast:i32 b:i8))");
}

TEST_CASE("integer powers with literal exponents are products", "[expression]") {
  CHECK(typed("i ** 2") == "(*:i32 i:i32 i:i32)");
  CHECK(typed("i ** 1") == "i:i32");
  CHECK(typed("i ** 0") == "1:i32");
  CHECK(typed("b ** 3") == "(*:i8 b:i8 (*:i8 b:i8 b:i8))");
  CHECK(typed("t ** 2") == "(*:i32 (cast:i32 t:bool) (cast:i32 t:bool))");
  CHECK(typed("i ** -1") == "(**:f32 (cast:f32 i:i32) -1:f32)");
  CHECK(typed("pow(i, b)") == "(**:f32 (cast:f32 i:i32) (cast:f32 b:i8))");
  CHECK(typed("i ** 0.5") == "(**:f32 (cast:f32 i:i32) 0.5:f32)");
}

TEST_CASE("literals take the type of what they meet", "[expression]") {
  CHECK(typed("u + 1") == "(+:u8 u:u8 1:u8)");
  CHECK(typed("i * 0.5") == "(*:f32 (cast:f32 i:i32) 0.5:f32)");
  CHECK(typed("d * sqrt(2)") == "(*:f64 d:f64 (sqrt:f64 2:f64))");
  CHECK(typed("x * sqrt(2)", "f16") == "(*:f32 (cast:f32 x:f16) (sqrt:f32 2:f32))");
  CHECK(typed("t + 1") == "(+:i32 (cast:i32 t:bool) 1:i32)");
  CHECK(typed("t * 1.5") == "(*:f32 (cast:f32 t:bool) 1.5:f32)");
  CHECK(typed("d + (1 + 2) / 4") == "(+:f64 d:f64 0.75:f64)");
  CHECK(typed("u + (300 - 200)") == "(+:u8 u:u8 100:u8)");
  CHECK(typed("7 % -3 + i") == "(+:i32 -2:i32 i:i32)");
  CHECK(typed("f * 2 ** 3") == "(*:f32 f:f32 8:f32)");
  CHECK(typed("1") == "1:i32");
  CHECK(typed("3000000000") == "3000000000:i64");
  CHECK(typed("1.5", "f32", "f64") == "1.5:f64");
  CHECK(typed("where(x > f, 1, 0) * b") == "(*:i8 (where:i8 (>:bool x:f32 f:f32) 1:i8 0:i8) b:i8)");
  CHECK(typed("cast(2, f16) * x") == "(*:f32 (cast:f32 (cast:f16 2:i32)) x:f32)");
  CHECK(typed("max(abs(3), u)") == "(max:u8 (abs:u8 3:u8) u:u8)");
}

TEST_CASE("comparisons and logic give bool", "[expression]") {
  CHECK(typed("h < 1") == "(<:bool (cast:f32 h:f16) 1:f32)");
  CHECK(typed("u < 300") == "(<:bool (cast:i16 u:u8) 300:i16)");
  CHECK(typed("u > -1") == "(>:bool (cast:i16 u:u8) -1:i16)");
  CHECK(typed("b == 200") == "(==:bool (cast:i16 b:i8) 200:i16)");
  CHECK(typed("t == t") == "(==:bool (cast:i32 t:bool) (cast:i32 t:bool))");
  CHECK(typed("x and i") == "(and:bool (cast:bool x:f32) (cast:bool i:i32))");
  CHECK(typed("isnan(h)") == "(isnan:bool (cast:f32 h:f16))");
  CHECK(typed("(x > f) * x") == "(*:f32 (cast:f32 (>:bool x:f32 f:f32)) x:f32)");
  CHECK(typed("where(i, h, 0)") == "(where:f32 (cast:bool i:i32) (cast:f32 h:f16) 0:f32)");
  CHECK(typed("where(t, t, not t)") == "(where:bool t:bool t:bool (not:bool t:bool))");
  CHECK(typed("where(t, b, i)") == "(where:i32 t:bool (cast:i32 b:i8) i:i32)");
}

TEST_CASE("functions of integers are floating where they must be", "[expression]") {
  CHECK(typed("exp(i)") == "(exp:f32 (cast:f32 i:i32))");
  CHECK(typed("abs(b)") == "(abs:i8 b:i8)");
  CHECK(typed("sign(t)") == "(sign:i32 (cast:i32 t:bool))");
  CHECK(typed("relu(i)") == "(relu:i32 i:i32)");
  CHECK(typed("floor(i)") == "i:i32");
  CHECK(typed("round(h)") == "(round:f32 (cast:f32 h:f16))");
  CHECK(typed("max(f, h, 0)") == "(max:f32 (max:f32 f:f32 (cast:f32 h:f16)) 0:f32)");
  CHECK(typed("gelu_tanh(d)") == "(gelu_tanh:f64 d:f64)");
}

TEST_CASE("equal values are one node", "[expression]") {
  Description description = parsed(elementwise("(a + b) * (a + b) + exp(a)"));
  CHECK(description.as<ElementwiseAttributes>().expressions[0].nodes.size() == 6);
}

TEST_CASE("long chains are fine, deep nesting is refused", "[expression]") {
  std::string chain = "a";
  for (int i = 0; i < 2000; ++i)
    chain += i % 2 ? " + a" : " - b";
  CHECK(parsed(elementwise(chain)).as<ElementwiseAttributes>().expressions[0].nodes.size() == 2002);
  CHECK(fault(std::string(100000, '(') + "a" + std::string(100000, ')')).find("column 202: ") == 0);
  CHECK(fault(std::string(100000, '-') + "a").find("column 202: ") == 0);
  std::string nots, powers = "a";
  for (int i = 0; i < 300; ++i) {
    nots += "not ";
    powers += "**a";
  }
  CHECK(fault(nots + "a").find("levels of nesting") != std::string::npos);
  CHECK(fault(powers).find("levels of nesting") != std::string::npos);
  for (int i = 0; i < 10000; ++i)
    chain += "+a";
  CHECK(fault(chain).find("at most 8192 operations") != std::string::npos);
  CHECK(parsed(elementwise(std::string(150, '(') + "a" + std::string(150, ')'))).inputs.size() == 2);
}

TEST_CASE("expression errors name column, what was expected and what was found", "[expression]") {
  CHECK(fault("a + $").find("column 5: expected a number, a name or an operator, found the character '$'") == 0);
  CHECK(fault("").find("column 1: ") == 0);
  CHECK(fault("(a + b").find("column 7: expected ')' or an operator, found the end") == 0);
  CHECK(fault("a + b)").find("column 6: expected an operator or the end, found ')'") == 0);
  CHECK(fault("a b").find("column 3: ") == 0);
  CHECK(fault("a + 1.2.3").find("column 5: expected a number") == 0);
  CHECK(fault("a + 2x").find("column 5: ") == 0);
  CHECK(fault("a + 1e999").find("column 5: expected a number within") == 0);
  CHECK(fault("a + 99999999999999999999").find("column 5: expected an integer within") == 0);
  CHECK(fault("a \xc3\x97 b").find("column 3: ") == 0);
  CHECK(fault("a < b < a").find("column 7: expected one comparison") == 0);
  CHECK(fault("a && b").find("| logical and is written \"and\"") != std::string::npos);
  CHECK(fault("a = b").find("| equality is written \"==\"") != std::string::npos);
  CHECK(fault("a +* b").find("column 4: ") == 0);
  CHECK(fault("a * not b").find("column 5: ") == 0);
  CHECK(fault("a[0]").find("column 2: ") == 0);
  CHECK(fault("+a").find("column 1: ") == 0);
}

TEST_CASE("unknown names in expressions come with the nearest known one", "[expression]") {
  CHECK(fault("a + c").find("column 5: expected an input (a or b), found 'c'") == 0);
  CHECK(fault("exp + a").find("column 1: expected an input") == 0);
  CHECK(fault("sigmoied(a)").find("| did you mean \"sigmoid\"?") != std::string::npos);
  CHECK(fault("cast(a, f33)").find("column 9: expected a type") == 0);
  CHECK(fault("cast(a)").find("column 7: expected ',' and a type") == 0);
  CHECK(fault("cast(a, 5)").find("column 9: ") == 0);
  CHECK(fault("where(a, b)").find("column 1: expected 3 arguments of where, found 2") == 0);
  CHECK(fault("1 + exp(a, b)").find("column 5: expected 1 argument of exp, found 2") == 0);
  CHECK(fault("max(a)").find("expected 2 to 16 arguments of max, found 1") != std::string::npos);
  CHECK(fault("exp()").find("column 5: ") == 0);
}

TEST_CASE("literals that can't be held are refused", "[expression]") {
  CHECK(fault("cast(a, u8) + 300").find("column 15: expected a number that u8 can hold, found 300") == 0);
  CHECK(fault("cast(a, u8) * -1").find("found -1") != std::string::npos);
  CHECK(fault("9223372036854775807 + 1").find("column 21: expected a constant within") == 0);
  CHECK(fault("a + 5 % 0").find("column 7: expected a divisor other than 0") == 0);
  CHECK(fault("10 ** 40 * a").find("column 4: ") == 0);
}
