// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// AMD kernels around memory: what a kernel is started with, barriers with their fences, buffer resources and their
// range checks, loads to LDS, fat pointers, and inline assembly.

#include "SimulatorKernel.h"

#include <numeric>

using namespace tilejit::sim;
using namespace tilejit::sim::test;

namespace {

const std::string head =
    "target triple = \"amdgcn-amd-amdhsa\"\n"
    "declare i32 @llvm.amdgcn.workitem.id.x()\n"
    "declare i32 @llvm.amdgcn.workitem.id.y()\n"
    "declare i32 @llvm.amdgcn.workitem.id.z()\n"
    "declare i32 @llvm.amdgcn.workgroup.id.x()\n"
    "declare i32 @llvm.amdgcn.workgroup.id.y()\n"
    "declare i32 @llvm.amdgcn.workgroup.id.z()\n"
    "declare ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()\n"
    "declare ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()\n"
    "declare ptr addrspace(4) @llvm.amdgcn.kernarg.segment.ptr()\n"
    "declare void @llvm.amdgcn.s.barrier()\n"
    "declare void @llvm.amdgcn.s.barrier.signal(i32)\n"
    "declare void @llvm.amdgcn.s.barrier.wait(i16)\n"
    "declare void @llvm.amdgcn.s.waitcnt(i32)\n"
    "declare ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1), i16, i64, i32)\n"
    "@lds = internal addrspace(3) global [256 x i32] poison, align 16\n";

/// %p = pointer to element %t of an array of this type.
std::string at(const std::string &name, const std::string &array, const std::string &index, int space = 1) {
  return "  %" + name + " = getelementptr i32, ptr addrspace(" + std::to_string(space) + ") " + array + ", i32 %" +
         index + "\n";
}

std::vector<uint32_t> numbers(size_t count, uint32_t first = 0) {
  std::vector<uint32_t> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

/// A block writes its number to LDS, meets, and reads its neighbour's.
std::string exchange(const std::string &before, const std::string &meet, const std::string &after) {
  return head +
         "define amdgpu_kernel void @k(ptr addrspace(1) %d) {\n"
         "  %t = call i32 @llvm.amdgcn.workitem.id.x()\n" +
         at("own", "@lds", "t", 3) + "  store i32 %t, ptr addrspace(3) %own\n" + before + meet + after +
         "  %n = xor i32 %t, 64\n" + at("other", "@lds", "n", 3) + "  %v = load i32, ptr addrspace(3) %other\n" +
         at("pd", "%d", "t") + "  store i32 %v, ptr addrspace(1) %pd\n  ret void\n}\n";
}
const std::string release = "  fence syncscope(\"workgroup\") release\n";
const std::string acquire = "  fence syncscope(\"workgroup\") acquire\n";
const std::string barrier = "  call void @llvm.amdgcn.s.barrier()\n";

std::string runExchange(const std::string &chip, const std::string &ir) {
  Machine machine(chip, ir);
  uint32_t *d = machine.output<uint32_t>(128);
  std::string found = kinds(machine.run("k", {1, 1, 1}, {128, 1, 1}, d));
  if (found.empty())
    for (uint32_t i = 0; i < 128; ++i)
      CHECK(d[i] == (i ^ 64));
  return found;
}

} // namespace

TEST_CASE("AMD memory: numbers of work-items and groups", "[simulator][amd]") {
  std::string ir = head +
                   "define amdgpu_kernel void @k(ptr addrspace(1) %d) {\n"
                   "  %x = call i32 @llvm.amdgcn.workitem.id.x()\n  %y = call i32 @llvm.amdgcn.workitem.id.y()\n"
                   "  %z = call i32 @llvm.amdgcn.workitem.id.z()\n  %g = call i32 @llvm.amdgcn.workgroup.id.x()\n"
                   "  %h = call i32 @llvm.amdgcn.workgroup.id.y()\n  %i = call i32 @llvm.amdgcn.workgroup.id.z()\n"
                   "  %a = mul i32 %z, 5\n  %b = add i32 %a, %y\n  %c = mul i32 %b, 7\n  %l = add i32 %c, %x\n"
                   "  %e = mul i32 %i, 3\n  %f = add i32 %e, %h\n  %m = mul i32 %f, 2\n  %n = add i32 %m, %g\n"
                   "  %o = mul i32 %n, 70\n  %p = add i32 %o, %l\n" +
                   at("q", "%d", "p") + "  %k = mul i32 %p, 3\n  store i32 %k, ptr addrspace(1) %q\n  ret void\n}\n";
  for (const char *chip : {"gfx942", "gfx1100"}) {
    Machine machine(chip, ir);
    uint32_t *d = machine.output<uint32_t>(2 * 3 * 2 * 70);
    CHECK(kinds(machine.run("k", {2, 3, 2}, {7, 5, 2}, d)) == "");
    for (uint32_t i = 0; i < 840; ++i)
      CHECK(d[i] == 3 * i);
  }
}

TEST_CASE("AMD memory: hidden arguments, dispatch packet and kernel arguments", "[simulator][amd]") {
  auto load = [](const std::string &name, const std::string &base, int offset, const std::string &type) {
    return "  %p" + name + " = getelementptr i8, ptr addrspace(4) %" + base + ", i32 " + std::to_string(offset) +
           "\n  %" + name + " = load " + type + ", ptr addrspace(4) %p" + name + "\n";
  };
  std::string ir = head +
                   "define amdgpu_kernel void @k(ptr addrspace(1) %d, i32 %unused, i64 %wide) {\n"
                   "  %h = call ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()\n"
                   "  %s = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()\n"
                   "  %g = call ptr addrspace(4) @llvm.amdgcn.kernarg.segment.ptr()\n" +
                   load("cx", "h", 0, "i32") + load("cy", "h", 4, "i32") + load("sx", "h", 12, "i16") +
                   load("sz", "h", 16, "i16") + load("dim", "h", 64, "i16") + load("wx", "s", 4, "i16") +
                   load("gx", "s", 12, "i32") + load("arg", "g", 16, "i64");
  int place = 0;
  for (auto [name, bits] : {std::pair<const char *, int>{"cx", 32},
                            {"cy", 32},
                            {"sx", 16},
                            {"sz", 16},
                            {"dim", 16},
                            {"wx", 16},
                            {"gx", 32},
                            {"arg", 64}}) {
    std::string n = name;
    ir += "  %w" + n + " = " +
          (bits == 64 ? "add i64 %" + n + ", 0" : "zext i" + std::to_string(bits) + " %" + n + " to i64") + "\n  %q" +
          n + " = getelementptr i64, ptr addrspace(1) %d, i32 " + std::to_string(place++) + "\n  store i64 %w" + n +
          ", ptr addrspace(1) %q" + n + "\n";
  }
  Machine machine("gfx90a", ir + "  ret void\n}\n");
  uint64_t *d = machine.output<uint64_t>(8);
  // One lane of one group would do; all store the same values.
  CHECK(kinds(machine.run("k", {3, 2, 1}, {8, 1, 4}, d, 5, uint64_t(0x123456789))) == "");
  CHECK(std::vector<uint64_t>(d, d + 8) == std::vector<uint64_t>{3, 2, 8, 4, 3, 8, 24, 0x123456789});
}

TEST_CASE("AMD memory: barriers order what fences release and acquire", "[simulator][amd]") {
  for (const char *chip : {"gfx906", "gfx942", "gfx1100", "gfx1201"}) {
    CHECK(runExchange(chip, exchange(release, barrier, acquire)) == "");
    CHECK(runExchange(chip, exchange("", barrier, acquire)) == "race");
    CHECK(runExchange(chip, exchange(release, barrier, "")) == "race");
    CHECK(runExchange(chip, exchange(release, "", acquire)).find("race") != std::string::npos);
  }
}

TEST_CASE("AMD memory: the split barrier", "[simulator][amd]") {
  const std::string signal = "  call void @llvm.amdgcn.s.barrier.signal(i32 -1)\n",
                    wait = "  call void @llvm.amdgcn.s.barrier.wait(i16 -1)\n";
  CHECK(runExchange("gfx1201", exchange(release, signal + wait, acquire)) == "");
  CHECK(runExchange("gfx1201", exchange(signal + release, wait, acquire)) == "");
  CHECK(runExchange("gfx1201", exchange("", signal + wait, acquire)) == "race");
  CHECK(runExchange("gfx1201", exchange(release, wait, acquire)) == "barrier");
  CHECK(runExchange("gfx1201", exchange(release + signal, signal + wait, acquire)) == "barrier");
  Machine machine("gfx1100", exchange(release, signal + wait, acquire));
  CHECK(machine.tryRun("k", {1, 1, 1}, {64, 1, 1}, nullptr).status().message().find("gfx1100") != std::string::npos);
}

// --- Buffers
// -----------------------------------------------------------------------------------------------------------

namespace {

/// Copies through two resources of %n bytes (the output's of %m); lane t moves `type` at offset t * bytes + %o.
std::string bufferCopy(const std::string &type, const std::string &mangled, int bytes, int flags = 159744) {
  std::string rsrc = ", i32 " + std::to_string(flags) + ")\n";
  return head +
         "define amdgpu_kernel void @k(ptr addrspace(1) %a, ptr addrspace(1) %d, i64 %n, i64 %m, i32 %s) {\n"
         "  %t = call i32 @llvm.amdgcn.workitem.id.x()\n  %o = mul i32 %t, " +
         std::to_string(bytes) +
         "\n  %ra = call ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1) %a, i16 0, i64 %n" +
         rsrc + "  %rd = call ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1) %d, i16 0, i64 %m" +
         rsrc + "  %v = call " + type + " @llvm.amdgcn.raw.ptr.buffer.load." + mangled +
         "(ptr addrspace(8) %ra, i32 %o, i32 %s, i32 0)\n  call void @llvm.amdgcn.raw.ptr.buffer.store." + mangled +
         "(" + type + " %v, ptr addrspace(8) %rd, i32 %o, i32 0, i32 0)\n  ret void\n}\ndeclare " + type +
         " @llvm.amdgcn.raw.ptr.buffer.load." + mangled +
         "(ptr addrspace(8), i32, i32, i32)\n"
         "declare void @llvm.amdgcn.raw.ptr.buffer.store." +
         mangled + "(" + type + ", ptr addrspace(8), i32, i32, i32)\n";
}

} // namespace

TEST_CASE("AMD buffers: reads out of range give 0, writes there are dropped", "[simulator][amd]") {
  Machine machine("gfx942", bufferCopy("i32", "i32", 4));
  uint32_t *a = machine.array(numbers(64, 100)), *d = machine.array(std::vector<uint32_t>(64, 9));
  CHECK(kinds(machine.run("k", {1, 1, 1}, {64, 1, 1}, a, d, uint64_t(40), uint64_t(60), 0)) == "");
  for (uint32_t i = 0; i < 64; ++i)
    CHECK(d[i] == (i < 10 ? 100 + i : i < 15 ? 0 : 9));
  // A scalar offset counts in the check of GFX9.
  CHECK(kinds(machine.run("k", {1, 1, 1}, {64, 1, 1}, a, d, uint64_t(40), uint64_t(256), 8)) == "");
  for (uint32_t i = 0; i < 64; ++i)
    CHECK(d[i] == (i < 8 ? 102 + i : 0));
  // Records that promise more than there is.
  CHECK(kinds(machine.run("k", {1, 1, 1}, {64, 1, 1}, a, d, uint64_t(1024), uint64_t(256), 4)) == "bounds");
}

TEST_CASE("AMD buffers: resources whose addresses are not simulated are refused by name", "[simulator][amd]") {
  // The stride and the flags are constants of the kernel.
  auto firstReport = [](const char *chip, const char *stride, int flags) {
    std::string ir = bufferCopy("i32", "i32", 4, flags);
    for (size_t at = 0; (at = ir.find("i16 0,", at)) != std::string::npos; ++at)
      ir.replace(at, 6, std::string("i16 ") + stride + ",");
    Machine machine(chip, ir);
    uint32_t *a = machine.array(numbers(64, 100)), *d = machine.array(std::vector<uint32_t>(64, 9));
    Outcome outcome = machine.run("k", {1, 1, 1}, {64, 1, 1}, a, d, uint64_t(256), uint64_t(256), 0);
    return outcome.reports.empty() ? "" : outcome.reports[0].message;
  };
  CHECK(firstReport("gfx942", "-32752", 159744).find("swizzled buffer resource (bits 63:62)") != std::string::npos);
  CHECK(firstReport("gfx1100", "16400", 159744).find("swizzled buffer resource (bits 63:62)") != std::string::npos);
  CHECK(firstReport("gfx942", "16400", 159744).empty()); // There, it is about a cache.
  CHECK(firstReport("gfx942", "0", 159744 | 1 << 23).find("adds the thread's number") != std::string::npos);
  CHECK(firstReport("gfx942", "0", 159744 | 1 << 30).find("no buffer") != std::string::npos);
}

TEST_CASE("AMD buffers: each dword of a vector at the end is checked", "[simulator][amd]") {
  for (const char *chip : {"gfx90a", "gfx1100", "gfx1201"}) {
    Machine machine(chip, bufferCopy("<4 x i32>", "v4i32", 16, static_cast<int>(0x31014000)));
    uint32_t *a = machine.array(numbers(32, 100)), *d = machine.array(std::vector<uint32_t>(32, 9));
    CHECK(kinds(machine.run("k", {1, 1, 1}, {8, 1, 1}, a, d, uint64_t(24), uint64_t(128), 0)) == "");
    for (uint32_t i = 0; i < 32; ++i)
      CHECK(d[i] == (i < 6 ? 100 + i : 0));
    uint32_t *cut = machine.array(std::vector<uint32_t>(32, 9));
    CHECK(kinds(machine.run("k", {1, 1, 1}, {8, 1, 1}, a, cut, uint64_t(128), uint64_t(24), 0)) == "");
    for (uint32_t i = 0; i < 32; ++i)
      CHECK(cut[i] == (i < 6 ? 100 + i : 9));
  }
}

TEST_CASE("AMD buffers: structures with an index, resources as vectors", "[simulator][amd]") {
  std::string ir = head +
                   "define amdgpu_kernel void @k(ptr addrspace(1) %a, ptr addrspace(1) %d) {\n"
                   "  %t = call i32 @llvm.amdgcn.workitem.id.x()\n  %b = ptrtoint ptr addrspace(1) %a to i64\n"
                   "  %l = trunc i64 %b to i32\n  %u = lshr i64 %b, 32\n  %h = trunc i64 %u to i32\n"
                   "  %hs = or i32 %h, 524288\n" // stride 8
                   "  %r0 = insertelement <4 x i32> zeroinitializer, i32 %l, i32 0\n"
                   "  %r1 = insertelement <4 x i32> %r0, i32 %hs, i32 1\n"
                   "  %r2 = insertelement <4 x i32> %r1, i32 5, i32 2\n"
                   "  %r3 = insertelement <4 x i32> %r2, i32 159744, i32 3\n"
                   "  %v = call i32 @llvm.amdgcn.struct.buffer.load.i32(<4 x i32> %r3, i32 %t, i32 4, i32 0, i32 0)\n" +
                   at("p", "%d", "t") +
                   "  store i32 %v, ptr addrspace(1) %p\n  ret void\n}\n"
                   "declare i32 @llvm.amdgcn.struct.buffer.load.i32(<4 x i32>, i32, i32, i32, i32)\n";
  Machine machine("gfx90a", ir);
  uint32_t *d = machine.output<uint32_t>(16);
  CHECK(kinds(machine.run("k", {1, 1, 1}, {16, 1, 1}, machine.array(numbers(10, 100)), d)) == "");
  for (uint32_t i = 0; i < 16; ++i)
    CHECK(d[i] == (i < 5 ? 101 + 2 * i : 0));
}

TEST_CASE("AMD buffers: atomics", "[simulator][amd]") {
  std::string ir =
      head +
      "define amdgpu_kernel void @k(ptr addrspace(1) %a, ptr addrspace(1) %d) {\n"
      "  %t = call i32 @llvm.amdgcn.workitem.id.x()\n"
      "  %r = call ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1) %a, i16 0, i64 16, i32 0)\n"
      "  %q = and i32 %t, 7\n  %o = mul i32 %q, 4\n"
      "  %v = call i32 @llvm.amdgcn.raw.ptr.buffer.atomic.add.i32(i32 %t, ptr addrspace(8) %r, i32 %o, i32 0, i32 "
      "0)\n" +
      at("p", "%d", "t") +
      "  store i32 %v, ptr addrspace(1) %p\n  ret void\n}\n"
      "declare i32 @llvm.amdgcn.raw.ptr.buffer.atomic.add.i32(i32, ptr addrspace(8), i32, i32, i32)\n";
  Machine machine("gfx942", ir);
  uint32_t *a = machine.array(numbers(8, 50)), *d = machine.output<uint32_t>(64);
  CHECK(kinds(machine.run("k", {1, 1, 1}, {64, 1, 1}, a, d)) == "");
  for (uint32_t q = 0; q < 8; ++q) {
    uint32_t sum = 50 + q;
    for (uint32_t t = q; t < 64; t += 8) {
      CHECK(d[t] == (q < 4 ? sum : 0));
      sum += t;
    }
    CHECK(a[q] == (q < 4 ? sum : 50 + q));
  }
}

TEST_CASE("AMD buffers: fat pointers are lowered", "[simulator][amd]") {
  std::string ir =
      "target triple = \"amdgcn-amd-amdhsa\"\n"
      "define amdgpu_kernel void @k(ptr addrspace(1) %a, ptr addrspace(1) %d) {\n"
      "  %t = call i32 @llvm.amdgcn.workitem.id.x()\n"
      "  %r = call ptr addrspace(7) @llvm.amdgcn.make.buffer.rsrc.p7.p1(ptr addrspace(1) %a, i16 0, i64 40, "
      "i32 159744)\n"
      "  %g = getelementptr i32, ptr addrspace(7) %r, i32 %t\n  %v = load i32, ptr addrspace(7) %g\n" +
      at("p", "%d", "t") +
      "  store i32 %v, ptr addrspace(1) %p\n  ret void\n}\n"
      "declare i32 @llvm.amdgcn.workitem.id.x()\n"
      "declare ptr addrspace(7) @llvm.amdgcn.make.buffer.rsrc.p7.p1(ptr addrspace(1), "
      "i16, i64, i32)\n";
  Machine machine("gfx950", ir);
  uint32_t *d = machine.output<uint32_t>(64);
  CHECK(kinds(machine.run("k", {1, 1, 1}, {64, 1, 1}, machine.array(numbers(64, 100)), d)) == "");
  for (uint32_t i = 0; i < 64; ++i)
    CHECK(d[i] == (i < 10 ? 100 + i : 0));
}

// --- Loads to LDS
// --------------------------------------------------------------------------------------------------------

namespace {

/// Two loads to LDS of 64 dwords each, a wait, and a read of the first one's by the same wave or (far) another.
std::string loadToLds(const std::string &wait, bool second, bool far) {
  std::string ir =
      head +
      "define amdgpu_kernel void @k(ptr addrspace(1) %a, ptr addrspace(1) %d) {\n"
      "  %t = call i32 @llvm.amdgcn.workitem.id.x()\n  %w = lshr i32 %t, 6\n  %f = mul i32 %w, 64\n" +
      at("pa", "%a", "t") + at("base", "@lds", "f", 3) +
      "  call void @llvm.amdgcn.global.load.lds(ptr addrspace(1) %pa, ptr addrspace(3) %base, i32 4, i32 0, "
      "i32 0)\n";
  if (second)
    ir +=
        "  %g = add i32 %f, 128\n" + at("late", "@lds", "g", 3) +
        "  call void @llvm.amdgcn.global.load.lds(ptr addrspace(1) %pa, ptr addrspace(3) %late, i32 4, i32 0, i32 0)\n";
  ir += wait + release + barrier + acquire;
  ir += std::string("  %n = xor i32 %t, ") + (far ? "64" : "1") + "\n" + at("ps", "@lds", "n", 3) +
        "  %v = load i32, ptr addrspace(3) %ps\n" + at("pd", "%d", "t") +
        "  store i32 %v, ptr addrspace(1) %pd\n  ret void\n}\n"
        "declare void @llvm.amdgcn.global.load.lds(ptr addrspace(1), ptr addrspace(3), i32, i32, i32)\n";
  return ir;
}

} // namespace

TEST_CASE("AMD memory: loads to LDS arrive at the wait", "[simulator][amd]") {
  auto run = [](const std::string &wait, bool second, bool far) {
    Machine machine("gfx942", loadToLds(wait, second, far));
    uint32_t *d = machine.output<uint32_t>(128);
    std::string found = kinds(machine.run("k", {1, 1, 1}, {128, 1, 1}, machine.array(numbers(128, 100)), d));
    if (found.empty())
      for (uint32_t i = 0; i < 128; ++i)
        CHECK(d[i] == 100 + (i ^ (far ? 64 : 1)));
    return found;
  };
  auto wait = [](int left) {
    return "  call void @llvm.amdgcn.s.waitcnt(i32 " + std::to_string(0x3f70 | left) + ")\n";
  };
  for (bool far : {false, true}) {
    CHECK(run(wait(0), false, far) == "");
    CHECK(run(wait(1), true, far) == "");
    CHECK(run(wait(1), false, far) == "async");
    CHECK(run(wait(2), true, far) == "async");
    CHECK(run("", false, far) == "async");
  }
  CHECK(run("  call void asm sideeffect \"s_waitcnt vmcnt(0)\", \"\"()\n", false, true) == "");
  CHECK(run("  call void asm sideeffect \"s_waitcnt lgkmcnt(0)\", \"\"()\n", false, true) == "async");
}

// --- Assembly
// ------------------------------------------------------------------------------------------------------------

TEST_CASE("AMD assembly: vector arithmetic, barriers and traps", "[simulator][amd]") {
  std::string ir = head +
                   "define amdgpu_kernel void @k(ptr addrspace(1) %d) {\n"
                   "  %t = call i32 @llvm.amdgcn.workitem.id.x()\n"
                   "  %u = call i32 asm \"v_lshlrev_b32 $0, 2, $1 ; times four\\0Av_add3_u32 $0, $0, $1, 0x10\", "
                   "\"=&v,v\"(i32 %t)\n"
                   "  %v = call i32 asm sideeffect \"s_nop 0\", \"=v,0\"(i32 %u)\n" +
                   at("p", "%d", "t") +
                   "  store i32 %v, ptr addrspace(1) %p\n"
                   "  call void asm sideeffect \"s_waitcnt vmcnt(0) lgkmcnt(0)\\0As_barrier\", \"~{memory}\"()\n"
                   "  ret void\n}\n";
  Machine machine("gfx942", ir);
  uint32_t *d = machine.output<uint32_t>(64);
  CHECK(kinds(machine.run("k", {1, 1, 1}, {64, 1, 1}, d)) == "");
  for (uint32_t i = 0; i < 64; ++i)
    CHECK(d[i] == 5 * i + 16);

  Machine trapped("gfx942", head + "define amdgpu_kernel void @k() {\n  call void asm sideeffect \"s_trap 2\", \"\"()\n"
                                   "  ret void\n}\n");
  CHECK(kinds(trapped.run("k", {1, 1, 1}, {64, 1, 1})) == "trap");

  Machine unknown("gfx942", head +
                                "define amdgpu_kernel void @k() {\n  call void asm sideeffect \"v_frob_b32 v0, v1\", "
                                "\"\"()\n  ret void\n}\n");
  CHECK(unknown.tryRun("k", {1, 1, 1}, {64, 1, 1}).status().message().find("v_frob_b32") != std::string::npos);
}

TEST_CASE("AMD memory: unsupported intrinsics are named", "[simulator][amd]") {
  Machine machine("gfx942", head +
                                "define amdgpu_kernel void @k() {\n  call void @llvm.amdgcn.ds.gws.init(i32 0, i32 0)\n"
                                "  ret void\n}\ndeclare void @llvm.amdgcn.ds.gws.init(i32, i32)\n");
  CHECK(machine.tryRun("k", {1, 1, 1}, {64, 1, 1}).status().message().find("llvm.amdgcn.ds.gws.init") !=
        std::string::npos);
}
