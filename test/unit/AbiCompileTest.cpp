// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Messages between libtilejit and the compiler: they come back as they were, and damaged ones are refused.

#include "tilejit/ABI/Compile.h"

#include <catch2/catch.hpp>

#include <random>

using namespace tilejit;
using namespace tilejit::abi;

namespace {

CompileRequest sampleRequest() {
  CompileRequest request;
  request.sourceKind = SourceKind::TileIR;
  request.emit = EmitKind::Asm;
  request.source = std::string("module {}\0", 10);
  request.sourceName = "k.mlir";
  request.target = "x86-64-v3";
  request.config = {{"bm", 64}, {"order", -1}};
  request.withBitcode = true;
  return request;
}

Manifest sampleManifest() {
  Manifest manifest;
  manifest.op = "matmul";
  manifest.target = "t";
  manifest.abiVersion = 1;
  OperandInfo a;
  a.name = "a";
  a.dtype = "f32";
  a.rank = 2;
  a.shape = {-1, 16};
  a.strides = {16, 1};
  a.align = 64;
  OperandInfo c;
  c.name = "c";
  c.dtype = "bf16";
  c.rank = -1;
  c.isOutput = true;
  manifest.operands = {a, c};
  manifest.hasLaunchRule = false;
  manifest.paths = {"matmul 6x64", "tail"};
  manifest.config = {{"bm", 6}};
  manifest.resources = {{"code_bytes", int64_t{1} << 40}};
  manifest.assertions = {"k.mlir:3:1: \"negative\""};
  manifest.packs = abi::PackedOperand{1, int64_t{1} << 33};
  manifest.reductionOrder = "k ascending";
  return manifest;
}

void checkEqual(const Manifest &a, const Manifest &b) {
  CHECK(manifestJson(a) == manifestJson(b));
  REQUIRE(a.operands.size() == b.operands.size());
  for (size_t i = 0; i < a.operands.size(); ++i) {
    CHECK(a.operands[i].name == b.operands[i].name);
    CHECK(a.operands[i].rank == b.operands[i].rank);
    CHECK(a.operands[i].isOutput == b.operands[i].isOutput);
    CHECK(a.operands[i].shape == b.operands[i].shape);
    CHECK(a.operands[i].strides == b.operands[i].strides);
    CHECK(a.operands[i].align == b.operands[i].align);
  }
  CHECK(a.hasLaunchRule == b.hasLaunchRule);
  CHECK(a.resources == b.resources);
  CHECK(a.assertions == b.assertions);
  REQUIRE(a.packs.has_value() == b.packs.has_value());
  if (a.packs) {
    CHECK(a.packs->operand == b.packs->operand);
    CHECK(a.packs->bytes == b.packs->bytes);
  }
}

} // namespace

TEST_CASE("requests come back", "[abi]") {
  CompileRequest request = sampleRequest();
  Expected<CompileRequest> back = decodeRequest(encode(request));
  REQUIRE(back);
  CHECK(back->sourceKind == request.sourceKind);
  CHECK(back->emit == request.emit);
  CHECK(back->source == request.source);
  CHECK(back->sourceName == request.sourceName);
  CHECK(back->target == request.target);
  CHECK(back->config == request.config);
  CHECK(back->withBitcode);
}

TEST_CASE("responses come back, with payload or with a status", "[abi]") {
  CompileResponse response;
  response.text = "text";
  response.payloads = {{PayloadKind::Ptx, ".version"}, {PayloadKind::Bitcode, std::string("BC\0\0", 4)}};
  response.manifest = sampleManifest();
  response.stagesMs = {{"parse", 0.5}, {"llvm", 12.25}};
  Expected<CompileResponse> back = decodeResponse(encode(response));
  REQUIRE(back);
  CHECK(back->status.isOk());
  CHECK(back->text == response.text);
  REQUIRE(back->payloads.size() == 2);
  for (size_t i = 0; i < 2; ++i) {
    CHECK(back->payloads[i].kind == response.payloads[i].kind);
    CHECK(back->payloads[i].bytes == response.payloads[i].bytes);
  }
  CHECK(back->stagesMs == response.stagesMs);
  checkEqual(back->manifest, response.manifest);

  CompileResponse refused;
  refused.status = Status(StatusCode::DoesNotFit, "needs 3 KiB")
                       .at("/inputs/a")
                       .withHint("smaller tiles")
                       .withDetail("one")
                       .withDetail("two");
  back = decodeResponse(encode(refused));
  REQUIRE(back);
  CHECK(back->status.code() == StatusCode::DoesNotFit);
  CHECK(back->status.message() == "needs 3 KiB");
  CHECK(back->status.pointer() == "/inputs/a");
  CHECK(back->status.hint() == "smaller tiles");
  CHECK(back->status.details() == std::vector<std::string>{"one", "two"});
}

TEST_CASE("cut and damaged messages are refused or mean something else, and never crash", "[abi]") {
  std::string request = encode(sampleRequest());
  CompileResponse full;
  full.status = Status(StatusCode::CompileFailed, "no").withDetail("d");
  full.manifest = sampleManifest();
  full.payloads = {{PayloadKind::Hsaco, "x"}};
  std::string response = encode(full);
  for (size_t length = 0; length < request.size(); ++length)
    REQUIRE_FALSE(decodeRequest(std::string_view(request).substr(0, length)));
  for (size_t length = 0; length < response.size(); ++length)
    REQUIRE_FALSE(decodeResponse(std::string_view(response).substr(0, length)));
  CHECK_FALSE(decodeRequest(request + "x"));
  CHECK_FALSE(decodeRequest(response));
  CHECK_FALSE(decodeResponse(request));
  uint32_t seed = std::random_device()();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 20'000; ++round) {
    std::string bad = round % 2 ? request : response;
    for (int i = 0; i < 3; ++i)
      bad[random() % bad.size()] = static_cast<char>(random());
    Expected<CompileRequest> first = decodeRequest(bad);
    Expected<CompileResponse> second = decodeResponse(bad);
    (void)first, (void)second;
  }
}

TEST_CASE("manifests: unknown keys pass, wrong types do not", "[abi]") {
  std::string json = manifestJson(sampleManifest());
  Expected<Manifest> back = parseManifest(json);
  REQUIRE(back);
  checkEqual(*back, sampleManifest());
  CHECK(parseManifest("{\"later\":1," + json.substr(1)));
  for (const char *bad : {"", "null", "{}", "[1]"})
    CHECK(parseManifest(bad).status().code() == StatusCode::InvalidArgument);
  std::string wrong = json;
  wrong.replace(wrong.find("\"abi\":1"), 7, "\"abi\":\"1\"");
  CHECK(parseManifest(wrong).status().message().find("abi") != std::string::npos);
  wrong = json;
  wrong.replace(wrong.find("\"rank\":2"), 8, "\"rank\":99999999999");
  CHECK(parseManifest(wrong).status().message().find("operands/rank") != std::string::npos);
}
