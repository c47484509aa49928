// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What right descriptions become: operands in canonical order, defaults, shapes with symbolic sizes.

#include "DescriptionBuilder.h"

#include "tilejit/Description/Cost.h"

#include <filesystem>
#include <fstream>
#include <iterator>

using namespace tilejit;
using namespace tilejit::test;

namespace {

std::vector<std::string> names(const std::vector<Operand> &operands) {
  std::vector<std::string> result;
  for (const Operand &operand : operands)
    result.push_back(operand.name);
  return result;
}

using Names = std::vector<std::string>;

} // namespace

TEST_CASE("a matmul comes out with operands in order and defaults", "[description]") {
  Description d = parsed(describe(
      "matmul",
      "'name': 'up', 'dims': {'m': {'min': 1, 'max': 2048, 'multiple_of': 4}}, "
      "'outputs': {'c': {'shape': ['m', 8], 'dtype': 'bf16'}}, "
      "'epilogue': [{'op': 'mul', 'input': 'gain'}, {'op': 'gelu'}, {'op': 'add', 'input': 'bias'}, "
      "{'op': 'sub', 'input': 'gain'}, {'op': 'clamp', 'min': -1, 'max': 2.5}, {'op': 'scale', 'value': 0.5}], "
      "'inputs': {'bias': {'dtype': 'f32', 'shape': [8]}, 'b': {'dtype': 'bf16', 'shape': [4, 8], 'constant': "
      "true, 'align': 64}, 'gain': {'dtype': 'f32', 'shape': ['m', 1]}, 'a': {'dtype': 'bf16', 'shape': "
      "['m', 4], 'strides': ['any', 1], '//': 'x'}}, '//': {'any': ['thing']}"));
  CHECK(d.family == Family::Matmul);
  CHECK(d.name == "up");
  CHECK(names(d.inputs) == Names{"a", "b", "gain", "bias"});
  REQUIRE(d.dims.size() == 1);
  CHECK(d.dims[0].multipleOf == 4);
  CHECK(d.inputs[0].shape == std::vector<Dim>{{0, 0}, {4, -1}});
  CHECK((*d.inputs[0].strides)[0].kind == Stride::Kind::Any);
  CHECK(d.inputs[1].constant);
  CHECK(d.inputs[1].align == 64);
  REQUIRE(d.epilogue.size() == 6);
  CHECK(d.epilogue[0].input == 2);
  CHECK(d.epilogue[1].kind == EpilogueStep::Kind::Gelu);
  CHECK(d.epilogue[2].input == 3);
  CHECK(d.epilogue[3].input == 2);
  CHECK(d.epilogue[4].min == -1);
  CHECK(d.epilogue[4].max == 2.5);
  CHECK(d.as<MatmulAttributes>().accumulate == DType::F32);
  CHECK(d.findInput("bias") == &d.inputs[3]);
  CHECK(d.findOutput("a") == nullptr);
  CHECK(d.dimIndex("m") == 0);
}

TEST_CASE("accumulators follow the inputs", "[description]") {
  auto accumulate = [](std::string_view a, std::string_view b, std::string_view c) {
    return parsed(describe("matmul", "'inputs': {'a': {'dtype': '" + std::string(a) +
                                         "', 'shape': [2, 0]}, 'b': {'dtype': '" + std::string(b) +
                                         "', 'shape': [0, 3]}}, 'outputs': {'c': {'dtype': '" + std::string(c) +
                                         "', 'shape': [2, 3]}}"))
        .as<MatmulAttributes>()
        .accumulate;
  };
  CHECK(accumulate("f64", "f64", "f32") == DType::F64);
  CHECK(accumulate("f8e5m2", "f8e5m2", "f16") == DType::F32);
  CHECK(accumulate("u8", "i8", "i32") == DType::I32);
  CHECK(accumulate("i8", "u8", "f16") == DType::I32);
}

TEST_CASE("leading dimensions of matmul broadcast", "[description]") {
  Description d = parsed(describe(
      "matmul", "'inputs': {'a': {'dtype': 'f32', 'shape': [2, 1, 'k', 'm']}, 'b': {'dtype': 'f32', 'shape': ['h', 5, "
                "'k']}}, 'outputs': {'c': {'dtype': 'f32', 'shape': [2, 'h', 'm', 5]}}, 'attributes': {'transpose_a': "
                "true, 'transpose_b': true}"));
  CHECK(d.dims.size() == 3);
  CHECK(d.dims[0].name == "k");
  CHECK(d.dims[1].name == "m");
  CHECK(d.dims[2].name == "h");
}

TEST_CASE("elementwise orders outputs by name and inputs by first use", "[description]") {
  Description d = parsed(
      describe("elementwise",
               "'inputs': {'w': {'dtype': 'f32', 'shape': []}, 'q': {'dtype': 'f32', 'shape': [2, 'n']}, 'u': "
               "{'dtype': 'f32', 'shape': [1]}, 'a': {'dtype': 'i8', 'shape': ['n']}}, 'outputs': {'z': {'dtype': "
               "'f32', 'shape': [2, 'n']}, 'k': {'dtype': 'bool', 'shape': [2, 'n']}}, 'attributes': "
               "{'expression': {'z': 'a + q', 'k': 'q > 0'}}"));
  CHECK(names(d.outputs) == Names{"k", "z"});
  CHECK(names(d.inputs) == Names{"q", "a", "u", "w"});
  const auto &expressions = d.as<ElementwiseAttributes>().expressions;
  CHECK(expressions[0].text == "q > 0");
  CHECK(expressions[0].nodes[0].input == 0);
}

TEST_CASE("axes and permutations are counted from the front", "[description]") {
  auto reduce = [](std::string_view attributes, std::string_view shape) {
    return parsed(
               describe("reduce", "'inputs': {'x': {'dtype': 'f32', 'shape': [2, 3, 4]}}, 'outputs': {'y': {'dtype': "
                                  "'f32', 'shape': " +
                                      std::string(shape) + "}}, 'attributes': {" + std::string(attributes) + "}"))
        .as<ReduceAttributes>();
  };
  CHECK(reduce("", "[]").axes == std::vector<int>{0, 1, 2});
  CHECK(reduce("'axes': [-1, 0]", "[3]").axes == std::vector<int>{0, 2});
  CHECK(reduce("'axes': [1], 'keepdims': true, 'kind': 'mean'", "[2, 1, 4]").keepdims);
  Description softmax = parsed(describe(
      "softmax",
      "'inputs': {'x': {'dtype': 'f16', 'shape': [2, 3]}}, 'outputs': {'y': {'dtype': 'f32', 'shape': [2, 3]}}"));
  CHECK(softmax.as<SoftmaxAttributes>().axis == 1);
  Description transpose =
      parsed(describe("transpose", "'inputs': {'x': {'dtype': 'i4', 'shape': [2, 3, 4]}}, 'outputs': "
                                   "{'y': {'dtype': 'i4', 'shape': [4, 3, 2]}}"));
  CHECK(transpose.as<TransposeAttributes>().permutation == std::vector<int>{2, 1, 0});
}

TEST_CASE("norms know their optional operands", "[description]") {
  Description d = parsed(
      describe("layernorm",
               "'inputs': {'bias': {'dtype': 'f32', 'shape': [3, 4]}, 'x': {'dtype': 'bf16', 'shape': ['n', 3, 4]}}, "
               "'outputs': {'rstd': {'dtype': 'f32', 'shape': ['n']}, 'y': {'dtype': 'bf16', 'shape': ['n', 3, 4]}}, "
               "'attributes': {'axis': -2}"));
  CHECK(names(d.inputs) == Names{"x", "bias"});
  CHECK(names(d.outputs) == Names{"y", "rstd"});
  CHECK(d.as<NormAttributes>().axis == 1);
  CHECK(d.as<NormAttributes>().epsilon == 1e-5);
}

TEST_CASE("attention has defaults and a cost", "[description]") {
  auto text = [](std::string_view attributes) {
    return describe("attention", "'inputs': {'v': {'dtype': 'f32', 'shape': [1, 1, 'n', 16]}, "
                                 "'k': {'dtype': 'f32', 'shape': [1, 1, 'n', 16]}, "
                                 "'q': {'dtype': 'f32', 'shape': [1, 2, 'm', 16]}}, "
                                 "'outputs': {'o': {'dtype': 'bf16', 'shape': [1, 2, 'm', 16]}}, 'attributes': {" +
                                     std::string(attributes) + "}");
  };
  Description d = parsed(text(""));
  CHECK(names(d.inputs) == Names{"q", "k", "v"});
  const auto &attributes = d.as<AttentionAttributes>();
  CHECK(attributes.scale == 0.25);
  CHECK_FALSE(attributes.causal);
  CHECK_FALSE(attributes.window);
  CHECK_FALSE(attributes.softcap);
  auto scores = [&](std::string_view more, const char *m, const char *n) {
    Description d = parsed(text(more));
    Expected<Binding> sizes = bindFromSettings(d, std::vector<std::string>{m, n});
    REQUIRE(sizes.isOk());
    return flops(d, *sizes) / (2 * (4 * 16 + 5));
  };
  CHECK(scores("", "m=3", "n=5") == 15);
  CHECK(scores("'causal': true", "m=3", "n=5") == 3 + 4 + 5);
  CHECK(scores("'causal': true", "m=5", "n=3") == 1 + 2 + 3);
  CHECK(scores("'causal': true, 'window': 2", "m=5", "n=3") == 1 + 2 + 2);
  CHECK(scores("'causal': true, 'window': 4", "m=3", "n=5") == 3 + 4 + 4);
  CHECK(scores("'causal': true", "m=3", "n=0") == 0);
}

TEST_CASE("decoding attention counts what sequences can have", "[description]") {
  Description d =
      parsed(describe("attention_decode", "'inputs': {'seq_lens': {'dtype': 'i32', 'shape': ['b']}, "
                                          "'block_table': {'dtype': 'i32', 'shape': ['b', 3]}, "
                                          "'q': {'dtype': 'f32', 'shape': ['b', 4, 'm', 16]}, "
                                          "'v_cache': {'dtype': 'f32', 'shape': ['p', 8, 2, 16]}, "
                                          "'k_cache': {'dtype': 'f32', 'shape': ['p', 8, 2, 16]}}, "
                                          "'outputs': {'o': {'dtype': 'f32', 'shape': ['b', 4, 'm', 16]}}"));
  CHECK(names(d.inputs) == Names{"q", "k_cache", "v_cache", "block_table", "seq_lens"});
  CHECK(d.as<AttentionAttributes>().scale == 0.25);
  CHECK(d.dims[d.dimIndex("m")].max == 65536);
  Expected<Binding> sizes = bindFromSettings(d, std::vector<std::string>{"b=2", "m=1", "p=100"});
  REQUIRE(sizes.isOk());
  CHECK(flops(d, *sizes) == 2 * 4 * 24 * (4 * 16 + 5));
  CHECK(bytesMoved(d, *sizes) == 4 * (2 * 2 * 4 * 16 + 2 * 6 * 8 * 2 * 16 + 6 + 2));
}

TEST_CASE("dense strides are dropped, others stay", "[description]") {
  auto strides = [](std::string_view shape, std::string_view list) {
    return parsed(describe("cast", "'inputs': {'x': {'dtype': 'f32', 'shape': " + std::string(shape) +
                                       ", 'strides': " + std::string(list) +
                                       "}}, 'outputs': {'y': {'dtype': 'f16', 'shape': " + std::string(shape) + "}}"))
        .inputs[0]
        .strides.has_value();
  };
  CHECK_FALSE(strides("[2, 3, 4]", "[12, 4, 1]"));
  CHECK_FALSE(strides("['m', 'n']", "['n', 1]"));
  CHECK_FALSE(strides("['m', 3]", "[3, 1]"));
  CHECK(strides("['m', 'n']", "['m', 1]"));
  CHECK(strides("[2, 3]", "[1, 2]"));
  CHECK(strides("[2, 3]", "[0, 1]"));
  CHECK(strides("[2, 3]", "['any', 1]"));
}

TEST_CASE("a newer minor version is read while all its keys are known", "[description]") {
  CHECK(parsed(replaced(matmulText(), "'1.0'", "'1.7'")).version == std::pair(1, 7));
}

TEST_CASE("costs count what the description says", "[description]") {
  Description d = parsed(matmulText());
  Binding none;
  CHECK(flops(d, none) == 2.0 * 4 * 5 * 6 + 2 * 4 * 5);
  CHECK(bytesMoved(d, none) == 4 * (4 * 6 + 6 * 5 + 5 + 4 * 5));
  CHECK(flops(parsed(elementwise("a * b + exp(a)")), none) == 12);
}

TEST_CASE("every example is right", "[description]") {
  int count = 0;
  for (const auto &entry : std::filesystem::directory_iterator(TILEJIT_EXAMPLES)) {
    if (entry.path().extension() != ".json")
      continue;
    std::ifstream file(entry.path());
    parsed(std::string(std::istreambuf_iterator<char>(file), {}));
    ++count;
  }
  CHECK(count >= 21);
}
