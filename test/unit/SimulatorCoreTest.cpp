// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The simulator's core: plain instructions, divergence, memory, and what its checks report.

#include "SimulatorKernel.h"

namespace tilejit::sim::test {

namespace {

const char *vectorAdd = R"(
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @add(ptr addrspace(1) %a, ptr addrspace(1) %b, ptr addrspace(1) %c, i32 %n) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %g = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %base = mul i32 %g, 64
  %i = add i32 %base, %t
  %in = icmp slt i32 %i, %n
  br i1 %in, label %body, label %end
body:
  %w = sext i32 %i to i64
  %pa = getelementptr float, ptr addrspace(1) %a, i64 %w
  %pb = getelementptr float, ptr addrspace(1) %b, i64 %w
  %pc = getelementptr float, ptr addrspace(1) %c, i64 %w
  %x = load float, ptr addrspace(1) %pa, align 4
  %y = load float, ptr addrspace(1) %pb, align 4
  %s = fadd float %x, %y
  store float %s, ptr addrspace(1) %pc, align 4
  br label %end
end:
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
)";

std::vector<float> ramp(size_t n, float step) {
  std::vector<float> values(n);
  for (size_t i = 0; i < n; ++i)
    values[i] = static_cast<float>(i) * step;
  return values;
}

} // namespace

TEST_CASE("a vector addition is right at ragged sizes", "[simulator]") {
  for (int n : {1, 31, 64, 65, 1000}) {
    Machine machine("sm_80", vectorAdd);
    float *a = machine.array(ramp(static_cast<size_t>(n), 1)), *b = machine.array(ramp(static_cast<size_t>(n), 2));
    float *c = machine.output<float>(static_cast<size_t>(n));
    Outcome outcome = machine.run("add", {static_cast<uint32_t>((n + 63) / 64), 1, 1}, {64, 1, 1}, a, b, c, n);
    CHECK(kinds(outcome).empty());
    for (int i = 0; i < n; ++i)
      REQUIRE(c[i] == 3.0f * static_cast<float>(i));
  }
}

TEST_CASE("an access past the end is reported with its place", "[simulator]") {
  Machine machine("sm_80", vectorAdd);
  float *a = machine.array(ramp(64, 1)), *b = machine.array(ramp(60, 1), "b");
  float *c = machine.output<float>(64);
  Outcome outcome = machine.run("add", {1, 1, 1}, {64, 1, 1}, a, b, c, 64);
  REQUIRE(kinds(outcome) == "bounds");
  CHECK(outcome.reports[0].count == 4);
  CHECK(outcome.reports[0].message.find("0 bytes past the end of b") != std::string::npos);
  CHECK(outcome.reports[0].message.find("lane 28 (thread 60)") != std::string::npos);
}

TEST_CASE("a read of what nobody wrote is reported", "[simulator]") {
  Machine machine("sm_80", vectorAdd);
  float *a = machine.array(ramp(64, 1)), *b = machine.output<float>(64), *c = machine.output<float>(64);
  CHECK(kinds(machine.run("add", {1, 1, 1}, {64, 1, 1}, a, b, c, 64)) == "uninitialized");
}

TEST_CASE("contiguous accesses touch the ideal number of sectors", "[simulator]") {
  Machine machine("sm_80", vectorAdd);
  float *a = machine.array(ramp(256, 1)), *b = machine.array(ramp(256, 1)), *c = machine.output<float>(256);
  Outcome outcome = machine.run("add", {4, 1, 1}, {64, 1, 1}, a, b, c, 256);
  CHECK(outcome.counters.sectors == 3 * 256 * 4 / 32);
  CHECK(outcome.counters.sectors == outcome.counters.sectorsIdeal);
  CHECK(outcome.counters.threadInstructions == 4 * 2 * 32 * (6 + 9 + 1));
}

TEST_CASE("undefined values may be moved, not branched on or used as addresses", "[simulator]") {
  auto kernel = [](const std::string &body) {
    return "target triple = \"nvptx64-nvidia-cuda\"\n"
           "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
           "define ptx_kernel void @k(ptr addrspace(1) %out) {\n  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
           "  %odd = trunc i32 %t to i1\n  %p = getelementptr i32, ptr addrspace(1) %out, i32 %t\n" +
           body + "\n}\n";
  };
  struct Case {
    const char *body, *reports;
  };
  for (const Case &c : {
           Case{"%v = select i1 %odd, i32 undef, i32 %t\n store i32 %v, ptr addrspace(1) %p\n ret void",
                "uninitialized"},
           Case{"%v = select i1 %odd, i32 undef, i32 %t\n store i32 %v, ptr addrspace(1) %p\n"
                "%w = load i32, ptr addrspace(1) %p\n ret void",
                "uninitialized uninitialized"},
           Case{"%v = select i1 %odd, i32 poison, i32 %t\n %c = icmp eq i32 %v, 4\n br i1 %c, label %a, label %b\n"
                "a: ret void\nb: ret void",
                "uninitialized"},
           Case{"%v = select i1 %odd, i32 poison, i32 %t\n %f = freeze i32 %v\n %c = icmp eq i32 %f, 4\n"
                "br i1 %c, label %a, label %b\na: ret void\nb: ret void",
                ""},
           Case{"%l = alloca [2 x i32]\n %e = getelementptr i32, ptr %l, i32 1\n store i32 5, ptr %e\n"
                "%v = load <2 x i32>, ptr %l\n %w = insertelement <2 x i32> %v, i32 7, i32 0\n"
                "store <2 x i32> %w, ptr %l\n %x = load i32, ptr %l\n store i32 %x, ptr addrspace(1) %p\n"
                "%y = load i32, ptr addrspace(1) %p\n ret void",
                ""},
           Case{"%v = insertelement <4 x i32> zeroinitializer, i32 5, i32 %t\n"
                "%x = extractelement <4 x i32> %v, i32 1\n %c = icmp eq i32 %x, 4\n"
                "br i1 %c, label %a, label %b\na: ret void\nb: ret void",
                "uninitialized"},
           // Of a vector's bits as others only those are undefined that come from an undefined element.
           Case{"%i = zext i32 %t to i64\n %v = insertelement <2 x i64> poison, i64 %i, i32 0\n"
                "%w = bitcast <2 x i64> %v to <4 x i32>\n %x = extractelement <4 x i32> %w, i32 1\n"
                "%c = icmp eq i32 %x, 4\n br i1 %c, label %a, label %b\na: ret void\nb: ret void",
                ""},
           Case{"%i = zext i32 %t to i64\n %v = insertelement <2 x i64> poison, i64 %i, i32 0\n"
                "%w = bitcast <2 x i64> %v to <4 x i32>\n %x = extractelement <4 x i32> %w, i32 2\n"
                "%c = icmp eq i32 %x, 4\n br i1 %c, label %a, label %b\na: ret void\nb: ret void",
                "uninitialized"},
           // A bit field: the first store of a bit reads what was never written.
           Case{"%l = alloca i32\n %v = load i32, ptr %l\n %w = and i32 %v, -2\n %x = or i32 %w, 1\n"
                "store i32 %x, ptr %l\n %y = load i32, ptr %l\n %z = and i32 %y, 1\n %c = icmp eq i32 %z, 0\n"
                "br i1 %c, label %a, label %b\na: ret void\nb: ret void",
                ""},
           Case{"%l = alloca i32\n %v = load i32, ptr %l\n %q = getelementptr i32, ptr addrspace(1) %out, i32 %v\n"
                "store i32 1, ptr addrspace(1) %q\n ret void",
                "uninitialized bounds"},
       }) {
    Machine machine("sm_80", kernel(c.body));
    INFO(c.body);
    CHECK(kinds(machine.run("k", {1, 1, 1}, {32, 1, 1}, machine.output<int>(32))) == c.reports);
  }
}

TEST_CASE("the system's part of shared memory comes before the kernel's own", "[simulator]") {
  const char *kernel = R"(
target triple = "nvptx64-nvidia-cuda"
@own = internal addrspace(3) global [4 x i32] undef, align 16
declare i64 @__nv_cvta_generic_to_shared_impl(ptr)
define ptx_kernel void @k(ptr addrspace(1) %out) {
  %begin = call i32 asm "mov.u32 $0, %reserved_smem_offset_begin;", "=r"()
  %end = call i32 asm "mov.u32 $0, %reserved_smem_offset_end;", "=r"()
  %generic = addrspacecast ptr addrspace(3) @own to ptr
  %own = call i64 @__nv_cvta_generic_to_shared_impl(ptr %generic)
  %narrow = trunc i64 %own to i32
  %p = getelementptr i32, ptr addrspace(1) %out, i32 1
  %q = getelementptr i32, ptr addrspace(1) %out, i32 2
  store i32 %begin, ptr addrspace(1) %out
  store i32 %end, ptr addrspace(1) %p
  store i32 %narrow, ptr addrspace(1) %q
  ret void
}
)";
  Machine machine("sm_80", kernel);
  int *out = machine.output<int>(3);
  CHECK(kinds(machine.run("k", {1, 1, 1}, {1, 1, 1}, out)).empty());
  CHECK(out[0] == 0);
  CHECK(out[1] == 1024);
  CHECK(out[2] == 1024);
}

TEST_CASE("what an intrinsic makes of undefined operands is defined", "[simulator]") {
  // Sums by DPP give an undefined old value where every lane has a source.
  const char *kernel = R"(
target triple = "amdgcn-amd-amdhsa"
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.update.dpp.i32(i32, i32, i32, i32, i32, i1)
define amdgpu_kernel void @k(ptr addrspace(1) %out) {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %s = call i32 @llvm.amdgcn.update.dpp.i32(i32 undef, i32 %t, i32 320, i32 15, i32 15, i1 false)
  %p = getelementptr i32, ptr addrspace(1) %out, i32 %t
  store i32 %s, ptr addrspace(1) %p
  ret void
}
)";
  Machine machine("gfx942", kernel);
  int *out = machine.output<int>(64);
  CHECK(kinds(machine.run("k", {1, 1, 1}, {64, 1, 1}, out)).empty());
  for (int lane = 0; lane < 64; ++lane) // A mirrored row of sixteen.
    CHECK(out[lane] == (lane ^ 15));
}

} // namespace tilejit::sim::test
