// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Sizes of symbolic dimensions: from settings, from shapes, filled in, checked.

#include "DescriptionBuilder.h"

using namespace tilejit;
using namespace tilejit::test;

namespace {

Description product() {
  return parsed(describe(
      "matmul",
      "'dims': {'m': {'min': 2, 'max': 8, 'multiple_of': 2}}, 'inputs': {'a': {'dtype': 'f32', 'shape': ['m', "
      "'k']}, 'b': {'dtype': 'f32', 'shape': ['k', 5]}}, 'outputs': {'c': {'dtype': 'f32', 'shape': ['m', 5]}}"));
}

Description reduction(std::string_view kind) {
  return parsed(
      describe("reduce", "'inputs': {'x': {'dtype': 'f32', 'shape': [3, 'n']}}, 'outputs': {'y': {'dtype': '" +
                             std::string(kind == "sum" ? "f32" : "i32") +
                             "', 'shape': [3]}}, 'attributes': {'axes': [1], 'kind': '" + std::string(kind) + "'}"));
}

Binding bound(const Description &description, std::vector<std::string> settings) {
  Expected<Binding> binding = bindFromSettings(description, settings);
  INFO(binding.status().message());
  REQUIRE(binding.isOk());
  return *std::move(binding);
}

std::string refusal(const Description &description, std::vector<std::string> settings) {
  Expected<Binding> binding = bindFromSettings(description, settings);
  REQUIRE_FALSE(binding.isOk());
  CHECK(binding.status().code() == StatusCode::InvalidArgument);
  return binding.status().message();
}

} // namespace

TEST_CASE("settings bind dimensions", "[binding]") {
  Description d = product();
  Binding binding = bound(d, {"m=4"});
  CHECK(binding.sizes == std::vector<int64_t>{4, -1});
  CHECK_FALSE(binding.isComplete());
  CHECK(bound(d, {"k=0", "m=8", "m=8"}).isComplete());
}

TEST_CASE("settings that can't be are refused by the dimension's name", "[binding]") {
  Description d = product();
  CHECK(refusal(d, {"q=6"}).find("dimension 'q'") == 0);
  CHECK(refusal(d, {"k=-6"}).find("dimension 'k': expected a size from 0") == 0);
  CHECK(refusal(d, {"m=many"}).find("dimension 'm': expected a size from 2 to 8, a multiple of 2, found \"many\"") ==
        0);
  CHECK(refusal(d, {"m=4", "k=1" + std::string(30, '0')}).find("dimension 'k'") == 0);
  CHECK(refusal(d, {"m=3"}).find("found 3") != std::string::npos);
  CHECK(refusal(d, {"m=10"}).find("found 10") != std::string::npos);
  CHECK(refusal(d, {"m=2", "m=4"}).find("found 2 and 4") != std::string::npos);
  CHECK(refusal(d, {"m"}).find("expected NAME=SIZE") == 0);
  CHECK(refusal(d, {"m="}).find("dimension 'm'") == 0);
}

TEST_CASE("shapes bind dimensions and must agree", "[binding]") {
  Description d = product();
  Binding binding = bound(d, {});
  REQUIRE(bindFromShape(d, d.inputs[0], std::vector<int64_t>{4, 6}, binding).isOk());
  CHECK(binding.sizes == std::vector<int64_t>{4, 6});
  Status status = bindFromShape(d, d.inputs[1], std::vector<int64_t>{7, 5}, binding);
  CHECK(status.message() == "input 'b', dimension 'k': expected shape [k, 5] with k = 6, found [7, 5]");
  CHECK(binding.sizes == std::vector<int64_t>{4, 6});
  CHECK(bindFromShape(d, d.inputs[1], std::vector<int64_t>{6, 4}, binding).message().find("input 'b', axis 1") == 0);
  CHECK(bindFromShape(d, d.inputs[1], std::vector<int64_t>{6}, binding).message().find("[6]") != std::string::npos);
  CHECK(bindFromShape(d, d.outputs[0], std::vector<int64_t>{6, 5}, binding).message().find("output 'c'") == 0);
  Binding fresh;
  CHECK(bindFromShape(d, d.inputs[0], std::vector<int64_t>{3, 6}, fresh).message() ==
        "input 'a' of shape [3, 6]: dimension 'm': expected a size from 2 to 8, a multiple of 2, found 3");
}

TEST_CASE("what is not bound gets a legal size", "[binding]") {
  Description d = parsed(describe(
      "elementwise", "'dims': {'p': {'min': 1, 'max': 2048}, 'q': {'min': 5000, 'max': 90000, 'multiple_of': 7}, 'r': "
                     "{'max': 64, 'multiple_of': 48}, 't': {'multiple_of': 100}}, 'inputs': {'x': {'dtype': 'f32', "
                     "'shape': ['p', 'q', 'r', 's', 't']}}, 'outputs': {'y': {'dtype': 'f32', 'shape': ['p', 'q', 'r', "
                     "'s', 't']}}, 'attributes': {'expression': {'y': 'x'}}"));
  Binding binding = bound(d, {});
  bindRest(d, 2048, binding);
  CHECK(binding.sizes == std::vector<int64_t>{2048, 5005, 48, 128, 200});
  for (int64_t limit : {1, 100, 5000, 1 << 20}) {
    Binding other = bound(d, {"p=3"});
    bindRest(d, limit, other);
    CHECK(other.sizes[0] == 3);
    for (size_t i = 0; i < d.dims.size(); ++i) {
      CHECK(other.sizes[i] >= d.dims[i].min);
      CHECK(other.sizes[i] <= d.dims[i].max);
      CHECK(other.sizes[i] % d.dims[i].multipleOf == 0);
    }
  }
}

TEST_CASE("a binding is checked as a whole", "[binding]") {
  Description d = product();
  CHECK(checkBinding(d, bound(d, {"m=4", "k=6"})).isOk());
  Status open = checkBinding(d, bound(d, {"m=4"}));
  CHECK(open.message().find("dimension 'k': expected") == 0);
  CHECK(open.hint().find("--set k=") == 0);
  CHECK(checkBinding(d, Binding{{4, int64_t{1} << 40}}).isOk());
  CHECK(checkBinding(d, Binding{{8, int64_t{1} << 40}}).isOk());
  CHECK(checkBinding(d, Binding{{5, 1}}).message().find("dimension 'm'") == 0);
  Description wide = parsed(describe("cast", "'inputs': {'x': {'dtype': 'f32', 'shape': ['m', 'n']}}, 'outputs': {'y': "
                                             "{'dtype': 'f16', 'shape': ['m', 'n']}}"));
  CHECK(checkBinding(wide, Binding{{1 << 24, 1 << 24}}).message().find("input 'x': expected at most 2^46 bytes") == 0);
  CHECK_FALSE(checkBinding(wide, Binding{{int64_t{1} << 40, int64_t{1} << 40}}).isOk());
  CHECK(checkBinding(wide, Binding{{0, 7}}).isOk());
}

TEST_CASE("extremes of nothing are refused once sizes are known", "[binding]") {
  Description argmax = reduction("argmax"), sum = reduction("sum");
  CHECK(checkBinding(argmax, Binding{{0}}).message().find("dimension 'n': expected at least one element") == 0);
  CHECK(checkBinding(argmax, Binding{{1}}).isOk());
  CHECK(checkBinding(argmax, Binding{{int64_t{1} << 32}}).message().find("expected i64") != std::string::npos);
  CHECK(checkBinding(sum, Binding{{0}}).isOk());
}
