// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Races in global memory: between blocks, and between warps of a block; what orders them and what does not.

#include "SimulatorKernel.h"

namespace tilejit::sim::test {

namespace {

/// A kernel whose body may use %t (thread), %b (block), %n (grid), %i (global thread), %lane and the pointers %p, %q,
/// %r.
std::string kernel(const std::string &body, const std::string &triple = "nvptx64-nvidia-cuda") {
  return "target triple = \"" + triple + R"("
define ptx_kernel void @k(ptr addrspace(1) %p, ptr addrspace(1) %q, ptr addrspace(1) %r) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %n = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %base = mul i32 %b, %size
  %i = add i32 %base, %t
  %lane = and i32 %t, 31
)" + body +
         R"(
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
)";
}

struct Result {
  std::string kinds;
  Outcome outcome;
  std::vector<uint32_t> p, q;
};

Result run(const std::string &body, uint32_t grid, uint32_t block, uint64_t seed = 0) {
  Result result;
  std::string first;
  for (int threads : {1, 3}) {
    Machine machine("sm_80", kernel(body));
    machine.options.threads = threads;
    machine.options.scheduleSeed = seed;
    uint32_t *p = machine.array(std::vector<uint32_t>(4096, 0), "p"),
             *q = machine.array(std::vector<uint32_t>(4096, 0), "q");
    uint32_t *r = machine.array(std::vector<uint32_t>(4096, 0), "r");
    result.outcome = machine.run("k", {grid, 1, 1}, {block, 1, 1}, p, q, r);
    result.kinds = kinds(result.outcome);
    result.p.assign(p, p + 4096);
    result.q.assign(q, q + 4096);
    std::string all;
    for (const Report &report : result.outcome.reports)
      all += report.message + report.site + report.otherSite + report.hint + std::to_string(report.count) + "\n";
    if (threads == 1)
      first = all;
    else
      CHECK(all == first); // The same reports for any number of host threads.
  }
  return result;
}

bool contains(const std::string &text, const std::string &part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

const std::string storeOwn = R"(
  %pi = getelementptr i32, ptr addrspace(1) %p, i32 %i
  store i32 %i, ptr addrspace(1) %pi
)";

} // namespace

TEST_CASE("blocks that write their own elements do not race", "[simulator]") {
  CHECK(run(storeOwn + "  ret void", 30, 96).kinds.empty());
  // Two-byte elements: neighbours share sectors and words.
  CHECK(run(R"(
  %pi = getelementptr i16, ptr addrspace(1) %p, i32 %i
  %v = trunc i32 %i to i16
  store i16 %v, ptr addrspace(1) %pi
  ret void)",
            50, 3)
            .kinds.empty());
  // One byte of each block in one sector.
  CHECK(run(R"(
  %pi = getelementptr i8, ptr addrspace(1) %p, i32 %b
  %v = trunc i32 %b to i8
  store i8 %v, ptr addrspace(1) %pi
  ret void)",
            40, 1)
            .kinds.empty());
}

TEST_CASE("two blocks that write different values to one place race", "[simulator]") {
  Result result = run(R"(
  %over = add i32 %i, %b
  %pi = getelementptr i32, ptr addrspace(1) %p, i32 %t
  store i32 %over, ptr addrspace(1) %pi
  ret void)",
                      3, 64);
  REQUIRE(result.kinds == "race");
  const Report &report = result.outcome.reports[0];
  CHECK(report.message ==
        "write that nothing orders with another block's write at p+0x0 (of 16384 bytes) by warp 0 lane 0 "
        "(thread 0) of block (1,0,0); written by warp 0 lane 0 (thread 0) of block (0,0,0)");
  CHECK(report.siteIndex == report.otherSiteIndex);
  CHECK(contains(report.site, "store i32 %over"));
  CHECK(contains(report.hint, "any order"));
}

TEST_CASE("the thread of a race is the one that touched the byte", "[simulator]") {
  // Block 1 overwrites only element 45 with another value, by its thread 7.
  Result result = run(R"(
  %first = icmp eq i32 %b, 0
  br i1 %first, label %all, label %one
all:
  %pi = getelementptr i32, ptr addrspace(1) %p, i32 %t
  store i32 1, ptr addrspace(1) %pi
  ret void
one:
  %mine = icmp eq i32 %t, 7
  br i1 %mine, label %write, label %end
write:
  %pw = getelementptr i32, ptr addrspace(1) %p, i32 45
  store i32 2, ptr addrspace(1) %pw
  br label %end
end:
  ret void)",
                      2, 64);
  REQUIRE(result.kinds == "race");
  CHECK(contains(result.outcome.reports[0].message, "p+0xb4"));
  CHECK(contains(result.outcome.reports[0].message, "by warp 0 lane 7 (thread 7) of block (1,0,0)"));
  CHECK(contains(result.outcome.reports[0].message, "written by warp 1 lane 13 (thread 45) of block (0,0,0)"));
}

TEST_CASE("blocks may store the same value to one place", "[simulator]") {
  CHECK(run(R"(
  %pi = getelementptr i32, ptr addrspace(1) %p, i32 %t
  store i32 %t, ptr addrspace(1) %pi
  ret void)",
            5, 64)
            .kinds.empty());
}

TEST_CASE("a block that reads what another one writes races", "[simulator]") {
  Result result = run(storeOwn + R"(
  %next = add i32 %i, 1
  %pn = getelementptr i32, ptr addrspace(1) %p, i32 %next
  %v = load i32, ptr addrspace(1) %pn
  %qi = getelementptr i32, ptr addrspace(1) %q, i32 %i
  store i32 %v, ptr addrspace(1) %qi
  ret void)",
                      4, 32);
  CHECK(contains(result.kinds, "race"));
  // Reading only is fine.
  CHECK(run(R"(
  %pn = getelementptr i32, ptr addrspace(1) %p, i32 %lane
  %v = load i32, ptr addrspace(1) %pn
  %qi = getelementptr i32, ptr addrspace(1) %q, i32 %i
  store i32 %v, ptr addrspace(1) %qi
  ret void)",
            60, 32)
            .kinds.empty());
}

TEST_CASE("atomics do not race with each other but with plain accesses", "[simulator]") {
  const std::string add = "  %o = atomicrmw add ptr addrspace(1) %p, i32 1 syncscope(\"device\") monotonic\n";
  Result counted = run(add + "  ret void", 20, 64);
  CHECK(counted.kinds.empty());
  CHECK(counted.p[0] == 20 * 64);
  Result plain = run(add + R"(
  %v = load i32, ptr addrspace(1) %p
  %qi = getelementptr i32, ptr addrspace(1) %q, i32 %i
  store i32 %v, ptr addrspace(1) %qi
  ret void)",
                     3, 1);
  REQUIRE(plain.kinds == "race");
  CHECK(contains(plain.outcome.reports[0].hint, "one side is atomic"));
  CHECK(run(add + R"(
  %v = load atomic i32, ptr addrspace(1) %p syncscope("device") monotonic, align 4
  %qi = getelementptr i32, ptr addrspace(1) %q, i32 %i
  store i32 %v, ptr addrspace(1) %qi
  ret void)",
            3, 1)
            .kinds.empty());
}

TEST_CASE("atomics of block scope between blocks race", "[simulator]") {
  Result result =
      run("  %o = atomicrmw add ptr addrspace(1) %p, i32 1 syncscope(\"block\") monotonic\n  ret void", 3, 64);
  REQUIRE(result.kinds == "race");
  CHECK(contains(result.outcome.reports[0].hint, "device scope"));
  CHECK(run("  %o = atomicrmw add ptr addrspace(1) %p, i32 1 syncscope(\"block\") monotonic\n  ret void", 1, 64)
            .kinds.empty());
}

namespace {

/// The last of the blocks to draw a ticket adds up what all wrote to p.
std::string ticket(const std::string &before, const std::string &draw, const std::string &after) {
  return R"(
  %one = add i32 %b, 1
  %pb = getelementptr i32, ptr addrspace(1) %p, i32 %b
  store i32 %one, ptr addrspace(1) %pb
)" + before +
         "  %ticket = " + draw + after + R"(
  %last = sub i32 %n, 1
  %mine = icmp eq i32 %ticket, %last
  br i1 %mine, label %sum, label %end
sum:
  %k = phi i32 [ 0, %0 ], [ %k1, %sum ]
  %s = phi i32 [ 0, %0 ], [ %s1, %sum ]
  %pk = getelementptr i32, ptr addrspace(1) %p, i32 %k
  %v = load i32, ptr addrspace(1) %pk
  %s1 = add i32 %s, %v
  %k1 = add i32 %k, 1
  %more = icmp ult i32 %k1, %n
  br i1 %more, label %sum, label %done
done:
  store i32 %s1, ptr addrspace(1) %q
  br label %end
end:
  ret void)";
}

const std::string fence = "  fence syncscope(\"device\") acq_rel\n";
const std::string blockFence = "  fence syncscope(\"block\") acq_rel\n";
const std::string cudaAdd = "atomicrmw add ptr addrspace(1) %r, i32 1 seq_cst\n";
const std::string orderedAdd = "atomicrmw add ptr addrspace(1) %r, i32 1 syncscope(\"device\") acq_rel\n";

} // namespace

TEST_CASE("a ticket hands over data with a fence on both sides", "[simulator]") {
  for (uint64_t seed : {0, 1, 2, 3}) {
    Result right = run(ticket(fence, cudaAdd, fence), 9, 1, seed);
    CHECK(right.kinds.empty());
    CHECK(right.q[0] == 45);
    CHECK(run(ticket("", orderedAdd, ""), 9, 1, seed).kinds.empty());
    // As in NVIDIA's samples: a block barrier follows.
    CHECK(run(ticket(fence, cudaAdd, "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n"), 9, 1, seed)
              .kinds.empty());
    Result noRelease = run(ticket("", cudaAdd, fence), 9, 1, seed);
    REQUIRE(noRelease.kinds == "race");
    CHECK(contains(noRelease.outcome.reports[0].hint, "without release order"));
    Result noAcquire = run(ticket(fence, cudaAdd, ""), 9, 1, seed);
    REQUIRE(noAcquire.kinds == "race");
    CHECK(contains(noAcquire.outcome.reports[0].hint, "without acquire order"));
    CHECK(run(ticket(blockFence, cudaAdd, fence), 9, 1, seed).kinds == "race");
  }
}

TEST_CASE("a fence of one warp covers what a barrier showed it, and no more", "[simulator]") {
  // 64 threads write; thread 0 fences and draws. Only with a barrier before is the other warp's part covered.
  auto body = [](const std::string &barrier) {
    return R"(
  %pi = getelementptr i32, ptr addrspace(1) %p, i32 %i
  store i32 %i, ptr addrspace(1) %pi
)" + barrier +
           R"(
  %zero = icmp eq i32 %t, 0
  br i1 %zero, label %draw, label %end
draw:
  fence syncscope("device") acq_rel
  %ticket = atomicrmw add ptr addrspace(1) %r, i32 1 syncscope("device") monotonic
  fence syncscope("device") acq_rel
  %mine = icmp eq i32 %ticket, 1
  br i1 %mine, label %read, label %end
read:
  %p0 = getelementptr i32, ptr addrspace(1) %p, i32 40
  %p1 = getelementptr i32, ptr addrspace(1) %p, i32 104
  %a = load i32, ptr addrspace(1) %p0
  %c = load i32, ptr addrspace(1) %p1
  %s = add i32 %a, %c
  store i32 %s, ptr addrspace(1) %q
  br label %end
end:
  ret void)";
  };
  Result right = run(body("  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n"), 2, 64);
  CHECK(right.kinds.empty());
  CHECK(right.q[0] == 144);
  CHECK(contains(run(body(""), 2, 64).kinds, "race"));
}

TEST_CASE("a flag orders its writer and its reader", "[simulator]") {
  auto flag = [](const std::string &store, const std::string &load, const std::string &after) {
    return R"(
  %first = icmp eq i32 %b, 1
  br i1 %first, label %give, label %poll
give:
  store i32 7, ptr addrspace(1) %p
)" + store +
           R"(
  ret void
poll:
  %f = )" + load +
           R"(
  %set = icmp eq i32 %f, 1
  br i1 %set, label %take, label %poll
take:
)" + after +
           R"(
  %v = load i32, ptr addrspace(1) %p
  store i32 %v, ptr addrspace(1) %q
  ret void)";
  };
  const std::string release = "  store atomic i32 1, ptr addrspace(1) %r syncscope(\"device\") release, align 4\n";
  const std::string relaxed = "  store atomic i32 1, ptr addrspace(1) %r syncscope(\"device\") monotonic, align 4\n";
  const std::string acquire = "load atomic i32, ptr addrspace(1) %r syncscope(\"device\") acquire, align 4\n";
  const std::string plainLoad = "load atomic i32, ptr addrspace(1) %r syncscope(\"device\") monotonic, align 4\n";
  Result right = run(flag(release, acquire, ""), 2, 1);
  CHECK(right.kinds.empty());
  CHECK(right.q[0] == 7);
  CHECK(run(flag(fence + relaxed, plainLoad, fence), 2, 1).kinds.empty());
  CHECK(run(flag(relaxed, acquire, ""), 2, 1).kinds == "race");
  CHECK(run(flag(release, plainLoad, ""), 2, 1).kinds == "race");
  CHECK(run(flag("  store volatile i32 1, ptr addrspace(1) %r\n", "load volatile i32, ptr addrspace(1) %r\n", ""), 2, 1)
            .kinds == "race");
}

TEST_CASE("what a block hands on includes what it was given", "[simulator]") {
  // Block 0 writes and signals r[0]; block 1 takes it and signals r[1]; block 2 takes that and reads block 0's data.
  CHECK(run(R"(
  %r1 = getelementptr i32, ptr addrspace(1) %r, i32 1
  switch i32 %b, label %third [ i32 0, label %first
                                i32 1, label %second ]
first:
  store i32 5, ptr addrspace(1) %p
  store atomic i32 1, ptr addrspace(1) %r syncscope("device") release, align 4
  ret void
second:
  %f = load atomic i32, ptr addrspace(1) %r syncscope("device") acquire, align 4
  %set = icmp eq i32 %f, 1
  br i1 %set, label %on, label %second
on:
  store atomic i32 1, ptr addrspace(1) %r1 syncscope("device") release, align 4
  ret void
third:
  %g = load atomic i32, ptr addrspace(1) %r1 syncscope("device") acquire, align 4
  %set1 = icmp eq i32 %g, 1
  br i1 %set1, label %take, label %third
take:
  %v = load i32, ptr addrspace(1) %p
  store i32 %v, ptr addrspace(1) %q
  ret void)",
            3, 1)
            .kinds.empty());
}

TEST_CASE("what a warp took over, others know when they come after it", "[simulator]") {
  // Block 0 writes and sets a flag. Of block 1, warp 0 waits for it with acquire order; `between` stands between that
  // and warp 1's read, which has seen the flag too, but has not acquired it.
  auto body = [](const std::string &acquires, const std::string &between) {
    return R"(
  %giver = icmp eq i32 %b, 0
  br i1 %giver, label %give, label %get
give:
  %isFirst = icmp eq i32 %t, 0
  br i1 %isFirst, label %signal, label %end
signal:
  store i32 7, ptr addrspace(1) %p
  store atomic i32 1, ptr addrspace(1) %r syncscope("device") release, align 4
  ret void
get:
  %low = icmp ult i32 %t, 32
  br i1 %low, label %poll, label %look
poll:
  %f = load atomic i32, ptr addrspace(1) %r syncscope("device") )" +
           acquires + R"(, align 4
  %set = icmp eq i32 %f, 1
  br i1 %set, label %ready, label %poll
look:
  %g = load atomic i32, ptr addrspace(1) %r syncscope("device") monotonic, align 4
  %there = icmp eq i32 %g, 1
  br i1 %there, label %ready, label %look
ready:
)" + between +
           R"(
  %high = icmp ugt i32 %t, 31
  br i1 %high, label %take, label %end
take:
  %v = load i32, ptr addrspace(1) %p
  store i32 %v, ptr addrspace(1) %q
  ret void
end:
  ret void)";
  };
  const std::string barrier = "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n",
                    named = "  call void asm sideeffect \"bar.sync 3, 64;\", \"\"()\n",
                    halves = "  br i1 %low, label %arrive, label %await\narrive:\n"
                             "  call void asm sideeffect \"bar.arrive 3, 64;\", \"\"()\n  br label %go\nawait:\n" +
                             named + "  br label %go\ngo:\n";
  for (uint64_t seed : {0, 1, 2, 3}) {
    INFO("seed " << seed);
    for (const std::string &between : {barrier, named, halves}) {
      Result right = run(body("acquire", between), 2, 64, seed);
      CHECK(right.kinds == "");
      CHECK(right.q[0] == 7);
    }
    Result wrong = run(body("acquire", ""), 2, 64, seed);
    REQUIRE(wrong.kinds == "race");
    CHECK(contains(wrong.outcome.reports[0].message, "by warp 1 lane"));
    // The hint names the other warp where it came first.
    CHECK((contains(wrong.outcome.reports[0].hint, "another warp of the block took the other's signal over") ||
           contains(wrong.outcome.reports[0].hint, "without acquire order")));
    CHECK(run(body("monotonic", barrier), 2, 64, seed).kinds == "race");
  }
}

TEST_CASE("what a warp took over is handed on by shared memory too, and not by itself", "[simulator]") {
  // Warp 0 of block 1 takes the data of block 0 over and signals warp 1 in shared memory; warp 1 signals block 2.
  auto body = [](const std::string &store, const std::string &load) {
    return R"(
  %second = icmp eq i32 %b, 1
  %r1 = getelementptr i32, ptr addrspace(1) %r, i32 1
  %isFirst = icmp eq i32 %t, 0
  br i1 %second, label %relay, label %others
others:
  br i1 %isFirst, label %one, label %end
one:
  %giver = icmp eq i32 %b, 0
  br i1 %giver, label %give, label %await
give:
  store i32 7, ptr addrspace(1) %p
  store atomic i32 1, ptr addrspace(1) %r syncscope("device") release, align 4
  ret void
await:
  %h = load atomic i32, ptr addrspace(1) %r1 syncscope("device") acquire, align 4
  %got = icmp eq i32 %h, 1
  br i1 %got, label %take, label %await
take:
  %v = load i32, ptr addrspace(1) %p
  store i32 %v, ptr addrspace(1) %q
  ret void
relay:
  br i1 %isFirst, label %clear, label %cleared
clear:
  store atomic i32 0, ptr addrspace(3) @flag syncscope("block") monotonic, align 4
  br label %cleared
cleared:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br i1 %isFirst, label %poll, label %rest
poll:
  %f = load atomic i32, ptr addrspace(1) %r syncscope("device") acquire, align 4
  %set = icmp eq i32 %f, 1
  br i1 %set, label %pass, label %poll
pass:
)" + store +
           R"(
  ret void
rest:
  %isLater = icmp eq i32 %t, 32
  br i1 %isLater, label %look, label %end
look:
  %g = )" + load +
           R"(
  %there = icmp eq i32 %g, 1
  br i1 %there, label %signal, label %look
signal:
  store atomic i32 1, ptr addrspace(1) %r1 syncscope("device") release, align 4
  ret void
end:
  ret void)";
  };
  auto outcome = [&](const std::string &store, const std::string &load, uint64_t seed) {
    Machine machine("sm_80", kernel(body(store, load)) + "@flag = internal addrspace(3) global i32 undef, align 4\n");
    machine.options.scheduleSeed = seed;
    uint32_t *p = machine.array(std::vector<uint32_t>(4, 0)), *q = machine.array(std::vector<uint32_t>(4, 0)),
             *r = machine.array(std::vector<uint32_t>(4, 0));
    return kinds(machine.run("k", {3, 1, 1}, {64, 1, 1}, p, q, r));
  };
  const std::string release = "  store atomic i32 1, ptr addrspace(3) @flag syncscope(\"block\") release, align 4\n",
                    acquire = "load atomic i32, ptr addrspace(3) @flag syncscope(\"block\") acquire, align 4\n",
                    plain = "load atomic i32, ptr addrspace(3) @flag syncscope(\"block\") monotonic, align 4\n";
  for (uint64_t seed : {0, 1, 2}) {
    CHECK(outcome(release, acquire, seed) == "");
    CHECK(outcome(release, plain, seed) == "race");
  }
}

TEST_CASE("warps of a block need a barrier between global accesses too", "[simulator]") {
  auto body = [](const std::string &barrier) {
    return storeOwn + barrier + R"(
  %mirror = sub i32 63, %t
  %m = add i32 %base, %mirror
  %pm = getelementptr i32, ptr addrspace(1) %p, i32 %m
  %v = load i32, ptr addrspace(1) %pm
  %qi = getelementptr i32, ptr addrspace(1) %q, i32 %i
  store i32 %v, ptr addrspace(1) %qi
  ret void)";
  };
  Result wrong = run(body(""), 2, 64);
  REQUIRE(contains(wrong.kinds, "race"));
  CHECK(contains(wrong.outcome.reports[0].hint, "block barrier"));
  CHECK(run(body("  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n"), 2, 64).kinds.empty());
  CHECK(contains(run(body(""), 1, 64).kinds, "race"));
}

TEST_CASE("an array that is updated in place is clean", "[simulator]") {
  CHECK(run(R"(
  %pi = getelementptr i32, ptr addrspace(1) %p, i32 %i
  %v = load i32, ptr addrspace(1) %pi
  %w = add i32 %v, %i
  store i32 %w, ptr addrspace(1) %pi
  %x = load i32, ptr addrspace(1) %pi
  %y = add i32 %x, 1
  store i32 %y, ptr addrspace(1) %pi
  ret void)",
            8, 256)
            .kinds.empty());
}

TEST_CASE("races of global memory can be switched off", "[simulator]") {
  Machine machine("sm_80", kernel(R"(
  store i32 %i, ptr addrspace(1) %p
  ret void)"));
  machine.options.checks &= ~(1u << static_cast<unsigned>(Check::Race));
  uint32_t *p = machine.array(std::vector<uint32_t>(4, 0));
  CHECK(kinds(machine.run("k", {4, 1, 1}, {1, 1, 1}, p, p, p)).empty());
}

} // namespace tilejit::sim::test
