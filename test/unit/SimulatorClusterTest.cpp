// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Clusters of blocks (sm_90): who is where, shared memory of other blocks, the barrier of a cluster, mbarriers and
// copies across blocks; and what misuse is called.

#include "SimulatorNvidiaAsync.h"

namespace tilejit::sim::test {

namespace {

constexpr uint32_t threads = 64;

const std::string arrive = "  call void @llvm.nvvm.barrier.cluster.arrive.aligned()\n";
const std::string wait = "  call void @llvm.nvvm.barrier.cluster.wait.aligned()\n";
const std::string meet = arrive + wait;

/// asyncKernel's text around a body, with %rank in the cluster, %other the next rank, %far the place of %ps there, and
/// %pg the thread's place in %out by its number in the grid.
std::string clusterKernel(const std::string &body) {
  return asyncKernel("  %rank = call i32 @llvm.nvvm.read.ptx.sreg.cluster.ctarank()\n"
                     "  %ranks = call i32 @llvm.nvvm.read.ptx.sreg.cluster.nctarank()\n"
                     "  %next = add i32 %rank, 1\n  %other = urem i32 %next, %ranks\n"
                     "  %far = call ptr addrspace(7) @llvm.nvvm.mapa.shared.cluster(ptr addrspace(3) %ps, i32 %other)\n"
                     "  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()\n"
                     "  %base = mul i32 %block, 64\n  %global = add i32 %base, %t\n"
                     "  %pg = getelementptr i32, ptr addrspace(1) %out, i32 %global\n" +
                     body);
}

struct Ran {
  Outcome outcome;
  std::vector<int32_t> out;
};

Ran run(const std::string &body, uint32_t clusterSize = 2, uint32_t blocks = 4, uint64_t seed = 0) {
  Machine machine("sm_90a", clusterKernel(body));
  machine.cluster = {clusterSize, 1, 1};
  machine.options.scheduleSeed = seed;
  int32_t *in = machine.array(counting(1024), "in"), *out = machine.array(std::vector<int32_t>(1024, -1), "out");
  Ran ran{machine.run("k", {blocks, 1, 1}, {threads, 1, 1}, in, out, in, 0), {}};
  ran.out.assign(out, out + blocks * threads);
  return ran;
}

const std::string storeOwn = "  store i32 %global, ptr addrspace(3) %ps\n";
const std::string loadFar = "  %v = load i32, ptr addrspace(7) %far\n";
const std::string loadOwn = "  %v = load i32, ptr addrspace(3) %ps\n";
const std::string keep = "  store i32 %v, ptr addrspace(1) %pg\n";

/// The number in the grid that the thread of the next block of the cluster has.
int32_t numberInNext(size_t i, size_t clusterSize) {
  size_t block = i / threads, first = block / clusterSize * clusterSize;
  return static_cast<int32_t>((first + (block - first + 1) % clusterSize) * threads + i % threads);
}

void checkExchanged(const Ran &ran, size_t clusterSize) {
  CHECK(kinds(ran.outcome) == "");
  for (size_t i = 0; i < ran.out.size(); ++i)
    CHECK(ran.out[i] == numberInNext(i, clusterSize));
}

} // namespace

TEST_CASE("clusters: numbers of blocks", "[simulator][cluster]") {
  struct Register {
    const char *name;
    uint32_t (*of)(uint32_t x, uint32_t y);
  };
  const Register registers[] = {
      {"ctaid.x", [](uint32_t x, uint32_t) { return x; }},
      {"ctaid.y", [](uint32_t, uint32_t y) { return y; }},
      {"clusterid.x", [](uint32_t x, uint32_t) { return x / 2; }},
      {"clusterid.y", [](uint32_t, uint32_t y) { return y / 3; }},
      {"nclusterid.x", [](uint32_t, uint32_t) { return 2u; }},
      {"nclusterid.y", [](uint32_t, uint32_t) { return 1u; }},
      {"cluster.ctaid.x", [](uint32_t x, uint32_t) { return x % 2; }},
      {"cluster.ctaid.y", [](uint32_t, uint32_t y) { return y % 3; }},
      {"cluster.nctaid.x", [](uint32_t, uint32_t) { return 2u; }},
      {"cluster.nctaid.y", [](uint32_t, uint32_t) { return 3u; }},
      {"cluster.ctarank", [](uint32_t x, uint32_t y) { return x % 2 + 2 * (y % 3); }},
      {"cluster.nctarank", [](uint32_t, uint32_t) { return 6u; }},
  };
  constexpr uint32_t each = 16;
  std::string body = "  %bx = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()\n"
                     "  %by = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()\n  %row = mul i32 %by, 4\n"
                     "  %place = add i32 %row, %bx\n  %at = mul i32 %place, 16\n"
                     "  %p = getelementptr i32, ptr addrspace(1) %out, i32 %at\n";
  unsigned n = 0;
  for (const Register &reg : registers) {
    std::string i = std::to_string(n++);
    body += "  %r" + i + " = call i32 @llvm.nvvm.read.ptx.sreg." + reg.name + "()\n  %p" + i +
            " = getelementptr i32, ptr addrspace(1) %p, i32 " + i + "\n  store i32 %r" + i + ", ptr addrspace(1) %p" +
            i + "\n";
  }
  Machine machine("sm_90", asyncKernel(body));
  machine.cluster = {2, 3, 1};
  int32_t *in = machine.array(counting(16)), *out = machine.array(std::vector<int32_t>(12 * each, -1));
  CHECK(kinds(machine.run("k", {4, 3, 1}, {1, 1, 1}, in, out, in, 0)) == "");
  for (uint32_t y = 0; y < 3; ++y)
    for (uint32_t x = 0; x < 4; ++x)
      for (size_t r = 0; r < std::size(registers); ++r) {
        INFO(registers[r].name << " of block " << x << "," << y);
        CHECK(out[(y * 4 + x) * each + r] == static_cast<int32_t>(registers[r].of(x, y)));
      }
}

TEST_CASE("clusters: blocks reach each other's shared memory", "[simulator][cluster]") {
  for (uint32_t size : {1u, 2u, 4u}) {
    INFO("clusters of " << size);
    checkExchanged(run(storeOwn + meet + loadFar + keep + meet, size), size);
    checkExchanged(run(storeOwn + meet + loadFar + keep + meet, size, 4, 7), size);
  }
  // By a generic address, and by assembly on 32-bit addresses.
  std::string generic = "  %g = addrspacecast ptr addrspace(3) %ps to ptr\n"
                        "  %fg = call ptr @llvm.nvvm.mapa(ptr %g, i32 %other)\n  %v = load i32, ptr %fg\n";
  checkExchanged(run(storeOwn + meet + generic + keep + meet), 2);
  std::string assembly = "  %a = ptrtoint ptr addrspace(3) %ps to i32\n"
                         "  %v = call i32 asm sideeffect \"{ .reg .b32 far; mapa.shared::cluster.u32 far, $1, $2; "
                         "ld.shared::cluster.u32 $0, [far]; }\", \"=r,r,r\"(i32 %a, i32 %other)\n";
  checkExchanged(run(storeOwn + meet + assembly + keep + meet), 2);
  // Stores go the other way.
  std::string push = "  store i32 %global, ptr addrspace(7) %far\n";
  Ran pushed = run(push + meet + loadOwn + keep, 2);
  CHECK(kinds(pushed.outcome) == "");
  for (size_t i = 0; i < pushed.out.size(); ++i)
    CHECK(pushed.out[i] == numberInNext(i, 2)); // With two blocks the next one is also the one before.
  // Whose memory it is.
  Ran owners = run("  %g7 = addrspacecast ptr addrspace(7) %far to ptr\n"
                   "  %v = call i32 @llvm.nvvm.getctarank(ptr %g7)\n" +
                       keep,
                   4);
  CHECK(kinds(owners.outcome) == "");
  for (size_t i = 0; i < owners.out.size(); ++i)
    CHECK(owners.out[i] == static_cast<int32_t>((i / threads + 1) % 4));
}

TEST_CASE("clusters: accesses across blocks race without the barrier", "[simulator][cluster]") {
  CHECK(finds(run(storeOwn + loadFar + keep + meet).outcome, ReportKind::Race));
  CHECK(finds(run(storeOwn + blockBarrier + loadFar + keep + meet).outcome, ReportKind::Race));
  CHECK(finds(run("  store i32 1, ptr addrspace(7) %far\n" + storeOwn + meet).outcome, ReportKind::Race));
  std::string relaxed = replaced(arrive, "arrive.aligned", "arrive.relaxed.aligned");
  CHECK(finds(run(storeOwn + relaxed + wait + loadFar + keep + meet).outcome, ReportKind::Race));
  // Barriers of the blocks themselves are apart: one that waits for the other's thread would hang here.
  checkExchanged(run(storeOwn + blockBarrier + meet + blockBarrier + loadFar + keep + meet), 2);
  // Global memory between the blocks of a cluster.
  std::string exchange = "  store i32 %global, ptr addrspace(1) %pg\n" + meet +
                         "  %on = xor i32 %global, 64\n  %po = getelementptr i32, ptr addrspace(1) %out, i32 %on\n"
                         "  %v = load i32, ptr addrspace(1) %po\n  %use = icmp eq i32 %v, 12345\n"
                         "  br i1 %use, label %odd, label %done\nodd:\n  unreachable\ndone:\n";
  CHECK(kinds(run(exchange).outcome) == "");
  CHECK(finds(run(replaced(exchange, meet, "")).outcome, ReportKind::Race));
}

TEST_CASE("clusters: atomics on another block's shared memory", "[simulator][cluster]") {
  std::string zero = "  %pc = getelementptr i32, ptr addrspace(3) @buf, i32 0\n" +
                     onlyFirst("zero", "  store i32 0, ptr addrspace(3) %pc\n");
  std::string add = "  %fc = call ptr addrspace(7) @llvm.nvvm.mapa.shared.cluster(ptr addrspace(3) %pc, i32 0)\n"
                    "  %old = atomicrmw add ptr addrspace(7) %fc, i32 1 syncscope(\"cluster\") monotonic\n";
  std::string read = "  %v = load i32, ptr addrspace(7) %fc\n" + keep;
  Ran ran = run(zero + meet + add + meet + read + meet, 4);
  CHECK(kinds(ran.outcome) == "");
  CHECK(ran.out == std::vector<int32_t>(4 * threads, 4 * threads));
  CHECK(finds(run(zero + meet + add + read + meet, 4).outcome, ReportKind::Race));
}

TEST_CASE("clusters: the halves of the barrier", "[simulator][cluster]") {
  // Block 0 waits between its arrival and its wait for what the other block does after the barrier.
  std::string signal =
      "  %isFirst = icmp eq i32 %rank, 0\n  br i1 %isFirst, label %lead, label %follow\nlead:\n" + arrive +
      waitBarrier(0, "poll") + wait + "  br label %joined\nfollow:\n" + meet +
      "  %fb = call ptr addrspace(7) @llvm.nvvm.mapa.shared.cluster(ptr addrspace(3) @bar, i32 0)\n"
      "  call void @llvm.nvvm.mbarrier.arrive.scope.cluster.space.cluster(ptr addrspace(7) %fb, i32 1)\n"
      "  br label %joined\njoined:\n";
  CHECK(kinds(run(initBarrier(threads) + meet + signal + meet).outcome) == "");
  CHECK(finds(run(arrive + arrive + wait).outcome, ReportKind::Barrier));
  CHECK(kinds(run(wait).outcome) == "barrier");
  // Threads that have ended count as arrived.
  std::string half = "  %leaves = icmp eq i32 %rank, 1\n  br i1 %leaves, label %gone, label %stays\ngone:\n  ret void\n"
                     "stays:\n";
  CHECK(kinds(run(half + meet).outcome) == "");
  // A thread that neither comes nor ends.
  std::string never = "  %spins = icmp eq i32 %rank, 1\n  br i1 %spins, label %spin, label %come\nspin:\n" +
                      waitBarrier(0, "poll") + "  br label %come\ncome:\n";
  CHECK(finds(run(initBarrier(1) + never + meet).outcome, ReportKind::Deadlock));
  std::string divided = "  %low = icmp ult i32 %t, 16\n  br i1 %low, label %a, label %b\na:\n" + meet +
                        "  br label %c\nb:\n" + meet + "  br label %c\nc:\n";
  CHECK(finds(run(divided).outcome, ReportKind::Divergence));
}

TEST_CASE("clusters: mbarriers of other blocks", "[simulator][cluster]") {
  // Each thread writes to the next block and arrives at its mbarrier; the block waits, and reads.
  std::string put = "  store i32 %global, ptr addrspace(7) %far\n"
                    "  %fb = call ptr addrspace(7) @llvm.nvvm.mapa.shared.cluster(ptr addrspace(3) @bar, i32 %other)\n";
  std::string reach =
      "  call void @llvm.nvvm.mbarrier.arrive.scope.cluster.space.cluster(ptr addrspace(7) %fb, i32 1)\n";
  checkExchanged(run(initBarrier(threads) + meet + put + reach + waitBarrier(0, "ready") + loadOwn + keep + meet), 2);
  std::string assembly = "  %ab = ptrtoint ptr addrspace(7) %fb to i32\n  call void asm sideeffect "
                         "\"mbarrier.arrive.release.cluster.shared::cluster.b64 _, [$0];\", \"r\"(i32 %ab)\n";
  checkExchanged(run(initBarrier(threads) + meet + put + assembly + waitBarrier(0, "ready") + loadOwn + keep + meet),
                 2);
  // Without waiting; with nobody's word that it is initialised; and a wait that only the owner may make.
  CHECK(finds(run(initBarrier(threads) + meet + put + reach + loadOwn + keep + meet).outcome, ReportKind::Race));
  CHECK(kinds(run(initBarrier(threads) + put + reach + waitBarrier(0, "ready") + meet).outcome) != "");
  std::string elsewhere = "  %lb = ptrtoint ptr addrspace(7) %fb to i32\n"
                          "  call void asm sideeffect \"{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, "
                          "[$0], 1; }\", \"r\"(i32 %lb)\n";
  CHECK(finds(run(initBarrier(threads) + meet + put + reach + elsewhere + waitBarrier(0, "ready") + meet).outcome,
              ReportKind::Barrier));
}

TEST_CASE("clusters: bulk copies to other blocks", "[simulator][cluster]") {
  const std::string expect = "  %e = call i64 @llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta("
                             "ptr addrspace(3) @bar, i32 256)\n";
  // Block 0 of each cluster loads once for all.
  auto multicast = [](int mask) {
    return "  %lead = icmp eq i32 %rank, 0\n  %loads = and i1 %lead, %first\n"
           "  br i1 %loads, label %copy, label %copied\ncopy:\n"
           "  %fbuf = addrspacecast ptr addrspace(3) @buf to ptr addrspace(7)\n"
           "  call void @llvm.nvvm.cp.async.bulk.global.to.shared.cluster(ptr addrspace(7) %fbuf, ptr addrspace(3) "
           "@bar, ptr addrspace(1) %in, i32 256, i16 " +
           std::to_string(mask) + ", i64 0, i1 true, i1 false)\n  br label %copied\ncopied:\n";
  };
  std::string before = initBarrier(1) + onlyFirst("expect", expect) + meet;
  std::string after = waitBarrier(0, "ready") + loadOwn + keep;
  Ran ran = run(before + multicast(3) + after + meet);
  CHECK(kinds(ran.outcome) == "");
  for (size_t i = 0; i < ran.out.size(); ++i)
    CHECK(ran.out[i] == static_cast<int32_t>(i % threads) + 1);
  CHECK(finds(run(before + multicast(1) + after + meet).outcome, ReportKind::Deadlock));
  CHECK(finds(run(before + multicast(7) + after + meet).outcome, ReportKind::Bounds));
  // Before the other block has made its mbarrier.
  CHECK(kinds(run(initBarrier(1) + onlyFirst("expect", expect) + multicast(3) + after + meet).outcome) != "");

  // From shared memory to the next block's.
  std::string push = storeOwn + proxyFence + blockBarrier +
                     onlyFirst("push", "  %to = getelementptr i8, ptr addrspace(3) @buf, i32 1024\n"
                                       "  %fto = call ptr addrspace(7) @llvm.nvvm.mapa.shared.cluster(ptr addrspace(3) "
                                       "%to, i32 %other)\n"
                                       "  %fb = call ptr addrspace(7) @llvm.nvvm.mapa.shared.cluster(ptr addrspace(3) "
                                       "@bar, i32 %other)\n"
                                       "  %gb = addrspacecast ptr addrspace(7) %fb to ptr\n"
                                       "  %nb = addrspacecast ptr %gb to ptr addrspace(3)\n"
                                       "  call void @llvm.nvvm.cp.async.bulk.shared.cta.to.cluster(ptr addrspace(7) "
                                       "%fto, ptr addrspace(3) %nb, ptr addrspace(3) @buf, i32 256)\n");
  std::string take = waitBarrier(0, "ready") +
                     "  %pt = getelementptr i8, ptr addrspace(3) %ps, i32 1024\n"
                     "  %v = load i32, ptr addrspace(3) %pt\n" +
                     keep;
  checkExchanged(run(before + push + take + meet), 2);
  std::string ownBarrier = replaced(push, "ptr addrspace(3) @bar, i32 %other", "ptr addrspace(3) @bar, i32 %rank");
  CHECK(finds(run(before + ownBarrier + take + meet).outcome, ReportKind::Barrier));
}

TEST_CASE("clusters: a block must not end before the others have done with it", "[simulator][cluster]") {
  for (uint64_t seed : {0, 1, 2, 3}) {
    Ran ran = run(storeOwn + meet + loadFar + keep, 2, 4, seed);
    CHECK(kinds(ran.outcome) == "race");
    CHECK(ran.outcome.reports[0].message.find(" end") != std::string::npos);
    std::string relaxed = replaced(arrive, "arrive.aligned", "arrive.relaxed.aligned");
    CHECK(kinds(run(storeOwn + meet + loadFar + keep + relaxed + wait, 2, 4, seed).outcome) == "");
  }
}

TEST_CASE("clusters: addresses", "[simulator][cluster]") {
  std::string own = "  %f3 = addrspacecast ptr addrspace(7) %far to ptr\n"
                    "  %p3 = addrspacecast ptr %f3 to ptr addrspace(3)\n  %v = load i32, ptr addrspace(3) %p3\n";
  CHECK(kinds(run(storeOwn + meet + own + keep + meet).outcome) == "bounds");
  std::string past = "  %fp = getelementptr i8, ptr addrspace(7) %far, i32 8192\n  %v = load i32, ptr addrspace(7) "
                     "%fp\n";
  CHECK(kinds(run(storeOwn + meet + past + keep + meet).outcome) == "bounds");
  std::string nobody = "  %n = call ptr addrspace(7) @llvm.nvvm.mapa.shared.cluster(ptr addrspace(3) %ps, i32 2)\n";
  CHECK(kinds(run(nobody).outcome) == "bounds");
}

TEST_CASE("clusters: launches that can't be", "[simulator][cluster]") {
  auto message = [](const char *chip, const std::string &ir, std::array<uint32_t, 3> cluster, uint32_t blocks) {
    Machine machine(chip, ir);
    machine.cluster = cluster;
    return machine.tryRun("k", {blocks, 1, 1}, {32, 1, 1}, nullptr, nullptr, nullptr, 0).status().message();
  };
  std::string ir = asyncKernel("");
  CHECK(message("sm_80", ir, {2, 1, 1}, 4).find("sm_80 has no clusters") != std::string::npos);
  CHECK(message("sm_90", ir, {3, 1, 1}, 4).find("no multiple") != std::string::npos);
  CHECK(message("sm_90", ir, {32, 1, 1}, 32).find("at most 16") != std::string::npos);
  std::string stated = replaced(ir, "i32 %number) {", "i32 %number) #0 {") + "attributes #0 = { "
                                                                             "\"nvvm.cluster_dim\"=\"2,1,1\" }\n";
  CHECK(message("sm_90", stated, {1, 1, 1}, 4).find("clusters of (2,1,1)") != std::string::npos);
  CHECK(message("sm_90", stated, {2, 1, 1}, 4).empty());
}

} // namespace tilejit::sim::test
