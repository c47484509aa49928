// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Every case builds a module that verifies, prints, parses and verifies again; so it does for CPUs of other widths and
// with odd tile sizes.

#include "OpLibCases.h"

#include "tilejit/OpLib/OpLib.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"

using namespace tilejit;
using namespace tilejit::test;

namespace {

TargetSpec targetOf(int vectorBits) {
  TargetSpec target;
  target.cpuFacts.vectorBits = vectorBits;
  return target;
}

void checkModule(mlir::MLIRContext &context, const OpLibCase &example, const TargetSpec &target,
                 const abi::Config &given) {
  INFO(example.text);
  Description description = parsed(example.text);
  Expected<abi::Config> config = chooseConfig(description, target, given);
  REQUIRE(config.isOk());
  mlir::OwningOpRef<mlir::ModuleOp> module = buildModule(context, description, target, *config);
  REQUIRE(module);
  std::string text;
  llvm::raw_string_ostream stream(text);
  (*module)->print(stream);
  INFO(text);
  REQUIRE(mlir::succeeded(mlir::verify(*module)));
  REQUIRE(mlir::parseSourceString<mlir::ModuleOp>(text, &context));
}

void checkAll(const std::vector<OpLibCase> &cases, const TargetSpec &target, const abi::Config &given = {}) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  for (const OpLibCase &example : cases)
    checkModule(context, example, target, given);
}

} // namespace

TEST_CASE("matmul builds verified kernels", "[oplib]") { checkAll(matmulCases(), targetOf(512)); }
TEST_CASE("tall products build verified kernels", "[oplib]") { checkAll(tallProductCases(), targetOf(512)); }
TEST_CASE("elementwise builds verified kernels", "[oplib]") { checkAll(elementwiseCases(), targetOf(512)); }
TEST_CASE("reduce builds verified kernels", "[oplib]") { checkAll(reduceCases(), targetOf(512)); }
TEST_CASE("softmax and norms build verified kernels", "[oplib]") { checkAll(rowCases(), targetOf(512)); }
TEST_CASE("attention builds verified kernels", "[oplib]") { checkAll(attentionCases(), targetOf(512)); }
TEST_CASE("decoding builds verified kernels", "[oplib]") { checkAll(decodeCases(), targetOf(512)); }
TEST_CASE("attention of sequences builds verified kernels", "[oplib]") { checkAll(sequenceCases(), targetOf(512)); }
TEST_CASE("transpose and cast build verified kernels", "[oplib]") { checkAll(moveCases(), targetOf(512)); }

TEST_CASE("kernels for narrow vectors and odd tiles verify", "[oplib]") {
  checkAll(matmulCases(), targetOf(128), {{"bm", 3}, {"bn", 5}, {"bk", 2}});
  checkAll(elementwiseCases(), targetOf(256), {{"bm", 2}, {"bn", 3}});
  checkAll(reduceCases(), targetOf(128), {{"bn", 7}, {"chunk", 1024}});
  checkAll(rowCases(), targetOf(256), {{"bn", 9}});
  checkAll(attentionCases(), targetOf(256), {{"bm", 3}, {"bn", 7}});
}

TEST_CASE("a config is completed and keeps what was given", "[oplib]") {
  Description description = parsed(matmulText());
  Expected<abi::Config> config = chooseConfig(description, targetOf(512), {{"bm", 2}});
  REQUIRE(config.isOk());
  CHECK(config->at("bm") == 2);
  CHECK(config->count("bn") == 1);
  CHECK(config->count("bk") == 1);
  CHECK_FALSE(reductionOrder(description, targetOf(512), *config).empty());
}

TEST_CASE("blocks of known sizes are equal, and more than one where there is work for two", "[oplib]") {
  for (auto [sizes, bm, bn, bk] : {std::tuple(std::array{128, 128, 128}, 128, 64, 128),
                                   {std::array{256, 256, 256}, 128, 256, 256},
                                   {std::array{127, 255, 513}, 127, 128, 171},
                                   {std::array{70, 80, 20}, 70, 80, 20},
                                   {std::array{64, 3072, 768}, 64, 768, 64}}) {
    auto [m, n, k] = sizes;
    auto operand = [](int rows, int columns) {
      return "{'dtype': 'f32', 'shape': [" + std::to_string(rows) + ", " + std::to_string(columns) + "]}";
    };
    Description description = parsed(describe("matmul", "'inputs': {'a': " + operand(m, k) + ", 'b': " + operand(k, n) +
                                                            "}, 'outputs': {'c': " + operand(m, n) + "}"));
    Expected<abi::Config> config = chooseConfig(description, targetOf(512), {});
    REQUIRE(config.isOk());
    INFO(m << " x " << n << " x " << k);
    CHECK(config->at("bm") == bm);
    CHECK(config->at("bn") == bn);
    CHECK(config->at("bk") == bk);
  }
}

TEST_CASE("the size of blocks is found at once for sizes beyond any memory", "[oplib]") {
  Description description =
      parsed(describe("matmul", "'inputs': {'a': {'dtype': 'f32', 'shape': [70, 103079215104]}, 'b': {'dtype': 'f32', "
                                "'shape': [103079215104, 0]}}, 'outputs': {'c': {'dtype': 'f32', 'shape': [70, 0]}}"));
  Expected<abi::Config> config = chooseConfig(description, targetOf(512), {});
  REQUIRE(config.isOk());
  CHECK(config->at("bk") == 256);
}

TEST_CASE("config keys that mean nothing are refused", "[oplib]") {
  Description description = parsed(matmulText());
  for (auto [key, value] :
       {std::pair("speed", 9), {"bm", 0}, {"bn", -1}, {"bm", 1 << 30}, {"warps", 4}, {"chunk", 4096}}) {
    Expected<abi::Config> config = chooseConfig(description, targetOf(512), {{key, value}});
    INFO(key << "=" << value);
    REQUIRE_FALSE(config.isOk());
    CHECK(config.status().code() == StatusCode::InvalidArgument);
    CHECK(config.status().message().find(key) != std::string::npos);
  }
}

TEST_CASE("rows that vary get a regime for one, for few, for many and, in two phases, for more", "[oplib]") {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  Description description =
      parsed(describe("matmul", "'dims': {'m': {'min': 1, 'max': 2048}}, 'inputs': {'a': {'dtype': 'f32', 'shape': "
                                "['m', 64]}, 'b': {'dtype': 'f32', 'shape': [64, 96]}}, 'outputs': {'c': {'dtype': "
                                "'f32', 'shape': ['m', 96]}}"));
  TargetSpec target = targetOf(512);
  Expected<abi::Config> config = chooseConfig(description, target, {});
  REQUIRE(config.isOk());
  auto module = buildModule(context, description, target, *config);
  CHECK(std::distance(module->getBody()->begin(), module->getBody()->end()) == 5);
}
