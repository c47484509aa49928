// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The canonical form: stable under what means nothing, changed by what changes code, and itself a description.

#include "DescriptionBuilder.h"

#include <algorithm>
#include <random>

using namespace tilejit;
using namespace tilejit::test;

namespace {

using json::Value;

/// Random right descriptions of all families, as JSON trees.
class Generator {
public:
  explicit Generator(uint64_t seed) : random_(seed) {}

  Value description() {
    static constexpr const char *families[] = {"matmul",      "elementwise", "reduce",          "softmax",
                                               "log_softmax", "layernorm",   "rmsnorm",         "transpose",
                                               "cast",        "attention",   "attention_decode"};
    Value top = json::makeObject();
    std::string op = families[pick(11)];
    top.add("tilejit", json::makeText("1.0"));
    top.add("op", json::makeText(op));
    inputs_ = outputs_ = attributes_ = json::makeObject();
    epilogue_ = json::makeArray();
    if (op == "matmul")
      matmul();
    else if (op == "elementwise")
      elementwise();
    else if (op == "attention")
      attention();
    else if (op == "attention_decode")
      decode();
    else
      unary(op);
    top.add("inputs", inputs_);
    top.add("outputs", outputs_);
    if (!attributes_.members.empty())
      top.add("attributes", attributes_);
    if (!epilogue_.items.empty())
      top.add("epilogue", epilogue_);
    return top;
  }

  size_t pick(size_t count) { return random_() % count; }

private:
  std::vector<Value> shape(size_t rank) {
    std::vector<Value> sizes;
    for (size_t i = 0; i < rank; ++i)
      sizes.push_back(size());
    return sizes;
  }
  Value size() {
    static constexpr const char *names[] = {"m", "n", "rows"};
    return pick(3) ? json::makeInteger(static_cast<int64_t>(pick(9))) : json::makeText(names[pick(3)]);
  }
  Value operand(std::string_view dtype, std::vector<Value> shape, bool isInput) {
    Value value = json::makeObject();
    value.add("dtype", json::makeText(std::string(dtype)));
    if (pick(4) == 0)
      value.add("align", json::makeInteger(int64_t{1} << pick(8)));
    if (isInput && pick(4) == 0)
      value.add("constant", json::makeBool(pick(2)));
    if (pick(4) == 0)
      value.add("strides", json::makeArray(std::vector<Value>(shape.size(), json::makeText("any"))));
    value.add("shape", json::makeArray(std::move(shape)));
    return value;
  }

  void matmul() {
    Value m = size(), n = size(), k = size();
    std::vector<Value> batch = shape(pick(2)), a = batch, b = batch, c = batch;
    bool transposeA = pick(2), transposeB = pick(2);
    a.push_back(transposeA ? k : m);
    a.push_back(transposeA ? m : k);
    b.push_back(transposeB ? n : k);
    b.push_back(transposeB ? k : n);
    c.push_back(m);
    c.push_back(n);
    if (transposeA || pick(2))
      attributes_.add("transpose_a", json::makeBool(transposeA));
    if (transposeB || pick(2))
      attributes_.add("transpose_b", json::makeBool(transposeB));
    inputs_.add("a", operand("bf16", a, true));
    inputs_.add("b", operand("bf16", b, true));
    outputs_.add("c", operand(pick(2) ? "f32" : "f16", c, false));
    for (size_t i = pick(4); i > 0; --i)
      step(n, i);
  }

  void attention() {
    auto constant = [](int64_t size) { return json::makeInteger(size); };
    Value b = size(), m = size(), n = size();
    std::vector<Value> q{b, constant(6), m, constant(16)}, k{b, constant(pick(2) ? 2 : 6), n, constant(16)};
    inputs_.add("q", operand("f16", q, true));
    inputs_.add("v", operand("f16", k, true));
    inputs_.add("k", operand("f16", k, true));
    if (pick(2))
      inputs_.add("bias", operand("f32", {constant(6), constant(1), n}, true));
    outputs_.add("o", operand("f16", q, false));
    if (pick(2))
      outputs_.add("lse", operand("f32", {b, constant(6), m}, false));
    attentionAttributes();
    if (pick(2))
      step(constant(16), 0);
  }

  void decode() {
    auto constant = [](int64_t size) { return json::makeInteger(size); };
    Value b = size(), m = size();
    std::vector<Value> q{b, constant(6), m, constant(16)};
    std::vector<Value> cache{size(), constant(pick(2) ? 16 : 3), constant(pick(2) ? 2 : 6), constant(16)};
    inputs_.add("seq_lens", operand("i32", {b}, true));
    inputs_.add("q", operand("bf16", q, true));
    inputs_.add("v_cache", operand("bf16", cache, true));
    inputs_.add("k_cache", operand("bf16", cache, true));
    inputs_.add("block_table", operand("i32", {b, size()}, true));
    outputs_.add("o", operand("f32", q, false));
    if (pick(2))
      outputs_.add("lse", operand("f32", {b, constant(6), m}, false));
    attentionAttributes();
  }

  void attentionAttributes() {
    auto constant = [](int64_t size) { return json::makeInteger(size); };
    bool isCausal = pick(2);
    if (isCausal || pick(2))
      attributes_.add("causal", json::makeBool(isCausal));
    if (isCausal && pick(2))
      attributes_.add("window", constant(1 + static_cast<int64_t>(pick(9))));
    if (pick(2))
      attributes_.add("softcap", json::makeNumber(0.1 * static_cast<double>(1 + pick(50))));
    if (pick(2))
      attributes_.add("scale", json::makeNumber(-0.7));
  }

  void step(const Value &n, size_t number) {
    static constexpr const char *plain[] = {"relu", "silu", "sigmoid", "tanh", "gelu"};
    Value step = json::makeObject();
    if (pick(2)) {
      step.add("op", json::makeText(plain[pick(5)]));
    } else {
      std::string name = (pick(2) ? "bias" : "extra") + std::to_string(number);
      inputs_.add(name, operand("f32", {n}, true));
      step.add("op", json::makeText("add"));
      step.add("input", json::makeText(name));
    }
    epilogue_.items.push_back(step);
  }

  void elementwise() {
    static constexpr const char *dtypes[] = {"f32", "f64", "bf16", "i32", "u8", "bool"};
    std::vector<Value> all = shape(pick(4));
    std::vector<std::string> names{"q", "alpha", "zeta"};
    std::shuffle(names.begin(), names.end(), random_);
    for (const std::string &name : names)
      inputs_.add(name, operand(dtypes[pick(6)], all, true));
    Value expressions = json::makeObject();
    for (size_t i = 0, count = pick(12) + 1; i < count; ++i) {
      std::string name = "out_" + std::string(1, static_cast<char>('a' + i));
      outputs_.add(name, operand(dtypes[pick(6)], all, false));
      expressions.add(name, json::makeText(expression(names, 3)));
    }
    attributes_.add("expression", expressions);
  }

  std::string expression(const std::vector<std::string> &names, int depth) {
    if (depth == 0 || pick(5) == 0)
      return pick(3) ? names[pick(names.size())] : std::to_string(pick(100));
    static constexpr const char *binary[] = {" + ", "*", " - ", "/ ", " and ", " or ", " if "};
    switch (pick(5)) {
    case 0:
      return "exp( " + expression(names, depth - 1) + ")";
    case 1:
      return "where(" + expression(names, depth - 1) + ", 1.5 ," + expression(names, depth - 1) + ")";
    case 2:
      return "(not " + expression(names, depth - 1) + ")";
    case 3:
      return "cast(" + expression(names, depth - 1) + ", f16)";
    default:
      return "(" + expression(names, depth - 1) + binary[pick(6)] + expression(names, depth - 1) + ")";
    }
  }

  void unary(const std::string &op) {
    std::vector<Value> x = shape(pick(3) + 1), y = x;
    if (op == "reduce") {
      y.pop_back();
      attributes_.add("axes", json::makeArray({json::makeInteger(-1)}));
    } else if (op == "transpose") {
      std::reverse(y.begin(), y.end());
    } else if (op == "layernorm" || op == "rmsnorm") {
      if (pick(2))
        inputs_.add("weight", operand("f32", {x.back()}, true));
      if (pick(2))
        attributes_.add("epsilon", json::makeNumber(std::ldexp(1.0 + static_cast<double>(pick(1000)), -20)));
    }
    inputs_.add("x", operand("f32", x, true));
    outputs_.add("y", operand(op == "transpose" ? "f32" : "bf16", y, false));
  }

  std::mt19937_64 random_;
  Value inputs_, outputs_, attributes_, epilogue_;
};

/// Shuffles the keys of all objects and puts comments into them.
void disturb(Value &value, std::mt19937_64 &random) {
  for (Value &item : value.items)
    disturb(item, random);
  for (json::Member &member : value.members)
    disturb(member.value, random);
  if (!value.isObject())
    return;
  if (random() % 2)
    value.add("//", json::makeText("a comment"));
  std::shuffle(value.members.begin(), value.members.end(), random);
}

/// JSON with keys in the order of the tree.
std::string writeAsIs(const Value &value) {
  if (!value.isObject() && !value.isArray())
    return json::write(value);
  std::string out;
  for (const Value &item : value.items)
    out += (out.empty() ? "" : ", ") + writeAsIs(item);
  if (value.isArray())
    return '[' + out + ']';
  for (const json::Member &member : value.members)
    out += (out.empty() ? "" : ", ") + json::write(json::makeText(member.key)) + ": " + writeAsIs(member.value);
  return '{' + out + '}';
}

std::string canonical(std::string_view text) { return canonicalJson(parsed(text)); }

} // namespace

TEST_CASE("the canonical form of random descriptions is a description with the same canonical form", "[canonical]") {
  auto seed = std::random_device{}();
  INFO("seed " << seed);
  Generator generator(seed);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 400; ++i) {
    Value description = generator.description();
    // An expression may hold a literal that its type can't; the rest must be right.
    Expected<Description> first = parseDescription(writeAsIs(description), "random");
    if (!first) {
      INFO(writeAsIs(description) << first.status().message());
      CHECK(first.status().message().find("can hold") != std::string::npos);
      continue;
    }
    std::string text = canonicalJson(*first);
    CHECK(canonical(text) == text);
    disturb(description, random);
    description.add("name", json::makeText("name"));
    CHECK(canonical(writeAsIs(description)) == text);
  }
}

TEST_CASE("names do not matter", "[canonical]") {
  std::string text =
      describe("elementwise",
               "'inputs': {'gate': {'dtype': 'bf16', 'shape': ['n', 8]}, 'up': {'dtype': 'f32', 'shape': ['n', 8]}}, "
               "'outputs': {'y': {'dtype': 'f32', 'shape': ['n', 8]}}, 'attributes': {'expression': {'y': "
               "'silu(gate) * up + cast(up, f16)'}}");
  std::string other = describe(
      "elementwise", "'inputs': {'f16': {'dtype': 'f32', 'shape': ['q', 8]}, 'silu': {'dtype': 'bf16', 'shape': ['q', "
                     "8]}}, 'outputs': {'o': {'dtype': 'f32', 'shape': ['q', 8]}}, 'attributes': {'expression': {'o': "
                     "' silu( silu )*f16+cast(f16 ,f16)'}}");
  CHECK(canonical(text) == canonical(other));
  CHECK(canonical(text).find("\"y0\":\"silu(x0)*x1+cast(x1,f16)\"") != std::string::npos);
  CHECK(canonical(matmulText()) ==
        canonical(replaced(replaced(matmulText(), "'bias'", "'c'"), "'input': 'bias'", "'input': 'c'")));
}

TEST_CASE("defaults written out do not matter", "[canonical]") {
  std::string text = matmulText();
  CHECK(canonical(text) == canonical(replaced(text, "'op'",
                                              "'attributes': {'accumulate': 'f32', 'transpose_b': false}, "
                                              "'op'")));
  CHECK(canonical(text) ==
        canonical(replaced(text, "'shape': [4, 6]", "'shape': [4, 6], 'strides': [6, 1], 'align': 4")));
  CHECK(canonical(text) == canonical(replaced(text, "'1.0'", "'1.3'")));
}

TEST_CASE("everything that changes code changes the canonical form", "[canonical]") {
  std::string text = describe(
      "matmul",
      "'dims': {'m': {'min': 1, 'max': 64}}, 'inputs': {'a': {'dtype': 'f32', 'shape': ['m', 6]}, 'b': {'dtype': "
      "'f32', 'shape': [6, 6]}, 'r': {'dtype': 'f32', 'shape': [6]}}, 'outputs': {'c': {'dtype': 'f32', 'shape': "
      "['m', 6]}}, 'attributes': {'precision': 'ieee'}, 'epilogue': [{'op': 'add', 'input': 'r'}, {'op': "
      "'clamp', 'min': 0, 'max': 1}, {'op': 'scale', 'value': 2}, {'op': 'gelu'}]");
  const std::pair<const char *, const char *> changes[] = {
      {"'min': 1, 'max': 64", "'min': 2, 'max': 64"},
      {"'max': 64", "'max': 65"},
      {"'max': 64", "'max': 64, 'multiple_of': 2"},
      {"'c': {'dtype': 'f32'", "'c': {'dtype': 'f16'"},
      {"'r': {'dtype': 'f32'", "'r': {'dtype': 'bf16'"},
      {"'r': {'dtype'", "'r': {'constant': true, 'dtype'"},
      {"'a': {'dtype'", "'a': {'align': 64, 'dtype'"},
      {"'a': {'dtype'", "'a': {'strides': ['any', 1], 'dtype'"},
      {"'a': {'dtype'", "'a': {'strides': [8, 1], 'dtype'"},
      {"'a': {'dtype'", "'a': {'strides': ['m', 1], 'dtype'"},
      {"'shape': [6]", "'shape': [1, 6]"},
      {"'precision': 'ieee'", "'precision': 'tf32'"},
      {"'precision': 'ieee'", "'transpose_b': true"},
      {"'add'", "'sub'"},
      {"'max': 1}", "'max': 1.0000000000000002}"},
      {"'value': 2", "'value': 2.5"},
      {"'gelu'", "'gelu', 'approximate': 'tanh'"},
      {"'gelu'", "'silu'"},
  };
  std::vector<std::string> seen{canonical(text)};
  for (auto [what, by] : changes) {
    INFO(what << " -> " << by);
    std::string changed = canonical(replaced(text, what, by));
    CHECK(std::find(seen.begin(), seen.end(), changed) == seen.end());
    seen.push_back(changed);
  }
  CHECK(canonical(elementwise("a - b")) != canonical(elementwise("b - a - a")));
  CHECK(canonical(elementwise("a and b")) == canonical(elementwise(" b  and\\ta")));
}

TEST_CASE("a class of accuracy is part of the form where it changes code", "[canonical]") {
  auto canonical = [](std::string_view attributes) {
    return canonicalJson(parsed(describe("softmax", "'inputs': {'x': {'dtype': 'f16', 'shape': [4, 6]}}, 'outputs': "
                                                    "{'y': {'dtype': 'f16', 'shape': [4, 6]}}, 'attributes': {" +
                                                        std::string(attributes) + "}")));
  };
  CHECK(canonical("") == canonical("'accuracy': 'full'"));
  CHECK(canonical("") != canonical("'accuracy': 'fast'"));
  CHECK(parsed(canonical("'accuracy': 'fast'")).as<SoftmaxAttributes>().accuracy == Accuracy::Fast);
}
