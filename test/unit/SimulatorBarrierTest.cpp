// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Barriers and fences of NVIDIA's blocks: what they order, what their reducing forms give, and what is said when they
// are missing, divergent or misused.

#include "SimulatorKernel.h"

namespace tilejit::sim::test {

namespace {

const char *declarations = R"(
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @llvm.nvvm.barrier.cta.sync.aligned.count(i32, i32)
declare void @llvm.nvvm.barrier.cta.sync.all(i32)
declare void @llvm.nvvm.barrier.cta.sync.count(i32, i32)
declare void @llvm.nvvm.barrier.cta.arrive.aligned.count(i32, i32)
declare i32 @llvm.nvvm.barrier.cta.red.popc.aligned.all(i32, i1)
declare i1 @llvm.nvvm.barrier.cta.red.and.aligned.all(i32, i1)
declare i1 @llvm.nvvm.barrier.cta.red.or.aligned.all(i32, i1)
declare void @llvm.nvvm.barrier.cluster.arrive.aligned()
declare void @llvm.nvvm.barrier.cluster.wait.aligned()
declare void @llvm.nvvm.bar.warp.sync(i32)
declare void @llvm.nvvm.exit()
declare void @llvm.nvvm.nanosleep(i32)
declare void @llvm.nvvm.membar.gl()
declare void @llvm.nvvm.griddepcontrol.wait()
@tile = internal addrspace(3) global [256 x i32] undef, align 16
)";

/// A kernel of one block: %t is the thread, %r what it stores.
std::string kernelOf(const std::string &body) {
  return declarations + ("define ptx_kernel void @k(ptr addrspace(1) %out) {\n"
                         "  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n" +
                         body +
                         "  %po = getelementptr i32, ptr addrspace(1) %out, i32 %t\n"
                         "  store i32 %r, ptr addrspace(1) %po\n  ret void\n}\n");
}

/// Each thread stores its number to shared memory, and reads that of thread t ^ `distance` after `barrier`.
std::string exchange(unsigned distance, const std::string &barrier) {
  return kernelOf("  %ps = getelementptr i32, ptr addrspace(3) @tile, i32 %t\n"
                  "  store i32 %t, ptr addrspace(3) %ps\n" +
                  barrier + "  %o = xor i32 %t, " + std::to_string(distance) +
                  "\n  %pl = getelementptr i32, ptr addrspace(3) @tile, i32 %o\n"
                  "  %r = load i32, ptr addrspace(3) %pl\n");
}

struct Ran {
  std::vector<uint32_t> output;
  std::string reports;
  Outcome outcome;
};
Ran runKernel(const std::string &ir, uint32_t threads, const std::string &chip = "sm_90", uint64_t seed = 0) {
  Machine machine(chip, ir);
  machine.options.scheduleSeed = seed;
  auto *out = machine.array(std::vector<uint32_t>(threads, 0xeeeeeeee));
  Outcome outcome = machine.run("k", {1, 1, 1}, {threads, 1, 1}, out);
  std::string reports = kinds(outcome);
  return {std::vector<uint32_t>(out, out + threads), reports, std::move(outcome)};
}

void expectExchange(unsigned distance, const std::string &barrier, uint32_t threads) {
  INFO(barrier);
  for (uint64_t seed : {0, 1, 2, 3}) {
    Ran ran = runKernel(exchange(distance, barrier), threads, "sm_90", seed);
    REQUIRE(ran.reports.empty());
    for (uint32_t t = 0; t < threads; ++t)
      REQUIRE(ran.output[t] == (t ^ distance));
  }
}

} // namespace

TEST_CASE("block barriers order shared memory, in all spellings", "[simulator][barrier]") {
  for (const char *barrier :
       {"  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n",
        "  call void @llvm.nvvm.barrier.cta.sync.aligned.count(i32 3, i32 128)\n",
        "  call void @llvm.nvvm.barrier.cta.sync.all(i32 15)\n",
        "  call void @llvm.nvvm.barrier.cta.sync.count(i32 1, i32 128)\n",
        "  call void asm sideeffect \"bar.sync 0;\", \"\"()\n",
        "  call void asm sideeffect \"bar.sync $0, $1;\", \"r,r\"(i32 2, i32 128)\n",
        "  call void asm sideeffect \"barrier.sync 1;\", \"\"()\n",
        "  call void asm sideeffect \"barrier.cta.sync.aligned 1, 128;\", \"\"()\n",
        "  %c = call i32 @llvm.nvvm.barrier.cta.red.popc.aligned.all(i32 0, i1 true)\n",
        "  call void @llvm.nvvm.barrier.cluster.arrive.aligned()\n"
        "  call void @llvm.nvvm.barrier.cluster.wait.aligned()\n",
        "  call void asm sideeffect \"barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;\", "
        "\"\"()\n"})
    expectExchange(96, barrier, 128);
  // The first warps read what is not written yet, the others are caught by the order alone.
  CHECK(runKernel(exchange(96, ""), 128).reports.find("race") != std::string::npos);
  CHECK(runKernel(exchange(96, "  call void @llvm.nvvm.bar.warp.sync(i32 -1)\n"), 128).reports.find("race") !=
        std::string::npos);
}

TEST_CASE("warp barriers order the lanes of a warp", "[simulator][barrier]") {
  expectExchange(5, "  call void @llvm.nvvm.bar.warp.sync(i32 -1)\n", 64);
  expectExchange(5, "  call void asm sideeffect \"bar.warp.sync -1;\", \"\"()\n", 64);
  CHECK(runKernel(exchange(5, ""), 32).reports == "race");
}

TEST_CASE("lanes that a block lacks do not count at warp barriers", "[simulator][barrier]") {
  // All lanes read a place that one writes, before and after.
  const std::string body = R"(
  %z = icmp eq i32 %t, 0
  br i1 %z, label %first, label %read
first:
  store i32 17, ptr addrspace(3) @tile
  br label %read
read:
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  %r = load i32, ptr addrspace(3) @tile
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  %f = icmp eq i32 %t, 5
  br i1 %f, label %second, label %end
second:
  store i32 18, ptr addrspace(3) @tile
  br label %end
end:
)";
  for (uint32_t threads : {20u, 32u}) {
    Ran ran = runKernel(kernelOf(body), threads);
    CHECK(ran.reports.empty());
    for (uint32_t v : ran.output)
      REQUIRE(v == 17);
  }
}

TEST_CASE("reducing barriers count, and, or", "[simulator][barrier]") {
  // Twice in a row, so that a fast warp is at the second one before a slow one has left the first.
  const std::string body = R"(
  %p1 = icmp ult i32 %t, 70
  %p2 = icmp ugt i32 %t, 1000
  %c1 = call i32 @llvm.nvvm.barrier.cta.red.popc.aligned.all(i32 0, i1 %p1)
  %np2 = xor i1 %p2, true
  %c2 = call i32 @llvm.nvvm.barrier.cta.red.popc.aligned.all(i32 0, i1 %np2)
  %a1 = call i1 @llvm.nvvm.barrier.cta.red.and.aligned.all(i32 0, i1 %p1)
  %a2 = call i1 @llvm.nvvm.barrier.cta.red.and.aligned.all(i32 0, i1 %np2)
  %o1 = call i1 @llvm.nvvm.barrier.cta.red.or.aligned.all(i32 0, i1 %p1)
  %o2 = call i1 @llvm.nvvm.barrier.cta.red.or.aligned.all(i32 0, i1 %p2)
  %c3 = call i32 asm sideeffect "{ .reg .pred p; setp.lt.u32 p, $1, 5; bar.red.popc.u32 $0, 1, 96, !p; }", "=r,r"(i32 %t)
  %c4 = call i32 asm sideeffect "{ .reg .pred p, q; setp.lt.u32 p, $1, 96; barrier.cta.red.and.pred.aligned q, 1, p; selp.u32 $0, 1, 0, q; }", "=r,r"(i32 %t)
  %s1 = mul i32 %c2, 1000
  %s2 = add i32 %s1, %c1
  %z1 = zext i1 %a1 to i32
  %z2 = zext i1 %a2 to i32
  %z3 = zext i1 %o1 to i32
  %z4 = zext i1 %o2 to i32
  %f1 = mul i32 %z1, 1000000
  %f2 = mul i32 %z2, 2000000
  %f3 = mul i32 %z3, 4000000
  %f4 = mul i32 %z4, 8000000
  %f5 = mul i32 %c4, 16000000
  %u1 = add i32 %s2, %f1
  %u2 = add i32 %u1, %f2
  %u3 = add i32 %u2, %f3
  %u4 = add i32 %u3, %f4
  %u5 = add i32 %u4, %f5
  %u6 = sub i32 %u5, %c3
  %r = add i32 %u6, 91
)";
  for (uint64_t seed : {0, 1, 2, 3, 4}) {
    Ran ran = runKernel(kernelOf(body), 96, "sm_80", seed);
    REQUIRE(ran.reports.empty());
    for (uint32_t v : ran.output)
      REQUIRE(v == 96 * 1000 + 70 + 2000000 + 4000000 + 16000000);
  }
}

TEST_CASE("named barriers hand over from arriving to waiting warps", "[simulator][barrier]") {
  // Warp 0 stores and arrives, warp 1 waits and reads.
  const std::string body = R"(
  %c = icmp ult i32 %t, 32
  br i1 %c, label %produce, label %consume
produce:
  %ps = getelementptr i32, ptr addrspace(3) @tile, i32 %t
  store i32 %t, ptr addrspace(3) %ps
  ARRIVE
  br label %join
consume:
  call void @llvm.nvvm.barrier.cta.sync.aligned.count(i32 4, i32 64)
  %o = sub i32 63, %t
  %pl = getelementptr i32, ptr addrspace(3) @tile, i32 %o
  %v = load i32, ptr addrspace(3) %pl
  br label %join
join:
  %r = phi i32 [7, %produce], [%v, %consume]
)";
  auto with = [&](const std::string &arrive) {
    std::string text = kernelOf(body);
    return text.replace(text.find("ARRIVE"), 6, arrive);
  };
  for (const char *arrive : {"call void @llvm.nvvm.barrier.cta.arrive.aligned.count(i32 4, i32 64)",
                             "call void asm sideeffect \"bar.arrive 4, 64;\", \"\"()"})
    for (uint64_t seed : {0, 1, 2}) {
      Ran ran = runKernel(with(arrive), 64, "sm_80", seed);
      REQUIRE(ran.reports.empty());
      for (uint32_t t = 0; t < 64; ++t)
        REQUIRE(ran.output[t] == (t < 32 ? 7 : 63 - t));
    }
  CHECK(runKernel(with("call void @llvm.nvvm.griddepcontrol.wait()"), 64).reports == "deadlock");
}

TEST_CASE("divergent, stuck and wrong barriers are reported", "[simulator][barrier]") {
  auto inBranch = [](const std::string &limit, const std::string &barrier, const std::string &after) {
    return kernelOf("  %c = icmp ult i32 %t, " + limit + "\n  br i1 %c, label %low, label %join\nlow:\n" + barrier +
                    "  br label %join\njoin:\n  %r = phi i32 [1, %low], [2, %0]\n" + after);
  };
  const std::string all = "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n";
  const std::string loose = "  call void @llvm.nvvm.barrier.cta.sync.all(i32 0)\n";
  // Lanes of one warp at two barriers: allowed unless they are aligned.
  CHECK(runKernel(inBranch("16", all, all), 32).reports.find("divergence") != std::string::npos);
  CHECK(runKernel(inBranch("32", all, "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 1)\n"), 64).reports ==
        "deadlock deadlock");
  // Warps that have ended are not waited for.
  CHECK(runKernel(inBranch("32", all, ""), 64).reports.empty());
  CHECK(runKernel(kernelOf(all + "  %r = add i32 %t, 1\n"), 40).reports.empty());
  CHECK(runKernel(kernelOf("  call void asm sideeffect \"{ .reg .pred p; setp.lt.u32 p, $0, 8; @p bar.sync 0; bar.sync "
                           "0; }\", \"r\"(i32 %t)\n  %r = add i32 %t, 1\n"),
                  32)
            .reports.find("divergence") != std::string::npos);
  CHECK(runKernel(kernelOf("  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 16)\n  %r = add i32 %t, 1\n"), 32)
            .reports == "barrier");
  CHECK(runKernel(kernelOf("  call void @llvm.nvvm.barrier.cta.sync.aligned.count(i32 1, i32 33)\n"
                           "  %r = add i32 %t, 1\n"),
                  64)
            .reports == "barrier");
}

TEST_CASE("threads that have left are not waited for", "[simulator][barrier]") {
  for (const char *leave : {"call void @llvm.nvvm.exit()", "call void asm sideeffect \"exit;\", \"\"()"}) {
    Ran ran = runKernel(
        kernelOf(std::string("  %c = icmp uge i32 %t, 20\n  br i1 %c, label %go, label %stay\ngo:\n  ") + leave +
                 "\n  unreachable\nstay:\n"
                 "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n"
                 "  call void @llvm.nvvm.nanosleep(i32 20)\n  %r = add i32 %t, 1\n"),
        64);
    CHECK(ran.reports.empty());
    for (uint32_t t = 0; t < 64; ++t)
      REQUIRE(ran.output[t] == (t < 20 ? t + 1 : 0xeeeeeeee));
  }
}

TEST_CASE("traps and breakpoints are reported", "[simulator][barrier]") {
  for (const char *statement : {"trap;", "brkpt;"})
    CHECK(runKernel(
              kernelOf(std::string("  call void asm sideeffect \"") + statement + "\", \"\"()\n  %r = add i32 %t, 1\n"),
              32)
              .reports == "trap");
}

TEST_CASE("fences are understood in all spellings", "[simulator][barrier]") {
  for (const char *fence :
       {"membar.cta", "membar.gl", "membar.sys", "fence.acq_rel.cta", "fence.sc.gpu", "fence.acq_rel.sys",
        "fence.sc.cluster", "fence.acquire.sync_restrict::shared::cluster.cluster"})
    CHECK(runKernel(kernelOf(std::string("  call void asm sideeffect \"") + fence +
                             ";\", \"\"()\n  call void @llvm.nvvm.membar.gl()\n  %r = add i32 %t, 1\n"),
                    32)
              .reports.empty());
  Machine machine("sm_90");
  Status status = machine.load(kernelOf("  call void asm sideeffect \"fence.acq_rel.universe;\", \"\"()\n"
                                        "  %r = add i32 %t, 1\n"));
  if (status.isOk()) {
    void *none = nullptr;
    auto outcome = machine.tryRun("k", {1, 1, 1}, {32, 1, 1}, none);
    REQUIRE(!outcome.isOk());
    status = outcome.status();
  }
  CHECK(status.message().find("fence.acq_rel.universe") != std::string::npos);
}

} // namespace tilejit::sim::test
