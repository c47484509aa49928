// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The kernels of the conformance suite, and the devices of this build.

#include "Subject.h"
#include "Standin.h"

#include "tilejit/ABI/KernelABI.h"
#include "tilejit/Base/File.h"
#include "tilejit/Device/Cpu.h"
#include "tilejit/Device/Sim.h"

#include <algorithm>

namespace tilejit::cts {

namespace {

using Op = abi::LaunchExpr::Op;

/// Blocks of 64: the size of a, over 64, rounded up.
abi::LaunchExpr blocks() { return {{{Op::Size, 0}, {Op::Constant, 64}, {Op::CeilDiv, 0}}}; }

abi::GpuKernel kernel(const std::string &symbol, int64_t phase) {
  abi::GpuKernel made;
  made.symbol = symbol;
  made.phase = phase;
  made.grid = {blocks()};
  made.threads = 64;
  return made;
}

std::string replaceAll(std::string text, const std::string &from, const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

constexpr const char *moduleText = R"(
target triple = "TRIPLE"
declare i32 @THREAD()
declare i32 @BLOCK()

define KERNEL void @add(i64 %a, i64 %n, i64 %as, i64 %b, i64 %bn, i64 %bs, i64 %c, i64 %cn, i64 %cs,
                        i64 %g0, i64 %g1, i64 %g2, i64 %first) {
INDEX
work:
  %x = call float @element(i64 %a, i64 %i, i64 %as)
  %y = call float @element(i64 %b, i64 %i, i64 %bs)
  %sum = fadd float %x, %y
  call void @put(i64 %c, i64 %i, i64 %cs, float %sum)
  br label %end
end:
  ret void
}

define KERNEL void @stage(i64 %a, i64 %n, i64 %as, i64 %b, i64 %bn, i64 %bs, i64 %c, i64 %cn, i64 %cs,
                          i64 %scratch, i64 %g0, i64 %g1, i64 %g2, i64 %first) {
INDEX
work:
  %x = call float @element(i64 %a, i64 %i, i64 %as)
  %y = call float @element(i64 %b, i64 %i, i64 %bs)
  %sum = fadd float %x, %y
  call void @put(i64 %scratch, i64 %i, i64 1, float %sum)
  br label %end
end:
  ret void
}

define KERNEL void @finish(i64 %a, i64 %n, i64 %as, i64 %b, i64 %bn, i64 %bs, i64 %c, i64 %cn, i64 %cs,
                           i64 %scratch, i64 %status, i64 %g0, i64 %g1, i64 %g2, i64 %first) {
INDEX
work:
  %sum = call float @element(i64 %scratch, i64 %i, i64 1)
  %twice = fadd float %sum, %sum
  call void @put(i64 %c, i64 %i, i64 %cs, float %twice)
  %large = fcmp oge float %sum, 1.0e6
  br i1 %large, label %fail, label %end
fail:
  %word = inttoptr i64 %status to ptr addrspace(1)
  %old = cmpxchg ptr addrspace(1) %word, i64 0, i64 3 monotonic monotonic
  br label %end
end:
  ret void
}

define KERNEL void @say(i64 %a, i64 %n, i64 %as, i64 %b, i64 %bn, i64 %bs, i64 %c, i64 %cn, i64 %cs,
                        i64 %printer, i64 %g0, i64 %g1, i64 %g2, i64 %first) {
INDEX
work:
  %leads = icmp eq i64 %t, 0
  br i1 %leads, label %say, label %end
say:
  %x = call float @element(i64 %a, i64 %i, i64 %as)
  %bits = bitcast float %x to i32
  %wide = zext i32 %bits to i64
  %asked = inttoptr i64 %printer to ptr addrspace(1)
  %lines = getelementptr i64, ptr addrspace(1) %asked, i64 1
  %room = getelementptr i64, ptr addrspace(1) %asked, i64 2
  %line = atomicrmw add ptr addrspace(1) %lines, i64 1 monotonic
  %at = atomicrmw add ptr addrspace(1) %asked, i64 2 monotonic
  %after = add i64 %at, 2
  %most = load i64, ptr addrspace(1) %room, align 8
  %fits = icmp ule i64 %after, %most
  br i1 %fits, label %write, label %end
write:
  %words = mul i64 %at, 3
  %base = add i64 %words, 4
  %w0 = getelementptr i64, ptr addrspace(1) %asked, i64 %base
  %w1 = getelementptr i64, ptr addrspace(1) %w0, i64 1
  %w2 = getelementptr i64, ptr addrspace(1) %w0, i64 2
  %w3 = getelementptr i64, ptr addrspace(1) %w0, i64 3
  %w4 = getelementptr i64, ptr addrspace(1) %w0, i64 4
  %w5 = getelementptr i64, ptr addrspace(1) %w0, i64 5
  store i64 %instance, ptr addrspace(1) %w0, align 8
  store i64 4294967296, ptr addrspace(1) %w1, align 8
  store i64 %instance, ptr addrspace(1) %w2, align 8
  store i64 %instance, ptr addrspace(1) %w3, align 8
  store i64 4294967297, ptr addrspace(1) %w4, align 8
  store i64 %wide, ptr addrspace(1) %w5, align 8
  br label %end
end:
  ret void
}

define internal float @element(i64 %base, i64 %i, i64 %stride) {
  %at = call i64 @place(i64 %base, i64 %i, i64 %stride)
  %p = inttoptr i64 %at to ptr addrspace(1)
  %v = load float, ptr addrspace(1) %p, align 4
  ret float %v
}

define internal void @put(i64 %base, i64 %i, i64 %stride, float %v) {
  %at = call i64 @place(i64 %base, i64 %i, i64 %stride)
  %p = inttoptr i64 %at to ptr addrspace(1)
  store float %v, ptr addrspace(1) %p, align 4
  ret void
}

define internal i64 @place(i64 %base, i64 %i, i64 %stride) {
  %elements = mul i64 %i, %stride
  %bytes = shl i64 %elements, 2
  %at = add i64 %base, %bytes
  ret i64 %at
}
)";

constexpr const char *indexText = R"(  %thread = call i32 @THREAD()
  %block = call i32 @BLOCK()
  %t = zext i32 %thread to i64
  %k = zext i32 %block to i64
  %instance = add i64 %k, %first
  %begin = shl i64 %instance, 6
  %i = add i64 %begin, %t
  %inside = icmp slt i64 %i, %n
  br i1 %inside, label %work, label %end)";

Code irCode(abi::GpuLaunch rules, bool nvidia) {
  return {manifestOf(std::move(rules)), {abi::PayloadKind::Bitcode}, {kernelsAsIr(nvidia)}};
}

Subject cpu() {
  Subject subject{"cpu", DeviceKind::Cpu, [] { return Expected(makeCpuDevice({2, {}, {}})); }, {}, {}, {}};
  subject.add.manifest = manifestOf({});
  subject.add.kinds = {abi::PayloadKind::Elf};
  auto bytes = readFile(realSystem(), TILEJIT_CTS_CPU_KERNEL);
  subject.add.bytes = {bytes ? *bytes : ""};
  return subject;
}

Subject simulated(const std::string &chip, bool nvidia) {
  auto make = [chip]() -> Expected<std::unique_ptr<Device>> {
    TILEJIT_ASSIGN_OR_RETURN(std::vector<std::string> chips, simulatedChips({}));
    auto found = std::find(chips.begin(), chips.end(), chip);
    return makeSimDevice({{}, 1}, static_cast<int>(found - chips.begin()));
  };
  return {"sim:" + chip,
          DeviceKind::Sim,
          make,
          irCode(addRules(), nvidia),
          irCode(stagedRules(), nvidia),
          irCode(sayRules(), nvidia)};
}

} // namespace

abi::GpuLaunch addRules() { return {{{1, 0}}, {kernel("add", 0)}, {}}; }

abi::GpuLaunch stagedRules() {
  abi::GpuLaunch rules{{{1, 0}}, {kernel("stage", 0), kernel("finish", 1)}, {}};
  for (abi::GpuKernel &made : rules.kernels) {
    made.workspace = {{{Op::Size, 0}, {Op::Constant, 4}, {Op::Mul, 0}}};
    made.takesWorkspace = true;
  }
  rules.kernels[1].takesStatus = true;
  return rules;
}

abi::GpuLaunch sayRules() {
  abi::GpuLaunch rules{{{1, 0}}, {kernel("say", 0)}, {{"at", "i64 f32"}}};
  rules.kernels[0].takesPrinter = true;
  return rules;
}

abi::Manifest manifestOf(abi::GpuLaunch rules) {
  abi::Manifest manifest;
  manifest.op = "elementwise";
  manifest.abiVersion = abi::kernelAbiVersion;
  for (const char *name : {"a", "b", "c"})
    manifest.operands.push_back({name, "f32", 1, name[0] == 'c', {}, {}, 0});
  manifest.gpu = std::move(rules);
  return manifest;
}

std::string kernelsAsIr(bool nvidia) {
  std::string text = replaceAll(moduleText, "INDEX", indexText);
  text = replaceAll(text, "TRIPLE", nvidia ? "nvptx64-nvidia-cuda" : "amdgcn-amd-amdhsa");
  text = replaceAll(text, "THREAD", nvidia ? "llvm.nvvm.read.ptx.sreg.tid.x" : "llvm.amdgcn.workitem.id.x");
  text = replaceAll(text, "BLOCK", nvidia ? "llvm.nvvm.read.ptx.sreg.ctaid.x" : "llvm.amdgcn.workgroup.id.x");
  return replaceAll(text, "KERNEL", nvidia ? "ptx_kernel" : "amdgpu_kernel");
}

std::vector<Subject> subjects() {
  std::vector<Subject> all = {cpu()};
#ifdef TILEJIT_CTS_SIMULATOR
  all.push_back(simulated("sm_80", true));
  all.push_back(simulated("gfx942", false));
#endif
  all.push_back(Standin(DeviceKind::Cuda).subject());
  all.push_back(Standin(DeviceKind::Hip).subject());
  return all;
}

} // namespace tilejit::cts
