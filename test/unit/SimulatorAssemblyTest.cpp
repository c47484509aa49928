// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Inline assembly of PTX: operands, local registers, predicates, labels and branches; loads, stores and atomics of all
// spaces; and what is said about text that can't be read.

#include "SimulatorCompute.h"

namespace tilejit::sim::test {

namespace {

std::vector<uint32_t> numbers(size_t count) {
  std::vector<uint32_t> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = static_cast<uint32_t>(i * i % 23);
  return values;
}

template <class D>
std::vector<D> run(const std::string &result, const std::string &text, const std::string &constraints,
                   const std::vector<Column> &in) {
  return compute<D>(assembly(result, text, constraints, in), in);
}

/// What the decoder says about a statement that it refuses.
std::string refusal(const std::string &text, const std::string &constraints = "=r,r") {
  std::vector<uint32_t> a = {1};
  std::vector<Column> in = {column("i32", a)};
  Machine machine("sm_80");
  Status loaded = machine.load(kernelOf(assembly("i32", text, constraints, in), in));
  if (!loaded.isOk())
    return std::string(loaded.message());
  Expected<Outcome> outcome = machine.launch("k", {1, 1, 1}, {32, 1, 1}, {});
  return outcome.isOk() ? "accepted" : std::string(outcome.status().message());
}

} // namespace

TEST_CASE("operands of all widths, tied ones and immediates", "[simulator][assembly]") {
  std::vector<uint32_t> a = numbers(100), b = numbers(100);
  std::reverse(b.begin(), b.end());
  std::vector<Column> in = {column("i32", a), column("i32", b)};
  // $2 is tied to the result.
  std::vector<uint32_t> tied =
      run<uint32_t>("i32", "mad.lo.u32 $0, $1, 3, $0; // a comment; with a semicolon\\0A", "=r,r,0", in);
  std::vector<uint32_t> hexadecimal =
      run<uint32_t>("i32", "/* at first */ xor.b32 $0, $1, 0xfF; add.u32 $0, $0, -1;", "=r,r,r", in);
  for (size_t i = 0; i < a.size(); ++i) {
    CHECK(tied[i] == a[i] * 3 + b[i]);
    CHECK(hexadecimal[i] == (a[i] ^ 255) - 1);
  }
  std::vector<float> x = {1, 2, -0.5f};
  std::vector<Column> reals = {column("float", x)};
  CHECK(run<float>("float", "fma.rn.f32 $0, $1, 0f40000000, 0f3F800000;", "=f,f", reals) ==
        std::vector<float>{3, 5, 0});
  std::vector<double> d = {1, 2};
  std::vector<Column> doubles = {column("double", d)};
  CHECK(run<double>("double", "add.f64 $0, $1, 0d3FF8000000000000;", "=d,d", doubles) == std::vector<double>{2.5, 3.5});
  // Vectors in one register, and bytes in wider ones.
  std::vector<uint32_t> pairs = {0x40003c00, 0xbc000000};
  std::vector<Column> vectors = {column("<2 x half>", pairs)};
  CHECK(run<uint32_t>("<2 x half>", "add.f16x2 $0, $1, $1;", "=r,r", vectors) ==
        std::vector<uint32_t>{0x44004000, 0xc0000000});
  std::vector<uint8_t> bytes = {1, 200};
  std::vector<Column> small = {column("i8", bytes)};
  CHECK(run<uint8_t>("i8", "add.u16 $0, $1, 100;", "=h,h", small) == std::vector<uint8_t>{101, 44});
}

TEST_CASE("several results, scopes and local registers", "[simulator][assembly]") {
  std::vector<uint32_t> a = numbers(64);
  std::vector<Column> in = {column("i32", a)};
  Expression e{"sm_80", "i32",
               "  %p = call { i32, float } asm \"{ .reg .b32 t<3>; .reg .f32 f; add.u32 t0, $2, 1;"
               " { .reg .b32 t0; mov.b32 t0, 50; mov.b32 t1, t0; } add.u32 $0, t0, t1; cvt.rn.f32.u32 f, $2;"
               " mul.f32 $1, f, 0f3F000000; }\", \"=r,=f,r\"(i32 %a)\n"
               "  %x = extractvalue { i32, float } %p, 0\n  %y = extractvalue { i32, float } %p, 1\n"
               "  %z = fptoui float %y to i32\n  %w = shl i32 %z, 16\n  %r = or i32 %w, %x",
               ""};
  std::vector<uint32_t> out = compute<uint32_t>(e, in);
  for (size_t i = 0; i < a.size(); ++i)
    CHECK(out[i] == (a[i] / 2 << 16 | (a[i] + 51)));
}

TEST_CASE("predicated statements leave other lanes alone", "[simulator][assembly]") {
  std::vector<uint32_t> a = numbers(100);
  std::vector<Column> in = {column("i32", a)};
  std::vector<uint32_t> out = run<uint32_t>(
      "i32", "{ .reg .pred %p; setp.gt.u32 %p, $1, 10; mov.b32 $0, 7; @%p mov.b32 $0, $1; @!%p add.u32 $0, $0, 1; }",
      "=r,r", in);
  for (size_t i = 0; i < a.size(); ++i)
    CHECK(out[i] == (a[i] > 10 ? a[i] : 8));
  // A guarded load, as compilers write it: the address of the others is never touched.
  std::vector<uint8_t> flags(100);
  for (size_t i = 0; i < flags.size(); ++i)
    flags[i] = i % 3 == 0;
  Expression load{"sm_80", "i32",
                  "  %p = trunc i8 %b to i1\n  %address = select i1 %p, ptr addrspace(1) %at_a, ptr addrspace(1) null\n"
                  "  %r = call i32 asm sideeffect \"mov.u32 $0, 0x5;\\0A\\09@$2 ld.global.b32 { $0 }, [ $1 + 0 ];\","
                  " \"=r,l,b\"(ptr addrspace(1) %address, i1 %p)",
                  ""};
  std::vector<Column> both = {in[0], column("i8", flags)};
  out = compute<uint32_t>(load, both);
  for (size_t i = 0; i < a.size(); ++i)
    CHECK(out[i] == (flags[i] ? a[i] : 5));
}

TEST_CASE("branches within assembly: loops whose lanes part and meet", "[simulator][assembly]") {
  std::vector<uint32_t> a = numbers(150);
  std::vector<Column> in = {column("i32", a)};
  // The sum of 1 to n, each lane with its own n; none for zero.
  std::vector<uint32_t> sums = run<uint32_t>(
      "i32",
      "{ .reg .pred p; .reg .b32 n, t; mov.b32 $0, 0; mov.b32 n, $1; setp.eq.u32 p, n, 0; @p bra done;"
      " loop: mov.b32 t, n; add.u32 $0, $0, t; sub.u32 n, n, 1; setp.ne.u32 p, n, 0; @p bra loop; done: }",
      "=r,r", in);
  for (size_t i = 0; i < a.size(); ++i)
    CHECK(sums[i] == a[i] * (a[i] + 1) / 2);
  // Two ways that meet; the ballot behind them sees all lanes of the warp.
  std::vector<uint32_t> ways =
      run<uint32_t>("i32",
                    "{ .reg .pred p; .reg .b32 v; setp.lt.u32 p, $1, 11; @!p bra.uni high; add.u32 v, $1, 100; bra end;"
                    " high: add.u32 v, $1, 200; end: setp.lt.u32 p, v, 200; vote.sync.ballot.b32 $0, p, 0xffffffff; }",
                    "=r,r", {column("i32", numbers(128))});
  for (size_t i = 0; i < 128; ++i) {
    uint32_t expected = 0;
    for (size_t l = i / 32 * 32; l < i / 32 * 32 + 32; ++l)
      expected |= uint32_t(numbers(128)[l] < 11) << l % 32;
    CHECK(ways[i] == expected);
  }
  // The same label in two scopes, and one that is unique by number.
  std::vector<uint32_t> scopes = run<uint32_t>("i32",
                                               "{ mov.b32 $0, 1; bra L; mov.b32 $0, 2; L: } { bra L; mov.b32 $0, 3; L: "
                                               "} bra $$l${:uid}; mov.b32 $0, 4; $$l${:uid}:",
                                               "=r,r", in);
  CHECK(scopes == std::vector<uint32_t>(a.size(), 1));
}

TEST_CASE("a loop in assembly that never ends uses up the budget", "[simulator][assembly]") {
  std::vector<uint32_t> a = {1};
  std::vector<Column> in = {column("i32", a)};
  Machine machine("sm_80", kernelOf(assembly("i32", "l: add.u32 $0, $1, 1; bra l;", "=r,r", in), in));
  machine.options.instructionBudget = 10000;
  Outcome outcome = machine.run("k", {1, 1, 1}, {32, 1, 1}, machine.output<uint32_t>(1), machine.array(a), 1);
  CHECK(kinds(outcome) == "budget");
}

TEST_CASE("special registers and names of variables are operands", "[simulator][assembly]") {
  std::vector<uint32_t> a = numbers(130);
  std::vector<Column> in = {column("i32", a)};
  std::vector<uint32_t> out =
      run<uint32_t>("i32", "{ .reg .u32 %t; mov.u32 %t, %tid.x; mad.lo.u32 $0, %ctaid.x, 128, %t; }", "=r,r", in);
  std::vector<uint32_t> lanes = run<uint32_t>("i32", "mov.u32 $0, %laneid;", "=r,r", in);
  for (size_t i = 0; i < a.size(); ++i) {
    CHECK(out[i] == i);
    CHECK(lanes[i] == i % 32);
  }
}

TEST_CASE("loads and stores of all widths, vectors and spaces", "[simulator][assembly]") {
  std::vector<uint64_t> a(100);
  for (size_t i = 0; i < a.size(); ++i)
    a[i] = 0x8081828384858687ull * (i + 1);
  std::vector<Column> in = {column("i64", a)};
  auto through = [&](const std::string &text, const std::string &type, const std::string &letter) {
    return Expression{
        "sm_80", type,
        "  %r = call " + type + " asm sideeffect \"" + text + "\", \"=" + letter + ",l\"(ptr addrspace(1) %at_a)", ""};
  };
  auto u8 = compute<uint32_t>(through("ld.global.u8 $0, [$1+3];", "i32", "r"), in);
  auto s8 = compute<int32_t>(through("ld.global.nc.L1::evict_last.s8 $0, [$1+3];", "i32", "r"), in);
  auto s32 = compute<int64_t>(through("ld.s32 $0, [$1];", "i64", "l"), in);
  auto v2 = compute<uint64_t>(
      through("{ .reg .b32 x, y; ld.global.v2.b32 {x, y}, [$1]; mov.b64 $0, {y, x}; }", "i64", "l"), in);
  auto v4 = compute<uint64_t>(
      through("{ .reg .b16 x<4>; ld.volatile.global.v4.u16 {x0, x1, x2, x3}, [$1]; mov.b64 $0, {x3, x2, x1, x0}; }",
              "i64", "l"),
      in);
  auto acquired = compute<uint64_t>(through("ld.global.acquire.gpu.b64 $0, [$1];", "i64", "l"), in);
  for (size_t i = 0; i < a.size(); ++i) {
    CHECK(u8[i] == (a[i] >> 24 & 255));
    CHECK(s8[i] == static_cast<int8_t>(a[i] >> 24));
    CHECK(s32[i] == static_cast<int32_t>(a[i]));
    CHECK(v2[i] == (a[i] << 32 | a[i] >> 32));
    CHECK(v4[i] == ((a[i] & 0xffff) << 48 | (a[i] >> 16 & 0xffff) << 32 | (a[i] >> 32 & 0xffff) << 16 | a[i] >> 48));
    CHECK(acquired[i] == a[i]);
  }
  // Through shared memory, by the address in it and by a generic one.
  Expression shared{
      "sm_80", "i64",
      "  %s = getelementptr [128 x i64], ptr addrspace(3) @buffer, i32 0, i32 %tid\n"
      "  %n = ptrtoint ptr addrspace(3) %s to i32\n"
      "  call void asm sideeffect \"st.shared::cta.v2.b32 [$0], {$1, $2};\", \"r,r,r\"(i32 %n, i32 %i, i32 77)\n"
      "  %r = call i64 asm sideeffect \"{ .reg .u64 g; cvt.u64.u32 g, $1; cvta.shared.u64 g, g;"
      " ld.b64 $0, [g]; }\", \"=l,r\"(i32 %n)",
      "@buffer = internal addrspace(3) global [128 x i64] undef, align 8\n"};
  auto back = compute<uint64_t>(shared, in);
  for (size_t i = 0; i < a.size(); ++i)
    CHECK(back[i] == (77ull << 32 | i));
}

TEST_CASE("atomic statements", "[simulator][assembly]") {
  auto kernel = [](const std::string &text, const std::string &constraints, const std::string &arguments) {
    return "target triple = \"nvptx64-nvidia-cuda\"\ndefine ptx_kernel void @k(ptr addrspace(1) %p, ptr addrspace(1) "
           "%q) {\n"
           "  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n  %f = uitofp i32 %t to float\n"
           "  %o = call i32 asm sideeffect \"" +
           text + "\", \"=r," + constraints + "\"(" + arguments +
           ")\n"
           "  %at = getelementptr i32, ptr addrspace(1) %q, i32 %t\n  store i32 %o, ptr addrspace(1) %at, align 4\n"
           "  ret void\n}\ndeclare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n";
  };
  auto run = [&](const std::string &text, const std::string &constraints, const std::string &arguments, uint32_t start,
                 std::vector<uint32_t> &old) {
    Machine machine("sm_80", kernel(text, constraints, arguments));
    uint32_t *p = machine.array(std::vector<uint32_t>{start}), *q = machine.output<uint32_t>(64);
    Outcome outcome = machine.run("k", {1, 1, 1}, {64, 1, 1}, p, q);
    CHECK(kinds(outcome).empty());
    old.assign(q, q + 64);
    return *p;
  };
  const std::string place = "ptr addrspace(1) %p, i32 %t";
  std::vector<uint32_t> old;
  CHECK(run("atom.global.gpu.acq_rel.add.u32 $0, [$1], $2;", "l,r", place, 5, old) == 5 + 63 * 32);
  CHECK(old[3] == 5 + 0 + 1 + 2);
  CHECK(run("atom.add.relaxed.sys.u32 $0, [$1+0], 2;", "l,r", place, 0, old) == 128);
  CHECK(run("atom.global.max.s32 $0, [$1], $2;", "l,r", place, 40, old) == 63);
  CHECK(run("atom.global.acq_rel.gpu.cas.b32 $0, [$1], 9, $2;", "l,r", place, 9, old) == 0);
  CHECK(old[1] == 0);
  CHECK(run("atom.inc.u32 $0, [$1], 9;", "l,r", place, 0, old) == 4);
  CHECK(run("red.global.or.b32 [$1], $2; mov.b32 $0, 1;", "l,r", place, 64, old) == 127);
  CHECK(std::bit_cast<float>(run("{ .reg .f32 f; atom.global.add.f32 f, [$1], $2; mov.b32 $0, f; }", "l,f",
                                 "ptr addrspace(1) %p, float %f", 0, old)) == 63 * 32);
  CHECK(run("atom.add.noftz.f16x2 $0, [$1], 0x3c004000;", "l,r", place, 0, old) == 0x54005800); // 64 and 128.
}

TEST_CASE("assembly that can't be read is refused with its text", "[simulator][assembly]") {
  auto says = [](const std::string &text, const std::string &words) {
    std::string answer = refusal(text);
    INFO(answer);
    CHECK(answer.find(words) != std::string::npos);
  };
  says("frobnicate.b32 $0, $1;", "unsupported assembly 'frobnicate.b32 $0, $1'");
  says("add.q32 $0, $1, 1;", "unsupported assembly 'add.q32 $0, $1, 1'");
  says("add.u32 $0, $1;", "operands");
  says("add.u32 $0, $1, missing;", "unknown name 'missing'");
  says("add.u32 $0, $1, $7;", "operand $7 does not exist");
  says("add.u64 $0, $1, 1;", "32 bits where 64 are needed");
  says("bra nowhere;", "unknown label 'nowhere'");
  says("{ mov.b32 $0, $1;", "a scope is not closed");
  says("mov.b32 $0, $1; }", "malformed assembly");
  says("ld.global.b32 $0, $1;", "must be [an address]");
  says("ld.global.sideways.b32 $0, [$1];", "sideways");
  says(".reg .q12 x; mov.b32 $0, $1;", "unsupported type '.q12'");
  says("mov.b32 $0, 0xzz;", "expected a number");
}

TEST_CASE("statements whose words or operands are missing are refused", "[simulator][assembly]") {
  // Each mnemonic as far as its dots, and whole, without operands.
  const char *const mnemonics[] = {
      "add.s32",
      "mad.wide.u32",
      "set.eq.u32.u32",
      "setp.lt.and.s32",
      "selp.b32",
      "slct.s32.f32",
      "mov.b32",
      "cvt.rn.f16.f32",
      "cvta.to.global.u64",
      "isspacep.shared",
      "testp.nan.f32",
      "copysign.f32",
      "ld.global.v4.b32",
      "st.shared.b32",
      "atom.global.add.u32",
      "red.shared.add.u32",
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32",
      "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32",
      "createpolicy.fractional.L2.b64",
      "shfl.sync.idx.b32",
      "vote.sync.any.pred",
      "match.any.sync.b32",
      "redux.sync.add.s32",
      "elect.sync",
      "bar.sync",
      "bar.arrive",
      "barrier.red.popc.u32",
      "bar.warp.sync",
      "nanosleep.u32",
      "ldmatrix.sync.aligned.m8n8.x4.shared.b16",
      "stmatrix.sync.aligned.m8n8.x1.shared.b16",
      "movmatrix.sync.aligned.m8n8.trans.b16",
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
      "wmma.load.a.sync.aligned.row.m16n16k16.f16",
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16",
      "wgmma.wait_group.sync.aligned",
      "cp.async.ca.shared.global",
      "cp.async.wait_group",
      "cp.async.mbarrier.arrive.noinc.shared::cta.b64",
      "mbarrier.init.shared::cta.b64",
      "mbarrier.inval.shared::cta.b64",
      "mbarrier.arrive.expect_tx.shared::cta.b64",
      "mbarrier.arrive.shared::cta.b64",
      "mbarrier.arrive_drop.shared::cta.b64",
      "mbarrier.try_wait.parity.shared::cta.b64",
      "mbarrier.pending_count.b64",
      "mbarrier.complete_tx.relaxed.cluster.shared::cta.b64",
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster",
      "cp.async.bulk.global.shared::cta.bulk_group",
      "cp.async.bulk.wait_group.read",
      "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32",
      "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes",
      "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group",
      "tensormap.replace.tile.box_dim.shared::cta.b1024.b32",
      "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned",
      "mapa.shared::cluster.u32",
      "getctarank.shared::cluster.u32",
      "fence.proxy.tensormap::generic.acquire.gpu",
      "prmt.b32",
      "lop3.b32",
      "shf.l.wrap.b32"};
  for (std::string mnemonic : mnemonics)
    for (;;) {
      INFO(mnemonic);
      Machine machine("sm_90a");
      std::vector<uint32_t> a = {1};
      std::vector<Column> in = {column("i32", a)};
      Status loaded = machine.load(kernelOf(assembly("i32", mnemonic + ";", "=r,r", in), in));
      Expected<Outcome> outcome = machine.launch("k", {1, 1, 1}, {32, 1, 1}, {});
      CHECK_FALSE((loaded.isOk() && outcome.isOk()));
      size_t dot = mnemonic.rfind('.');
      if (dot == std::string::npos)
        break;
      mnemonic.resize(dot);
    }
}

TEST_CASE("printf and assertions of CUDA", "[simulator][libraries]") {
  const char *text = R"(
target triple = "nvptx64-nvidia-cuda"
@format = private unnamed_addr addrspace(1) constant [31 x i8] c"%d: %5.2f %s %lld%% [%-4x]%c\0A\00\00"
@word = private unnamed_addr addrspace(1) constant [6 x i8] c"words\00"
@condition = private unnamed_addr addrspace(1) constant [6 x i8] c"n > 0\00"
@file = private unnamed_addr addrspace(1) constant [5 x i8] c"a.cu\00"
define ptx_kernel void @k(i32 %n) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %v = alloca { i32, double, ptr, i64, i32, i32 }, align 8
  store i32 %t, ptr %v, align 8
  %f = uitofp i32 %t to double
  %g = fmul double %f, 1.5
  %p1 = getelementptr i8, ptr %v, i64 8
  store double %g, ptr %p1, align 8
  %p2 = getelementptr i8, ptr %v, i64 16
  store ptr addrspacecast (ptr addrspace(1) @word to ptr), ptr %p2, align 8
  %p3 = getelementptr i8, ptr %v, i64 24
  store i64 -5, ptr %p3, align 8
  %p4 = getelementptr i8, ptr %v, i64 32
  store i32 255, ptr %p4, align 8
  %p5 = getelementptr i8, ptr %v, i64 36
  store i32 33, ptr %p5, align 4
  %r = call i32 @vprintf(ptr addrspacecast (ptr addrspace(1) @format to ptr), ptr %v)
  %bad = icmp eq i32 %n, 0
  br i1 %bad, label %fail, label %end
fail:
  call void @__assertfail(ptr addrspacecast (ptr addrspace(1) @condition to ptr), ptr addrspacecast (ptr addrspace(1) @file to ptr), i32 12, ptr addrspacecast (ptr addrspace(1) @word to ptr), i64 1)
  unreachable
end:
  ret void
}
declare i32 @vprintf(ptr, ptr)
declare void @__assertfail(ptr, ptr, i32, ptr, i64)
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
)";
  Machine machine("sm_80", text);
  Outcome fine = machine.run("k", {1, 1, 1}, {2, 1, 1}, 1);
  CHECK(kinds(fine).empty());
  CHECK(fine.printed == "0:  0.00 words -5% [ff  ]!\n1:  1.50 words -5% [ff  ]!\n");
  Outcome failed = machine.run("k", {1, 1, 1}, {1, 1, 1}, 0);
  REQUIRE(kinds(failed) == "assert");
  CHECK(failed.reports[0].message.find("n > 0 at a.cu:12 in words") != std::string::npos);
}

TEST_CASE("printf of HIP, in pieces", "[simulator][libraries]") {
  const char *text = R"(
target triple = "amdgcn-amd-amdhsa"
@format = private unnamed_addr addrspace(4) constant [15 x i8] c"%d %s: %.1f%%\0A\00"
@word = private unnamed_addr addrspace(4) constant [5 x i8] c"5 %d\00"
define amdgpu_kernel void @k(i64 %bits) {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %w = zext i32 %t to i64
  %d0 = call i64 @__ockl_printf_begin(i64 0)
  %d1 = call i64 @__ockl_printf_append_string_n(i64 %d0, ptr addrspacecast (ptr addrspace(4) @format to ptr), i64 15, i32 0)
  %d2 = call i64 @__ockl_printf_append_args(i64 %d1, i32 1, i64 %w, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i32 0)
  %d3 = call i64 @__ockl_printf_append_string_n(i64 %d2, ptr addrspacecast (ptr addrspace(4) @word to ptr), i64 5, i32 0)
  %d4 = call i64 @__ockl_printf_append_args(i64 %d3, i32 1, i64 %bits, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i32 1)
  ret void
}
declare i32 @llvm.amdgcn.workitem.id.x()
declare i64 @__ockl_printf_begin(i64)
declare i64 @__ockl_printf_append_string_n(i64, ptr, i64, i32)
declare i64 @__ockl_printf_append_args(i64, i32, i64, i64, i64, i64, i64, i64, i64, i32)
)";
  Machine machine("gfx942", text);
  Outcome outcome = machine.run("k", {1, 1, 1}, {2, 1, 1}, 2.5);
  CHECK(kinds(outcome).empty());
  CHECK(outcome.printed == "0 5 %d: 2.5%\n1 5 %d: 2.5%\n");
}

TEST_CASE("functions of device libraries", "[simulator][libraries]") {
  std::vector<float> a = mixedFloats(100, 3, 80.0f);
  std::vector<Column> in = {column("float", a)};
  auto near = [](float r, double exact) {
    auto e = static_cast<float>(exact);
    return (std::isnan(r) && std::isnan(e)) || r == e || r == std::nextafterf(e, INFINITY) ||
           r == std::nextafterf(e, -INFINITY);
  };
  auto check = [&](const std::string &name, const std::string &chip, double (*f)(double)) {
    std::vector<float> out = compute<float>(callOf("float", name, in, "", chip), in);
    for (size_t i = 0; i < a.size(); ++i) {
      INFO(name << " of " << a[i] << " is " << out[i]);
      REQUIRE(near(out[i], f(double(a[i]))));
    }
  };
  check("__nv_expf", "sm_80", [](double x) { return std::exp(x); });
  check("__nv_fast_logf", "sm_80", [](double x) { return std::log(x); });
  check("__nv_erff", "sm_80", [](double x) { return std::erf(x); });
  check("__nv_tgammaf", "sm_80", [](double x) { return std::tgamma(x); });
  check("__nv_rsqrtf", "sm_80", [](double x) { return 1 / std::sqrt(x); });
  check("__ocml_exp_f32", "gfx942", [](double x) { return std::exp(x); });
  check("__ocml_native_sin_f32", "gfx942", [](double x) { return std::sin(x); });
  check("__ocml_log1p_f32", "gfx1100", [](double x) { return std::log1p(x); });
  std::vector<int32_t> n = compute<int32_t>(callOf("i32", "__nv_float2int_rd", in), in);
  std::vector<int32_t> nan = compute<int32_t>(callOf("i32", "__nv_isnanf", in), in);
  std::vector<float> sum = compute<float>(callOf("float", "__nv_fadd_ru", {in[0], in[0]}), {in[0], in[0]});
  for (size_t i = 0; i < a.size(); ++i) {
    CHECK(n[i] == (std::isnan(a[i]) ? 0 : static_cast<int32_t>(std::floor(a[i]))));
    CHECK(nan[i] == std::isnan(a[i]));
    if (!std::isnan(a[i]))
      CHECK(sum[i] == a[i] + a[i]);
  }
  std::vector<uint32_t> bits = randomIntegers<uint32_t>(100, 4);
  std::vector<Column> words = {column("i32", bits)};
  std::vector<uint32_t> ones = compute<uint32_t>(callOf("i32", "__nv_popc", words), words);
  for (size_t i = 0; i < bits.size(); ++i)
    CHECK(ones[i] == static_cast<uint32_t>(__builtin_popcount(bits[i])));
  Expression both{"gfx942", "float",
                  "  %v = alloca float, align 4, addrspace(5)\n"
                  "  %s = call float @__ocml_sincos_f32(float %a, ptr addrspace(5) %v)\n"
                  "  %c = load float, ptr addrspace(5) %v, align 4\n  %s2 = fmul float %s, %s\n"
                  "  %c2 = fmul float %c, %c\n  %r = fadd float %s2, %c2",
                  "declare float @__ocml_sincos_f32(float, ptr addrspace(5))\n"};
  std::vector<float> one = compute<float>(both, in);
  for (size_t i = 0; i < a.size(); ++i)
    if (!std::isnan(a[i]))
      CHECK(std::fabs(one[i] - 1) < 3e-7f); // Three roundings of numbers up to one.
  Expression arch{
      "sm_89", "i32", "  %r = call i32 @__nvvm_reflect(ptr addrspacecast (ptr addrspace(4) @name to ptr))",
      "@name = private addrspace(4) constant [12 x i8] c\"__CUDA_ARCH\\00\"\ndeclare i32 @__nvvm_reflect(ptr)\n"};
  CHECK(compute<uint32_t>(arch, words)[0] == 890);
  Machine machine("sm_80");
  REQUIRE(machine.load(kernelOf(callOf("i32", "__nv_unheard_of", words), words)).isOk());
  CHECK(!machine.launch("k", {1, 1, 1}, {32, 1, 1}, {}).isOk());
}

} // namespace tilejit::sim::test
