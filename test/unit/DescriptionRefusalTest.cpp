// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Broken descriptions: each is a right one with one thing changed, and the error must point there.

#include "DescriptionBuilder.h"

using namespace tilejit;
using namespace tilejit::test;

namespace {

struct Fault {
  const char *what, *by, *pointer;
};

/// Each fault changes a text at one place.
void checkFaults(const std::string &text, std::initializer_list<Fault> faults) {
  parsed(text);
  for (const Fault &fault : faults) {
    INFO(fault.what << " -> " << fault.by);
    Status status = refused(replaced(text, fault.what, fault.by));
    CHECK(status.pointer() == fault.pointer);
    INFO(status.message());
    CHECK(status.message().find("expected ") != std::string::npos);
    CHECK(status.message().find(", found ") != std::string::npos);
    REQUIRE(status.details().size() == 1);
    CHECK(status.details()[0].find("in test.json:1:") == 0);
  }
}

std::string unary(std::string_view op, std::string_view attributes) {
  return describe(op,
                  "'inputs': {'x': {'dtype': 'f32', 'shape': [4, 6]}}, 'outputs': {'y': {'dtype': 'f32', 'shape': [4, "
                  "6]}}, 'attributes': {" +
                      std::string(attributes) + "}");
}

} // namespace

TEST_CASE("what is no JSON object is refused with its place", "[refusal]") {
  for (const char *text : {"", " ", "{", "[1, 2]", "17", "null", "\"x\"", "{\"tilejit\": NaN}", "{} x"})
    CHECK(refused(text).pointer().find("test.json:1:") == 0);
  CHECK(refused("{\"op\": \"matmul\", \"op\": \"cast\"}").pointer() == "/op");
  CHECK(refused(matmulText() + "\n\n  x").pointer() == "test.json:3:3");
}

TEST_CASE("structure is checked everywhere", "[refusal]") {
  checkFaults(matmulText(), {{"'op': 'matmul'", "'op': 3", "/op"},
                             {"'op': 'matmul'", "'op': 'matmull'", "/op"},
                             {"'op': 'matmul'", "'op': 'matmul', 'tile_size': 64", "/tile_size"},
                             {"'op': 'matmul', ", "", "/op"},
                             {"'tilejit': '1.0'", "'tilejit': 1.0", "/tilejit"},
                             {"'tilejit': '1.0'", "'tilejit': 'one'", "/tilejit"},
                             {"'tilejit': '1.0'", "'tilejit': '1'", "/tilejit"},
                             {"'tilejit': '1.0'", "'tilejit': '1.0.0'", "/tilejit"},
                             {"'tilejit': '1.0'", "'tilejit': '1.-1'", "/tilejit"},
                             {"'tilejit': '1.0'", "'tilejit': '1.9999999'", "/tilejit"},
                             {"'tilejit': '1.0'", "'tilejit': '0.9'", "/tilejit"},
                             {"'tilejit': '1.0', ", "", "/tilejit"},
                             {"'epilogue': [", "'name': 4, 'epilogue': [", "/name"},
                             {"'epilogue': [", "'name': '../x', 'epilogue': [", "/name"},
                             {"'epilogue': [", "'name': '..', 'epilogue': [", "/name"},
                             {"'epilogue': [", "'name': 'a\\u0000b', 'epilogue': [", "/name"},
                             {"'epilogue': [", "'name': 'a\\u0085b', 'epilogue': [", "/name"},
                             {"'epilogue': [", "'dims': 4, 'epilogue': [", "/dims"},
                             {"'epilogue': [", "'attributes': [], 'epilogue': [", "/attributes"},
                             {"'inputs': {", "'inputs': [1], '//': {", "/inputs"},
                             {"'inputs': {", "'//': {", "/inputs"},
                             {"'outputs': {", "'//': {", "/outputs"},
                             {"'outputs': {", "'outputs': {'d': {'dtype': 'f32', 'shape': []}, ", "/outputs/d"}});
  Status name =
      refused(replaced(matmulText(), "'epilogue'", "'name': '" + std::string(1000000, 'n') + "', 'epilogue'"));
  CHECK(name.pointer() == "/name");
  CHECK(name.message().size() < 200);
  parsed(replaced(matmulText(), "'epilogue'", "'name': 'caf\xc3\xa9 \xe2\x9c\x93 v1.2', 'epilogue'"));
}

TEST_CASE("versions are refused by name", "[refusal]") {
  Status major = refused(replaced(matmulText(), "'1.0'", "'2.0'"));
  CHECK(major.message() == "expected a description of version 1.x (this build reads 1.0), found \"2.0\"");
  std::string newer = replaced(matmulText(), "'1.0'", "'1.99'");
  Status minor = refused(replaced(newer, "'op'", "'sparsity': '2:4', 'op'"));
  CHECK(minor.pointer() == "/sparsity");
  CHECK(minor.message().find("found \"sparsity\" (version 1.99 may know it, this build reads 1.0)") !=
        std::string::npos);
  CHECK(refused(replaced(newer, "'relu'", "'mish'")).message().find("version 1.99") != std::string::npos);
}

TEST_CASE("operands are checked one by one", "[refusal]") {
  const char *a = "'a': {'dtype': 'f32', 'shape': [4, 6]}";
  checkFaults(matmulText(),
              {{a, "'a': 'f32[4,6]'", "/inputs/a"},
               {a, "'a': {'shape': [4, 6]}", "/inputs/a/dtype"},
               {a, "'a': {'dtype': 'f32'}", "/inputs/a/shape"},
               {a, "'a': {'dtype': 'float32', 'shape': [4, 6]}", "/inputs/a/dtype"},
               {a, "'a': {'dtype': 'F32', 'shape': [4, 6]}", "/inputs/a/dtype"},
               {a, "'a': {'dtype': 32, 'shape': [4, 6]}", "/inputs/a/dtype"},
               {a, "'a': {'dtype': 'bool', 'shape': [4, 6]}", "/inputs/a/dtype"},
               {a, "'a': {'dtype': 'f8e8m0', 'shape': [4, 6]}", "/inputs/a/dtype"},
               {a, "'a': {'dtype': 'f32', 'shape': '4x6'}", "/inputs/a/shape"},
               {a, "'a': {'dtype': 'f32', 'shape': [4.5, 6]}", "/inputs/a/shape/0"},
               {a, "'a': {'dtype': 'f32', 'shape': [4, 6.0]}", "/inputs/a/shape/1"},
               {a, "'a': {'dtype': 'f32', 'shape': [true, 6]}", "/inputs/a/shape/0"},
               {a, "'a': {'dtype': 'f32', 'shape': [null, 6]}", "/inputs/a/shape/0"},
               {a, "'a': {'dtype': 'f32', 'shape': [[4], 6]}", "/inputs/a/shape/0"},
               {a, "'a': {'dtype': 'f32', 'shape': [-4, 6]}", "/inputs/a/shape/0"},
               {a, "'a': {'dtype': 'f32', 'shape': [1099511627777, 6]}", "/inputs/a/shape/0"},
               {a, "'a': {'dtype': 'f32', 'shape': [9223372036854775808, 6]}", "/inputs/a/shape/0"},
               {a, "'a': {'dtype': 'f32', 'shape': ['', 6]}", "/inputs/a/shape/0"},
               {a, "'a': {'dtype': 'f32', 'shape': ['m n', 6]}", "/inputs/a/shape/0"},
               {a, "'a': {'dtype': 'f32', 'shape': ['m/2', 6]}", "/inputs/a/shape/0"},
               {a, "'a': {'dtype': 'f32', 'shape': ['any', 6]}", "/inputs/a/shape/0"},
               {a, "'a': {'dtype': 'f32', 'shape': [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,4,6]}", "/inputs/a/shape"},
               {a, "'a': {'dtype': 'f32', 'shape': [4294967296, 4294967296]}", "/inputs/a/shape"},
               {a, "'a': {'dtype': 'f32', 'shape': [0, 1099511627776, 1099511627776]}", "/inputs/a/shape"},
               {a, "'a': {'dtype': 'f32', 'shape': [4, 6], 'layout': 'row'}", "/inputs/a/layout"},
               {a, "'a': {'dtype': 'f32', 'shape': [4, 6], 'strides': [6]}", "/inputs/a/strides"},
               {a, "'a': {'dtype': 'f32', 'shape': [4, 6], 'strides': 6}", "/inputs/a/strides"},
               {a, "'a': {'dtype': 'f32', 'shape': [4, 6], 'strides': [-6, 1]}", "/inputs/a/strides/0"},
               {a, "'a': {'dtype': 'f32', 'shape': [4, 6], 'strides': ['q', 1]}", "/inputs/a/strides/0"},
               {a, "'a': {'dtype': 'f32', 'shape': [4, 6], 'strides': [35184372088832, 1]}", "/inputs/a/strides"},
               {a, "'a': {'dtype': 'f32', 'shape': [4, 6], 'align': 3}", "/inputs/a/align"},
               {a, "'a': {'dtype': 'f32', 'shape': [4, 6], 'align': 0}", "/inputs/a/align"},
               {a, "'a': {'dtype': 'f32', 'shape': [4, 6], 'constant': 1}", "/inputs/a/constant"},
               {"'b': {'dtype'", "'bb': {'dtype'", "/inputs/b"},
               {"'bias': {'dtype'", "'b/s': {'dtype'", "/inputs/b~1s"},
               {"'bias': {'dtype'", "'': {'dtype'", "/inputs/"},
               {"'c': {", "'c': {'constant': true, ", "/outputs/c/constant"},
               {"'c': {", "'c': {'strides': [0, 1], ", "/outputs/c/strides/0"},
               {"'c': {", "'c': {'strides': [1, 1], ", "/outputs/c/strides"}});
  CHECK(refused(replaced(matmulText(), a, "'a': {'dtype': 'float32', 'shape': [4, 6]}")).hint() ==
        "did you mean \"f32\"?");
  std::string many = "'inputs': {";
  for (int i = 0; i < 300; ++i)
    many += "'x" + std::to_string(i) + "': {'dtype': 'f32', 'shape': []}, ";
  CHECK(refused(replaced(matmulText(), "'inputs': {", many)).pointer() == "/inputs");
}

TEST_CASE("dimensions are checked", "[refusal]") {
  std::string text = describe("cast", "'dims': {'m': {'min': 1, 'max': 64}}, 'inputs': {'x': {'dtype': 'f32', 'shape': "
                                      "['m', 4]}}, 'outputs': {'y': {'dtype': 'f16', 'shape': ['m', 4]}}");
  checkFaults(text, {{"'min': 1", "'min': 65", "/dims/m"},
                     {"'min': 1", "'min': -1", "/dims/m/min"},
                     {"'min': 1", "'min': 1.5", "/dims/m/min"},
                     {"'max': 64", "'max': 2000000000000", "/dims/m/max"},
                     {"'max': 64", "'max': 64, 'multiple_of': 0", "/dims/m/multiple_of"},
                     {"'max': 64", "'max': 64, 'multiple_of': 65", "/dims/m"},
                     {"'max': 64", "'max': 64, 'step': 8", "/dims/m/step"},
                     {"'m': {'min': 1, 'max': 64}", "'m': 4", "/dims/m"},
                     {"'m': {'min'", "'n': {}, 'm': {'min'", "/dims/n"},
                     {"'m': {'min'", "'m n': {}, 'm': {'min'", "/dims/m n"},
                     {"'m': {'min'", "'any': {}, 'm': {'min'", "/dims/any"}});
}

TEST_CASE("the operands of a matmul must fit", "[refusal]") {
  checkFaults(matmulText(), {{"'shape': [4, 6]", "'shape': [6]", "/inputs/a/shape"},
                             {"'shape': [6, 5]", "'shape': [7, 5]", "/inputs/b/shape"},
                             {"'shape': [6, 5]", "'shape': ['k', 5]", "/inputs/b/shape"},
                             {"'shape': [4, 5]", "'shape': [4, 6]", "/outputs/c/shape"},
                             {"'shape': [4, 5]", "'shape': ['m', 5]", "/outputs/c/shape"},
                             {"'b': {'dtype': 'f32'", "'b': {'dtype': 'i8'", "/inputs/b/dtype"},
                             {"'c': {'dtype': 'f32'", "'c': {'dtype': 'i32'", "/outputs/c/dtype"},
                             {"'c': {'dtype': 'f32'", "'c': {'dtype': 'bool'", "/outputs/c/dtype"},
                             {"'shape': [5]", "'shape': [3]", "/inputs/bias/shape"},
                             {"'shape': [5]", "'shape': [2, 4, 5]", "/inputs/bias/shape"},
                             {"'shape': [5]", "'shape': ['n']", "/inputs/bias/shape"},
                             {"'inputs': {", "'inputs': {'z': {'dtype': 'f32', 'shape': [5]}, ", "/inputs/z"},
                             {"'input': 'bias'", "'input': 'biass'", "/epilogue/0/input"},
                             {"'input': 'bias'", "'input': 'a'", "/epilogue/0/input"},
                             {"'input': 'bias'", "'input': 3", "/epilogue/0/input"}});
  std::string batches = describe(
      "matmul", "'inputs': {'a': {'dtype': 'i8', 'shape': [3, 4, 6]}, 'b': {'dtype': 'i8', 'shape': [3, 6, 5]}}, "
                "'outputs': {'c': {'dtype': 'i32', 'shape': [3, 4, 5]}}, 'attributes': {'accumulate': 'i32'}");
  checkFaults(batches, {{"[3, 6, 5]", "[2, 6, 5]", "/inputs/b/shape"},
                        {"[3, 6, 5]", "['h', 6, 5]", "/inputs/b/shape"},
                        {"'c': {'dtype': 'i32'", "'c': {'dtype': 'i8'", "/outputs/c/dtype"},
                        {"'accumulate': 'i32'", "'accumulate': 'f32'", "/attributes/accumulate"},
                        {"'accumulate': 'i32'", "'precision': 'tf32'", "/attributes/precision"},
                        {"'accumulate': 'i32'", "'precision': 'exact'", "/attributes/precision"},
                        {"'accumulate': 'i32'", "'transpose_a': 'yes'", "/attributes/transpose_a"},
                        {"'accumulate': 'i32'", "'transpose': true", "/attributes/transpose"}});
  Status scaled = refused(replaced(batches, "'attributes'", "'epilogue': [{'op': 'scale', 'value': 2}], 'attributes'"));
  CHECK(scaled.pointer() == "/outputs/c/dtype");
}

TEST_CASE("epilogue steps are checked", "[refusal]") {
  const char *relu = "{'op': 'relu'}";
  checkFaults(matmulText(), {{relu, "'relu'", "/epilogue/1"},
                             {relu, "{}", "/epilogue/1/op"},
                             {relu, "{'op': 'rellu'}", "/epilogue/1/op"},
                             {relu, "{'op': 4}", "/epilogue/1/op"},
                             {relu, "{'op': 'relu', 'slope': 0.1}", "/epilogue/1/slope"},
                             {relu, "{'op': 'add'}", "/epilogue/1/input"},
                             {relu, "{'op': 'scale', 'value': '2'}", "/epilogue/1/value"},
                             {relu, "{'op': 'clamp', 'min': 0}", "/epilogue/1/max"},
                             {relu, "{'op': 'clamp', 'min': 2, 'max': 1}", "/epilogue/1"},
                             {relu, "{'op': 'clamp', 'min': null, 'max': 1}", "/epilogue/1/min"},
                             {relu, "{'op': 'gelu', 'approximate': 'sin'}", "/epilogue/1/approximate"},
                             {relu, "{'op': 'gelu', 'approximate': 1}", "/epilogue/1/approximate"}});
  CHECK(refused(replaced(matmulText(), "'epilogue': [", "'epilogue': {'x': [")
                    .replace(replaced(matmulText(), "'epilogue': [", "'epilogue': {'x': [").rfind(']'), 1, "]}"))
            .pointer() == "/epilogue");
  CHECK(refused(replaced(unary("softmax", ""), "'op'", "'epilogue': [], 'op'")).pointer() == "/epilogue");
}

TEST_CASE("reductions are checked", "[refusal]") {
  std::string text =
      describe("reduce", "'inputs': {'x': {'dtype': 'f32', 'shape': [4, 6]}}, 'outputs': {'y': {'dtype': "
                         "'f32', 'shape': [4]}}, 'attributes': {'kind': 'sum', 'axes': [1]}");
  checkFaults(text, {{"'sum'", "'median'", "/attributes/kind"},
                     {"'sum'", "'argmax'", "/outputs/y/dtype"},
                     {"[1]", "[2]", "/attributes/axes/0"},
                     {"[1]", "[-3]", "/attributes/axes/0"},
                     {"[1]", "[1, -1]", "/attributes/axes"},
                     {"[1]", "[]", "/attributes/axes"},
                     {"[1]", "'1'", "/attributes/axes"},
                     {"[1]", "[1.0]", "/attributes/axes/0"},
                     {"[1]", "[1], 'keepdims': true", "/outputs/y/shape"},
                     {"'y': {'dtype': 'f32'", "'y': {'dtype': 'i32'", "/outputs/y/dtype"},
                     {"'x': {'dtype': 'f32'", "'x': {'dtype': 'i32'", "/outputs/y/dtype"},
                     {"'x': {'dtype': 'f32'", "'x': {'dtype': 'f4e2m1'", "/inputs/x/dtype"}});
  std::string empty = replaced(text, "[4, 6]", "[4, 0]");
  parsed(empty);
  CHECK(refused(replaced(empty, "'sum'", "'max'")).pointer() == "/inputs/x/shape");
  std::string huge = replaced(replaced(replaced(text, "[4, 6]", "[4, 3000000000]"), "'sum'", "'argmin'"),
                              "'y': {'dtype': 'f32'", "'y': {'dtype': 'i32'");
  CHECK(refused(huge).pointer() == "/outputs/y/dtype");
}

TEST_CASE("softmax, norms, transpose and cast are checked", "[refusal]") {
  checkFaults(unary("log_softmax", "'axis': 1"), {{"'axis': 1", "'axis': 5", "/attributes/axis"},
                                                  {"'axis': 1", "'axis': '1'", "/attributes/axis"},
                                                  {"'axis': 1", "'accuracy': 'quick'", "/attributes/accuracy"},
                                                  {"'axis': 1", "'accuracy': 1", "/attributes/accuracy"},
                                                  {"[4, 6]", "[]", "/inputs/x/shape"},
                                                  {"[4, 6]", "[6, 4]", "/outputs/y/shape"},
                                                  {"'f32'", "'i32'", "/inputs/x/dtype"}});
  checkFaults(unary("transpose", "'permutation': [0, 1]"), {{"[0, 1]", "[0, 0]", "/attributes/permutation"},
                                                            {"[0, 1]", "[1, 2]", "/attributes/permutation/1"},
                                                            {"[0, 1]", "[0]", "/attributes/permutation"},
                                                            {"[0, 1]", "[1, 0]", "/outputs/y/shape"},
                                                            {"'f32'", "'f16'", "/outputs/y/dtype"}});
  checkFaults(unary("cast", "'rounding': 'nearest_even'"),
              {{"'nearest_even'", "'up'", "/attributes/rounding"}, {"[4, 6]", "[4]", "/outputs/y/shape"}});
  std::string norm = describe(
      "layernorm", "'inputs': {'x': {'dtype': 'f32', 'shape': [4, 6]}, 'weight': {'dtype': 'f32', 'shape': [6]}}, "
                   "'outputs': {'y': {'dtype': 'f32', 'shape': [4, 6]}, 'mean': {'dtype': 'f32', 'shape': [4]}}, "
                   "'attributes': {'epsilon': 1e-6}");
  checkFaults(norm, {{"'shape': [6]", "'shape': [5]", "/inputs/weight/shape"},
                     {"'weight': {'dtype': 'f32'", "'weight': {'dtype': 'f64'", "/inputs/weight/dtype"},
                     {"'shape': [4]", "'shape': [4, 1]", "/outputs/mean/shape"},
                     {"'mean'", "'variance'", "/outputs/variance"},
                     {"1e-6", "'1e-6'", "/attributes/epsilon"},
                     {"1e-6", "-1e-6", "/attributes/epsilon"},
                     {"1e-6", "1e-6, 'axis': 2", "/attributes/axis"},
                     {"'layernorm'", "'rmsnorm'", "/outputs/mean"}});
}

TEST_CASE("attention is checked", "[refusal]") {
  std::string text = describe("attention", "'inputs': {'q': {'dtype': 'f16', 'shape': ['b', 6, 'm', 64]}, "
                                           "'k': {'dtype': 'f16', 'shape': ['b', 2, 'n', 64]}, "
                                           "'v': {'dtype': 'f16', 'shape': ['b', 2, 'n', 64]}, "
                                           "'bias': {'dtype': 'f32', 'shape': [6, 1, 'n']}}, "
                                           "'outputs': {'o': {'dtype': 'f32', 'shape': ['b', 6, 'm', 64]}, "
                                           "'lse': {'dtype': 'f32', 'shape': ['b', 6, 'm']}}, "
                                           "'attributes': {'causal': true, 'window': 9, 'softcap': 30, 'scale': 0.5}");
  parsed(text);
  checkFaults(text,
              {{"['b', 6, 'm', 64]", "[6, 'm', 64]", "/inputs/q/shape"},
               {"['b', 6, 'm', 64]", "['b', 'h', 'm', 64]", "/inputs/q/shape/1"},
               {"['b', 6, 'm', 64]", "['b', 0, 'm', 64]", "/inputs/q/shape/1"},
               {"['b', 6, 'm', 64]", "['b', 6, 'm', 'd']", "/inputs/q/shape/3"},
               {"['b', 6, 'm', 64]", "['b', 6, 'm', 0]", "/inputs/q/shape/3"},
               {"['b', 6, 'm', 64]", "['b', 6, 'm', 1024]", "/inputs/q/shape/3"},
               {"['b', 2, 'n', 64]", "['b', 4, 'n', 64]", "/inputs/k/shape/1"},
               {"['b', 2, 'n', 64]", "['b', 12, 'n', 64]", "/inputs/k/shape/1"},
               {"['b', 2, 'n', 64]", "['b', 2, 'n', 32]", "/inputs/k/shape"},
               {"['b', 2, 'n', 64]", "[3, 2, 'n', 64]", "/inputs/k/shape"},
               {"'v': {'dtype': 'f16', 'shape': ['b', 2", "'v': {'dtype': 'f16', 'shape': ['b', 1", "/inputs/v/shape"},
               {"'v': {'dtype': 'f16'", "'v': {'dtype': 'f32'", "/inputs/v/dtype"},
               {"'k': {'dtype': 'f16'", "'k': {'dtype': 'i8'", "/inputs/k/dtype"},
               {"'bias': {'dtype': 'f32'", "'bias': {'dtype': 'f64'", "/inputs/bias/dtype"},
               {"[6, 1, 'n']", "[2, 1, 'n']", "/inputs/bias/shape"},
               {"[6, 1, 'n']", "[1, 'b', 6, 1, 'n']", "/inputs/bias/shape"},
               {"'o': {'dtype': 'f32', 'shape': ['b', 6", "'o': {'dtype': 'f32', 'shape': ['b', 2", "/outputs/o/shape"},
               {"'shape': ['b', 6, 'm']", "'shape': ['b', 6, 'n']", "/outputs/lse/shape"},
               {"'causal': true", "'causal': false", "/attributes/window"},
               {"'window': 9", "'window': 0", "/attributes/window"},
               {"'window': 9", "'window': 2.5", "/attributes/window"},
               {"'softcap': 30", "'softcap': 0", "/attributes/softcap"},
               {"'scale': 0.5", "'scale': '0.5'", "/attributes/scale"},
               {"'bias'", "'cu_seqlens_q'", "/inputs/cu_seqlens_q/dtype"},
               {"'bias'", "'mask'", "/inputs/mask"},
               {"'attributes'", "'epilogue': [{'op': 'add', 'input': 'bias'}], 'attributes'", "/epilogue/0/input"}});
  CHECK(refused(replaced(text, "['b', 2, 'n', 64]", "['b', 4, 'n', 64]")).message() ==
        "expected a divisor of 6, the heads of q, found 4");
  CHECK(refused(replaced(text, "'attention'", "'attention_decode'")).pointer() == "/inputs/k_cache");
}

TEST_CASE("sequences in a row and epilogues of attention are checked", "[refusal]") {
  std::string text = describe("attention", "'inputs': {'q': {'dtype': 'f16', 'shape': [1, 6, 'm', 64]}, "
                                           "'k': {'dtype': 'f16', 'shape': [1, 2, 'n', 64]}, "
                                           "'v': {'dtype': 'f16', 'shape': [1, 2, 'n', 64]}, "
                                           "'cu_seqlens_q': {'dtype': 'i32', 'shape': ['s']}, "
                                           "'cu_seqlens_k': {'dtype': 'i32', 'shape': ['s']}, "
                                           "'r': {'dtype': 'f16', 'shape': [6, 1, 64]}}, "
                                           "'outputs': {'o': {'dtype': 'f32', 'shape': [1, 6, 'm', 64]}}, "
                                           "'epilogue': [{'op': 'add', 'input': 'r'}]");
  CHECK(parsed(text).dims[parsed(text).dimIndex("s")].min == 1);
  checkFaults(
      text,
      {{"'cu_seqlens_q': {'dtype': 'i32', 'shape': ['s']}, ", "", "/inputs/cu_seqlens_k"},
       {"'cu_seqlens_k': {'dtype': 'i32', 'shape': ['s']}, ", "", "/inputs/cu_seqlens_q"},
       {"'cu_seqlens_q': {'dtype': 'i32'", "'cu_seqlens_q': {'dtype': 'i64'", "/inputs/cu_seqlens_q/dtype"},
       {"'cu_seqlens_k': {'dtype': 'i32', 'shape': ['s']", "'cu_seqlens_k': {'dtype': 'i32', 'shape': [4]",
        "/inputs/cu_seqlens_k/shape"},
       {"'r': {'dtype': 'f16', 'shape': [6, 1, 64]", "'bias': {'dtype': 'f16', 'shape': [6, 1, 'n']", "/inputs/bias"},
       {"[6, 1, 64]", "[6, 2, 64]", "/inputs/r/shape"},
       {"'r': {'dtype': 'f16'", "'r': {'dtype': 'f64'", "/inputs/r/dtype"},
       {"'input': 'r'", "'input': 'q'", "/epilogue/0/input"},
       {"{'op': 'add', 'input': 'r'}", "{'op': 'relu'}", "/inputs/r"}});
  auto twice = [&](const char *what, const char *by) { return replaced(replaced(text, what, by), what, by); };
  CHECK(refused(twice("['s']", "[0]")).pointer() == "/inputs/cu_seqlens_q/shape/0");
  CHECK(refused(twice("['s']", "[1, 's']")).pointer() == "/inputs/cu_seqlens_q/shape");
  std::string many = text;
  for (size_t at; (at = many.find("[1, ")) != std::string::npos;)
    many.replace(at, 4, "[2, ");
  CHECK(refused(many).message() == "expected 1, since cu_seqlens_q says where sequences begin, found 2");
}

TEST_CASE("decoding attention is checked", "[refusal]") {
  std::string text =
      describe("attention_decode", "'inputs': {'q': {'dtype': 'f16', 'shape': ['b', 6, 'm', 64]}, "
                                   "'k_cache': {'dtype': 'f16', 'shape': ['p', 16, 2, 64]}, "
                                   "'v_cache': {'dtype': 'f16', 'shape': ['p', 16, 2, 64]}, "
                                   "'block_table': {'dtype': 'i32', 'shape': ['b', 't']}, "
                                   "'seq_lens': {'dtype': 'i32', 'shape': ['b']}}, "
                                   "'outputs': {'o': {'dtype': 'f32', 'shape': ['b', 6, 'm', 64]}, "
                                   "'lse': {'dtype': 'f32', 'shape': ['b', 6, 'm']}}, "
                                   "'attributes': {'causal': true, 'window': 9, 'softcap': 30, 'scale': 0.5}");
  parsed(text);
  checkFaults(text, {{"['b', 6, 'm', 64]", "[6, 'm', 64]", "/inputs/q/shape"},
                     {"['b', 6, 'm', 64]", "['b', 'h', 'm', 64]", "/inputs/q/shape/1"},
                     {"['p', 16, 2, 64]", "['p', 'x', 2, 64]", "/inputs/k_cache/shape/1"},
                     {"['p', 16, 2, 64]", "['p', 0, 2, 64]", "/inputs/k_cache/shape/1"},
                     {"['p', 16, 2, 64]", "['p', 16, 4, 64]", "/inputs/k_cache/shape/2"},
                     {"['p', 16, 2, 64]", "['p', 16, 2, 32]", "/inputs/k_cache/shape/3"},
                     {"['p', 16, 2, 64]", "[16, 2, 64]", "/inputs/k_cache/shape"},
                     {"'v_cache': {'dtype': 'f16', 'shape': ['p', 16", "'v_cache': {'dtype': 'f16', 'shape': ['p', 8",
                      "/inputs/v_cache/shape"},
                     {"'v_cache': {'dtype': 'f16'", "'v_cache': {'dtype': 'bf16'", "/inputs/v_cache/dtype"},
                     {"'block_table': {'dtype': 'i32'", "'block_table': {'dtype': 'i64'", "/inputs/block_table/dtype"},
                     {"['b', 't']", "['b']", "/inputs/block_table/shape"},
                     {"['b', 't']", "['t', 'b']", "/inputs/block_table/shape"},
                     {"'seq_lens': {'dtype': 'i32', 'shape': ['b']", "'seq_lens': {'dtype': 'i32', 'shape': [3]",
                      "/inputs/seq_lens/shape"},
                     {"'seq_lens': {'dtype': 'i32'", "'seq_lens': {'dtype': 'f32'", "/inputs/seq_lens/dtype"},
                     {"'shape': ['b', 6, 'm']", "'shape': ['b', 6, 't']", "/outputs/lse/shape"},
                     {"'causal': true", "'causal': false", "/attributes/window"},
                     {"'softcap': 30", "'softcap': -1", "/attributes/softcap"},
                     {"'attributes'", "'epilogue': [{'op': 'relu'}], 'attributes'", "/epilogue"}});
  std::string many = text;
  for (size_t at; (at = many.find("\"m\"")) != std::string::npos;)
    many.replace(at, 3, "65537");
  CHECK(refused(many).pointer() == "/inputs/q/shape/2");
  CHECK(refused(many).message() == "expected at most 65536 queries, found 65537");
}

TEST_CASE("elementwise outputs and expressions must match", "[refusal]") {
  std::string text = elementwise("a + b");
  checkFaults(text,
              {{"'y': 'a + b'", "'y': 'a + b', 'z': 'a'", "/attributes/expression/z"},
               {"'y': 'a + b'", "'y': 3", "/attributes/expression/y"},
               {"{'y': 'a + b'}", "'a + b'", "/attributes/expression"},
               {"'y': 'a + b'", "", "/attributes/expression/y"},
               {", 'attributes': {'expression': {'y': 'a + b'}}", "", "/attributes"},
               {"'expression': {'y': 'a + b'}", "", "/attributes/expression"},
               {"'b': {'dtype': 'f32', 'shape': [4]", "'b': {'dtype': 'f32', 'shape': [3]", "/inputs/b/shape"},
               {"'b': {'dtype': 'f32', 'shape': [4]", "'b': {'dtype': 'f32', 'shape': ['n']", "/inputs/b/shape"},
               {"'y': {'dtype': 'f32', 'shape': [4]", "'y': {'dtype': 'f32', 'shape': [2, 4]", "/outputs/y/shape"}});
}

TEST_CASE("messages stay short whatever the text holds", "[refusal]") {
  std::string key(100000, 'k');
  CHECK(refused(replaced(matmulText(), "'op'", "'" + key + "': 1, 'op'")).pointer().size() < 200);
  CHECK(refused(replaced(matmulText(), "'relu'", "'" + key + "'")).message().size() <= 400);
  CHECK(refused(elementwise("a + " + key)).message().size() <= 400);
  CHECK(refused(elementwise(key + "(a)")).message().size() <= 400);
}

TEST_CASE("a misfit of named dimensions says why", "[refusal]") {
  Status k = refused(replaced(matmulText(), "'shape': [6, 5]", "'shape': ['k', 5]"));
  CHECK(k.message() == "expected k = 6 as in a [4, 6], found k = k in [k, 5]");
  CHECK(k.hint().find("a named dimension") == 0);
  CHECK_FALSE(refused(replaced(matmulText(), "'shape': [5]", "'shape': ['n']")).hint().empty());
  CHECK_FALSE(refused(replaced(elementwise("a"), "[4]", "['n']")).hint().empty());
  CHECK(refused(replaced(matmulText(), "'shape': [6, 5]", "'shape': [7, 5]")).hint().empty());
}
