// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Kernels for GPUs: tiles that a block's registers hold, the same results as everywhere, refusals of what does not fit.

#include "OpLibInterpret.h"

#include "tilejit/Dialect/Tile/IR/Tile.h"
#include "tilejit/OpLib/OpLib.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/bit.h"

#include <catch2/catch.hpp>

using namespace tilejit;
using namespace tilejit::test;

namespace {

TargetSpec targetOf(const char *name) {
  Expected<TargetSpec> target = parseTarget(name);
  REQUIRE(target.isOk());
  return *target;
}

/// A chip of 32 lanes with much on-chip memory.
TargetSpec nvidia() { return targetOf("sm_80"); }
/// A chip of 64 lanes with little.
TargetSpec amd() { return targetOf("gfx906"); }

/// Whether a block of so many threads holds a tile in at most 64 registers of each.
bool fitsRegisters(mlir::RankedTensorType type, int64_t threads) {
  int64_t bits = type.getElementType().isIntOrFloat() ? type.getElementTypeBitWidth() : 64;
  return type.getNumElements() * std::max<int64_t>(32, bits) <= 64 * 32 * threads;
}

/// The warps that a kernel's hint names.
int64_t warpsOf(tile::KernelOp kernel, llvm::StringRef backEnd) {
  int64_t warps = 0;
  kernel.walk([&](tile::HintOp hint) {
    if (auto advice = hint.getTargets().getAs<mlir::DictionaryAttr>(backEnd))
      warps = advice.getAs<mlir::IntegerAttr>("warps").getInt();
  });
  return warps;
}

void checkTiles(tile::KernelOp kernel, int64_t threads) {
  kernel.walk([&](mlir::Operation *op) {
    for (mlir::Type result : op->getResultTypes())
      if (auto type = llvm::dyn_cast<mlir::RankedTensorType>(result)) {
        CHECK(fitsRegisters(type, threads));
        for (int64_t size : type.getShape())
          CHECK(llvm::has_single_bit(uint64_t(size)));
      }
  });
}

void checkAll(const std::vector<OpLibCase> &cases, const TargetSpec &target) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  for (const OpLibCase &example : cases) {
    INFO(example.text);
    Description description = parsed(example.text);
    Expected<abi::Config> config = chooseConfig(description, target, {});
    REQUIRE(config.isOk());
    CHECK(config->contains("warps"));
    mlir::OwningOpRef<mlir::ModuleOp> module = buildModule(context, description, target, *config);
    std::string text;
    llvm::raw_string_ostream stream(text);
    (*module)->print(stream);
    INFO(text);
    REQUIRE(mlir::succeeded(mlir::verify(*module)));
    REQUIRE(mlir::parseSourceString<mlir::ModuleOp>(text, &context));
    for (tile::KernelOp kernel : module->getOps<tile::KernelOp>()) {
      int64_t warps = warpsOf(kernel, target.kind == TargetKind::Nvidia ? "nvvm" : "rocdl");
      CHECK(warps >= 1);
      CHECK(warps <= config->at("warps"));
      checkTiles(kernel, warps * target.gpuFacts.warpLanes);
    }
  }
}

void checkFamilies(const TargetSpec &target) {
  checkAll(matmulCases(), target);
  checkAll(elementwiseCases(), target);
  checkAll(reduceCases(), target);
  checkAll(rowCases(), target);
  checkAll(moveCases(), target);
  checkAll(attentionCases(), target);
  checkAll(decodeCases(), target);
  checkAll(sequenceCases(), target);
  checkAll(largeCases(), target);
}

Status refusal(const std::string &text, const TargetSpec &target, const abi::Config &given) {
  Expected<abi::Config> config = chooseConfig(parsed(text), target, given);
  REQUIRE_FALSE(config.isOk());
  return config.status();
}

/// Products whose results have at most one dimension that varies.
std::vector<OpLibCase> splittableProducts() {
  std::vector<OpLibCase> cases = matmulCases();
  std::erase_if(cases, [](const OpLibCase &example) { return example.sizes.find(',') != std::string::npos; });
  return cases;
}

std::string product(const std::string &m, const std::string &n, const std::string &k) {
  return describe("matmul", "'inputs': {'a': {'dtype': 'f32', 'shape': [" + m + ", " + k +
                                "]}, 'b': {'dtype': 'f32', 'shape': [" + k + ", " + n +
                                "]}}, 'outputs': {'c': {'dtype': 'f32', 'shape': [" + m + ", " + n + "]}}");
}

} // namespace

TEST_CASE("tiles for GPUs are powers of two that registers hold", "[oplib][gpu]") {
  checkFamilies(nvidia());
  checkFamilies(amd());
}

TEST_CASE("kernels for 32 lanes agree with the reference", "[oplib][gpu]") {
  interpretCases(matmulCases(), nvidia());
  interpretCases(elementwiseCases(), nvidia());
  interpretCases(reduceCases(), nvidia());
  interpretCases(rowCases(), nvidia());
  interpretCases(moveCases(), nvidia());
  interpretCases(attentionCases(), nvidia());
}

TEST_CASE("kernels for 64 lanes agree with the reference", "[oplib][gpu]") {
  interpretCases(matmulCases(), amd());
  interpretCases(reduceCases(), amd());
  interpretCases(rowCases(), amd());
  interpretCases(attentionCases(), amd());
}

TEST_CASE("kernels for GPUs in tiles that users ask for agree", "[oplib][gpu]") {
  interpretCases(matmulCases(), nvidia(), {{"bm", 2}, {"bn", 4}, {"bk", 8}, {"warps", 1}});
  interpretCases(elementwiseCases(), nvidia(), {{"bm", 4}, {"bn", 2}, {"warps", 2}});
  interpretCases(moveCases(), nvidia(), {{"bm", 8}, {"bn", 16}});
  for (int64_t bm : {1, 4}) {
    interpretCases(rowCases(), nvidia(), {{"bm", bm}, {"bn", 8}, {"warps", 1}});
    interpretCases(reduceCases(), nvidia(), {{"bm", bm}, {"bn", 8}, {"chunk", 1024}});
  }
}

TEST_CASE("products in parts, ahead of time and in groups agree", "[oplib][gpu]") {
  abi::Config small{{"bm", 2}, {"bn", 4}, {"bk", 2}, {"warps", 1}};
  for (int64_t stages : {1, 2, 4}) {
    small["stages"] = stages;
    small["order"] = stages;
    interpretCases(matmulCases(), nvidia(), small);
  }
  for (int64_t splitK : {2, 3, 8}) {
    small["split_k"] = splitK;
    small["stages"] = splitK - 1;
    interpretCases(splittableProducts(), amd(), small);
  }
}

TEST_CASE("few tiles of long sums are shared by default", "[oplib][gpu]") {
  Expected<abi::Config> config = chooseConfig(parsed(product("16", "512", "8192")), nvidia(), {});
  REQUIRE(config.isOk());
  CHECK(config->at("split_k") == 8);
  CHECK(reductionOrder(parsed(product("16", "512", "8192")), nvidia(), *config).find("parts") != std::string::npos);
  config = chooseConfig(parsed(product("4096", "4096", "4096")), nvidia(), {});
  REQUIRE(config.isOk());
  CHECK(config->at("split_k") == 1);
  Status status = refusal(product("'m'", "'n'", "4096"), nvidia(), {{"split_k", 2}});
  CHECK(status.code() == StatusCode::InvalidArgument);
  CHECK(status.message() == "config key 'split_k' does not apply where several dimensions of the result vary");
}

TEST_CASE("keys of few queries are shared", "[oplib][gpu]") {
  auto attention = [](const std::string &queries) {
    return describe("attention", "'inputs': {'q': {'dtype': 'f16', 'shape': [1, 8, " + queries +
                                     ", 64]}, 'k': {'dtype': 'f16', 'shape': [1, 2, 4096, 64]}, "
                                     "'v': {'dtype': 'f16', 'shape': [1, 2, 4096, 64]}}, "
                                     "'outputs': {'o': {'dtype': 'f16', 'shape': [1, 8, " +
                                     queries + ", 64]}}");
  };
  Expected<abi::Config> config = chooseConfig(parsed(attention("1")), nvidia(), {});
  REQUIRE(config.isOk());
  CHECK(config->at("split_k") == 16);
  CHECK(reductionOrder(parsed(attention("1")), nvidia(), *config).find("parts") != std::string::npos);
  config = chooseConfig(parsed(attention("512")), nvidia(), {});
  REQUIRE(config.isOk());
  CHECK(config->at("split_k") == 1);
  CHECK(refusal(attention("512"), nvidia(), {{"split_k", 2}}).message() ==
        "config key 'split_k' does not apply to more than 16 queries");
}

TEST_CASE("lengths and rows that vary get regimes of their own", "[oplib][gpu]") {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto kernels = [&](const std::string &text, const abi::Config &given) {
    Description description = parsed(text);
    Expected<abi::Config> config = chooseConfig(description, nvidia(), given);
    REQUIRE(config.isOk());
    mlir::OwningOpRef<mlir::ModuleOp> module = buildModule(context, description, nvidia(), *config);
    return std::distance(module->getBody()->begin(), module->getBody()->end());
  };
  std::string softmax = describe("softmax", "'inputs': {'x': {'dtype': 'f32', 'shape': ['m', 'n']}}, 'outputs': {'y': "
                                            "{'dtype': 'f32', 'shape': ['m', 'n']}}");
  CHECK(kernels(softmax, {}) == 3);
  CHECK(kernels(softmax, {{"bn", 512}}) == 1);
  CHECK(kernels(product("'m'", "4096", "64"), {}) == 3);
  CHECK(kernels(product("'m'", "4096", "64"), {{"order", 4}}) == 3);
}

TEST_CASE("configs that no block can have are refused with numbers", "[oplib][gpu]") {
  std::string square = product("4096", "4096", "4096");
  for (auto [key, value] : {std::pair("bm", 3), {"bn", 96}, {"bk", 24}, {"warps", 3}}) {
    Status status = refusal(square, nvidia(), {{key, value}});
    CHECK(status.code() == StatusCode::InvalidArgument);
    CHECK(status.message() == "expected a power of two for config key '" + std::string(key) +
                                  "' on GPU targets, found " + std::to_string(value));
  }
  CHECK(refusal(square, nvidia(), {{"bn", 96}}).hint() == "the nearest are 64 and 128");
  Status shared = refusal(square, nvidia(), {{"bm", 128}, {"bn", 128}, {"bk", 256}});
  CHECK(shared.code() == StatusCode::DoesNotFit);
  CHECK(shared.message() == "shared memory 262144 bytes needed, sm_80 has 166912: lower bm, bn or bk");
  Status registers = refusal(square, amd(), {{"bm", 256}, {"bn", 256}, {"bk", 16}, {"warps", 2}});
  CHECK(registers.code() == StatusCode::DoesNotFit);
  CHECK(registers.message() ==
        "about 592 registers of a thread needed, gfx906 has 256: lower bm, bn or bk, or raise warps");
  Status threads = refusal(square, amd(), {{"warps", 32}});
  CHECK(threads.message() == "block of 2048 threads needed, gfx906 has 1024: lower warps");
  std::string heads = describe("attention", "'inputs': {'q': {'dtype': 'f32', 'shape': [1, 2, 'n', 128]}, "
                                            "'k': {'dtype': 'f32', 'shape': [1, 2, 'n', 128]}, "
                                            "'v': {'dtype': 'f32', 'shape': [1, 2, 'n', 128]}}, "
                                            "'outputs': {'o': {'dtype': 'f32', 'shape': [1, 2, 'n', 128]}}");
  CHECK(refusal(heads, amd(), {{"bn", 128}}).message() ==
        "shared memory 98304 bytes needed, gfx906 has 65536: lower bm or bn");
  CHECK(refusal(heads, nvidia(), {{"bm", 64}, {"bn", 64}, {"warps", 1}}).message() ==
        "about 1040 registers of a thread needed, sm_80 has 255: lower bm or bn, or raise warps");
  CHECK(refusal(heads, nvidia(), {{"bk", 16}}).code() == StatusCode::InvalidArgument);
  CHECK(refusal(square, nvidia(), {{"speed", 9}}).code() == StatusCode::InvalidArgument);
}
