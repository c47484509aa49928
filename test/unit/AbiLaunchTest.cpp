// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The GPU part of manifests: every field comes back, and nothing that an evaluator could stumble over gets through.

#include "tilejit/ABI/Compile.h"

#include <catch2/catch.hpp>

using namespace tilejit;
using namespace tilejit::abi;

namespace {

using Op = LaunchExpr::Op;

LaunchExpr expression(std::vector<LaunchExpr::Step> steps) { return LaunchExpr{std::move(steps)}; }

Manifest sample() {
  Manifest manifest;
  manifest.op = "matmul";
  manifest.target = "t";
  manifest.gpu.sizes = {{3, -1}, {-1, 4096}, {0, 0}};
  GpuKernel kernel;
  kernel.symbol = "matmul_64x64";
  kernel.phase = 1;
  kernel.when = {{expression({{Op::Size, 0}, {Op::Constant, -64}, {Op::Add}}), false},
                 {expression({{Op::Size, 1}, {Op::Constant, 8}, {Op::Mod}}), true}};
  kernel.grid = {expression({{Op::Size, 0}, {Op::Constant, 64}, {Op::CeilDiv}}),
                 expression({{Op::Size, 1}, {Op::Constant, 64}, {Op::FloorDiv}, {Op::Constant, 1}, {Op::Mul}})};
  kernel.workspace = expression({{Op::Size, 2}, {Op::Constant, 4}, {Op::Mul}});
  kernel.takesWorkspace = true;
  kernel.threads = 128;
  kernel.sharedBytes = 99 * 1024;
  GpuKernel plain;
  plain.symbol = "rest";
  plain.takesStatus = true;
  plain.takesPrinter = true;
  plain.threads = 1;
  manifest.gpu.kernels = {kernel, plain};
  manifest.gpu.prints = {{"a \"text\"\n", "i64 f32[64]"}, {"", ""}};
  return manifest;
}

void checkEqual(const LaunchExpr &a, const LaunchExpr &b) {
  REQUIRE(a.steps.size() == b.steps.size());
  for (size_t i = 0; i < a.steps.size(); ++i) {
    CHECK(a.steps[i].op == b.steps[i].op);
    CHECK(a.steps[i].value == b.steps[i].value);
  }
}

} // namespace

TEST_CASE("launches of GPU payloads come back", "[abi]") {
  Manifest manifest = sample();
  Expected<Manifest> back = parseManifest(manifestJson(manifest));
  REQUIRE(back);
  CHECK(back->gpu.sizes == manifest.gpu.sizes);
  REQUIRE(back->gpu.kernels.size() == 2);
  for (size_t k = 0; k < 2; ++k) {
    const GpuKernel &a = back->gpu.kernels[k], &b = manifest.gpu.kernels[k];
    CHECK(a.symbol == b.symbol);
    CHECK(a.phase == b.phase);
    REQUIRE(a.when.size() == b.when.size());
    for (size_t i = 0; i < a.when.size(); ++i) {
      checkEqual(a.when[i].expr, b.when[i].expr);
      CHECK(a.when[i].isEquality == b.when[i].isEquality);
    }
    REQUIRE(a.grid.size() == b.grid.size());
    for (size_t i = 0; i < a.grid.size(); ++i)
      checkEqual(a.grid[i], b.grid[i]);
    checkEqual(a.workspace, b.workspace);
    CHECK(a.takesWorkspace == b.takesWorkspace);
    CHECK(a.takesStatus == b.takesStatus);
    CHECK(a.takesPrinter == b.takesPrinter);
    CHECK(a.threads == b.threads);
    CHECK(a.sharedBytes == b.sharedBytes);
  }
  REQUIRE(back->gpu.prints.size() == 2);
  CHECK(back->gpu.prints[0].text == "a \"text\"\n");
  CHECK(back->gpu.prints[0].types == "i64 f32[64]");
  CHECK(manifestJson(*back) == manifestJson(manifest));
  CHECK(parseManifest(manifestJson(Manifest()))->gpu.kernels.empty());
}

TEST_CASE("malformed launches are refused by name", "[abi]") {
  const std::string json = manifestJson(sample());
  struct Case {
    const char *from, *to, *wrong;
  };
  for (const Case &c : std::initializer_list<Case>{
           {"\"s0 64 ^\"", "\"s0 64\"", "grid"},
           {"\"s0 64 ^\"", "\"64 ^\"", "grid"},
           {"\"s0 64 ^\"", "\"s3 64 ^\"", "grid"},
           {"\"s0 64 ^\"", "\"s-1 64 ^\"", "grid"},
           {"\"s0 64 ^\"", "\"s0  64 ^\"", "grid"},
           {"\"s0 64 ^\"", "\"s0 64 ?\"", "grid"},
           {"\"s0 64 ^\"", "\"99999999999999999999\"", "grid"},
           {"\"s0 64 ^\"", "\"\"", "grid"},
           {"\"s0 64 ^\"", "1", "grid"},
           {"\"s0 64 ^\"", "\"1\",\"2\",\"3\"", "grid"},
           {"\"s0 -64 +\"", "\"\"", "when/expr"},
           {"\"equality\":true", "\"equality\":1", "when/equality"},
           {"\"s2 4 *\"", "\"+\"", "workspace"},
           {"\"symbol\":\"rest\"", "\"symbol\":\"\"", "symbol"},
           {"\"phase\":1", "\"phase\":-1", "phase"},
           {"\"phase\":1", "\"phase\":1.5", "phase"},
           {"\"threads\":128", "\"threads\":0", "threads"},
           {"\"threads\":128", "\"threads\":65537", "threads"},
           {"\"threads\":128", "\"threads\":1025", "threads"},
           {"\"shared_bytes\":101376", "\"shared_bytes\":-1", "shared_bytes"},
           {"\"takes_status\":true", "\"takes_status\":null", "takes_status"},
           {"\"takes_printer\":true", "\"takes_printer\":1", "takes_printer"},
           {"\"types\":\"i64 f32[64]\"", "\"types\":3", "prints/types"},
           {"[3,-1]", "[3]", "sizes"},
           {"[3,-1]", "[-2,4]", "sizes"},
           {"[3,-1]", "3", "sizes"},
           {"\"gpu\":{", "\"gpu\":3,\"x\":{", "gpu"},
           {"\"gpu\":{", "\"gpu\":{\"kernels\":[],\"sizes\":[]},\"x\":{", "kernels"},
       }) {
    INFO(c.from << " -> " << c.to);
    std::string bad = json;
    size_t at = bad.find(c.from);
    REQUIRE(at != std::string::npos);
    bad.replace(at, std::string(c.from).size(), c.to);
    Expected<Manifest> parsed = parseManifest(bad);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.status().code() == StatusCode::InvalidArgument);
    CHECK(parsed.status().message().find(c.wrong) != std::string::npos);
  }
}

TEST_CASE("expressions that would need a deep stack are refused", "[abi]") {
  Manifest manifest = sample();
  auto isRefused = [&](size_t depth) {
    std::vector<LaunchExpr::Step> steps(depth, {Op::Constant, 1});
    steps.insert(steps.end(), depth - 1, {Op::Add, 0});
    manifest.gpu.kernels[0].grid = {LaunchExpr{steps}};
    return !parseManifest(manifestJson(manifest));
  };
  CHECK(isRefused(300));
  CHECK(isRefused(maxLaunchExprDepth + 1));
  CHECK_FALSE(isRefused(maxLaunchExprDepth));
}
