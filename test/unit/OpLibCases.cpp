// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The tables of cases.

#include "OpLibCases.h"

namespace tilejit::test {

/// 'name': {'dtype': ..., 'shape': ...} with more members.
static std::string operand(std::string name, std::string_view dtype, std::string_view shape,
                           std::string_view more = "") {
  return "'" + name + "': {'dtype': '" + std::string(dtype) + "', 'shape': " + std::string(shape) + std::string(more) +
         "}";
}

/// A description of inputs and outputs that are members already, and whatever else.
static std::string whole(std::string_view op, const std::string &inputs, const std::string &outputs,
                         const std::string &more = "") {
  return describe(op, "'inputs': {" + inputs + "}, 'outputs': {" + outputs + "}" + (more.empty() ? "" : ", " + more));
}

static std::string product(const std::string &a, const std::string &b, const std::string &c,
                           const std::string &more = "") {
  return whole("matmul", a + ", " + b, c, more);
}

static void addMatmulTypes(std::vector<OpLibCase> &cases) {
  for (std::string_view t : {"f32", "f16", "bf16", "f8e4m3fn", "f8e5m2", "f8e4m3fnuz", "f8e5m2fnuz"})
    for (std::string_view out : {"f32", "bf16"})
      cases.push_back(
          {product(operand("a", t, "[5, 19]"), operand("b", t, "[19, 23]"), operand("c", out, "[5, 23]")), ""});
  cases.push_back(
      {product(operand("a", "f64", "[7, 13]"), operand("b", "f64", "[13, 3]"), operand("c", "f64", "[7, 3]")), ""});
  for (auto [a, b] : {std::pair("i8", "i8"), {"u8", "i8"}, {"i8", "u8"}, {"u8", "u8"}})
    cases.push_back(
        {product(operand("a", a, "[6, 37]"), operand("b", b, "[37, 9]"), operand("c", "i32", "[6, 9]")), ""});
  for (std::string_view precision : {"tf32", "bf16x3"})
    cases.push_back(
        {product(operand("a", "f32", "[9, 33]"), operand("b", "f32", "[33, 10]"), operand("c", "f32", "[9, 10]"),
                 "'attributes': {'precision': '" + std::string(precision) + "'}"),
         ""});
}

static void addMatmulShapes(std::vector<OpLibCase> &cases) {
  for (std::string_view t : {"f32", "i8"}) {
    std::string_view out = t == "f32" ? "f32" : "i32";
    for (int form = 0; form < 4; ++form) {
      bool ta = form & 1, tb = form & 2;
      for (auto [m, n, k] : {std::tuple(3, 5, 7), {1, 70, 300}, {70, 1, 33}, {33, 17, 1}, {1, 1, 5}}) {
        auto pair = [](int x, int y, bool turned) {
          return "[" + std::to_string(turned ? y : x) + ", " + std::to_string(turned ? x : y) + "]";
        };
        cases.push_back({product(operand("a", t, pair(m, k, ta)), operand("b", t, pair(k, n, tb)),
                                 operand("c", out, pair(m, n, false)),
                                 std::string("'attributes': {'transpose_a': ") + (ta ? "true" : "false") +
                                     ", 'transpose_b': " + (tb ? "true" : "false") + "}"),
                         ""});
      }
    }
  }
  for (auto [a, b, c] : {std::tuple("[2, 3, 4, 5]", "[2, 3, 5, 6]", "[2, 3, 4, 6]"),
                         {"[3, 4, 5]", "[2, 1, 5, 6]", "[2, 3, 4, 6]"},
                         {"[4, 5]", "[7, 5, 6]", "[7, 4, 6]"},
                         {"[7, 1, 5]", "[5, 1]", "[7, 1, 1]"},
                         {"[0, 4, 5]", "[0, 5, 6]", "[0, 4, 6]"},
                         {"[0, 5]", "[5, 6]", "[0, 6]"},
                         {"[4, 5]", "[5, 0]", "[4, 0]"},
                         {"[4, 0]", "[0, 6]", "[4, 6]"}})
    cases.push_back({product(operand("a", "f32", a), operand("b", "f32", b), operand("c", "f32", c)), ""});
  std::string anyStrides = ", 'strides': ['any', 'any']", dense = ", 'align': 64";
  cases.push_back({product(operand("a", "f32", "[4, 5]", anyStrides), operand("b", "f32", "[5, 6]", dense),
                           operand("c", "f32", "[4, 6]", ", 'strides': [8, 1]")),
                   ""});
  std::string symbolic = product(operand("a", "f32", "['m', 40]"), operand("b", "f32", "[40, 24]"),
                                 operand("c", "f32", "['m', 24]"), "'dims': {'m': {'min': 0, 'max': 4096}}");
  for (const char *m : {"m=0", "m=1", "m=17", "m=45"})
    cases.push_back({symbolic, m});
  cases.push_back({product(operand("a", "f32", "['b', 'm', 'k']"), operand("b", "f32", "['k', 'n']"),
                           operand("c", "f32", "['b', 'm', 'n']")),
                   "b=2,m=5,k=9,n=3"});
}

static void addEpilogues(std::vector<OpLibCase> &cases) {
  auto add = [&](std::string_view t, std::string_view c, const std::string &operands, const std::string &steps) {
    cases.push_back(
        {product(operand("a", t, "[5, 11]"), operand("b", t, "[11, 7]") + (operands.empty() ? "" : ", " + operands),
                 operand("c", c, "[5, 7]"), "'epilogue': [" + steps + "]"),
         ""});
  };
  std::string bias = operand("bias", "f32", "[7]"), column = operand("g", "f32", "[5, 1]"),
              residual = operand("r", "bf16", "[5, 7]"), scalar = operand("s", "f32", "[]");
  for (std::string_view step : {"relu", "silu", "sigmoid", "tanh", "gelu"})
    add("f32", "f32", "", "{'op': '" + std::string(step) + "'}");
  add("f32", "f16", bias + ", " + column + ", " + residual,
      "{'op': 'scale', 'value': 0.5}, {'op': 'add', 'input': 'bias'}, {'op': 'gelu', 'approximate': 'tanh'}, "
      "{'op': 'mul', 'input': 'g'}, {'op': 'sub', 'input': 'r'}, {'op': 'clamp', 'min': -1.5, 'max': 2.25}");
  add("f64", "f64", scalar, "{'op': 'mul', 'input': 's'}, {'op': 'silu'}");
  std::string whole = operand("w", "i32", "[7]");
  add("i8", "i32", whole, "{'op': 'add', 'input': 'w'}, {'op': 'relu'}, {'op': 'clamp', 'min': 3, 'max': 1e12}");
  add("i8", "f32", whole + ", " + bias,
      "{'op': 'sub', 'input': 'w'}, {'op': 'mul', 'input': 'bias'}, {'op': 'relu'}, {'op': 'scale', 'value': 0.1}");
  cases.push_back(
      {product(operand("a", "f32", "[4, 0]"), operand("b", "f32", "[0, 6]") + ", " + operand("bias", "f32", "[6]"),
               operand("c", "f32", "[4, 6]"), "'epilogue': [{'op': 'add', 'input': 'bias'}]"),
       ""});
}

std::vector<OpLibCase> matmulCases() {
  std::vector<OpLibCase> cases;
  addMatmulTypes(cases);
  addMatmulShapes(cases);
  addEpilogues(cases);
  return cases;
}

std::vector<OpLibCase> constantProductCases() {
  std::vector<OpLibCase> cases = matmulCases();
  std::string dims = "'dims': {'m': {'min': 1, 'max': 300}}";
  // Results wider than the accumulator leave fewer lanes to a vector.
  for (auto [t, out] : {std::pair("f32", "f32"),
                        {"bf16", "f32"},
                        {"i8", "i32"},
                        {"u8", "i32"},
                        {"f64", "f64"},
                        {"f32", "f64"},
                        {"bf16", "f64"},
                        {"i8", "i64"}})
    for (const char *m : {"m=1", "m=5", "m=70", "m=201"}) {
      const char *other = std::string_view(t) == "u8" ? "i8" : t;
      cases.push_back({product(operand("a", t, "['m', 139]"), operand("b", other, "[139, 200]"),
                               operand("c", out, "['m', 200]"), dims),
                       m});
      cases.push_back({product(operand("a", t, "[2, 3, 'm', 30]"), operand("b", other, "[3, 70, 30]"),
                               operand("c", out, "[2, 3, 'm', 70]"), dims + ", 'attributes': {'transpose_b': true}"),
                       m});
    }
  for (OpLibCase &example : cases) {
    constexpr std::string_view start = "\"b\": {";
    size_t at = example.text.find(start);
    example.text.insert(at + start.size(), "\"constant\": true, ");
  }
  return cases;
}

std::vector<OpLibCase> tallProductCases() {
  std::vector<OpLibCase> cases;
  std::string dims = "'dims': {'m': {'min': 1, 'max': 1100}}";
  for (auto [t, out] : {std::pair("f32", "f32"), {"bf16", "f32"}, {"i8", "i32"}, {"u8", "i32"}, {"f64", "f64"}}) {
    const char *other = std::string_view(t) == "u8" ? "i8" : t;
    for (const char *m : {"m=1", "m=511", "m=512", "m=563"})
      cases.push_back(
          {product(operand("a", t, "['m', 45]"), operand("b", other, "[45, 70]"), operand("c", out, "['m', 70]"), dims),
           m});
    cases.push_back({product(operand("a", t, "[2, 520, 30]"), operand("b", other, "[2, 70, 30]"),
                             operand("c", out, "[2, 520, 70]"), "'attributes': {'transpose_b': true}"),
                     ""});
    // Left operands without a rest are read where they lie: a single block, two, rows in the middle of longer ones.
    cases.push_back(
        {product(operand("a", t, "[71, 64]"), operand("b", other, "[64, 255]"), operand("c", out, "[71, 255]"), ""),
         ""});
    cases.push_back(
        {product(operand("a", t, "[130, 96]"), operand("b", other, "[96, 300]"), operand("c", out, "[130, 300]"), ""),
         ""});
    cases.push_back({product(operand("a", t, "[96, 64]", ", 'strides': [88, 1]"), operand("b", other, "[64, 80]"),
                             operand("c", out, "[96, 80]")),
                     ""});
  }
  return cases;
}

static std::string expression(const std::string &text, std::string_view a, std::string_view b, std::string_view y,
                              std::string_view aShape = "[13]", std::string_view bShape = "[13]",
                              std::string_view yShape = "[13]") {
  return whole("elementwise", operand("a", a, aShape) + ", " + operand("b", b, bShape), operand("y", y, yShape),
               "'attributes': {'expression': {'y': '" + text + "'}}");
}

static std::string fastExpression(const std::string &function, std::string_view t) {
  return whole("elementwise", operand("a", t, "[77]"), operand("y", t, "[77]"),
               "'attributes': {'expression': {'y': '" + function + "(a)'}, 'accuracy': 'fast'}");
}

std::vector<OpLibCase> elementwiseCases() {
  std::vector<OpLibCase> cases;
  for (const char *name :
       {"exp",       "exp2", "expm1",    "sin",   "cos",  "tan",   "tanh",  "sigmoid", "erf", "relu", "gelu",
        "gelu_tanh", "silu", "softplus", "floor", "ceil", "round", "trunc", "sign",    "abs", "-"})
    for (std::string_view t : {"f32", "f64", "bf16"})
      cases.push_back({expression(std::string(name) + "(a) + b * 0", t, t, t), ""});
  for (const char *name : {"exp", "exp2", "tanh", "erf", "sigmoid", "silu", "gelu", "gelu_tanh"})
    for (std::string_view t : {"f32", "f64", "f16", "bf16"})
      cases.push_back({fastExpression(name, t), ""});
  for (const char *name : {"log", "log2", "log1p", "sqrt", "rsqrt"})
    cases.push_back({expression(std::string(name) + "(abs(a) + 0.1) + 0 * b", "f32", "f32", "f32"), ""});
  for (std::string_view t : {"f32", "f64", "f16", "f8e5m2", "i64", "i32", "i16", "i8", "u8", "i4", "u4"})
    for (const char *text : {"a + b * 3 - a", "a % b", "min(a, b) - max(a, 2)", "where(a < b, a, b)", "a / (b + 20)",
                             "-a + abs(b) * sign(a)", "a ** 2", "relu(a) + (a == b)", "fma(a, b, a)"})
      cases.push_back({expression(text, t, t, t == "i64" || t == "f64" ? t : t[0] == 'f' ? "f32" : "i32"), ""});
  cases.push_back({expression("(abs(a) + 0.5) ** b", "f32", "f32", "f32"), ""});
  cases.push_back({expression("a ** 3 + a ** -1 + a ** 0.5 * 0", "f64", "f64", "f64"), ""});
  cases.push_back({expression("a and not b or a > b", "bool", "bool", "bool"), ""});
  cases.push_back({expression("isnan(a) or isinf(b) or a >= b", "f32", "f32", "bool"), ""});
  cases.push_back({expression("cast(a, i8) + cast(b, u8)", "f32", "f32", "i32"), ""});
  cases.push_back({expression("cast(a, f8e4m3fn) * 2 + cast(b, i4)", "f32", "i32", "f16"), ""});
  for (const char *text : {"a * b", "max(a, b)", "where(a < b, a, b * 2)", "a / b", "a == b"})
    for (auto [b, y] : {std::pair("f8e8m0", "f8e8m0"), {"f8e8m0", "f32"}, {"f32", "f8e8m0"}, {"bf16", "f16"}})
      cases.push_back({expression(text, "f8e8m0", b, y), ""});
  for (auto [a, b, y] : {std::tuple("[3, 1, 5]", "[4, 1]", "[3, 4, 5]"),
                         {"[]", "[]", "[]"},
                         {"[2, 3, 4]", "[4]", "[2, 3, 4]"},
                         {"[6, 1]", "[6, 7]", "[6, 7]"},
                         {"[0, 4]", "[4]", "[0, 4]"},
                         {"[1, 1]", "[]", "[1, 1]"},
                         {"[2, 1, 3, 1, 2, 1, 2]", "[1, 2, 1, 2, 1, 2, 1]", "[2, 2, 3, 2, 2, 2, 2]"},
                         {"[9000]", "[1]", "[9000]"},
                         {"[3, 2500]", "[3, 1]", "[3, 2500]"}})
    cases.push_back({expression("a * 2 + b", "f32", "f32", "f32", a, b, y), ""});
  cases.push_back({expression("a - b", "f32", "bf16", "f32", "['m', 'n']", "['n']", "['m', 'n']"), "m=5,n=7"});
  cases.push_back(
      {expression("a - b", "f32", "f32", "f32", "['p', 'm', 'n', 'q']", "['p', 'm', 'n', 'q']", "['p', 'm', 'n', 'q']"),
       "p=2,m=3,n=4,q=5"});
  cases.push_back({whole("elementwise",
                         operand("a", "f32", "[5, 6]", ", 'strides': ['any', 'any']") + ", " +
                             operand("b", "f32", "[5, 6]", ", 'strides': [12, 2]"),
                         operand("y", "f32", "[5, 6]") + ", " + operand("z", "bool", "[5, 6]"),
                         "'attributes': {'expression': {'y': 'a + b', 'z': 'a > b'}}"),
                   ""});
  return cases;
}

static void addReduce(std::vector<OpLibCase> &cases, std::string_view kind, std::string_view x, std::string_view y,
                      std::string_view xShape, std::string_view yShape, std::string_view axes, const char *sizes = "") {
  cases.push_back({whole("reduce", operand("x", x, xShape), operand("y", y, yShape),
                         "'attributes': {'kind': '" + std::string(kind) + "', 'axes': " + std::string(axes) + "}"),
                   sizes});
}

std::vector<OpLibCase> reduceCases() {
  std::vector<OpLibCase> cases;
  for (std::string_view kind : {"sum", "mean", "max", "min", "prod", "argmax", "argmin"}) {
    bool isArg = kind.starts_with("arg");
    for (std::string_view t : {"f32", "f64", "bf16", "f8e4m3fn", "i64", "i32", "i8", "u8", "i4", "bool"}) {
      bool isReal = t[0] == 'f' || t == "bf16";
      std::string_view y = isArg ? "i64" : kind == "mean" ? "f32" : isReal ? t : t == "i64" ? "i64" : "i32";
      addReduce(cases, kind, t, y, "[3, 37]", "[3]", "[1]");
      addReduce(cases, kind, t, y, "[5, 3]", "[3]", "[0]");
    }
    for (auto [shape, result, axes] : {std::tuple("[3, 4, 5]", "[4]", "[0, 2]"),
                                       {"[3, 4, 5]", "[3, 5]", "[1]"},
                                       {"[3, 4, 5]", "[]", "[0, 1, 2]"},
                                       {"[2, 3, 2, 3]", "[3, 3]", "[0, 2]"},
                                       {"[4, 1]", "[4]", "[1]"},
                                       {"[1, 1]", "[]", "[0, 1]"}})
      addReduce(cases, kind, "f32", isArg ? "i32" : "f32", shape, result, axes);
    addReduce(cases, kind, "f32", isArg ? "i64" : "f32", "['m', 'n']", "['m']", "[1]", "m=3,n=300");
    addReduce(cases, kind, "f32", isArg ? "i64" : "f32", "[70001]", "[]", "[0]");
    addReduce(cases, kind, "f32", isArg ? "i64" : "f32", "['n']", "[]", "[0]", "n=66000");
    addReduce(cases, kind, "f32", isArg ? "i64" : "f32", "['n']", "[]", "[0]", "n=7");
  }
  addReduce(cases, "sum", "i32", "i64", "[2, 66000]", "[2]", "[1]");
  for (std::string_view kind : {"sum", "mean", "prod"})
    addReduce(cases, kind, "f32", "f32", "[3, 0]", "[3]", "[1]");
  return cases;
}

std::vector<OpLibCase> rowCases() {
  std::vector<OpLibCase> cases;
  auto add = [&](std::string_view op, const std::string &inputs, const std::string &outputs, const std::string &more,
                 const char *sizes = "") { cases.push_back({whole(op, inputs, outputs, more), sizes}); };
  for (std::string_view op : {"softmax", "log_softmax"}) {
    for (std::string_view t : {"f32", "f64", "f16", "bf16", "f8e4m3fn"})
      for (auto [shape, axis] :
           {std::pair("[3, 37]", "-1"), {"[5, 3]", "0"}, {"[2, 5, 3]", "1"}, {"[300]", "0"}, {"[4, 1]", "1"}})
        add(op, operand("x", t, shape), operand("y", t, shape), "'attributes': {'axis': " + std::string(axis) + "}");
    add(op, operand("x", "f32", "['m', 'n']"), operand("y", "bf16", "['m', 'n']"), "", "m=2,n=131");
    add(op, operand("x", "f32", "[0, 4]"), operand("y", "f32", "[0, 4]"), "");
    for (std::string_view t : {"f32", "f64", "bf16"})
      add(op, operand("x", t, "[3, 531]"), operand("y", t, "[3, 531]"), "'attributes': {'accuracy': 'fast'}");
    add(op, operand("x", "f32", "[2, 40000]"), operand("y", "f32", "[2, 40000]"), "");
  }
  for (std::string_view op : {"layernorm", "rmsnorm"}) {
    std::string mean = op == "layernorm" ? ", " + operand("mean", "f32", "[3]") : "";
    for (std::string_view t : {"f32", "f64", "f16", "bf16"}) {
      add(op, operand("x", t, "[3, 137]"), operand("y", t, "[3, 137]"), "");
      add(op, operand("x", t, "[3, 5, 7]") + ", " + operand("weight", "f32", "[5, 7]"),
          operand("y", t, "[3, 5, 7]") + mean + ", " + operand("rstd", "f32", "[3]"), "'attributes': {'axis': 1}");
    }
    add(op, operand("x", "f32", "['m', 256]") + ", " + operand("weight", "bf16", "[256]"),
        operand("y", "bf16", "['m', 256]"), "", "m=3");
    add(op, operand("x", "f32", "[3, 4, 6]", ", 'strides': ['any', 'any', 'any']"), operand("y", "f32", "[3, 4, 6]"),
        "'attributes': {'axis': 1, 'epsilon': 0.5}");
    add(op, operand("x", "f32", "[4, 1]"), operand("y", "f32", "[4, 1]"), "");
  }
  add("layernorm",
      operand("x", "bf16", "[2, 64]") + ", " + operand("weight", "f32", "[64]") + ", " + operand("bias", "f32", "[64]"),
      operand("y", "bf16", "[2, 64]"), "");
  return cases;
}

std::vector<OpLibCase> moveCases() {
  std::vector<OpLibCase> cases;
  for (std::string_view t : {"f32", "bf16", "i64", "i8", "bool", "f8e5m2", "f8e8m0", "f4e2m1"})
    for (auto [x, y, permutation] : {std::tuple("[5, 7]", "[7, 5]", "[1, 0]"),
                                     {"[2, 3, 4]", "[4, 2, 3]", "[2, 0, 1]"},
                                     {"[2, 3, 4]", "[3, 2, 4]", "[1, 0, 2]"},
                                     {"[2, 3, 4, 5]", "[5, 4, 3, 2]", "[3, 2, 1, 0]"},
                                     {"[70, 130]", "[130, 70]", "[1, 0]"},
                                     {"[6]", "[6]", "[0]"},
                                     {"[0, 3]", "[3, 0]", "[1, 0]"},
                                     {"[4, 1, 3]", "[3, 1, 4]", "[2, 1, 0]"}})
      cases.push_back({whole("transpose", operand("x", t, x), operand("y", t, y),
                             "'attributes': {'permutation': " + std::string(permutation) + "}"),
                       ""});
  cases.push_back({whole("transpose", operand("x", "f32", "['m', 'n', 4]"), operand("y", "f32", "['n', 'm', 4]"),
                         "'attributes': {'permutation': [1, 0, 2]}"),
                   "m=3,n=5"});
  static constexpr std::string_view all[] = {"f64",        "f32",        "f16",    "bf16",   "f8e4m3fn", "f8e5m2",
                                             "f8e4m3fnuz", "f8e5m2fnuz", "f8e8m0", "f4e2m1", "i64",      "i32",
                                             "i16",        "i8",         "i4",     "u8",     "u4",       "bool"};
  for (std::string_view from : all)
    for (std::string_view to : all)
      cases.push_back({whole("cast", operand("x", from, "[21]"), operand("y", to, "[21]")), ""});
  for (std::string_view to : {"f16", "f8e4m3fn", "f8e5m2", "f4e2m1"})
    cases.push_back(
        {whole("cast", operand("x", "f32", "[4, 5]"), operand("y", to, "[4, 5]"), "'attributes': {'saturate': true}"),
         ""});
  return cases;
}

namespace {
/// What a case of attention says beside its lengths.
struct AttentionForm {
  std::string_view dtype = "f32";
  int heads = 2, keyHeads = 1, depth = 32;
  std::string_view attributes = "";
  std::string_view bias = ""; ///< Its shape; empty: none.
  bool hasLogSum = false;
};
} // namespace

static std::string attention(const AttentionForm &form, const std::string &queries, const std::string &keys) {
  std::string depth = std::to_string(form.depth);
  auto shape = [&](int heads, const std::string &length) { return "[2, " + std::to_string(heads) + ", " + length; };
  std::string q = shape(form.heads, queries), k = shape(form.keyHeads, keys) + ", " + depth + "]";
  std::string inputs = operand("q", form.dtype, q + ", " + depth + "]") + ", " + operand("k", form.dtype, k) + ", " +
                       operand("v", form.dtype, k);
  if (!form.bias.empty())
    inputs += ", " + operand("bias", form.dtype, form.bias);
  std::string outputs = operand("o", form.dtype, q + ", " + depth + "]");
  if (form.hasLogSum)
    outputs += ", " + operand("lse", "f32", q + "]");
  return whole("attention", inputs, outputs, "'attributes': {" + std::string(form.attributes) + "}");
}

std::vector<OpLibCase> attentionCases() {
  std::vector<OpLibCase> cases;
  std::string_view causal = "'causal': true", window = "'causal': true, 'window': 7";
  for (int depth : {32, 80, 96})
    for (auto [queries, keys] : {std::pair("1", "65"), {"17", "17"}, {"65", "3"}, {"3", "1"}})
      cases.push_back({attention({"f32", 2, 1, depth, depth == 80 ? causal : "", "", true}, queries, keys), ""});
  for (std::string_view attributes : {causal, window})
    for (auto [queries, keys] : {std::pair("3", "65"), {"65", "17"}, {"65", "65"}, {"1", "17"}})
      cases.push_back({attention({"f32", 1, 1, 32, attributes, "", true}, queries, keys), ""});
  for (std::string_view dtype : {"f16", "bf16", "f64"})
    for (std::string_view attributes : {std::string_view(), window})
      cases.push_back({attention({dtype, 4, 2, 80, attributes, "", true}, "17", "65"), ""});
  for (std::string_view bias : {"[17]", "[17, 1]", "[2, 17, 17]", "[2, 1, 1, 17]", "[]"})
    cases.push_back({attention({"f32", 2, 2, 32, "'softcap': 2.5, 'scale': -0.3", bias, false}, "17", "17"), ""});
  cases.push_back({attention({"f16", 4, 1, 96, "'causal': true, 'softcap': 1", "[4, 1, 65]", true}, "17", "65"), ""});
  // One step that is no loop: what is carried into it is a constant.
  cases.push_back({attention({"f32", 2, 1, 32, "'causal': true, 'window': 32", "", true}, "16", "64"), ""});
  cases.push_back({attention({"f16", 6, 2, 80, causal, "", true}, "16", "31"), ""});
  cases.push_back({attention({"f64", 9, 3, 64, causal, "", true}, "13", "8"), ""});
  std::string symbolic = attention({"f32", 6, 2, 32, causal, "", true}, "'m'", "'n'");
  for (const char *sizes : {"m=3,n=65", "m=65,n=3", "m=0,n=5", "m=5,n=0", "m=1,n=65"})
    cases.push_back({symbolic, sizes});
  cases.push_back({attention({"f32", 1, 1, 32, "", "", true}, "3", "0"), ""});
  cases.push_back({attention({"bf16", 1, 1, 256, causal, "", false}, "17", "17"), ""});
  return cases;
}

namespace {
/// What a case of decoding says; sizes as they stand in shapes.
struct DecodeForm {
  std::string_view dtype = "f32";
  int heads = 2, keyHeads = 1, depth = 32, page = 4;
  std::string_view attributes = "";
  std::string batches = "3", queries = "1", pages = "11", pagesOfEach = "5";
  std::string_view strides = "";
};
} // namespace

static std::string decode(const DecodeForm &form) {
  std::string depth = std::to_string(form.depth), heads = std::to_string(form.heads);
  std::string rows = "[" + form.batches + ", " + heads + ", " + form.queries, q = rows + ", " + depth + "]";
  std::string cache =
      "[" + form.pages + ", " + std::to_string(form.page) + ", " + std::to_string(form.keyHeads) + ", " + depth + "]";
  std::string inputs = operand("q", form.dtype, q, form.strides) + ", " + operand("k_cache", form.dtype, cache) + ", " +
                       operand("v_cache", form.dtype, cache) + ", " +
                       operand("block_table", "i32", "[" + form.batches + ", " + form.pagesOfEach + "]") + ", " +
                       operand("seq_lens", "i32", "[" + form.batches + "]");
  return whole("attention_decode", inputs, operand("o", form.dtype, q) + ", " + operand("lse", "f32", rows + "]"),
               "'attributes': {" + std::string(form.attributes) + "}");
}

/// Sequences in a row, `count` of them.
static std::string sequences(const AttentionForm &form, const std::string &queries, const std::string &keys,
                             const std::string &count) {
  std::string text = attention(form, queries, keys);
  while (text.find("[2, ") != std::string::npos)
    text = replaced(text, "[2, ", "[1, ");
  std::string starts;
  for (const char *name : {"cu_seqlens_q", "cu_seqlens_k"})
    starts += operand(name, "i32", "[" + count + "]") + ", ";
  return replaced(text, "'inputs': {", "'inputs': {" + starts);
}

std::vector<OpLibCase> sequenceCases() {
  std::vector<OpLibCase> cases;
  std::string_view causal = "'causal': true", window = "'causal': true, 'window': 7", none;
  for (std::string_view attributes : {none, causal, window})
    for (auto [queries, keys, count] :
         {std::tuple("70", "90", "4"), {"70", "70", "2"}, {"200", "33", "70"}, {"3", "5", "9"}})
      cases.push_back({sequences({"f32", 2, 1, 32, attributes, "", true}, queries, keys, count), ""});
  cases.push_back({sequences({"f16", 4, 2, 80, causal, "", true}, "130", "130", "6"), ""});
  cases.push_back({sequences({"f64", 1, 1, 64, window, "", true}, "37", "41", "3"), ""});
  std::string symbolic = sequences({"bf16", 2, 2, 96, causal, "", true}, "'m'", "'n'", "'s'");
  for (const char *sizes : {"m=65,n=70,s=5", "m=0,n=0,s=1", "m=1,n=17,s=3", "m=5,n=0,s=3"})
    cases.push_back({symbolic, sizes});
  // Epilogues: of many queries, of a few, and of keys that are shared.
  std::string steps = "'epilogue': [{'op': 'scale', 'value': 1.5}, {'op': 'add', 'input': 'r'}, {'op': 'gelu'}, "
                      "{'op': 'mul', 'input': 's'}], 'attributes'";
  for (auto [queries, keys, r, s] : {std::tuple("33", "65", "[2, 4, 33, 32]", "[32]"),
                                     {"3", "65", "[2, 4, 3, 32]", "[4, 1, 1]"},
                                     {"2", "700", "[2, 1, 2, 1]", "[]"}}) {
    std::string text = attention({"f32", 4, 2, 32, causal, "", true}, queries, keys);
    text = replaced(text, "'attributes'", steps);
    std::string operands = "'inputs': {" + operand("r", "f32", r) + ", " + operand("s", "bf16", s) + ", ";
    cases.push_back({replaced(text, "'inputs': {", operands), ""});
  }
  return cases;
}

std::vector<OpLibCase> decodeCases() {
  std::vector<OpLibCase> cases;
  std::string_view causal = "'causal': true", window = "'causal': true, 'window': 7, 'softcap': 2.5";
  for (int page : {1, 3, 16, 37})
    for (auto [heads, depth, attributes] : {std::tuple(1, 32, std::string_view()), {8, 80, causal}, {3, 96, window}})
      cases.push_back({decode({"f32", heads, 1, depth, page, attributes}), ""});
  for (std::string_view dtype : {"f16", "bf16", "f64"})
    for (const char *queries : {"1", "3", "17"})
      cases.push_back({decode({dtype, 6, 3, 64, 5, window, "2", queries}), ""});
  // Pieces of a page, which end before their blocks do.
  cases.push_back({decode({"f32", 4, 2, 32, 150, causal, "2", "2", "3", "2"}), ""});
  cases.push_back({decode({"f16", 1, 1, 256, 48, "", "1", "1", "3", "2"}), ""});
  // Keys enough to be shared by default.
  cases.push_back({decode({"f32", 4, 2, 32, 16, causal, "1", "2", "70", "64"}), ""});
  std::string symbolic = decode({"f32", 6, 2, 32, 4, causal, "'b'", "'m'", "'p'", "'t'"});
  for (const char *sizes : {"b=1,m=1,p=9,t=5", "b=20,m=1,p=3,t=5", "b=2,m=3,p=9,t=5", "b=1,m=40,p=9,t=5",
                            "b=2,m=1,p=0,t=5", "b=2,m=1,p=5,t=0", "b=0,m=1,p=5,t=1", "b=2,m=0,p=5,t=1"})
    cases.push_back({symbolic, sizes});
  // Heads that can't be rows together.
  cases.push_back({decode({"f32", 4, 2, 32, 4, causal, "2", "3", "9", "5", ", 'strides': [512, 128, 40, 1]"}), ""});
  // Contiguous keys: few queries of grouped heads, and keys that are shared.
  std::string_view none;
  cases.push_back({attention({"f32", 8, 2, 64, none, "", true}, "1", "600"), ""});
  cases.push_back({attention({"bf16", 8, 2, 64, causal, "", true}, "3", "600"), ""});
  cases.push_back({attention({"f32", 2, 1, 80, window, "[2, 3, 1]", true}, "3", "1100"), ""});
  cases.push_back({attention({"f32", 2, 1, 80, none, "[2, 1, 600]", true}, "3", "600"), ""});
  return cases;
}

std::vector<OpLibCase> largeCases() {
  std::string scaled = whole("elementwise", operand("x", "f32", "['m', 1021]"), operand("y", "f32", "['m', 1021]"),
                             "'attributes': {'expression': {'y': 'x * 2 + 1'}}");
  return {
      {scaled, "m=2300"},
      {scaled, "m=3"}, // The same code, within the caches.
      {whole("cast", operand("x", "f32", "[9300, 1021]"), operand("y", "i8", "[9300, 1021]")), ""},
      {whole("transpose", operand("x", "f32", "[1021, 2300]"), operand("y", "f32", "[2300, 1021]"),
             "'attributes': {'permutation': [1, 0]}"),
       ""},
      {whole("softmax", operand("x", "f32", "[2300, 1021]"), operand("y", "f32", "[2300, 1021]")), ""},
      {whole("rmsnorm", operand("x", "bf16", "[4700, 1021]"), operand("y", "bf16", "[4700, 1021]")), ""},
  };
}

} // namespace tilejit::test
