// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// st.async and red.async: values that blocks of a cluster store into each other's shared memory, which an mbarrier
// there counts; and what misuse is called.

#include "SimulatorNvidiaAsync.h"

namespace tilejit::sim::test {

namespace {

constexpr uint32_t threads = 64;

const std::string meet = "  call void @llvm.nvvm.barrier.cluster.arrive.aligned()\n"
                         "  call void @llvm.nvvm.barrier.cluster.wait.aligned()\n";

/// Two blocks. %far and %farBar: the thread's place and the mbarrier in the next block, as 32-bit addresses.
std::string kernel(const std::string &body) {
  return asyncKernel(
      "  %rank = call i32 @llvm.nvvm.read.ptx.sreg.cluster.ctarank()\n"
      "  %other = xor i32 %rank, 1\n"
      "  %far7 = call ptr addrspace(7) @llvm.nvvm.mapa.shared.cluster(ptr addrspace(3) %ps, i32 %other)\n"
      "  %far = ptrtoint ptr addrspace(7) %far7 to i32\n"
      "  %bar7 = call ptr addrspace(7) @llvm.nvvm.mapa.shared.cluster(ptr addrspace(3) @bar, i32 %other)\n"
      "  %farBar = ptrtoint ptr addrspace(7) %bar7 to i32\n"
      "  %base = mul i32 %rank, 64\n  %global = add i32 %base, %t\n"
      "  %pg = getelementptr i32, ptr addrspace(1) %out, i32 %global\n" +
      body);
}

struct Ran {
  Outcome outcome;
  std::vector<int32_t> out;
};

Ran run(const std::string &body, uint64_t seed = 0) {
  Machine machine("sm_90", kernel(body));
  machine.cluster = {2, 1, 1};
  machine.options.scheduleSeed = seed;
  int32_t *in = machine.array(counting(1024), "in"), *out = machine.array(std::vector<int32_t>(128, -1), "out");
  Ran ran{machine.run("k", {2, 1, 1}, {threads, 1, 1}, in, out, in, 0), {}};
  ran.out.assign(out, out + 128);
  return ran;
}

std::string expectBytes(int bytes) {
  return onlyFirst("expect", "  %e = call i64 @llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta(ptr "
                             "addrspace(3) @bar, i32 " +
                                 std::to_string(bytes) + ")\n");
}

const std::string store = "  call void asm sideeffect \"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 "
                          "[$0], $1, [$2];\", \"r,r,r\"(i32 %far, i32 %global, i32 %farBar)\n";
const std::string read = "  %v = load i32, ptr addrspace(3) %ps\n  store i32 %v, ptr addrspace(1) %pg\n";
const std::string before = initBarrier(1);

} // namespace

TEST_CASE("st.async: values arrive in the other block when its mbarrier says so", "[simulator][cluster]") {
  for (uint64_t seed : {0, 1, 2}) {
    Ran ran = run(before + expectBytes(256) + meet + store + waitBarrier(0, "ready") + read + meet, seed);
    CHECK(kinds(ran.outcome) == "");
    for (size_t i = 0; i < 128; ++i)
      CHECK(ran.out[i] == static_cast<int32_t>(i ^ 64));
  }
  // Two and four values, floats and pairs of words, from 16 threads of each block.
  std::string wide = "  %few = icmp ult i32 %t, 16\n  br i1 %few, label %put, label %did\nput:\n"
                     "  %at = mul i32 %t, 16\n  %fb = sub i32 %far, 0\n  %o4 = mul i32 %t, 12\n  %a4 = add i32 %fb, "
                     "%o4\n  %g1 = add i32 %global, 1\n  %f1 = bitcast i32 %g1 to float\n"
                     "  call void asm sideeffect \"st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 "
                     "[$0], {$1, $1, $1, $1}, [$2];\", \"r,f,r\"(i32 %a4, float %f1, i32 %farBar)\n"
                     "  br label %did\ndid:\n";
  Ran ran = run(before + expectBytes(256) + meet + wide + waitBarrier(0, "ready") + read + meet);
  CHECK(kinds(ran.outcome) == "");
  for (size_t i = 0; i < 128; ++i)
    CHECK(ran.out[i] == static_cast<int32_t>((i / 64 ? 0 : 64) + i % 64 / 4 + 1));
}

TEST_CASE("st.async: missing waits and wrong counts", "[simulator][cluster]") {
  auto outcome = [](const std::string &body) { return run(before + body).outcome; };
  CHECK(finds(outcome(expectBytes(256) + meet + store + read + waitBarrier(0, "ready") + meet), ReportKind::Async));
  CHECK(finds(outcome(expectBytes(256) + meet + store + meet), ReportKind::Async)); // The block ends first.
  CHECK(finds(outcome(expectBytes(260) + meet + store + waitBarrier(0, "ready") + read + meet), ReportKind::Deadlock));
  // The place is written by its own block without order.
  CHECK(kinds(outcome(expectBytes(256) + meet + "  store i32 1, ptr addrspace(3) %ps\n" + store +
                      waitBarrier(0, "ready") + read + meet)) != "");
  std::string own = "  %own = ptrtoint ptr addrspace(3) @bar to i32\n" + replaced(store, "i32 %farBar", "i32 %own");
  CHECK(finds(outcome(expectBytes(256) + meet + own + waitBarrier(0, "ready") + meet), ReportKind::Barrier));
  std::string odd = "  %odd = add i32 %far, 2\n" + replaced(store, "(i32 %far,", "(i32 %odd,");
  CHECK(finds(outcome(expectBytes(256) + meet + odd + meet), ReportKind::Misaligned));
  std::string past = "  %past = add i32 %far, 16000\n" + replaced(store, "(i32 %far,", "(i32 %past,");
  CHECK(finds(outcome(expectBytes(256) + meet + past + meet), ReportKind::Bounds));
}

TEST_CASE("red.async: all reductions of a place count", "[simulator][cluster]") {
  struct Row {
    const char *word, *value;
    int32_t start, result; ///< Of 128 threads' numbers, by both blocks.
  };
  // Threads of both blocks reduce into word 0 of block 0.
  const Row rows[] = {{"add.u32", "%global", 5, 5 + 127 * 64},
                      {"add.s32", "%global", -3, -3 + 127 * 64},
                      {"max.s32", "%global", -7, 127},
                      {"min.u32", "%global", 99, 0},
                      {"or.b32", "%global", 0, 127},
                      {"and.b32", "%global", -1, 0},
                      {"xor.b32", "%global", 6, 6},
                      {"inc.u32", "1000", 3, 131},
                      {"dec.u32", "1000", 200, 72}};
  for (const Row &row : rows) {
    INFO(row.word);
    std::string zero = onlyFirst("zero", "  store i32 " + std::to_string(row.start) + ", ptr addrspace(3) @buf\n");
    std::string reduce =
        "  %b0 = call ptr addrspace(7) @llvm.nvvm.mapa.shared.cluster(ptr addrspace(3) @buf, i32 0)\n"
        "  %r0 = call ptr addrspace(7) @llvm.nvvm.mapa.shared.cluster(ptr addrspace(3) @bar, i32 0)\n"
        "  %a0 = ptrtoint ptr addrspace(7) %b0 to i32\n  %m0 = ptrtoint ptr addrspace(7) %r0 to i32\n"
        "  call void asm sideeffect \"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes." +
        std::string(row.word) + " [$0], $1, [$2];\", \"r,r,r\"(i32 %a0, i32 " + row.value + ", i32 %m0)\n";
    std::string take = "  %lead = icmp eq i32 %rank, 0\n  br i1 %lead, label %take, label %took\ntake:\n" +
                       waitBarrier(0, "ready") +
                       "  %v = load i32, ptr addrspace(3) @buf\n  store i32 %v, ptr addrspace(1) %pg\n"
                       "  br label %took\ntook:\n";
    Ran ran = run(before + zero + expectBytes(512) + meet + reduce + take + meet);
    // Only block 0 has the bytes that both announced.
    CHECK(finds(ran.outcome, ReportKind::Barrier));
    std::string expectFirst = "  %isFirst = icmp eq i32 %rank, 0\n  %ex = and i1 %isFirst, %first\n"
                              "  br i1 %ex, label %announce, label %announced\nannounce:\n  %e = call i64 "
                              "@llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta(ptr addrspace(3) @bar, i32 "
                              "512)\n  br label %announced\nannounced:\n";
    for (uint64_t seed : {0, 1, 2}) {
      Ran right = run(before + zero + expectFirst + meet + reduce + take + meet, seed);
      CHECK(kinds(right.outcome) == "");
      CHECK(right.out[0] == row.result);
      CHECK(right.out[63] == row.result);
    }
    std::string early = replaced(take, waitBarrier(0, "ready"), "") +
                        "  br i1 %lead, label %late, label %end\nlate:\n" + waitBarrier(0, "ready") +
                        "  br label %end\nend:\n";
    CHECK(finds(run(before + zero + expectFirst + meet + reduce + early + meet).outcome, ReportKind::Async));
  }
}

TEST_CASE("st.async and red.async that no chip has", "[simulator][cluster]") {
  auto refusal = [](const char *chip, const std::string &body) {
    Machine machine(chip, kernel(body));
    auto outcome = machine.tryRun("k", {2, 1, 1}, {32, 1, 1}, nullptr, nullptr, nullptr, 0);
    return outcome.isOk() ? std::string() : outcome.status().message();
  };
  CHECK(refusal("sm_90", replaced(store, "bytes.b32", "bytes.b16")).find("st.async") != std::string::npos);
  CHECK(refusal("sm_90", replaced(store, "bytes.b32", "bytes.v2.b32")).find("needs 2 values") != std::string::npos);
  std::string release = replaced(store, "weak.shared::cluster.mbarrier::complete_tx::bytes", "release.gpu.global");
  CHECK(refusal("sm_90", release).find("st.async.release.gpu.global") != std::string::npos);
  std::string reduce = replaced(store, "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32",
                                "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.f32");
  CHECK(refusal("sm_90", reduce).find("red.async") != std::string::npos);
}

} // namespace tilejit::sim::test
