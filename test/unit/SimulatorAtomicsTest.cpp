// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Atomic operations of the simulator: every operation and type against plain loops, in every memory; lanes in ascending
// order, blocks in order of their numbers; what warps of a block hand over through them.

#include "SimulatorKernel.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

namespace tilejit::sim::test {

namespace {

const char *declarations = R"(
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
)";

/// old[t] = cell op values[t] for each thread, in global memory, shared memory, or both by generic pointers.
std::string kernelText(const std::string &operation, const std::string &type, unsigned bytes) {
  auto place = [&](const std::string &name, const std::string &base) {
    return "  %" + name + " = getelementptr " + type + ", ptr addrspace(1) %" + base + ", i32 %t\n";
  };
  std::string head = "target triple = \"nvptx64-nvidia-cuda\"\n@s = internal addrspace(3) global " + type +
                     " undef, align " + std::to_string(bytes) + "\n";
  std::string start = "  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n" + place("pv", "values") +
                      place("po", "old") + "  %v = load " + type + ", ptr addrspace(1) %pv\n";
  std::string arguments = "(ptr addrspace(1) %cell, ptr addrspace(1) %values, ptr addrspace(1) %old) {\n";
  std::string finish = "  store " + type + " %o, ptr addrspace(1) %po\n";
  std::string toShared = "  %c = load " + type + ", ptr addrspace(1) %cell\n  store " + type +
                         " %c, ptr addrspace(3) @s\n  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n";
  std::string back = "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n  %r = load " + type +
                     ", ptr addrspace(3) @s\n  store " + type + " %r, ptr addrspace(1) %cell\n  ret void\n}\n";
  std::string rmw = "  %o = atomicrmw " + operation + " ptr ";
  return head + "define ptx_kernel void @global" + arguments + start + rmw + "addrspace(1) %cell, " + type +
         " %v monotonic\n" + finish + "  ret void\n}\n" + "define ptx_kernel void @shared" + arguments + start +
         toShared + rmw + "addrspace(3) @s, " + type + " %v monotonic\n" + finish + back + declarations;
}

template <class T>
void check(const std::string &operation, const std::string &type, T initial, const std::vector<T> &values,
           const std::function<T(T, T)> &combine) {
  INFO(operation << " " << type);
  for (const char *kernel : {"global", "shared"}) {
    Machine machine("sm_80", kernelText(operation, type, sizeof(T)));
    T *cell = machine.array(std::vector<T>{initial});
    T *given = machine.array(values);
    T *old = machine.output<T>(values.size());
    Outcome outcome = machine.run(kernel, {1, 1, 1}, {static_cast<uint32_t>(values.size()), 1, 1}, cell, given, old);
    CHECK(kinds(outcome).empty());
    T expected = initial;
    for (size_t i = 0; i < values.size(); ++i) {
      INFO(kernel << " lane " << i);
      REQUIRE(std::memcmp(&old[i], &expected, sizeof(T)) == 0);
      expected = combine(expected, values[i]);
    }
    CHECK(std::memcmp(cell, &expected, sizeof(T)) == 0);
  }
}

/// Numbers of all sizes and both signs.
template <class T> std::vector<T> numbers() {
  std::vector<T> values;
  uint64_t state = 7;
  for (int i = 0; i < 32; ++i) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    values.push_back(static_cast<T>(static_cast<int64_t>(state) >> (i * 2 % 60)));
  }
  return values;
}

template <class U> void checkIntegers(const std::string &type) {
  using S = std::make_signed_t<U>;
  std::vector<U> values = numbers<U>();
  U start = static_cast<U>(0x1234567890abcdefull);
  check<U>("xchg", type, start, values, [](U, U v) { return v; });
  check<U>("add", type, start, values, [](U a, U v) { return static_cast<U>(a + v); });
  check<U>("sub", type, start, values, [](U a, U v) { return static_cast<U>(a - v); });
  check<U>("and", type, start, values, [](U a, U v) { return static_cast<U>(a & v); });
  check<U>("nand", type, start, values, [](U a, U v) { return static_cast<U>(~(a & v)); });
  check<U>("or", type, start, values, [](U a, U v) { return static_cast<U>(a | v); });
  check<U>("xor", type, start, values, [](U a, U v) { return static_cast<U>(a ^ v); });
  check<U>("max", type, start, values,
           [](U a, U v) { return static_cast<U>(std::max<S>(static_cast<S>(a), static_cast<S>(v))); });
  check<U>("min", type, start, values,
           [](U a, U v) { return static_cast<U>(std::min<S>(static_cast<S>(a), static_cast<S>(v))); });
  check<U>("umax", type, start, values, [](U a, U v) { return std::max(a, v); });
  check<U>("umin", type, start, values, [](U a, U v) { return std::min(a, v); });
  check<U>("uinc_wrap", type, 3, std::vector<U>(12, 5), [](U a, U v) { return static_cast<U>(a >= v ? 0 : a + 1); });
  check<U>("udec_wrap", type, 3, std::vector<U>(12, 5),
           [](U a, U v) { return static_cast<U>(a == 0 || a > v ? v : a - 1); });
  check<U>("usub_cond", type, 100, {30, 80, 30, 30, 30, 10},
           [](U a, U v) { return static_cast<U>(a >= v ? a - v : a); });
  check<U>("usub_sat", type, 100, {30, 30, 30, 30, 1}, [](U a, U v) { return static_cast<U>(a >= v ? a - v : 0); });
}

/// Values that are exact in every format, and their bits.
template <class Bits> void checkFloats(const std::string &type, const std::function<Bits(double)> &bits) {
  std::vector<double> plain{1, -2, 0.5, 8, -0.0, 0.0, 3, -7, 2, 0.25};
  double nan = std::nan("");
  auto run = [&](const std::string &op, double initial, std::vector<double> values,
                 const std::function<double(double, double)> &combine) {
    INFO(op << " " << type);
    std::vector<Bits> given;
    for (double value : values)
      given.push_back(bits(value));
    for (const char *kernel : {"global", "shared"}) {
      Machine machine("sm_90", kernelText(op, type, sizeof(Bits)));
      Bits *cell = machine.array(std::vector<Bits>{bits(initial)});
      Bits *in = machine.array(given), *old = machine.output<Bits>(given.size());
      Outcome outcome = machine.run(kernel, {1, 1, 1}, {static_cast<uint32_t>(given.size()), 1, 1}, cell, in, old);
      CHECK(kinds(outcome).empty());
      double expected = initial;
      for (size_t i = 0; i < values.size(); ++i) {
        CHECK(old[i] == bits(expected));
        expected = combine(expected, values[i]);
      }
      CHECK(*cell == bits(expected));
    }
  };
  run("fadd", 4, plain, [](double a, double v) { return a + v; });
  run("fsub", 4, plain, [](double a, double v) { return a - v; });
  run("xchg", 4, plain, [](double, double v) { return v; });
  std::vector<double> withNan{-3, 2, nan, -5, 7};
  run("fmax", -4, withNan, [](double a, double v) { return std::isnan(v) ? a : std::max(a, v); });
  run("fmin", 4, withNan, [](double a, double v) { return std::isnan(v) ? a : std::min(a, v); });
  run("fmaximum", -4, {-5, 2, 1}, [](double a, double v) { return std::max(a, v); });
  run("fminimum", 4, {-0.0, 0.0, 3}, [](double a, double v) { return v < a || std::signbit(v) ? v : a; });
}

uint16_t bf16Bits(double value) {
  return static_cast<uint16_t>(std::bit_cast<uint32_t>(static_cast<float>(value)) >> 16);
}

uint16_t f16Bits(double value) {
  if (std::isnan(value))
    return 0x7e00;
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (value == 0)
    return sign;
  int exponent = std::ilogb(value);
  double mantissa = std::fabs(value) / std::ldexp(1.0, exponent) - 1;
  return static_cast<uint16_t>(sign | (exponent + 15) << 10 | static_cast<int>(mantissa * 1024));
}

} // namespace

TEST_CASE("integer read-modify-writes", "[simulator]") {
  checkIntegers<uint32_t>("i32");
  checkIntegers<uint64_t>("i64");
  checkIntegers<uint16_t>("i16");
  checkIntegers<uint8_t>("i8");
}

TEST_CASE("floating-point read-modify-writes", "[simulator]") {
  checkFloats<uint32_t>("float", [](double v) { return std::bit_cast<uint32_t>(static_cast<float>(v)); });
  checkFloats<uint64_t>("double", [](double v) { return std::bit_cast<uint64_t>(v); });
  checkFloats<uint16_t>("half", f16Bits);
  checkFloats<uint16_t>("bfloat", bf16Bits);
}

TEST_CASE("pairs of halves are added element by element", "[simulator]") {
  Machine machine("sm_90", kernelText("fadd", "<2 x half>", 4));
  auto pair = [](double a, double b) { return f16Bits(a) | uint32_t(f16Bits(b)) << 16; };
  uint32_t *cell = machine.array(std::vector<uint32_t>{pair(1, -1)});
  uint32_t *values = machine.array(std::vector<uint32_t>{pair(2, 0.5), pair(4, -8)}),
           *old = machine.output<uint32_t>(2);
  CHECK(kinds(machine.run("global", {1, 1, 1}, {2, 1, 1}, cell, values, old)).empty());
  CHECK(old[0] == pair(1, -1));
  CHECK(old[1] == pair(3, -0.5));
  CHECK(*cell == pair(7, -8.5));
}

TEST_CASE("lanes of one generic atomic may point to different memories", "[simulator]") {
  Machine machine("sm_80", std::string(R"(
target triple = "nvptx64-nvidia-cuda"
@s = internal addrspace(3) global i32 undef, align 4
define ptx_kernel void @k(ptr addrspace(1) %cell, ptr addrspace(1) %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %local = alloca i32, addrspace(5)
  store i32 100, ptr addrspace(5) %local
  store i32 1000, ptr addrspace(3) @s
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %g = addrspacecast ptr addrspace(1) %cell to ptr
  %sh = addrspacecast ptr addrspace(3) @s to ptr
  %lo = addrspacecast ptr addrspace(5) %local to ptr
  %m = urem i32 %t, 3
  %is0 = icmp eq i32 %m, 0
  %is1 = icmp eq i32 %m, 1
  %p1 = select i1 %is1, ptr %sh, ptr %lo
  %p = select i1 %is0, ptr %g, ptr %p1
  %o = atomicrmw add ptr %p, i32 1 seq_cst
  %po = getelementptr i32, ptr addrspace(1) %out, i32 %t
  store i32 %o, ptr addrspace(1) %po
  ret void
}
)") + declarations);
  uint32_t *cell = machine.array(std::vector<uint32_t>{0}), *out = machine.output<uint32_t>(32);
  CHECK(kinds(machine.run("k", {1, 1, 1}, {32, 1, 1}, cell, out)).empty());
  for (uint32_t t = 0; t < 32; ++t)
    CHECK(out[t] == (t % 3 == 0 ? t / 3 : t % 3 == 1 ? 1000 + t / 3 : 100));
  CHECK(*cell == 11);
}

TEST_CASE("compare and exchange swaps where the old value is the expected one", "[simulator]") {
  Machine machine("sm_80", std::string(R"(
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k(ptr addrspace(1) %cell, ptr addrspace(1) %old, ptr addrspace(1) %won) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %half = lshr i32 %t, 1
  %next = add i32 %half, 1
  %r = cmpxchg ptr addrspace(1) %cell, i32 %half, i32 %next acq_rel monotonic
  %o = extractvalue { i32, i1 } %r, 0
  %w = extractvalue { i32, i1 } %r, 1
  %z = zext i1 %w to i32
  %po = getelementptr i32, ptr addrspace(1) %old, i32 %t
  %pw = getelementptr i32, ptr addrspace(1) %won, i32 %t
  store i32 %o, ptr addrspace(1) %po
  store i32 %z, ptr addrspace(1) %pw
  ret void
}
)") + declarations);
  uint32_t *cell = machine.array(std::vector<uint32_t>{0});
  uint32_t *old = machine.output<uint32_t>(32), *won = machine.output<uint32_t>(32);
  CHECK(kinds(machine.run("k", {1, 1, 1}, {32, 1, 1}, cell, old, won)).empty());
  for (uint32_t t = 0; t < 32; ++t) {
    CHECK(old[t] == (t + 1) / 2);
    CHECK(won[t] == (t % 2 == 0));
  }
  CHECK(*cell == 16);
}

TEST_CASE("blocks draw tickets in order of their numbers", "[simulator]") {
  for (int threads : {1, 3}) {
    Machine machine("sm_80", kernelText("add", "i32", 4));
    machine.options.threads = threads;
    // Each block has one thread; all add 1.
    uint32_t *cell = machine.array(std::vector<uint32_t>{0}), *one = machine.array(std::vector<uint32_t>{1});
    uint32_t *old = machine.array(std::vector<uint32_t>{0});
    Outcome outcome = machine.run("global", {50, 1, 1}, {1, 1, 1}, cell, one, old);
    // All blocks store their ticket to one place.
    CHECK(kinds(outcome) == "race");
    CHECK(*cell == 50);
    CHECK(outcome.counters.atomics == 50);
  }
}

TEST_CASE("an atomic on memory that nobody wrote is reported", "[simulator]") {
  Machine machine("sm_80", kernelText("add", "i32", 4));
  uint32_t *cell = machine.output<uint32_t>(1, "cell"), *one = machine.array(std::vector<uint32_t>{1});
  uint32_t *old = machine.output<uint32_t>(1);
  CHECK(kinds(machine.run("global", {1, 1, 1}, {1, 1, 1}, cell, one, old)) == "uninitialized");
}

namespace {

/// Warp 0 stores data and sets a flag in shared memory; warp 1 polls the flag and reads the data.
std::string handover(const std::string &store, const std::string &beforeStore, const std::string &load,
                     const std::string &afterLoad) {
  return std::string(R"(
target triple = "nvptx64-nvidia-cuda"
@data = internal addrspace(3) global [32 x i32] undef, align 4
@flag = internal addrspace(3) global i32 undef, align 4
define ptx_kernel void @k(ptr addrspace(1) %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %lane = and i32 %t, 31
  %p = getelementptr i32, ptr addrspace(3) @data, i32 %lane
  store atomic i32 0, ptr addrspace(3) @flag monotonic, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %first = icmp ult i32 %t, 32
  br i1 %first, label %give, label %poll
give:
  store i32 %t, ptr addrspace(3) %p
)") + beforeStore +
         "  " + store + "\n  ret void\npoll:\n  %f = " + load + R"(
  %set = icmp eq i32 %f, 1
  br i1 %set, label %take, label %poll
take:
)" + afterLoad +
         R"(
  %v = load i32, ptr addrspace(3) %p
  %po = getelementptr i32, ptr addrspace(1) %out, i32 %lane
  store i32 %v, ptr addrspace(1) %po
  ret void
}
)" + declarations;
}

std::string runHandover(const std::string &ir) {
  Machine machine("sm_80", ir);
  uint32_t *out = machine.output<uint32_t>(32);
  Outcome outcome = machine.run("k", {1, 1, 1}, {64, 1, 1}, out);
  for (uint32_t i = 0; i < 32; ++i)
    CHECK(out[i] == i);
  return kinds(outcome);
}

} // namespace

TEST_CASE("release and acquire order warps of a block, relaxed accesses do not", "[simulator]") {
  const std::string relaxedStore = "store atomic i32 1, ptr addrspace(3) @flag syncscope(\"block\") monotonic, align 4";
  const std::string releaseStore = "store atomic i32 1, ptr addrspace(3) @flag syncscope(\"block\") release, align 4";
  const std::string relaxedLoad = "load atomic i32, ptr addrspace(3) @flag syncscope(\"block\") monotonic, align 4";
  const std::string acquireLoad = "load atomic i32, ptr addrspace(3) @flag syncscope(\"block\") acquire, align 4";
  const std::string fence = "  fence syncscope(\"block\") acq_rel\n";
  CHECK(runHandover(handover(releaseStore, "", acquireLoad, "")).empty());
  CHECK(runHandover(handover(relaxedStore, fence, relaxedLoad, fence)).empty());
  CHECK(runHandover(handover(releaseStore, "", relaxedLoad, fence)).empty());
  CHECK(runHandover(handover(relaxedStore, "", acquireLoad, "")) == "race");
  CHECK(runHandover(handover(releaseStore, "", relaxedLoad, "")) == "race");
  CHECK(runHandover(handover("store volatile i32 1, ptr addrspace(3) @flag", "",
                             "load volatile i32, ptr addrspace(3) @flag", "")) == "race");
}

TEST_CASE("an atomic does not hide a plain write of its own warp", "[simulator]") {
  for (bool ordered : {false, true}) {
    std::string text = std::string("target triple = \"nvptx64-nvidia-cuda\"\n"
                                   "@s = internal addrspace(3) global i32 undef, align 4\n"
                                   "define ptx_kernel void @k() {\n"
                                   "  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n  %first = icmp eq i32 %t, 0\n"
                                   "  br i1 %first, label %start, label %rest\nstart:\n"
                                   "  store i32 0, ptr addrspace(3) @s\n  br label %rest\nrest:\n") +
                       (ordered ? "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n" : "") +
                       "  %o = atomicrmw add ptr addrspace(3) @s, i32 1 monotonic\n  ret void\n}\n" + declarations;
    Machine machine("sm_80", text);
    CHECK(kinds(machine.run("k", {1, 1, 1}, {64, 1, 1})).empty() == ordered);
  }
}

TEST_CASE("a plain read must be ordered after the atomics of all warps", "[simulator]") {
  auto text = [](const std::string &barrier) {
    return std::string(R"(
target triple = "nvptx64-nvidia-cuda"
@count = internal addrspace(3) global i32 undef, align 4
define ptx_kernel void @k(ptr addrspace(1) %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  store atomic i32 0, ptr addrspace(3) @count monotonic, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %o = atomicrmw add ptr addrspace(3) @count, i32 1 seq_cst
)") + barrier +
           R"(
  %last = icmp eq i32 %t, 127
  br i1 %last, label %read, label %end
read:
  %v = load i32, ptr addrspace(3) @count
  store i32 %v, ptr addrspace(1) %out
  br label %end
end:
  ret void
}
)" + declarations;
  };
  for (const char *barrier : {"", "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n"}) {
    Machine machine("sm_80", text(barrier));
    uint32_t *out = machine.output<uint32_t>(1);
    CHECK(kinds(machine.run("k", {1, 1, 1}, {128, 1, 1}, out)) == (*barrier ? "" : "race"));
    CHECK(*out == 128);
  }
}

} // namespace tilejit::sim::test
