// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Products: every type, every transposition, and each way in which the CPU's schedule may choose.

#include "Subject.h"

namespace tilejit::sweep {

namespace {

struct Types {
  std::string_view a, b, c;
  std::string_view precision = "";
};

constexpr Types allTypes[] = {{"f32", "f32", "f32"},
                              {"f64", "f64", "f64"},
                              {"f32", "f32", "f64"},
                              {"f16", "f16", "f16"},
                              {"f16", "f16", "f32"},
                              {"bf16", "bf16", "bf16"},
                              {"bf16", "bf16", "f32"},
                              {"f8e4m3fn", "f8e4m3fn", "f32"},
                              {"f8e5m2", "f8e5m2", "f16"},
                              {"f8e4m3fnuz", "f8e4m3fnuz", "bf16"},
                              {"f8e5m2fnuz", "f8e5m2fnuz", "f32"},
                              {"f32", "f32", "f32", "tf32"},
                              {"f32", "f32", "f32", "bf16x3"},
                              {"i8", "i8", "i32"},
                              {"u8", "i8", "i32"},
                              {"i8", "i8", "i64"},
                              {"i8", "u8", "i64"},
                              {"u8", "u8", "f32"}};

/// What a product has beside its types and transpositions.
struct Form {
  std::string_view name;
  Axis m, n, k;
  bool isPacked = false, isStrided = false, isBatched = false, hasEpilogue = false;
  abi::Config config = {};
  int64_t launches = 70;
};

Axis symbolic(const char *name, int64_t low, int64_t high) { return {name, low, high, false}; }
Axis constant(const char *name, int64_t low, int64_t high) { return {name, low, high, true}; }

std::vector<Form> allForms() {
  Axis m = symbolic("m", 0, 70), n = symbolic("n", 0, 70), k = symbolic("k", 0, 70), few = symbolic("m", 2, 64),
       many = symbolic("m", 65, 134), cm = constant("m", 1, 70), cn = constant("n", 1, 70), ck = constant("k", 1, 70);
  Axis one = constant("m", 1, 1), some = symbolic("m", 1, 70);
  return {
      {"any", m, n, k},
      {"row", one, n, k},
      {"few", few, n, k},
      {"many", many, n, k},
      {.name = "fixed", .m = cm, .n = cn, .k = ck, .launches = 12},
      {"weights", m, cn, ck},
      {.name = "packed", .m = m, .n = cn, .k = ck, .isPacked = true},
      {.name = "packed-row", .m = one, .n = cn, .k = ck, .isPacked = true, .launches = 24},
      {.name = "packed-many", .m = many, .n = cn, .k = ck, .isPacked = true},
      {.name = "packed-long",
       .m = some,
       .n = constant("n", 180, 260),
       .k = constant("k", 200, 700),
       .isPacked = true,
       .launches = 16},
      {.name = "strided", .m = m, .n = n, .k = k, .isStrided = true},
      {.name = "batch", .m = m, .n = n, .k = k, .isBatched = true},
      {.name = "packed-batch", .m = m, .n = cn, .k = ck, .isPacked = true, .isBatched = true},
      {.name = "epilogue", .m = m, .n = n, .k = k, .hasEpilogue = true},
      {.name = "packed-epilogue", .m = m, .n = cn, .k = ck, .isPacked = true, .hasEpilogue = true},
      {.name = "tiles", .m = some, .n = n, .k = k, .config = {{"bm", 13}, {"bn", 32}, {"bk", 12}}},
      {.name = "odd-tiles", .m = some, .n = n, .k = k, .config = {{"bm", 7}, {"bn", 9}, {"bk", 5}}},
      {.name = "packed-tiles",
       .m = m,
       .n = cn,
       .k = ck,
       .isPacked = true,
       .config = {{"bm", 13}, {"bn", 192}, {"bk", 24}}},
      {.name = "long", .m = some, .n = symbolic("n", 1000, 1069), .k = symbolic("k", 500, 569), .launches = 2},
      {.name = "large",
       .m = symbolic("m", 190, 259),
       .n = symbolic("n", 500, 569),
       .k = symbolic("k", 256, 325),
       .launches = 2},
      {.name = "large-fixed",
       .m = constant("m", 190, 259),
       .n = constant("n", 500, 569),
       .k = constant("k", 500, 569),
       .launches = 1},
  };
}

std::string productText(const Types &types, bool ta, bool tb, const Form &form) {
  std::string a = ta ? "#k, #m]" : "#m, #k]", b = tb ? "#n, #k]" : "#k, #n]", c = "#m, #n]";
  std::string strides = form.isStrided ? ", 'strides': ['any', 'any']" : "";
  std::string constant = form.isPacked ? ", 'constant': true" : "";
  std::string left = form.isBatched ? "[#p, 2, " : "[",
              right = form.isBatched ? (form.isPacked ? "[1, 2, " : "[#p, 1, ") : "[";
  std::string inputs =
      operandText("a", types.a, left + a, strides) + ", " + operandText("b", types.b, right + b, constant + strides);
  std::string epilogue;
  if (form.hasEpilogue) {
    bool isInteger = types.c[0] == 'i';
    inputs += ", " +
              operandText("bias",
                          isInteger          ? "i32"
                          : types.a == "f64" ? "f64"
                                             : "f32",
                          "[#n]") +
              ", " + operandText("rest", isInteger ? "i8" : "bf16", "[#m, #n]") + ", " +
              operandText("gate", isInteger ? "i16" : "f32", "[#m, 1]");
    std::string last = isInteger ? "{'op': 'relu'}" : "{'op': 'gelu', 'approximate': 'tanh'}";
    epilogue =
        ", 'epilogue': [{'op': 'add', 'input': 'bias'}, " + last +
        ", {'op': 'mul', 'input': 'gate'}, {'op': 'sub', 'input': 'rest'}, {'op': 'clamp', 'min': -3, 'max': 1000}]";
  }
  std::string attributes =
      std::string("'transpose_a': ") + (ta ? "true" : "false") + ", 'transpose_b': " + (tb ? "true" : "false");
  if (!types.precision.empty())
    attributes += ", 'precision': '" + std::string(types.precision) + "'";
  return "'op': 'matmul', 'inputs': {" + inputs + "}, 'outputs': {" + operandText("c", types.c, left + c, strides) +
         "}, 'attributes': {" + attributes + "}" + epilogue;
}

} // namespace

std::vector<Subject> matmulSubjects() {
  std::vector<Subject> subjects;
  for (const Form &form : allForms())
    for (const Types &types : allTypes)
      for (int turns = 0; turns < 4; ++turns) {
        bool ta = turns & 1, tb = turns & 2;
        Subject subject;
        subject.name = "matmul/";
        subject.name.append(types.a).append("-").append(types.b).append("-").append(types.c);
        if (!types.precision.empty())
          subject.name.append("-").append(types.precision);
        subject.name.append(ta ? "/t" : "/n").append(tb ? "t/" : "n/").append(form.name);
        subject.text = productText(types, ta, tb, form);
        subject.axes = {form.m, form.n, form.k};
        if (form.isBatched)
          subject.axes.push_back({"p", 1, 3, false});
        subject.config = form.config;
        subject.launches = form.launches;
        addOnTargets(subjects, subject, true, types.a == "bf16");
      }
  return subjects;
}

} // namespace tilejit::sweep
