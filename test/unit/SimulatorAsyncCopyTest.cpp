// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// cp.async and mbarriers: what lands when, who may read it, and what misuse is called.

#include "SimulatorNvidiaAsync.h"

namespace tilejit::sim::test {

namespace {

const std::string copy4 =
    "  call void @llvm.nvvm.cp.async.ca.shared.global.4(ptr addrspace(3) %ps, ptr addrspace(1) %pin)\n";
const std::string commit = "  call void @llvm.nvvm.cp.async.commit.group()\n";
const std::string wait0 = "  call void @llvm.nvvm.cp.async.wait.group(i32 0)\n";
const std::string readNeighbour = "  %v = load i32, ptr addrspace(3) %pn, align 4\n"
                                  "  store i32 %v, ptr addrspace(1) %pout, align 4\n";
const std::string readOwn = "  %v = load i32, ptr addrspace(3) %ps, align 4\n"
                            "  store i32 %v, ptr addrspace(1) %pout, align 4\n";

struct Ran {
  Outcome outcome;
  std::vector<int32_t> out;
};

Ran run(const std::string &body, const std::string &chip = "sm_80", uint32_t threads = 64, int number = 0) {
  Machine machine(chip, asyncKernel(body));
  int32_t *in = machine.array(counting(1024), "in"), *out = machine.array(std::vector<int32_t>(1024, -1), "out");
  Ran ran{machine.run("k", {1, 1, 1}, {threads, 1, 1}, in, out, in, number), {}};
  ran.out.assign(out, out + threads);
  return ran;
}

std::vector<int32_t> neighbours(size_t n) {
  std::vector<int32_t> values(n);
  for (size_t i = 0; i < n; ++i)
    values[i] = static_cast<int32_t>(i ^ 33) + 1;
  return values;
}

std::string refusal(const std::string &chip, const std::string &body) {
  Machine machine(chip, asyncKernel(body));
  int32_t *in = machine.array(counting(64));
  auto outcome = machine.tryRun("k", {1, 1, 1}, {32, 1, 1}, in, in, in, 0);
  CHECK_FALSE(outcome.isOk());
  return outcome.status().message();
}

} // namespace

TEST_CASE("cp.async lands at the wait and is seen after the barrier", "[simulator][async]") {
  Ran ran = run(copy4 + commit + wait0 + blockBarrier + readNeighbour);
  CHECK(kinds(ran.outcome).empty());
  CHECK(ran.out == neighbours(64));
}

TEST_CASE("cp.async as assembly, predicated, with sizes and ignored sources", "[simulator][async]") {
  const std::string head = "  %s32 = ptrtoint ptr addrspace(3) %ps to i32\n";
  auto copyBy = [&](const std::string &text, const std::string &constraints, const std::string &arguments) {
    return head + "  call void asm sideeffect \"" + text + "\", \"" + constraints +
           "\"(i32 %s32, ptr addrspace(1) %pin" + arguments +
           ")\n  call void asm sideeffect \"cp.async.commit_group;\", \"\"()\n"
           "  call void asm sideeffect \"cp.async.wait_group 0;\", \"\"()\n" +
           blockBarrier + readNeighbour;
  };
  SECTION("plain") {
    Ran ran = run(copyBy("cp.async.ca.shared.global [$0], [$1], 4;", "r,l", ""));
    CHECK(kinds(ran.outcome).empty());
    CHECK(ran.out == neighbours(64));
  }
  SECTION("source size 0 in the second half") {
    Ran ran = run("  %low = icmp ult i32 %t, 32\n  %size = select i1 %low, i32 4, i32 0\n" +
                  copyBy("cp.async.ca.shared.global [$0], [$1], 0x4, $2;", "r,l,r", ", i32 %size"));
    CHECK(kinds(ran.outcome).empty());
    for (size_t i = 0; i < 64; ++i)
      CHECK(ran.out[i] == (i < 32 ? 0 : neighbours(64)[i]));
  }
  SECTION("ignored source in the second half") {
    Ran ran = run("  %high = icmp uge i32 %t, 32\n" +
                  copyBy("cp.async.ca.shared.global [$0], [$1], 4, $2;", "r,l,b", ", i1 %high"));
    CHECK(kinds(ran.outcome).empty());
    for (size_t i = 0; i < 64; ++i)
      CHECK(ran.out[i] == (i < 32 ? 0 : neighbours(64)[i]));
  }
  SECTION("predicated: nobody wrote the rest") {
    Ran ran = run("  %low = icmp ult i32 %t, 32\n" +
                  copyBy("@$2 cp.async.ca.shared.global [$0], [$1], 4;", "r,l,b", ", i1 %low"));
    CHECK(kinds(ran.outcome) == "uninitialized");
    for (size_t i = 32; i < 64; ++i)
      CHECK(ran.out[i] == neighbours(64)[i]);
  }
}

TEST_CASE("cp.async in wide pieces reads only what the size says", "[simulator][async]") {
  // Thread 0 copies 16 bytes of which 5 are read: zeros follow.
  Ran ran = run(onlyFirst("copy", "  call void @llvm.nvvm.cp.async.cg.shared.global.16.s(ptr addrspace(3) @buf, "
                                  "ptr addrspace(1) %in, i32 5)\n  call void @llvm.nvvm.cp.async.wait.all()\n") +
                    blockBarrier + readOwn,
                "sm_80", 4);
  CHECK(kinds(ran.outcome).empty());
  CHECK(ran.out == std::vector<int32_t>{1, 2, 0, 0});
}

TEST_CASE("cp.async without its wait, its commit or its barrier is reported", "[simulator][async]") {
  CHECK(kinds(run(copy4 + commit + blockBarrier + readNeighbour).outcome) == "async");
  CHECK(kinds(run(copy4 + wait0 + blockBarrier + readNeighbour).outcome) == "async");
  CHECK(finds(run(copy4 + commit + wait0 + readNeighbour).outcome, ReportKind::Race));
  CHECK(kinds(run(copy4 + commit + wait0 + readOwn).outcome).empty());
  // A group too few waited for.
  CHECK(kinds(run(copy4 + commit + replaced(wait0, "i32 0", "i32 1") + readOwn).outcome) == "async");
  // Two groups, of which the older one must have landed.
  std::string two = copy4 + commit + commit + replaced(wait0, "i32 0", "i32 1") + readOwn;
  CHECK(kinds(run(two).outcome).empty());
  // A store over a copy on its way.
  std::string over = copy4 + commit + "  store i32 7, ptr addrspace(3) %ps, align 4\n" + wait0;
  CHECK(kinds(run(over).outcome) == "async");
}

TEST_CASE("cp.async groups belong to lanes", "[simulator][async]") {
  // Lanes below 16 commit a second, empty group: with one group left to come, only theirs has landed.
  std::string body = "  %low = icmp ult i32 %t, 16\n" + copy4 + commit +
                     "  br i1 %low, label %more, label %go\nmore:\n" + commit + "  br label %go\ngo:\n" +
                     replaced(wait0, "i32 0", "i32 1") + "  br i1 %low, label %read, label %end\nread:\n" + readOwn +
                     "  br label %end\nend:\n";
  CHECK(kinds(run(body, "sm_80", 32).outcome).empty());
  CHECK(kinds(run(replaced(body, "icmp ult i32 %t, 16", "icmp ugt i32 %t, 16"), "sm_80", 32).outcome).empty());
  std::string wrong = replaced(body, "br i1 %low, label %read, label %end", "br i1 %low, label %end, label %read");
  CHECK(kinds(run(wrong, "sm_80", 32).outcome) == "async");
}

TEST_CASE("cp.async reads out of bounds and misaligned are reported", "[simulator][async]") {
  std::string far = "  %far = getelementptr i32, ptr addrspace(1) %pin, i64 1000\n" + replaced(copy4, "%pin", "%far") +
                    commit + wait0;
  CHECK(kinds(run(far).outcome) == "bounds");
  std::string odd =
      "  %odd = getelementptr i8, ptr addrspace(1) %pin, i64 2\n" + replaced(copy4, "%pin", "%odd") + commit + wait0;
  CHECK(kinds(run(odd).outcome) == "misaligned");
}

TEST_CASE("cp.async arrives at an mbarrier when it has landed", "[simulator][async]") {
  const std::string arrive = "  call void @llvm.nvvm.cp.async.mbarrier.arrive.noinc.shared(ptr addrspace(3) @bar)\n";
  std::string body = initBarrier(64) + copy4 + arrive + waitBarrier(0, "wait") + readNeighbour;
  std::string old =
      replaced(body, "mbarrier.try.wait.parity.scope.cta.space.cta", "mbarrier.test.wait.parity.scope.cta.space.cta");
  for (const std::string &text : {body, old}) {
    Ran ran = run(text, "sm_90");
    CHECK(kinds(ran.outcome).empty());
    CHECK(ran.out == neighbours(64));
  }
  // With the increment the arrival counts for itself, so that nobody completes the phase; plus one plain arrival each.
  std::string counted = initBarrier(64) + copy4 + replaced(arrive, ".noinc", "") +
                        "  %s = call i64 @llvm.nvvm.mbarrier.arrive.shared(ptr addrspace(3) @bar)\n" +
                        waitBarrier(0, "wait") + readNeighbour;
  Ran ran = run(counted, "sm_90");
  CHECK(kinds(ran.outcome).empty());
  CHECK(ran.out == neighbours(64));
  CHECK(kinds(run(initBarrier(64) + copy4 + arrive + readOwn, "sm_90").outcome) == "async");
}

TEST_CASE("mbarriers hand over what was written before the arrival", "[simulator][mbarrier]") {
  const std::string store = "  %sq = mul i32 %t, %t\n  store i32 %sq, ptr addrspace(3) %ps, align 4\n";
  const std::string arrive =
      "  %s = call i64 @llvm.nvvm.mbarrier.arrive.scope.cta.space.cta(ptr addrspace(3) @bar, i32 1)\n";
  const std::string read = readNeighbour;
  Ran ran = run(initBarrier(64) + store + arrive + waitBarrier(0, "wait") + read, "sm_90");
  CHECK(kinds(ran.outcome).empty());
  for (int i = 0; i < 64; ++i)
    CHECK(ran.out[static_cast<size_t>(i)] == (i ^ 33) * (i ^ 33));
  // By the state that the arrival gave.
  std::string byState = initBarrier(64) + store + arrive +
                        "  br label %wait\nwait:\n  %done = call i1 @llvm.nvvm.mbarrier.try.wait.scope.cta.space.cta("
                        "ptr addrspace(3) @bar, i64 %s)\n  br i1 %done, label %end, label %wait\nend:\n" +
                        read;
  CHECK(kinds(run(byState, "sm_90").outcome).empty());
  // Relaxed on either side hands nothing over.
  CHECK(kinds(run(initBarrier(64) + store + replaced(arrive, "arrive.scope", "arrive.relaxed.scope") +
                      waitBarrier(0, "wait") + read,
                  "sm_90")
                  .outcome) == "race");
  CHECK(kinds(run(initBarrier(64) + store + arrive +
                      replaced(waitBarrier(0, "wait"), "parity.scope", "parity.relaxed.scope") + read,
                  "sm_90")
                  .outcome) == "race");
  // The parity of the phase before is complete from the start.
  CHECK(
      finds(run(initBarrier(64) + store + arrive + waitBarrier(1, "wait") + read, "sm_90").outcome, ReportKind::Race));
}

TEST_CASE("mbarriers through assembly, in loops over phases", "[simulator][mbarrier]") {
  // Thread t writes i + t in round i, waits, adds what its neighbour wrote, and waits again.
  const std::string body = R"(
  %b32 = ptrtoint ptr addrspace(3) @bar to i32
  br i1 %first, label %init, label %inited
init:
  call void asm sideeffect "mbarrier.init.shared::cta.b64 [$0], $1;", "r,r"(i32 %b32, i32 64)
  br label %inited
inited:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %loop
loop:
  %i = phi i32 [ 0, %inited ], [ %i1, %loop ]
  %sum = phi i32 [ 0, %inited ], [ %sum1, %loop ]
  %x = add i32 %i, %t
  store i32 %x, ptr addrspace(3) %ps, align 4
  call void asm sideeffect "{\0A\09.reg .b64 state;\0A\09mbarrier.arrive.shared::cta.b64 state, [$0];\0A\09}", "r"(i32 %b32)
  call void asm sideeffect "{\0A\09.reg .pred complete;\0A\09waitLoop:\0A\09mbarrier.try_wait.parity.shared::cta.b64 complete, [$0], $1;\0A\09@!complete bra.uni waitLoop;\0A\09}", "r,r"(i32 %b32, i32 0)
  %v = load i32, ptr addrspace(3) %pn, align 4
  %sum1 = add i32 %sum, %v
  call void asm sideeffect "mbarrier.arrive.shared::cta.b64 _, [$0], 1;", "r"(i32 %b32)
  call void asm sideeffect "{\0A\09.reg .pred complete;\0A\09waitLoop:\0A\09mbarrier.try_wait.parity.shared::cta.b64 complete, [$0], $1, 1000;\0A\09@!complete bra.uni waitLoop;\0A\09}", "r,r"(i32 %b32, i32 1)
  %i1 = add i32 %i, 1
  %again = icmp ult i32 %i1, 5
  br i1 %again, label %loop, label %done
done:
  store i32 %sum1, ptr addrspace(1) %pout, align 4
)";
  Ran ran = run(body, "sm_90");
  CHECK(kinds(ran.outcome).empty());
  for (int i = 0; i < 64; ++i)
    CHECK(ran.out[static_cast<size_t>(i)] == 10 + 5 * (i ^ 33));
}

TEST_CASE("misuse of mbarriers has a name", "[simulator][mbarrier]") {
  const std::string arrive = "  %s = call i64 @llvm.nvvm.mbarrier.arrive.shared(ptr addrspace(3) @bar)\n";
  CHECK(kinds(run(arrive, "sm_80", 32).outcome) == "barrier"); // Never initialised.
  CHECK(kinds(run(initBarrier(16) + arrive, "sm_90", 17).outcome).empty());
  std::string twoAtOnce =
      "  call void @llvm.nvvm.mbarrier.arrive.scope.cta.space.cluster(ptr addrspace(7) %far, i32 3)\n";
  std::string remote =
      initBarrier(2) + "  %far = call ptr addrspace(7) @llvm.nvvm.mapa.shared.cluster(ptr addrspace(3) @bar, i32 0)\n";
  CHECK(kinds(run(remote + replaced(twoAtOnce, "i32 3", "i32 2"), "sm_90", 1).outcome).empty());
  CHECK(kinds(run(remote + twoAtOnce, "sm_90", 1).outcome) == "barrier"); // More than a phase has.
  // Used by another warp without a barrier after the initialisation.
  CHECK(kinds(run(replaced(initBarrier(64), blockBarrier, "") + arrive, "sm_90").outcome) == "race");
  // Overwritten.
  CHECK(kinds(run(initBarrier(1) + "  store i32 5, ptr addrspace(3) @bar, align 4\n" + arrive, "sm_90", 1).outcome) ==
        "barrier");
  // Bytes that never come.
  std::string expect =
      initBarrier(1) + "  call void @llvm.nvvm.mbarrier.expect.tx.scope.cta.space.cta(ptr addrspace(3) @bar, i32 16)\n";
  CHECK(kinds(run(expect, "sm_90", 1).outcome) == "barrier");
  CHECK(
      kinds(run(expect +
                    "  call void @llvm.nvvm.mbarrier.complete.tx.scope.cta.space.cta(ptr addrspace(3) @bar, i32 16)\n",
                "sm_90", 1)
                .outcome)
          .empty());
  CHECK(kinds(run(initBarrier(2) + arrive + waitBarrier(0, "wait"), "sm_90", 1).outcome) == "deadlock");
  // The state of a phase long gone.
  std::string stale = initBarrier(1) + arrive + replaced(arrive, "%s", "%s2") + replaced(arrive, "%s", "%s3") +
                      "  %done = call i1 @llvm.nvvm.mbarrier.test.wait.shared(ptr addrspace(3) @bar, i64 %s)\n";
  CHECK(kinds(run(stale, "sm_90", 1).outcome) == "barrier");
  CHECK(kinds(run(replaced(stale, "@bar, i64 %s)", "@bar, i64 %s3)"), "sm_90", 1).outcome).empty());
}

TEST_CASE("participants drop out of an mbarrier", "[simulator][mbarrier]") {
  // Two participants; one leaves in the first phase, so that the other completes the second alone.
  std::string body = initBarrier(2) + R"(
  %a = call i64 @llvm.nvvm.mbarrier.arrive.drop.shared(ptr addrspace(3) @bar)
  %b = call i64 @llvm.nvvm.mbarrier.arrive.noComplete.shared(ptr addrspace(3) @bar2, i32 1)
  %c = call i64 @llvm.nvvm.mbarrier.arrive.shared(ptr addrspace(3) @bar)
  %d = call i64 @llvm.nvvm.mbarrier.arrive.shared(ptr addrspace(3) @bar)
  %second = call i1 @llvm.nvvm.mbarrier.test.wait.shared(ptr addrspace(3) @bar, i64 %d)
  %z = zext i1 %second to i32
  %left = call i32 @llvm.nvvm.mbarrier.pending.count(i64 %c)
  %r = mul i32 %left, 10
  %sum = add i32 %r, %z
  store i32 %sum, ptr addrspace(1) %pout, align 4
)";
  Ran ran = run(initBarrier(3, "bar2") + body, "sm_90", 1);
  CHECK(kinds(ran.outcome).empty());
  CHECK(ran.out[0] == 11);
}

TEST_CASE("asynchronous instructions are refused on chips that lack them", "[simulator][async]") {
  CHECK(refusal("sm_75", copy4) == "'llvm.nvvm.cp.async.ca.shared.global.4' needs sm_80, this is sm_75");
  CHECK(refusal("sm_80", waitBarrier(0, "wait")).find("needs sm_90, this is sm_80") != std::string::npos);
  CHECK(refusal("sm_80",
                "  call void asm sideeffect \"cp.async.cg.shared.global [$0], [$1], 8;\", \"r,l\"(i32 0, i64 0)\n")
            .find("cp.async of 8 bytes: .cg copies 16") != std::string::npos);
}

} // namespace tilejit::sim::test
