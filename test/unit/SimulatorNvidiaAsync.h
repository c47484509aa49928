// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Kernels for the tests of asynchronous instructions: text around a body, and short names for what bodies repeat.

#ifndef TILEJIT_TEST_UNIT_SIMULATORNVIDIAASYNC_H
#define TILEJIT_TEST_UNIT_SIMULATORNVIDIAASYNC_H

#include "SimulatorKernel.h"

namespace tilejit::sim::test {

/// Kernel k(in, out, map, number) with %t the thread, %w the same in 64 bits, and @buf, shared memory of `bytes` bytes
/// with mbarriers @bar and @bar2 behind. The body may end in blocks of its own; the last one returns.
inline std::string asyncKernel(const std::string &body, unsigned bytes = 4096) {
  return R"(
target triple = "nvptx64-nvidia-cuda"
@buf = internal addrspace(3) global [)" +
         std::to_string(bytes) + R"( x i8] undef, align 1024
@bar = internal addrspace(3) global i64 undef, align 8
@bar2 = internal addrspace(3) global i64 undef, align 8
define ptx_kernel void @k(ptr addrspace(1) %in, ptr addrspace(1) %out, ptr %map, i32 %number) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %w = zext i32 %t to i64
  %first = icmp eq i32 %t, 0
  %pin = getelementptr i32, ptr addrspace(1) %in, i64 %w
  %pout = getelementptr i32, ptr addrspace(1) %out, i64 %w
  %ps = getelementptr i32, ptr addrspace(3) @buf, i32 %t
  %neighbour = xor i32 %t, 33
  %pn = getelementptr i32, ptr addrspace(3) @buf, i32 %neighbour
)" + body +
         R"(
  ret void
}
)";
}

/// Replaces every `from`.
inline std::string replaced(std::string text, const std::string &from, const std::string &to) {
  REQUIRE(text.find(from) != std::string::npos);
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

inline const char *const blockBarrier = "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n";
inline const char *const warpBarrier = "  call void @llvm.nvvm.bar.warp.sync(i32 -1)\n";
inline const char *const proxyFence = "  call void @llvm.nvvm.fence.proxy.async.shared_cta()\n";

/// Initialises @bar for `count` arrivals in thread 0.
inline std::string initBarrier(unsigned count, const std::string &name = "bar") {
  return "  br i1 %first, label %init." + name + ", label %inited." + name + "\ninit." + name +
         ":\n  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) @" + name + ", i32 " + std::to_string(count) +
         ")\n  call void @llvm.nvvm.fence.mbarrier_init.release.cluster()\n  br label %inited." + name + "\ninited." +
         name + ":\n" + blockBarrier;
}
/// Waits for a parity of @bar, in a loop.
inline std::string waitBarrier(unsigned parity, const std::string &label, const std::string &name = "bar") {
  return "  br label %" + label + "\n" + label + ":\n  %" + label +
         ".done = call i1 @llvm.nvvm.mbarrier.try.wait.parity.scope.cta.space.cta(ptr addrspace(3) @" + name +
         ", i32 " + std::to_string(parity) + ")\n  br i1 %" + label + ".done, label %" + label + ".end, label %" +
         label + "\n" + label + ".end:\n";
}
/// Runs lines in thread 0 only.
inline std::string onlyFirst(const std::string &label, const std::string &lines) {
  return "  br i1 %first, label %" + label + ", label %" + label + ".end\n" + label + ":\n" + lines + "  br label %" +
         label + ".end\n" + label + ".end:\n";
}

/// Whether there is a report of this kind; others may have followed from the fault.
inline bool finds(const Outcome &outcome, ReportKind kind) {
  std::string all = kinds(outcome);
  return (" " + all + " ").find(" " + std::string(reportKindName(kind)) + " ") != std::string::npos;
}

inline std::vector<int32_t> counting(size_t n, int32_t first = 1) {
  std::vector<int32_t> values(n);
  for (size_t i = 0; i < n; ++i)
    values[i] = first + static_cast<int32_t>(i);
  return values;
}

} // namespace tilejit::sim::test

#endif // TILEJIT_TEST_UNIT_SIMULATORNVIDIAASYNC_H
