// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Transposing loads from LDS, of every width: where each element goes, as AMD's own tests of the chip find it, and what
// misuse is called.

#include "SimulatorKernel.h"

using namespace tilejit::sim;
using namespace tilejit::sim::test;

namespace {

/// One form: elements of `bits`, `words` dwords a lane.
struct Form {
  const char *name, *type;
  unsigned bits, words;
};
constexpr Form forms[] = {{"tr4.b64.v2i32", "<2 x i32>", 4, 2},    {"tr6.b96.v3i32", "<3 x i32>", 6, 3},
                          {"tr8.b64.v2i32", "<2 x i32>", 8, 2},    {"tr16.b64.v4i16", "<4 x i16>", 16, 2},
                          {"tr16.b64.v4f16", "<4 x half>", 16, 2}, {"tr16.b64.v4bf16", "<4 x bfloat>", 16, 2}};

// In LDS each lane has 16 bytes, of which it names the first.
constexpr unsigned slotWords = 4, lanes = 64;

/// Lane t stores its four dwords of %a to LDS, loads a piece back transposed from byte t * 16 + `shift`, and writes
/// what it gets to its part of %d. Only lanes below `active` take part in the load.
std::string kernel(const Form &form, unsigned shift = 0, unsigned active = lanes) {
  std::string type = form.type, name = std::string("@llvm.amdgcn.ds.read.") + form.name;
  return "target triple = \"amdgcn-amd-amdhsa\"\n"
         "declare i32 @llvm.amdgcn.workitem.id.x()\ndeclare " +
         type + " " + name +
         "(ptr addrspace(3))\n"
         "@lds = internal addrspace(3) global [260 x i32] poison, align 16\n"
         "define amdgpu_kernel void @k(ptr addrspace(1) %a, ptr addrspace(1) %d) {\n"
         "  %t = call i32 @llvm.amdgcn.workitem.id.x()\n  %o = mul i32 %t, 16\n"
         "  %pa = getelementptr i8, ptr addrspace(1) %a, i32 %o\n"
         "  %own = getelementptr i8, ptr addrspace(3) @lds, i32 %o\n"
         "  %w = load <4 x i32>, ptr addrspace(1) %pa\n  store <4 x i32> %w, ptr addrspace(3) %own\n"
         "  %in = icmp ult i32 %t, " +
         std::to_string(active) +
         "\n  br i1 %in, label %load, label %end\nload:\n"
         "  %from = getelementptr i8, ptr addrspace(3) %own, i32 " +
         std::to_string(shift) + "\n  %v = call " + type + " " + name +
         "(ptr addrspace(3) %from)\n"
         "  %pd = getelementptr i8, ptr addrspace(1) %d, i32 %o\n  store " +
         type + " %v, ptr addrspace(1) %pd, align 4\n  br label %end\nend:\n  ret void\n}\n";
}

/// Element `index` of a string of bits that begins at a word.
uint32_t elementOf(const uint32_t *words, unsigned index, unsigned bits) {
  uint32_t value = 0;
  for (unsigned b = 0; b < bits; ++b)
    value |= (words[(index * bits + b) / 32] >> ((index * bits + b) % 32) & 1) << b;
  return value;
}

std::vector<uint32_t> patterns() {
  std::vector<uint32_t> words(slotWords * lanes);
  for (size_t i = 0; i < words.size(); ++i)
    words[i] = static_cast<uint32_t>((i + 1) * 0x9e3779b1u);
  return words;
}

} // namespace

TEST_CASE("AMD transposing loads: rows of 16 lanes read lines of 16 elements and get columns", "[simulator][amd]") {
  for (const Form &form : forms) {
    INFO(form.name);
    Machine machine("gfx950", kernel(form));
    std::vector<uint32_t> words = patterns();
    uint32_t *d = machine.array(std::vector<uint32_t>(slotWords * lanes, 0));
    CHECK(kinds(machine.run("k", {1, 1, 1}, {lanes, 1, 1}, machine.array(words), d)) == "");
    unsigned perLane = form.words * 32 / form.bits, lanesOfLine = 16 / perLane;
    for (unsigned lane = 0; lane < lanes; ++lane)
      for (unsigned line = 0; line < perLane; ++line) {
        // The lanes of a line, one piece after the other, hold its 16 elements; this lane's column is one of them.
        unsigned row = lane / 16 * 16, column = lane % 16;
        unsigned source = row + line * lanesOfLine + column / perLane;
        CHECK(elementOf(d + slotWords * lane, line, form.bits) ==
              elementOf(words.data() + slotWords * source, column % perLane, form.bits));
      }
  }
}

TEST_CASE("AMD transposing loads: misuse is reported", "[simulator][amd]") {
  auto run = [](const Form &form, unsigned shift, unsigned active) {
    Machine machine("gfx950", kernel(form, shift, active));
    return kinds(machine.run("k", {1, 1, 1}, {lanes, 1, 1}, machine.array(patterns()),
                             machine.array(std::vector<uint32_t>(slotWords * lanes, 0))));
  };
  for (const Form &form : forms) {
    INFO(form.name);
    CHECK(run(form, 0, 32) == "divergence");
    CHECK(run(form, 4, lanes).find("misaligned") != std::string::npos);
    CHECK(run(form, 4096, lanes) == "bounds");
  }
  CHECK(run(forms[1], 8, lanes).find("misaligned") != std::string::npos); // 12 bytes stand at multiples of 16.
  CHECK(run(forms[2], 16, lanes) == "uninitialized");
}

TEST_CASE("AMD transposing loads: other chips have none", "[simulator][amd]") {
  for (const char *chip : {"gfx942", "gfx1201"}) {
    Machine machine(chip, kernel(forms[2]));
    std::string message = machine.tryRun("k", {1, 1, 1}, {lanes, 1, 1}, nullptr, nullptr).status().message();
    CHECK(message.find(chip) != std::string::npos);
    CHECK(message.find("ds.read.tr8") != std::string::npos);
  }
}
