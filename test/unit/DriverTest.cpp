// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The driver: refusals name their place, emitted forms are what they claim, a back end that dies is an answer.

#include "tilejit/Driver/Driver.h"

#include "tilejit/ABI/KernelABI.h"

#include "llvm/Support/ErrorHandling.h"

#include <catch2/catch.hpp>

#include <cstdlib>

using namespace tilejit;
using namespace tilejit::abi;

namespace {

constexpr const char *softmax = R"({"tilejit": "1.0", "op": "softmax", "inputs": {"x": {"dtype": "f32",
  "shape": [4, 333]}}, "outputs": {"y": {"dtype": "f32", "shape": [4, 333]}}, "attributes": {"axis": 1}})";

constexpr const char *scaleFile = R"(tile.kernel @scale(%x: !tile.view<?xf32>, %y: !tile.view<?xf32>) {
  %i = tile.program_id 0
  %t = tile.load %x[%i] pad zero : !tile.view<?xf32> -> tensor<64xf32>
  %r = arith.addf %t, %t : tensor<64xf32>
  tile.store %r, %y[%i] : tensor<64xf32>, !tile.view<?xf32>
  tile.return
}
)";

CompileRequest request(std::string source, EmitKind emit = EmitKind::Package, const char *target = "native") {
  CompileRequest request;
  request.sourceKind = source[0] == '{' ? SourceKind::Description : SourceKind::TileIR;
  request.source = std::move(source);
  request.sourceName = request.sourceKind == SourceKind::TileIR ? "k.mlir" : "k.json";
  request.target = encodeTarget(*parseTarget(target));
  request.emit = emit;
  return request;
}

CompileResponse compileForCpu(const CompileRequest &request) {
  const Backend *const backends[] = {&cpuBackend()};
  return compile(request, backends);
}

bool contains(const std::string &text, std::string_view part) { return text.find(part) != std::string::npos; }

/// Ends every compile in its own way.
class BadBackend final : public Backend {
public:
  explicit BadBackend(void (*end)()) : end_(end) {}
  std::string_view name() const override { return "bad"; }
  bool accepts(const TargetSpec &) const override { return true; }
  void registerDialects(mlir::DialectRegistry &) const override {}
  mlir::FailureOr<BackendResult> compile(BackendJob) const override {
    end_();
    return mlir::failure();
  }

private:
  void (*end_)();
};

/// Answers for GPU targets with what it was asked.
class EchoBackend final : public Backend {
public:
  std::string_view name() const override { return "echo"; }
  bool accepts(const TargetSpec &target) const override { return target.isGpu(); }
  void registerDialects(mlir::DialectRegistry &) const override {}
  mlir::FailureOr<BackendResult> compile(BackendJob job) const override {
    BackendResult result;
    result.resources["config_keys"] = static_cast<int64_t>(job.config.size());
    if (isText(job.emit)) {
      result.text = emitKindName(job.emit);
      return result;
    }
    result.payloads = {{PayloadKind::Ptx, "ptx"}, {PayloadKind::Cubin, "cubin"}};
    if (job.withBitcode)
      result.payloads.push_back({PayloadKind::Bitcode, "BC"});
    GpuKernel kernel;
    kernel.symbol = "softmax";
    kernel.threads = 128;
    result.gpu.kernels.push_back(kernel);
    return result;
  }
};

CompileResponse compileForEcho(const CompileRequest &request) {
  EchoBackend echo;
  const Backend *const backends[] = {&cpuBackend(), &echo};
  return compile(request, backends);
}

} // namespace

TEST_CASE("a description becomes a payload and a manifest") {
  CompileResponse response = compileForCpu(request(softmax));
  INFO(response.status.message());
  REQUIRE(response.status);
  REQUIRE(response.payloads.size() == 1);
  CHECK(response.payloads[0].kind == abi::PayloadKind::Elf);
  CHECK(response.payloads[0].bytes.substr(0, 4) == "\x7f"
                                                   "ELF");
  const Manifest &manifest = response.manifest;
  CHECK(manifest.op == "softmax");
  CHECK(manifest.abiVersion == kernelAbiVersion);
  CHECK(manifest.target == hostTarget().keyText());
  REQUIRE(manifest.operands.size() == 2);
  CHECK(manifest.operands[0].name == "x");
  CHECK(manifest.operands[1].isOutput);
  CHECK_FALSE(manifest.paths.empty());
  CHECK(manifest.resources.at("code_bytes") > 0);
  CHECK(response.stagesMs.size() >= 5);
  CHECK(compileForCpu(request(softmax)).payloads.at(0).bytes == response.payloads[0].bytes);
}

TEST_CASE("what was compiled before does not show") {
  auto payload = [](std::string source) {
    CompileResponse response = compileForCpu(request(std::move(source), EmitKind::Object));
    return response.status.isOk() ? response.payloads.at(0).bytes : response.status.message();
  };
  std::string first = payload(softmax), scale = payload(scaleFile);
  CHECK(contains(payload("tile.kernel @k(%x: !tile.view<?xf32>) {\n  %i = arith.nothing\n}\n"), "arith.nothing"));
  CHECK(payload(softmax) == first);
  CHECK(payload(scaleFile) == scale);
}

TEST_CASE("text forms") {
  CHECK(contains(compileForCpu(request(softmax, EmitKind::Tile)).text, "tile.kernel"));
  // Needs no back end.
  CompileResponse forGpu = compileForCpu(request(softmax, EmitKind::Tile, "sm_80"));
  CHECK(forGpu.status);
  CHECK(contains(forGpu.text, "tile.hint"));
  CHECK(forGpu.manifest.config.contains("warps"));
  CHECK(contains(compileForCpu(request(softmax, EmitKind::Llvm)).text, "define"));
  CHECK(contains(compileForCpu(request(softmax, EmitKind::Asm)).text, "tilejit_run"));
  CHECK(contains(compileForCpu(request(softmax, EmitKind::Asm, "neoverse-v2")).text, "tilejit_run"));
}

TEST_CASE("a GPU back end's payloads, launch and text go through") {
  CompileRequest wanted = request(softmax, EmitKind::Package, "sm_80");
  CompileResponse response = compileForEcho(wanted);
  INFO(response.status.message());
  REQUIRE(response.status);
  REQUIRE(response.payloads.size() == 2);
  CHECK(response.payloads[1].kind == PayloadKind::Cubin);
  REQUIRE(response.manifest.gpu.kernels.size() == 1);
  CHECK(response.manifest.gpu.kernels[0].symbol == "softmax");
  CHECK(response.manifest.resources.at("config_keys") == static_cast<int64_t>(response.manifest.config.size()));
  wanted.withBitcode = true;
  CHECK(compileForEcho(wanted).payloads.size() == 3);
  CHECK(compileForEcho(request(softmax, EmitKind::Package, "sim:sm_80")).payloads.size() == 3);
  for (EmitKind kind : {EmitKind::TileGpu, EmitKind::Ptx, EmitKind::Llvm})
    CHECK(compileForEcho(request(softmax, kind, "sm_80")).text == emitKindName(kind));
}

TEST_CASE("forms that a target does not have are refused") {
  for (auto [kind, target] : {std::pair(EmitKind::TileGpu, "native"), std::pair(EmitKind::Ptx, "native"),
                              std::pair(EmitKind::Ptx, "gfx942")}) {
    CompileResponse response = compileForEcho(request(softmax, kind, target));
    CHECK(response.status.code() == StatusCode::InvalidArgument);
    CHECK(contains(response.status.message(), emitKindName(kind)));
    CHECK(contains(response.status.message(), target));
    CHECK(contains(response.status.hint(), "sm_80"));
  }
}

TEST_CASE("a target without a back end is refused") {
  CompileResponse response = compileForCpu(request(softmax, EmitKind::Package, "gfx942"));
  CHECK(response.status.code() == StatusCode::InvalidArgument);
  CHECK(contains(response.status.message(), "gfx942"));
}

TEST_CASE("a tile file describes its operands") {
  CompileResponse response = compileForCpu(request(scaleFile));
  INFO(response.status.message());
  REQUIRE(response.status);
  const Manifest &manifest = response.manifest;
  CHECK(manifest.op == "scale");
  CHECK_FALSE(manifest.hasLaunchRule);
  REQUIRE(manifest.operands.size() == 2);
  CHECK(manifest.operands[0].name == "x");
  CHECK(manifest.operands[0].dtype == "f32");
  CHECK(manifest.operands[0].rank == 1);
  CHECK_FALSE(manifest.operands[0].isOutput);
  CHECK(manifest.operands[1].isOutput);
}

TEST_CASE("what is wrong in a tile file is named with its place") {
  auto statusOf = [](std::string text) { return compileForCpu(request(std::move(text))).status; };
  Status syntax = statusOf("tile.kernel @k(%x: !tile.view<?xf32>) {\n  nonsense\n}\n");
  CHECK(syntax.code() == StatusCode::BadDescription);
  CHECK(contains(syntax.pointer(), "k.mlir:2:"));
  Status empty = statusOf("module {\n}\n");
  CHECK(contains(empty.message(), "at least one tile.kernel"));
  std::string function = "llvm.func @f()\n";
  Status foreign = statusOf(function + scaleFile);
  CHECK(contains(foreign.message(), "not a kernel"));
  CHECK(contains(foreign.pointer(), "k.mlir:1:"));
  std::string text = scaleFile;
  text.replace(text.find("arith.addf %t, %t"), 17, "math.acos %t");
  Status unknown = statusOf(text);
  CHECK(unknown.code() == StatusCode::CompileFailed);
  CHECK(contains(unknown.message(), "math.acos"));
  CHECK(contains(unknown.pointer(), "k.mlir:"));
  Status newer = statusOf("module attributes {tile.version = \"9.0\"} {\n" + std::string(scaleFile) + "}\n");
  CHECK(newer.code() == StatusCode::BadDescription);
  CHECK(contains(newer.message(), "9.0"));
}

TEST_CASE("requests that make no sense are refused") {
  CompileRequest config = request(scaleFile);
  config.config["bm"] = 4;
  CHECK(compileForCpu(config).status.code() == StatusCode::InvalidArgument);
  CompileRequest target = request(softmax);
  target.target = "native";
  CHECK(compileForCpu(target).status.code() == StatusCode::InvalidArgument);
  CHECK(compileForCpu(request("{}")).status.code() == StatusCode::BadDescription);
  CHECK(compile(request(softmax), {}).status.code() == StatusCode::InvalidArgument);
  const Backend *const backends[] = {&cpuBackend()};
  auto response = decodeResponse(compileEncoded("garbage", backends));
  REQUIRE(response);
  CHECK_FALSE(response->status.isOk());
}

TEST_CASE("a back end that dies is an answer, and the next compile works") {
  void (*const ends[])() = {[] { std::abort(); }, [] { llvm::report_fatal_error("Cannot select: this"); },
                            [] { *static_cast<volatile int *>(nullptr) = 0; }};
  for (auto end : ends) {
    BadBackend bad(end);
    const Backend *const backends[] = {&bad};
    auto response = decodeResponse(compileEncoded(encode(request(softmax)), backends));
    REQUIRE(response);
    CHECK(response->status.code() == StatusCode::CompileFailed);
    CHECK(contains(response->status.message(), "k.json"));
  }
  const Backend *const backends[] = {&cpuBackend()};
  auto response = decodeResponse(compileEncoded(encode(request(softmax)), backends));
  REQUIRE(response);
  CHECK(response->status);
}
