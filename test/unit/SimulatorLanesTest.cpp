// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What the lanes of an NVIDIA warp and the threads of a block do together: special registers, shuffles, votes, matches,
// reductions, elections, barriers, fences; as intrinsics and as assembly, right and wrong.

#include "SimulatorKernel.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <map>

namespace tilejit::sim::test {

namespace {

/// A kernel that stores an i32 of each thread: `body` computes %r from %t (thread) and %x (its element of an input).
std::string kernelOf(const std::string &body, const std::string &declarations = "") {
  return "target triple = \"nvptx64-nvidia-cuda\"\n"
         "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n" +
         declarations +
         "define ptx_kernel void @k(ptr addrspace(1) %in, ptr addrspace(1) %out) {\n"
         "  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
         "  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %t\n"
         "  %x = load i32, ptr addrspace(1) %pi\n" +
         body +
         "  %po = getelementptr i32, ptr addrspace(1) %out, i32 %t\n"
         "  store i32 %r, ptr addrspace(1) %po\n"
         "  ret void\n}\n";
}

using Result = std::vector<uint32_t>;

Result inputOf(size_t n) {
  Result input(n);
  for (size_t i = 0; i < n; ++i)
    input[i] = static_cast<uint32_t>(i * i * 2654435761u >> 7);
  return input;
}

struct Ran {
  Result output;
  std::string reports;
};

Ran runKernel(const std::string &ir, uint32_t threads = 32, const std::string &chip = "sm_90", Result input = {}) {
  if (input.empty())
    input = inputOf(threads);
  Machine machine(chip, ir);
  auto *in = machine.array(input);
  auto *out = machine.array(Result(threads, 0xeeeeeeee));
  Outcome outcome = machine.run("k", {1, 1, 1}, {threads, 1, 1}, in, out);
  return {Result(out, out + threads), kinds(outcome)};
}

void expectEach(const std::string &ir, const std::function<uint32_t(uint32_t, const Result &)> &expected,
                uint32_t threads = 32, Result input = {}) {
  INFO(ir);
  if (input.empty())
    input = inputOf(threads);
  Ran ran = runKernel(ir, threads, "sm_90", input);
  REQUIRE(ran.reports.empty());
  for (uint32_t l = 0; l < threads; ++l) {
    INFO("thread " << l);
    REQUIRE(ran.output[l] == expected(l, input));
  }
}

/// Lane that a shuffle reads, in the words of the PTX ISA.
struct Source {
  uint32_t lane;
  bool valid;
};
Source sourceOf(const std::string &mode, uint32_t lane, uint32_t b, uint32_t c) {
  uint32_t bval = b & 31, cval = c & 31, mask = c >> 8 & 31;
  uint32_t maxLane = (lane & mask) | (cval & ~mask), minLane = lane & mask;
  int j = static_cast<int>(lane);
  bool p = false;
  if (mode == "up") {
    j -= static_cast<int>(bval);
    p = j >= static_cast<int>(maxLane);
  } else if (mode == "down") {
    j += static_cast<int>(bval);
    p = j <= static_cast<int>(maxLane);
  } else if (mode == "bfly") {
    j ^= static_cast<int>(bval);
    p = j <= static_cast<int>(maxLane);
  } else {
    j = static_cast<int>(minLane | (bval & ~mask));
    p = j <= static_cast<int>(maxLane);
  }
  return {p ? static_cast<uint32_t>(j) : lane, p};
}

std::string number(uint32_t value) { return std::to_string(static_cast<int32_t>(value)); }

} // namespace

TEST_CASE("shuffles read the lanes that the ISA names", "[simulator][lanes]") {
  for (const char *mode : {"up", "down", "bfly", "idx"})
    for (uint32_t b : {0u, 1u, 3u, 8u, 16u, 31u})
      for (uint32_t c : {0u, 31u, 0x181fu, 0x1c03u, 0x1807u, 0x1e1fu}) {
        auto expected = [&](uint32_t lane, const Result &x) {
          Source source = sourceOf(mode, lane, b, c);
          return x[source.lane] * 2 + source.valid;
        };
        std::string name = std::string("@llvm.nvvm.shfl.sync.") + mode + ".i32p";
        expectEach(kernelOf("  %s = call {i32, i1} " + name + "(i32 -1, i32 %x, i32 " + number(b) + ", i32 " +
                                number(c) +
                                ")\n  %v = extractvalue {i32, i1} %s, 0\n  %p = extractvalue {i32, i1} %s, 1\n"
                                "  %z = zext i1 %p to i32\n  %d = shl i32 %v, 1\n  %r = add i32 %d, %z\n",
                            "declare {i32, i1} " + name + "(i32, i32, i32, i32)\n"),
                   expected);
        expectEach(kernelOf(std::string("  %s = call {i32, i32} asm \"{ .reg .pred p; shfl.sync.") + mode +
                            ".b32 $0|p, $2, $3, $4, -1; selp.u32 $1, 1, 0, p; }\", \"=r,=r,r,r,r\"(i32 %x, i32 " +
                            number(b) + ", i32 " + number(c) +
                            ")\n  %v = extractvalue {i32, i32} %s, 0\n  %z = extractvalue {i32, i32} %s, 1\n"
                            "  %d = shl i32 %v, 1\n  %r = add i32 %d, %z\n"),
                   expected);
      }
}

TEST_CASE("a shuffle of floats keeps their bits, and lanes may read different lanes", "[simulator][lanes]") {
  expectEach(kernelOf("  %f = bitcast i32 %x to float\n  %j = sub i32 31, %t\n"
                      "  %s = call float @llvm.nvvm.shfl.sync.idx.f32(i32 -1, float %f, i32 %j, i32 31)\n"
                      "  %r = bitcast float %s to i32\n",
                      "declare float @llvm.nvvm.shfl.sync.idx.f32(i32, float, i32, i32)\n"),
             [](uint32_t lane, const Result &x) { return x[31 - lane]; });
}

TEST_CASE("votes, matches and reductions over the member mask", "[simulator][lanes]") {
  const std::string odd = "  %a = and i32 %x, 1\n  %p = icmp ne i32 %a, 0\n";
  auto ballot = [](const Result &x) {
    uint32_t mask = 0;
    for (uint32_t l = 0; l < 32; ++l)
      mask |= (x[l] & 1) << l;
    return mask;
  };
  expectEach(kernelOf(odd + "  %r = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %p)\n",
                      "declare i32 @llvm.nvvm.vote.ballot.sync(i32, i1)\n"),
             [&](uint32_t, const Result &x) { return ballot(x); });
  expectEach(kernelOf("  %a = and i32 %x, 1\n  %r = call i32 asm \"{ .reg .pred q; setp.ne.u32 q, $1, 0; "
                      "vote.sync.ballot.b32 $0, !q, -1; }\", \"=r,r\"(i32 %a)\n"),
             [&](uint32_t, const Result &x) { return ~ballot(x); });
  struct Quantifier {
    const char *name;
    std::function<bool(uint32_t)> holds;
  };
  for (const Quantifier &q :
       {Quantifier{"all", [](uint32_t m) { return m == ~0u; }}, Quantifier{"any", [](uint32_t m) { return m != 0; }},
        Quantifier{"uni", [](uint32_t m) { return m == 0 || m == ~0u; }}})
    for (const Result &input : {inputOf(32), Result(32, 2), Result(32, 3)}) {
      std::string name = std::string("@llvm.nvvm.vote.") + q.name + ".sync";
      expectEach(
          kernelOf(odd + "  %v = call i1 " + name + "(i32 -1, i1 %p)\n  %r = zext i1 %v to i32\n",
                   "declare i1 " + name + "(i32, i1)\n"),
          [&](uint32_t, const Result &x) { return q.holds(ballot(x)); }, 32, input);
    }

  Result few(32);
  for (uint32_t l = 0; l < 32; ++l)
    few[l] = l % 5;
  auto same = [](uint32_t lane, const Result &x) {
    uint32_t mask = 0;
    for (uint32_t l = 0; l < 32; ++l)
      mask |= uint32_t(x[l] == x[lane]) << l;
    return mask;
  };
  expectEach(kernelOf("  %r = call i32 @llvm.nvvm.match.any.sync.i32(i32 -1, i32 %x)\n",
                      "declare i32 @llvm.nvvm.match.any.sync.i32(i32, i32)\n"),
             same, 32, few);
  expectEach(kernelOf("  %w = zext i32 %x to i64\n  %h = shl i64 %w, 40\n"
                      "  %r = call i32 asm \"match.any.sync.b64 $0, $1, -1;\", \"=r,l\"(i64 %h)\n"),
             same, 32, few);
  for (const Result &input : {few, Result(32, 9)})
    expectEach(
        kernelOf("  %s = call {i32, i1} @llvm.nvvm.match.all.sync.i32p(i32 -1, i32 %x)\n"
                 "  %m = extractvalue {i32, i1} %s, 0\n  %p = extractvalue {i32, i1} %s, 1\n"
                 "  %z = zext i1 %p to i32\n  %r = xor i32 %m, %z\n",
                 "declare {i32, i1} @llvm.nvvm.match.all.sync.i32p(i32, i32)\n"),
        [](uint32_t, const Result &x) { return x[0] == x[1] ? ~0u ^ 1 : 0; }, 32, input);
  // Lanes that agree reduce among themselves: sets found by match.any.
  expectEach(
      kernelOf("  %m = call i32 @llvm.nvvm.match.any.sync.i32(i32 -1, i32 %x)\n"
               "  %r = call i32 @llvm.nvvm.redux.sync.add(i32 %t, i32 %m)\n",
               "declare i32 @llvm.nvvm.match.any.sync.i32(i32, i32)\n"
               "declare i32 @llvm.nvvm.redux.sync.add(i32, i32)\n"),
      [&](uint32_t lane, const Result &x) {
        uint32_t sum = 0;
        for (uint32_t l = 0; l < 32; ++l)
          sum += same(lane, x) >> l & 1 ? l : 0;
        return sum;
      },
      32, few);
}

TEST_CASE("every reduction of redux.sync", "[simulator][lanes]") {
  using Combine = std::function<uint32_t(uint32_t, uint32_t)>;
  auto lower = [](uint32_t a, uint32_t b) { return std::bit_cast<int32_t>(a) < std::bit_cast<int32_t>(b); };
  struct Row {
    const char *intrinsic, *assembly;
    Combine combine;
  };
  const Row rows[] = {{"add", "add.u32", [](uint32_t a, uint32_t b) { return a + b; }},
                      {"min", "min.s32", [=](uint32_t a, uint32_t b) { return lower(a, b) ? a : b; }},
                      {"max", "max.s32", [=](uint32_t a, uint32_t b) { return lower(a, b) ? b : a; }},
                      {"umin", "min.u32", [](uint32_t a, uint32_t b) { return std::min(a, b); }},
                      {"umax", "max.u32", [](uint32_t a, uint32_t b) { return std::max(a, b); }},
                      {"and", "and.b32", [](uint32_t a, uint32_t b) { return a & b; }},
                      {"or", "or.b32", [](uint32_t a, uint32_t b) { return a | b; }},
                      {"xor", "xor.b32", [](uint32_t a, uint32_t b) { return a ^ b; }}};
  Result input(32);
  for (uint32_t l = 0; l < 32; ++l)
    input[l] = 0x9e3779b9u * (l + 1) | 0x100;
  for (const Row &row : rows) {
    auto expected = [&](uint32_t, const Result &x) {
      uint32_t total = x[0];
      for (uint32_t l = 1; l < 32; ++l)
        total = row.combine(total, x[l]);
      return total;
    };
    std::string name = std::string("@llvm.nvvm.redux.sync.") + row.intrinsic;
    expectEach(kernelOf("  %r = call i32 " + name + "(i32 %x, i32 -1)\n", "declare i32 " + name + "(i32, i32)\n"),
               expected, 32, input);
    expectEach(kernelOf(std::string("  %r = call i32 asm \"redux.sync.") + row.assembly +
                        " $0, $1, -1;\", \"=r,r\"(i32 %x)\n"),
               expected, 32, input);
  }
}

TEST_CASE("one lane is elected", "[simulator][lanes]") {
  expectEach(kernelOf("  %s = call {i32, i1} @llvm.nvvm.elect.sync(i32 -1)\n"
                      "  %l = extractvalue {i32, i1} %s, 0\n  %p = extractvalue {i32, i1} %s, 1\n"
                      "  %z = zext i1 %p to i32\n  %d = shl i32 %l, 1\n  %r = add i32 %d, %z\n",
                      "declare {i32, i1} @llvm.nvvm.elect.sync(i32)\n"),
             [](uint32_t lane, const Result &) { return uint32_t(lane == 0); });
  expectEach(
      kernelOf("  %r = call i32 asm \"{ .reg .pred p; elect.sync _|p, -1; selp.u32 $0, 7, 1, p; }\", \"=r\"()\n"),
      [](uint32_t lane, const Result &) { return lane == 0 ? 7u : 1u; });
}

TEST_CASE("lanes of a branch work for themselves", "[simulator][lanes]") {
  expectEach(kernelOf("  %c = icmp ult i32 %t, 12\n  br i1 %c, label %low, label %high\n"
                      "low:\n  %a = call i32 @llvm.nvvm.redux.sync.add(i32 %t, i32 4095)\n"
                      "  %m1 = call i32 @llvm.nvvm.activemask()\n  %a1 = add i32 %a, %m1\n  br label %join\n"
                      "high:\n  %b = call i32 @llvm.nvvm.redux.sync.add(i32 %t, i32 -4096)\n  br label %join\n"
                      "join:\n  %r = phi i32 [%a1, %low], [%b, %high]\n",
                      "declare i32 @llvm.nvvm.redux.sync.add(i32, i32)\ndeclare i32 @llvm.nvvm.activemask()\n"),
             [](uint32_t lane, const Result &) { return lane < 12 ? 66u + 0xfff : 496u - 66u; });
}

TEST_CASE("wrong member masks and missing lanes are reported", "[simulator][lanes]") {
  const std::string redux = "declare i32 @llvm.nvvm.redux.sync.add(i32, i32)\n";
  // The mask names all lanes; half of them are elsewhere, waiting. (Lanes that have left are not waited for.)
  const std::string barrier = "declare void @llvm.nvvm.barrier.cta.sync.all(i32)\n";
  const std::string half = "  %c = icmp ult i32 %t, 16\n  br i1 %c, label %low, label %join\n"
                           "low:\n  %a = call i32 @llvm.nvvm.redux.sync.add(i32 1, i32 -1)\n  br label %join\n"
                           "join:\n  %r = phi i32 [%a, %low], [0, %0]\n";
  CHECK(runKernel(kernelOf(half + "  call void @llvm.nvvm.barrier.cta.sync.all(i32 0)\n", redux + barrier)).reports ==
        "divergence");
  Ran left = runKernel(kernelOf(half, redux));
  CHECK(left.reports.empty());
  CHECK(left.output[15] == 16);
  // A lane that its mask does not name.
  CHECK(runKernel(kernelOf("  %r = call i32 @llvm.nvvm.redux.sync.add(i32 %t, i32 65535)\n", redux)).reports ==
        "divergence");
  // A predicate that holds for some.
  CHECK(runKernel(kernelOf("  %r = call i32 asm \"{ .reg .pred p; setp.lt.u32 p, $1, 9; mov.u32 $0, 0; @p "
                           "redux.sync.add.s32 $0, $1, -1; }\", \"=r,r\"(i32 %t)\n"))
            .reports == "divergence");
  // A butterfly out of the lanes that take part; by distance, the lanes past the end are the program's business.
  const std::string shuffles = "declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32, i32, i32, i32)\n"
                               "declare i32 @llvm.nvvm.shfl.sync.down.i32(i32, i32, i32, i32)\n";
  CHECK(runKernel(kernelOf("  %r = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %x, i32 16, i32 31)\n", shuffles),
                  16)
            .reports == "divergence");
  CHECK(runKernel(kernelOf("  %r = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %x, i32 8, i32 31)\n", shuffles),
                  16)
            .reports.empty());
}

TEST_CASE("special registers", "[simulator][lanes]") {
  const std::map<std::string, std::function<uint32_t(uint32_t)>> registers = {
      {"laneid", [](uint32_t t) { return t % 32; }},
      {"warpid", [](uint32_t t) { return t / 32; }},
      {"nwarpid", [](uint32_t) { return 3u; }},
      {"ntid.x", [](uint32_t) { return 80u; }},
      {"tid.y", [](uint32_t) { return 0u; }},
      {"ntid.z", [](uint32_t) { return 1u; }},
      {"nctaid.y", [](uint32_t) { return 1u; }},
      {"ctaid.x", [](uint32_t) { return 0u; }},
      {"lanemask_eq", [](uint32_t t) { return 1u << t % 32; }},
      {"lanemask_le", [](uint32_t t) { return (2u << t % 32) - 1; }},
      {"lanemask_lt", [](uint32_t t) { return (1u << t % 32) - 1; }},
      {"lanemask_ge", [](uint32_t t) { return ~((1u << t % 32) - 1); }},
      {"lanemask_gt", [](uint32_t t) { return ~((2u << t % 32) - 1); }},
      {"cluster_ctarank", [](uint32_t) { return 0u; }},
      {"cluster_nctarank", [](uint32_t) { return 1u; }},
      {"envreg3", [](uint32_t) { return 0u; }},
      {"dynamic_smem_size", [](uint32_t) { return 0u; }},
  };
  for (const auto &[name, value] : registers) {
    auto expected = [&value = value](uint32_t t, const Result &) { return value(t); };
    expectEach(kernelOf("  %r = call i32 asm \"mov.u32 $0, %" + name + ";\", \"=r\"()\n"), expected, 80);
    std::string intrinsic = "@llvm.nvvm.read.ptx.sreg." + name;
    if (name.find("smem") == std::string::npos)
      std::replace(intrinsic.begin(), intrinsic.end(), '_', '.');
    expectEach(kernelOf("  %r = call i32 " + intrinsic + "()\n", "declare i32 " + intrinsic + "()\n"), expected, 80);
  }
  Machine machine("sm_90", kernelOf("  %r = call i32 asm \"mov.u32 $0, %nothing;\", \"=r\"()\n"));
  void *none = nullptr;
  auto outcome = machine.tryRun("k", {1, 1, 1}, {32, 1, 1}, none, none);
  REQUIRE(!outcome.isOk());
  CHECK(outcome.status().message().find("%nothing") != std::string::npos);
}

TEST_CASE("threads of a block in three dimensions, and blocks of a grid", "[simulator][lanes]") {
  std::string ir = "target triple = \"nvptx64-nvidia-cuda\"\n"
                   "define ptx_kernel void @k(ptr addrspace(1) %out) {\n";
  std::string index = "0";
  const char *names[] = {"ctaid.z", "ctaid.y", "ctaid.x", "tid.z", "tid.y", "tid.x"};
  const int sizes[] = {2, 3, 2, 2, 5, 7};
  std::string declarations;
  for (int i = 0; i < 6; ++i) {
    std::string n = std::to_string(i), name = std::string("@llvm.nvvm.read.ptx.sreg.") + names[i];
    ir += "  %v" + n + " = call i32 " + name + "()\n  %m" + n + " = mul i32 " + index + ", " +
          std::to_string(sizes[i]) + "\n  %s" + n + " = add i32 %m" + n + ", %v" + n + "\n";
    index = "%s" + n;
    declarations += "declare i32 " + name + "()\n";
  }
  ir += "  %p = getelementptr i32, ptr addrspace(1) %out, i32 " + index + "\n  store i32 " + index +
        ", ptr addrspace(1) %p\n  ret void\n}\n" + declarations;
  Machine machine("sm_80", ir);
  constexpr uint32_t total = 2 * 3 * 2 * 2 * 5 * 7;
  auto *out = machine.output<uint32_t>(total);
  CHECK(kinds(machine.run("k", {2, 3, 2}, {7, 5, 2}, out)).empty());
  for (uint32_t i = 0; i < total; ++i)
    REQUIRE(out[i] == i);
}

TEST_CASE("clocks never run backwards", "[simulator][lanes]") {
  expectEach(kernelOf("  %a = call i64 @llvm.nvvm.read.ptx.sreg.clock64()\n  br label %next\n"
                      "next:\n  %b = call i64 @llvm.nvvm.read.ptx.sreg.globaltimer()\n  %c = icmp ugt i64 %b, %a\n"
                      "  %r = zext i1 %c to i32\n",
                      "declare i64 @llvm.nvvm.read.ptx.sreg.clock64()\n"
                      "declare i64 @llvm.nvvm.read.ptx.sreg.globaltimer()\n"),
             [](uint32_t, const Result &) { return 1u; });
}

} // namespace tilejit::sim::test
