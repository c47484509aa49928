// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Phis and copies that share a place in the register file: values that only seem to be one stay apart. Lanes leave the
// loops at different turns.

#include "SimulatorKernel.h"

namespace tilejit::sim::test {

namespace {

/// A kernel of 32 threads whose body is a loop from 0 to the thread's number; `phis` and `next` are its values beside
/// the counter, %r of the block `end` is stored.
std::string loopKernel(const std::string &phis, const std::string &next, const std::string &result) {
  return R"(
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k(ptr addrspace(1) %out) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %j, %loop ]
)" + phis +
         next +
         R"(
  %j = add i32 %i, 1
  %again = icmp ult i32 %i, %t
  br i1 %again, label %loop, label %end
end:
)" + result +
         R"(
  %w = sext i32 %t to i64
  %p = getelementptr i32, ptr addrspace(1) %out, i64 %w
  store i32 %r, ptr addrspace(1) %p
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
)";
}

/// What each thread stored.
std::vector<uint32_t> run(const std::string &ir) {
  Machine machine("sm_80", ir);
  uint32_t *out = machine.output<uint32_t>(32);
  CHECK(kinds(machine.run("k", {1, 1, 1}, {32, 1, 1}, out)).empty());
  return std::vector<uint32_t>(out, out + 32);
}

} // namespace

TEST_CASE("phis that change places keep both values", "[simulator]") {
  std::vector<uint32_t> got = run(loopKernel("  %a = phi i32 [ 1, %entry ], [ %b, %loop ]\n"
                                             "  %b = phi i32 [ 2, %entry ], [ %a, %loop ]\n",
                                             "", "  %tens = mul i32 %a, 10\n  %r = add i32 %tens, %b"));
  for (uint32_t t = 0; t < 32; ++t)
    CHECK(got[t] == (t % 2 ? 21 : 12));
}

TEST_CASE("a phi that is read after the loop is not the next turn's value", "[simulator]") {
  std::vector<uint32_t> got = run(loopKernel("  %a = phi i32 [ 7, %entry ], [ %b, %loop ]\n", "  %b = add i32 %a, 5\n",
                                             "  %hundreds = mul i32 %b, 1000\n  %r = add i32 %hundreds, %a"));
  for (uint32_t t = 0; t < 32; ++t)
    CHECK(got[t] == (12 + 5 * t) * 1000 + 7 + 5 * t);
}

TEST_CASE("a value that two phis receive is not changed by either", "[simulator]") {
  std::vector<uint32_t> got = run(loopKernel("  %a = phi i32 [ 0, %entry ], [ %s, %loop ]\n"
                                             "  %b = phi i32 [ 1, %entry ], [ %s, %loop ]\n",
                                             "  %s = add i32 %a, %b\n", "  %r = add i32 %s, %a"));
  for (uint32_t t = 0; t < 32; ++t)
    CHECK(got[t] == (t == 0 ? 1u : 3u << (t - 1)));
}

TEST_CASE("tied operands of assembly leave their source alone where it is read again", "[simulator]") {
  std::vector<uint32_t> got = run(loopKernel(
      "  %a = phi i32 [ 3, %entry ], [ %d, %loop ]\n",
      "  %b = call i32 asm \"add.u32 $0, $0, 4;\", \"=r,0\"(i32 %a)\n"
      "  %c = call i32 asm \"add.u32 $0, $0, 1;\", \"=r,0\"(i32 %b)\n"
      "  %d = sub i32 %c, 2\n",
      "  %ab = mul i32 %a, 10000\n  %bb = mul i32 %b, 100\n  %abb = add i32 %ab, %bb\n  %r = add i32 %abb, %c"));
  for (uint32_t t = 0; t < 32; ++t) {
    uint32_t a = 3 + 3 * t;
    CHECK(got[t] == a * 10000 + (a + 4) * 100 + a + 5);
  }
}

} // namespace tilejit::sim::test
