// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// AMD instructions across the lanes of a wave: each against the same thing written as a loop over lanes.

#include "SimulatorKernel.h"

#include <functional>
#include <numeric>

using namespace tilejit::sim;
using namespace tilejit::sim::test;

namespace {

/// A kernel of one wave that loads %x (i32) from array `a` at its lane, executes `body`, and stores %r (i32).
std::string laneKernel(const std::string &body, const std::string &declarations, unsigned lanes) {
  return "target triple = \"amdgcn-amd-amdhsa\"\n"
         "define amdgpu_kernel void @k(ptr addrspace(1) %a, ptr addrspace(1) %d) #0 {\n"
         "  %t = call i32 @llvm.amdgcn.workitem.id.x()\n"
         "  %pa = getelementptr i32, ptr addrspace(1) %a, i32 %t\n"
         "  %x = load i32, ptr addrspace(1) %pa\n" +
         body +
         "\n  %pd = getelementptr i32, ptr addrspace(1) %d, i32 %t\n"
         "  store i32 %r, ptr addrspace(1) %pd\n  ret void\n}\n"
         "declare i32 @llvm.amdgcn.workitem.id.x()\n" +
         declarations + "\nattributes #0 = { \"target-features\"=\"+wavefrontsize" + std::to_string(lanes) + "\" }\n";
}

std::vector<uint32_t> sample(unsigned lanes) {
  std::vector<uint32_t> values(lanes);
  for (unsigned l = 0; l < lanes; ++l)
    values[l] = 1000 + l;
  return values;
}

std::vector<uint32_t> runLanes(const std::string &chip, const std::string &body, const std::string &declarations,
                               unsigned lanes) {
  Machine machine(chip, laneKernel(body, declarations, lanes));
  uint32_t *d = machine.output<uint32_t>(lanes);
  Outcome outcome = machine.run("k", {1, 1, 1}, {lanes, 1, 1}, machine.array(sample(lanes)), d);
  CHECK(kinds(outcome) == "");
  return {d, d + lanes};
}

constexpr unsigned none = ~0u;
using Source = std::function<unsigned(unsigned lane)>;

/// update.dpp with 7 as the old value.
std::vector<uint32_t> runDpp(const std::string &chip, unsigned lanes, unsigned control, unsigned rows, unsigned banks,
                             bool zero) {
  return runLanes(chip,
                  "  %r = call i32 @llvm.amdgcn.update.dpp.i32(i32 7, i32 %x, i32 " + std::to_string(control) +
                      ", i32 " + std::to_string(rows) + ", i32 " + std::to_string(banks) + ", i1 " +
                      (zero ? "1" : "0") + ")",
                  "declare i32 @llvm.amdgcn.update.dpp.i32(i32, i32, i32, i32, i32, i1)", lanes);
}

void checkDpp(const std::string &chip, unsigned lanes, unsigned control, const Source &source) {
  INFO(chip << " DPP 0x" << std::hex << control);
  std::vector<uint32_t> old = runDpp(chip, lanes, control, 15, 15, false),
                        zero = runDpp(chip, lanes, control, 15, 15, true),
                        masked = runDpp(chip, lanes, control, 5, 10, true);
  for (unsigned l = 0; l < lanes; ++l) {
    unsigned from = source(l);
    bool written = l / 16 % 2 == 0 && l % 16 / 4 % 2 == 1;
    CHECK(old[l] == (from == none ? 7 : 1000 + from));
    CHECK(zero[l] == (from == none ? 0 : 1000 + from));
    CHECK(masked[l] == (!written ? 7 : from == none ? 0 : 1000 + from));
  }
}

} // namespace

TEST_CASE("AMD lanes: DPP", "[simulator][amd]") {
  for (const std::string chip : {"gfx942", "gfx1100"}) {
    unsigned lanes = chip == "gfx942" ? 64 : 32;
    checkDpp(chip, lanes, 0x1b, [](unsigned l) { return l / 4 * 4 + 3 - l % 4; }); // quad_perm [3,2,1,0]
    for (unsigned n : {1u, 3u, 15u}) {
      checkDpp(chip, lanes, 0x100 + n, [=](unsigned l) { return l % 16 + n < 16 ? l + n : none; });
      checkDpp(chip, lanes, 0x110 + n, [=](unsigned l) { return l % 16 >= n ? l - n : none; });
      checkDpp(chip, lanes, 0x120 + n, [=](unsigned l) { return l / 16 * 16 + (l % 16 + 16 - n) % 16; });
    }
    checkDpp(chip, lanes, 0x140, [](unsigned l) { return l / 16 * 16 + 15 - l % 16; });
    checkDpp(chip, lanes, 0x141, [](unsigned l) { return l / 8 * 8 + 7 - l % 8; });
    checkDpp(chip, lanes, 0x155, [](unsigned l) { return l / 16 * 16 + 5; });
  }
  checkDpp("gfx1100", 32, 0x166, [](unsigned l) { return l ^ 6; });
  checkDpp("gfx908", 64, 0x130, [](unsigned l) { return l < 63 ? l + 1 : none; });
  checkDpp("gfx908", 64, 0x134, [](unsigned l) { return (l + 1) % 64; });
  checkDpp("gfx908", 64, 0x138, [](unsigned l) { return l > 0 ? l - 1 : none; });
  checkDpp("gfx908", 64, 0x13c, [](unsigned l) { return (l + 63) % 64; });
  checkDpp("gfx90a", 64, 0x142, [](unsigned l) { return l >= 16 ? l / 16 * 16 - 1 : none; });
  checkDpp("gfx90a", 64, 0x143, [](unsigned l) { return l >= 32 ? 31 : none; });
}

TEST_CASE("AMD lanes: DPP controls that a chip lacks are named", "[simulator][amd]") {
  for (auto [chip, control] : {std::pair<const char *, int>{"gfx1100", 0x142}, {"gfx906", 0x150}, {"gfx942", 0x161}}) {
    Machine machine(chip, laneKernel("  %r = call i32 @llvm.amdgcn.update.dpp.i32(i32 7, i32 %x, i32 " +
                                         std::to_string(control) + ", i32 15, i32 15, i1 0)",
                                     "declare i32 @llvm.amdgcn.update.dpp.i32(i32, i32, i32, i32, i32, i1)", 32));
    std::string message = machine.tryRun("k", {1, 1, 1}, {32, 1, 1}).status().message();
    CHECK(message.find(chip) != std::string::npos);
    CHECK(message.find("DPP control") != std::string::npos);
  }
}

TEST_CASE("AMD lanes: 64-bit values move as a whole", "[simulator][amd]") {
  std::vector<uint32_t> found =
      runLanes("gfx942",
               "  %low = zext i32 %x to i64\n  %high = shl i64 %low, 32\n"
               "  %y = call i64 @llvm.amdgcn.update.dpp.i64(i64 0, i64 %high, i32 273, i32 15, i32 15, i1 0)\n"
               "  %z = lshr i64 %y, 32\n  %r = trunc i64 %z to i32",
               "declare i64 @llvm.amdgcn.update.dpp.i64(i64, i64, i32, i32, i32, i1)", 64);
  for (unsigned l = 0; l < 64; ++l)
    CHECK(found[l] == (l % 16 ? 1000 + l - 1 : 0));
}

TEST_CASE("AMD lanes: swizzle", "[simulator][amd]") {
  auto check = [](unsigned pattern, const Source &source) {
    std::vector<uint32_t> found =
        runLanes("gfx90a", "  %r = call i32 @llvm.amdgcn.ds.swizzle(i32 %x, i32 " + std::to_string(pattern) + ")",
                 "declare i32 @llvm.amdgcn.ds.swizzle(i32, i32)", 64);
    for (unsigned l = 0; l < 64; ++l)
      CHECK(found[l] == 1000 + source(l));
  };
  check(0x1f | 4 << 10, [](unsigned l) { return l ^ 4; });
  check(0x10 | 3 << 5 | 1 << 10, [](unsigned l) { return l / 32 * 32 + (((l & 16) | 3) ^ 1); });
  check(0x8000 | 0x4e, [](unsigned l) { return l / 4 * 4 + std::array<unsigned, 4>{2, 3, 0, 1}[l % 4]; });
  check(0xc000 | 5 << 5, [](unsigned l) { return l / 32 * 32 + (l + 5) % 32; });
  check(0xc000 | 1 << 10 | 5 << 5, [](unsigned l) { return l / 32 * 32 + (l + 27) % 32; });
}

TEST_CASE("AMD lanes: permutes by a register", "[simulator][amd]") {
  const std::string index = "  %n = mul i32 %t, 5\n  %i = mul i32 %n, 4\n";
  const std::string declarations = "declare i32 @llvm.amdgcn.ds.bpermute(i32, i32)\n"
                                   "declare i32 @llvm.amdgcn.ds.permute(i32, i32)\n";
  for (auto [chip, lanes, half] : {std::tuple<const char *, unsigned, bool>{"gfx942", 64, false},
                                   {"gfx1100", 32, false},
                                   {"gfx1100", 64, true},
                                   {"gfx1201", 64, false}}) {
    std::vector<uint32_t> back =
        runLanes(chip, index + "  %r = call i32 @llvm.amdgcn.ds.bpermute(i32 %i, i32 %x)", declarations, lanes);
    std::vector<uint32_t> forth =
        runLanes(chip, index + "  %r = call i32 @llvm.amdgcn.ds.permute(i32 %i, i32 %x)", declarations, lanes);
    for (unsigned l = 0; l < lanes; ++l) {
      unsigned other = half ? l / 32 * 32 + 5 * l % 32 : 5 * l % lanes;
      CHECK(back[l] == 1000 + other);
      CHECK(forth[other] == 1000 + l);
    }
  }
}

TEST_CASE("AMD lanes: inactive lanes give 0 to bpermute", "[simulator][amd]") {
  std::string ir = laneKernel("  %odd = and i32 %t, 1\n  %c = icmp eq i32 %odd, 0\n"
                              "  br i1 %c, label %then, label %join\nthen:\n"
                              "  %n = xor i32 %t, 2\n  %m = or i32 %n, 1\n"
                              "  %use = icmp ult i32 %t, 32\n  %q = select i1 %use, i32 %n, i32 %m\n"
                              "  %i = shl i32 %q, 2\n"
                              "  %y = call i32 @llvm.amdgcn.ds.bpermute(i32 %i, i32 %x)\n  br label %join\njoin:\n"
                              "  %r = phi i32 [ %y, %then ], [ 5, %0 ]",
                              "declare i32 @llvm.amdgcn.ds.bpermute(i32, i32)", 64);
  Machine machine("gfx942", ir);
  uint32_t *d = machine.output<uint32_t>(64);
  CHECK(kinds(machine.run("k", {1, 1, 1}, {64, 1, 1}, machine.array(sample(64)), d)) == "");
  for (unsigned l = 0; l < 64; ++l)
    CHECK(d[l] == (l % 2 ? 5 : l < 32 ? 1000 + (l ^ 2) : 0));
}

TEST_CASE("AMD lanes: permlane", "[simulator][amd]") {
  const std::string declarations = "declare i32 @llvm.amdgcn.permlane16.i32(i32, i32, i32, i32, i1, i1)\n"
                                   "declare i32 @llvm.amdgcn.permlanex16.i32(i32, i32, i32, i32, i1, i1)\n"
                                   "declare i32 @llvm.amdgcn.permlane16.var(i32, i32, i32, i1, i1)\n"
                                   "declare i32 @llvm.amdgcn.permlane64.i32(i32)\n"
                                   "declare { i32, i32 } @llvm.amdgcn.permlane16.swap(i32, i32, i1, i1)\n"
                                   "declare { i32, i32 } @llvm.amdgcn.permlane32.swap(i32, i32, i1, i1)\n";
  // Lane l takes lane 15 - l of its row: nibbles f, e, d … from the lowest.
  std::vector<uint32_t> same =
      runLanes("gfx1030",
               "  %r = call i32 @llvm.amdgcn.permlane16.i32(i32 0, i32 %x, i32 -1985229329, i32 19088743, i1 0, i1 0)",
               declarations, 32);
  std::vector<uint32_t> other =
      runLanes("gfx1030",
               "  %r = call i32 @llvm.amdgcn.permlanex16.i32(i32 0, i32 %x, i32 -1985229329, i32 19088743, i1 0, i1 0)",
               declarations, 32);
  std::vector<uint32_t> own = runLanes(
      "gfx1201", "  %n = mul i32 %t, 3\n  %r = call i32 @llvm.amdgcn.permlane16.var(i32 0, i32 %x, i32 %n, i1 0, i1 0)",
      declarations, 32);
  for (unsigned l = 0; l < 32; ++l) {
    CHECK(same[l] == 1000 + (l / 16 * 16 + 15 - l % 16));
    CHECK(other[l] == 1000 + ((l / 16 * 16 + 15 - l % 16) ^ 16));
    CHECK(own[l] == 1000 + (l / 16 * 16 + 3 * l % 16));
  }
  std::vector<uint32_t> halves =
      runLanes("gfx1100", "  %r = call i32 @llvm.amdgcn.permlane64.i32(i32 %x)", declarations, 64);
  for (unsigned l = 0; l < 64; ++l)
    CHECK(halves[l] == 1000 + (l ^ 32));
  for (unsigned size : {16u, 32u})
    for (unsigned part : {0u, 1u}) {
      std::vector<uint32_t> swapped = runLanes(
          "gfx950",
          "  %y = add i32 %x, 1000\n  %s = call { i32, i32 } @llvm.amdgcn.permlane" + std::to_string(size) +
              ".swap(i32 %x, i32 %y, i1 0, i1 0)\n  %r = extractvalue { i32, i32 } %s, " + std::to_string(part),
          declarations, 64);
      for (unsigned l = 0; l < 64; ++l) {
        bool odd = l & size;
        CHECK(swapped[l] == (part == 0 ? odd ? 2000 + l - size : 1000 + l : odd ? 2000 + l : 1000 + l + size));
      }
    }
}

TEST_CASE("AMD lanes: reading and writing one lane", "[simulator][amd]") {
  const std::string declarations = "declare i32 @llvm.amdgcn.readlane.i32(i32, i32)\n"
                                   "declare i32 @llvm.amdgcn.readfirstlane.i32(i32)\n"
                                   "declare i32 @llvm.amdgcn.writelane.i32(i32, i32, i32)\n";
  auto run = [&](const std::string &body) { return runLanes("gfx942", body, declarations, 64); };
  CHECK(run("  %r = call i32 @llvm.amdgcn.readlane.i32(i32 %x, i32 37)") == std::vector<uint32_t>(64, 1037));
  CHECK(run("  %r = call i32 @llvm.amdgcn.readfirstlane.i32(i32 %x)") == std::vector<uint32_t>(64, 1000));
  std::vector<uint32_t> expected = sample(64);
  expected[9] = 4;
  CHECK(run("  %r = call i32 @llvm.amdgcn.writelane.i32(i32 4, i32 9, i32 %x)") == expected);
  Machine machine("gfx942", laneKernel("  %r = call i32 @llvm.amdgcn.readlane.i32(i32 %x, i32 %t)", declarations, 64));
  uint32_t *d = machine.output<uint32_t>(64);
  CHECK(kinds(machine.run("k", {1, 1, 1}, {64, 1, 1}, machine.array(sample(64)), d)) == "divergence");
}

TEST_CASE("AMD lanes: votes and counts", "[simulator][amd]") {
  const std::string declarations = "declare i64 @llvm.amdgcn.ballot.i64(i1)\ndeclare i32 @llvm.amdgcn.ballot.i32(i1)\n"
                                   "declare i32 @llvm.amdgcn.mbcnt.lo(i32, i32)\n"
                                   "declare i32 @llvm.amdgcn.mbcnt.hi(i32, i32)\n"
                                   "declare i64 @llvm.amdgcn.icmp.i64.i32(i32, i32, i32)\n"
                                   "declare i1 @llvm.amdgcn.inverse.ballot.i64(i64)\n";
  for (unsigned lanes : {32u, 64u}) {
    std::vector<uint32_t> index = runLanes(lanes == 64 ? "gfx942" : "gfx1201",
                                           "  %n = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)\n"
                                           "  %r = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %n)",
                                           declarations, lanes);
    std::vector<uint32_t> numbers(lanes);
    std::iota(numbers.begin(), numbers.end(), 0u);
    CHECK(index == numbers);
  }
  const std::string high = "\n  %h = lshr i64 %b, 32\n  %r = trunc i64 %h to i32";
  CHECK(runLanes("gfx942", "  %c = icmp ugt i32 %x, 1040\n  %b = call i64 @llvm.amdgcn.ballot.i64(i1 %c)" + high,
                 declarations, 64) == std::vector<uint32_t>(64, 0xfffffe00));
  CHECK(runLanes("gfx942", "  %b = call i64 @llvm.amdgcn.icmp.i64.i32(i32 %x, i32 1040, i32 34)" + high, declarations,
                 64) == std::vector<uint32_t>(64, 0xfffffe00));
  CHECK(runLanes("gfx1100", "  %c = icmp ult i32 %x, 1003\n  %r = call i32 @llvm.amdgcn.ballot.i32(i1 %c)",
                 declarations, 32) == std::vector<uint32_t>(32, 7));
  std::vector<uint32_t> bits = runLanes("gfx942",
                                        "  %c = call i1 @llvm.amdgcn.inverse.ballot.i64(i64 4611686018427387906)\n"
                                        "  %r = zext i1 %c to i32",
                                        declarations, 64);
  for (unsigned l = 0; l < 64; ++l)
    CHECK(bits[l] == (l == 1 || l == 62 ? 1u : 0u));
}

TEST_CASE("AMD lanes: reductions over the wave", "[simulator][amd]") {
  auto reduce = [](const std::string &name) {
    return runLanes("gfx942", "  %r = call i32 @llvm.amdgcn.wave.reduce." + name + ".i32(i32 %x, i32 0)",
                    "declare i32 @llvm.amdgcn.wave.reduce." + name + ".i32(i32, i32)", 64);
  };
  CHECK(reduce("add") == std::vector<uint32_t>(64, 64 * 1000 + 63 * 32));
  CHECK(reduce("umax") == std::vector<uint32_t>(64, 1063));
  CHECK(reduce("min") == std::vector<uint32_t>(64, 1000));
  CHECK(reduce("or") == std::vector<uint32_t>(64, 0x3ff | 1063));
}
