// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Kernels for every GPU target: they compile, ptxas and lld take them, and the numbers about them are there.

#include "GpuKernel.h"

#include <catch2/catch.hpp>

using namespace tilejit;
using namespace tilejit::test;
using abi::EmitKind;

namespace {

constexpr std::string_view vectorAdd = R"(
llvm.func @add(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %z: !llvm.ptr<1>, %n: i64) $kernel(256) {
  %thread = $thread
  %block = $block
  %size = arith.constant 256 : i32
  %first = arith.muli %block, %size : i32
  %at = arith.addi %first, %thread : i32
  %i = arith.extui %at : i32 to i64
  %inside = arith.cmpi slt, %i, %n : i64
  scf.if %inside {
    %px = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %py = llvm.getelementptr %y[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %pz = llvm.getelementptr %z[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %a = llvm.load %px : !llvm.ptr<1> -> f32
    %b = llvm.load %py : !llvm.ptr<1> -> f32
    %s = arith.addf %a, %b : f32
    llvm.store %s, %pz : f32, !llvm.ptr<1>
  }
  llvm.return
})";

/// Sums of 256 elements each: a tree in dynamic shared memory.
constexpr std::string_view blockSum = R"(
llvm.mlir.global external @dynamic_shared() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>
llvm.func @sum(%x: !llvm.ptr<1>, %z: !llvm.ptr<1>) $kernel(256) {
  %thread = $thread
  %block = $block
  %size = arith.constant 256 : i32
  %one = arith.constant 1 : i32
  %zero = arith.constant 0 : i32
  %first = arith.muli %block, %size : i32
  %at = arith.addi %first, %thread : i32
  %shared = llvm.mlir.addressof @dynamic_shared : !llvm.ptr<3>
  %px = llvm.getelementptr %x[%at] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  %mine = llvm.getelementptr %shared[%thread] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
  %a = llvm.load %px : !llvm.ptr<1> -> f32
  llvm.store %a, %mine : f32, !llvm.ptr<3>
  $barrier
  %half = arith.constant 128 : i32
  %left = scf.while (%distance = %half) : (i32) -> i32 {
    %more = arith.cmpi ugt, %distance, %zero : i32
    scf.condition(%more) %distance : i32
  } do {
  ^bb0(%distance: i32):
    %lower = arith.cmpi ult, %thread, %distance : i32
    scf.if %lower {
      %other = arith.addi %thread, %distance : i32
      %theirs = llvm.getelementptr %shared[%other] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
      %b = llvm.load %mine : !llvm.ptr<3> -> f32
      %c = llvm.load %theirs : !llvm.ptr<3> -> f32
      %s = arith.addf %b, %c : f32
      llvm.store %s, %mine : f32, !llvm.ptr<3>
    }
    $barrier
    %next = arith.shrui %distance, %one : i32
    scf.yield %next : i32
  }
  %isFirst = arith.cmpi eq, %thread, %zero : i32
  scf.if %isFirst {
    %total = llvm.load %shared : !llvm.ptr<3> -> f32
    %pz = llvm.getelementptr %z[%block] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    llvm.store %total, %pz : f32, !llvm.ptr<1>
  }
  llvm.return
})";

} // namespace

TEST_CASE("a vector addition and a sum through shared memory compile for every GPU target") {
  for (const TargetSpec &target : gpuTargets())
    for (std::string_view text : {vectorAdd, blockSum}) {
      GpuCompiled package = compileGpu(text, target, EmitKind::Package);
      INFO(target.name << ": " << package.errors);
      REQUIRE(package.ok);
      CHECK(package.warnings.empty());
      CHECK(package.result.payloads.at(0).bytes.size() > 200);
      auto &resources = package.result.resources;
      if (resources.count("registers") != 0) {
        CHECK(resources["registers"] > 0);
        CHECK(resources["spill_bytes"] == 0);
        CHECK(resources["stack_bytes"] == 0);
        CHECK(resources["code_bytes"] > 0);
        CHECK(resources["shared_bytes"] == 0);
      }
    }
}

TEST_CASE("GPU packages hold what was asked for, what a device loads first") {
  GpuCompiled ptx = compileGpu(vectorAdd, gpuTarget("sm_80"), EmitKind::Package, /*withBitcode=*/true);
  INFO(ptx.errors);
  REQUIRE(ptx.ok);
  bool hasCubin = ptx.result.payloads.size() == 3;
  REQUIRE(ptx.result.payloads.size() == (hasCubin ? 3 : 2));
  CHECK(ptx.result.payloads.front().kind == (hasCubin ? abi::PayloadKind::Cubin : abi::PayloadKind::Ptx));
  CHECK(ptx.result.payloads.back().kind == abi::PayloadKind::Bitcode);
  CHECK(ptx.result.payloads.back().bytes.starts_with("BC"));
  CHECK(ptx.result.payloads[hasCubin].bytes.find(".version 7.0") != std::string::npos);
  GpuCompiled hsaco = compileGpu(vectorAdd, gpuTarget("gfx942"), EmitKind::Package, /*withBitcode=*/true);
  REQUIRE(hsaco.result.payloads.size() == 2);
  CHECK(hsaco.result.payloads[0].kind == abi::PayloadKind::Hsaco);
  CHECK(hsaco.result.payloads[1].kind == abi::PayloadKind::Bitcode);
  CHECK(compileGpu(vectorAdd, gpuTarget("gfx942"), EmitKind::Object, true).result.payloads.size() == 1);
}

TEST_CASE("sums and products of GPU kernels stay two roundings") {
  constexpr std::string_view text = R"(
llvm.func @axpy(%x: !llvm.ptr<1>) $kernel(32) {
  %a = llvm.load %x : !llvm.ptr<1> -> f32
  %p = arith.mulf %a, %a : f32
  %s = arith.addf %p, %a : f32
  %q = arith.divf %s, %a : f32
  %r = math.sqrt %q : f32
  llvm.store %r, %x : f32, !llvm.ptr<1>
  llvm.return
})";
  GpuCompiled ptx = compileGpu(text, gpuTarget("sm_80"), EmitKind::Ptx);
  INFO(ptx.errors);
  REQUIRE(ptx.ok);
  INFO(ptx.result.text);
  for (const char *exact : {"mul.rn.f32", "add.rn.f32", "div.rn.f32", "sqrt.rn.f32"})
    CHECK(ptx.result.text.find(exact) != std::string::npos);
  CHECK(ptx.result.text.find(".ftz") == std::string::npos);
  GpuCompiled assembly = compileGpu(text, gpuTarget("gfx942"), EmitKind::Asm);
  INFO(assembly.errors);
  REQUIRE(assembly.ok);
  INFO(assembly.result.text);
  CHECK(assembly.result.text.find("v_div_fixup_f32") != std::string::npos);
}

TEST_CASE("what a chip lacks is refused with who has it") {
  auto refusal = [](std::string_view operation, const char *chip) {
    std::string text = "llvm.func @k(%p: !llvm.ptr<1>, %i: i32, %x: f32) $kernel(64) {\n" + std::string(operation) +
                       "\nllvm.return\n}";
    GpuCompiled compiled = compileGpu(text, gpuTarget(chip), EmitKind::Package);
    CHECK_FALSE(compiled.ok);
    return compiled.errors;
  };
  std::string_view redux = "%mask = arith.constant -1 : i32\n%r = nvvm.redux.sync add %i, %mask : i32 -> i32";
  CHECK(refusal(redux, "sm_75") == "'nvvm.redux.sync' does not exist on sm_75; sm_80 and newer have it\n");
  std::string_view dot =
      "%r = llvm.call_intrinsic \"llvm.amdgcn.sdot4\"(%i, %i, %i, %false) : (i32, i32, i32, i1) -> i32";
  std::string withFalse = "%false = arith.constant false\n" + std::string(dot);
  CHECK(refusal(withFalse, "gfx900") ==
        "'llvm.amdgcn.sdot4' does not exist on gfx900; gfx906 to gfx950, gfx1030 to gfx10ff have it\n");
  CHECK(refusal("nvvm.setmaxregister increase 40", "sm_90a") ==
        "'nvvm.setmaxregister' is not among the operations that kernels may use on sm_90a\n");
  CHECK(refusal("%r = llvm.intr.exp(%x) : (f32) -> f32\nllvm.store %r, %p : f32, !llvm.ptr<1>", "sm_80")
            .find("needs a library") != std::string::npos);
  CHECK(refusal("%r = llvm.call @f(%x) : (f32) -> f32\nllvm.return\n}\nllvm.func @f(f32) -> f32\n"
                "llvm.func @h() {",
                "gfx942")
            .find("declared and not defined") != std::string::npos);
}

TEST_CASE("places in the source reach the bitcode and change no code") {
  std::string_view text = R"(
llvm.func @k(%p: !llvm.ptr<1>) $kernel(32) {
  %a = llvm.load %p : !llvm.ptr<1> -> f32 loc("k.mlir":7:3)
  %s = arith.addf %a, %a : f32 loc("epilogue/1")
  llvm.store %s, %p : f32, !llvm.ptr<1> loc(fused["k.mlir":9:5])
  llvm.return
})";
  for (const char *chip : {"sm_80", "gfx942"}) {
    GpuCompiled ir = compileGpu(text, gpuTarget(chip), EmitKind::Llvm, /*withBitcode=*/true);
    INFO(ir.errors << ir.result.text);
    REQUIRE(ir.ok);
    for (const char *part :
         {"filename: \"k.mlir\"", "filename: \"/epilogue/1\"", "line: 7, column: 3", "line: 9, column: 5"})
      CHECK(ir.result.text.find(part) != std::string::npos);
    GpuCompiled with = compileGpu(text, gpuTarget(chip), EmitKind::Asm, true);
    GpuCompiled without = compileGpu(text, gpuTarget(chip), EmitKind::Asm, false);
    CHECK(with.result.text == without.result.text);
  }
}
