// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// wgmma: every element type, layout of operands and width against plain loops, and what misuse is called. Operands are
// laid out by the strides of the canonical layouts, written down here once more.

#include "SimulatorNvidiaAsync.h"

#include "core/NarrowFloat.h"

#include <cmath>
#include <functional>

namespace tilejit::sim::test {

namespace {

enum class Layout : uint8_t { Plain, Bytes128, Bytes64, Bytes32 }; // Numbered as descriptors number them.

/// One operand in shared memory: rows (of m or n) by k, elements of `bytes` bytes.
struct Operand {
  unsigned bytes = 2, rows = 64, depth = 16;
  bool acrossK = false; ///< Contiguous in rows, not in k.
  Layout layout = Layout::Plain;
  uint32_t start = 0; ///< In the buffer.

  uint32_t period() const { return layout == Layout::Plain ? 16 : 256u >> static_cast<unsigned>(layout); }
  unsigned unit() const { return 16 / bytes; } ///< T: elements of 16 bytes.
  // Strides in bytes. Plain, along k: core matrices of 8 rows of 16 bytes, those along k first.
  uint32_t leading() const {
    if (layout == Layout::Plain)
      return acrossK ? rows / unit() * 128 : 128;
    return acrossK ? depth / 8 * 8 * period() : 16;
  }
  uint32_t stride() const {
    if (layout == Layout::Plain)
      return acrossK ? 128 : depth / unit() * 128;
    return 8 * period();
  }
  /// ((8,m),(T,2)):((1T,SBO),(1,LBO)) and its kin.
  uint32_t place(unsigned row, unsigned k) const {
    uint32_t at = 0;
    if (layout == Layout::Plain)
      at = acrossK ? row % unit() * bytes + row / unit() * stride() + k % 8 * 16 + k / 8 * leading()
                   : row % 8 * 16 + row / 8 * stride() + k % unit() * bytes + k / unit() * leading();
    else if (acrossK)
      at =
          row % (period() / bytes) * bytes + row / (period() / bytes) * leading() + k % 8 * period() + k / 8 * stride();
    else
      at = row % 8 * period() + row / 8 * stride() + k * bytes;
    at += start;
    uint32_t line = at / 128;
    switch (layout) {
    case Layout::Bytes128:
      return at ^ line % 8 * 16;
    case Layout::Bytes64:
      return at ^ line % 4 * 16;
    case Layout::Bytes32:
      return at ^ line % 2 * 16;
    default:
      return at;
    }
  }
  uint64_t descriptor() const {
    return uint64_t(start >> 4) | uint64_t(leading() >> 4) << 16 | uint64_t(stride() >> 4) << 32 |
           uint64_t(layout) << 62;
  }
};

constexpr uint32_t bufferBytes = 32768, bOffset = 16384;

struct Product {
  std::string name = "m64n16k16.f32.f16.f16", tail = ", 1, 1, 0, 0";
  unsigned columns = 16, bytes = 2, depth = 16;
  unsigned registers = 8;
  std::string registerType = "float", constraint = "f";
  bool aInRegisters = false, keep = true;
  Operand a, b;
};

/// Copies the image of shared memory, executes the product on accumulators from `map`, and stores them to `out`.
std::string productKernel(const Product &p, const std::string &before, const std::string &after) {
  std::string text = R"(
  br label %copying
copying:
  %i = phi i32 [ %t, %0 ], [ %i1, %copying ]
  %iw = zext i32 %i to i64
  %from = getelementptr i32, ptr addrspace(1) %in, i64 %iw
  %to = getelementptr i32, ptr addrspace(3) @buf, i32 %i
  %word = load i32, ptr addrspace(1) %from, align 4
  store i32 %word, ptr addrspace(3) %to, align 4
  %i1 = add i32 %i, 128
  %more = icmp ult i32 %i1, )" +
                     std::to_string(bufferBytes / 4) + R"(
  br i1 %more, label %copying, label %copied
copied:
  %base = ptrtoint ptr addrspace(3) @buf to i64
  %units = lshr i64 %base, 4
  %amem = ptrtoint ptr %map to i64
)";
  std::string type, arguments, ties, list, aText;
  for (unsigned r = 0; r < p.registers; ++r) {
    std::string n = std::to_string(r), word = std::to_string(r * 128);
    text += "  %q" + n + " = getelementptr i32, ptr %map, i64 " + word + "\n  %pa" + n +
            " = getelementptr i32, ptr %q" + n + ", i64 %w\n  %c" + n + " = load " + p.registerType + ", ptr %pa" + n +
            ", align 4\n";
    type += (r ? ", " : "") + p.registerType;
    arguments += ", " + p.registerType + " %c" + n;
    ties += "," + n;
    list += (r ? ", $" : "$") + n;
  }
  std::string constraints, first;
  for (unsigned r = 0; r < p.registers; ++r)
    constraints += (r ? ",=" : "=") + p.constraint;
  unsigned next = p.registers;
  if (p.aInRegisters) {
    for (unsigned r = 0; r < 4; ++r) {
      std::string n = std::to_string(r), word = std::to_string((p.registers + r) * 128);
      text += "  %qa" + n + " = getelementptr i32, ptr %map, i64 " + word + "\n  %pf" + n +
              " = getelementptr i32, ptr %qa" + n + ", i64 %w\n  %f" + n + " = load i32, ptr %pf" + n + ", align 4\n";
      first += ", i32 %f" + n;
      constraints += ",r";
      aText += (r ? ", $" : "{$") + std::to_string(next++);
    }
    aText += "}";
  } else {
    text += "  %da = add i64 %units, " + std::to_string(static_cast<int64_t>(p.a.descriptor())) + "\n";
    first += ", i64 %da";
    constraints += ",l";
    aText = "$" + std::to_string(next++);
  }
  text += "  %db = add i64 %units, " + std::to_string(static_cast<int64_t>(p.b.descriptor())) + "\n" + before;
  std::string call = "  %d = call {" + type + "} asm sideeffect \"wgmma.mma_async.sync.aligned." + p.name + " {" +
                     list + "}, " + aText + ", $" + std::to_string(next) + ", " + (p.keep ? "1" : "0") + p.tail +
                     ";\", \"" + constraints + ",l" + ties + "\"(" + first.substr(2) + ", i64 %db" + arguments + ")\n";
  text += call + after;
  for (unsigned r = 0; r < p.registers; ++r) {
    std::string n = std::to_string(r);
    text += "  %e" + n + " = extractvalue {" + type + "} %d, " + n + "\n  %po" + n +
            " = getelementptr i32, ptr addrspace(1) %pout, i64 " + std::to_string(r * 128) + "\n  store " +
            p.registerType + " %e" + n + ", ptr addrspace(1) %po" + n + ", align 4\n";
  }
  return text;
}

const std::string fence = "  call void @llvm.nvvm.wgmma.fence.sync.aligned()\n";
const std::string commitWait = "  call void @llvm.nvvm.wgmma.commit_group.sync.aligned()\n"
                               "  call void @llvm.nvvm.wgmma.wait_group.sync.aligned(i64 0)\n";
const std::string ready = std::string(proxyFence) + blockBarrier + fence;

/// Numbers of the operands by row and k, of the accumulators by row and column.
using Numbers = std::function<double(unsigned, unsigned)>;

/// How a number is stored, in so many bytes.
using Encoder = std::function<uint32_t(double)>;

void put(std::vector<uint8_t> &image, uint32_t at, uint32_t bits, unsigned bytes) {
  for (unsigned i = 0; i < bytes; ++i)
    image[at + i] = static_cast<uint8_t>(bits >> (8 * i));
}

std::vector<uint8_t> imageOf(const Product &p, const Numbers &a, const Numbers &b, const Encoder &encode) {
  std::vector<uint8_t> image(bufferBytes, 0);
  if (!p.aInRegisters)
    for (unsigned m = 0; m < 64; ++m)
      for (unsigned k = 0; k < p.depth; ++k)
        put(image, p.a.place(m, k), encode(a(m, k)), p.bytes);
  for (unsigned n = 0; n < p.columns; ++n)
    for (unsigned k = 0; k < p.depth; ++k)
      put(image, p.b.place(n, k), encode(b(n, k)), p.bytes);
  return image;
}

/// Registers as the tables of the reference give them: thread, register to row and column (32-bit accumulators).
unsigned rowOf(unsigned thread, unsigned i) { return 16 * (thread / 32) + thread % 32 / 4 + 8 * (i / 2 % 2); }
unsigned columnOf(unsigned thread, unsigned i) { return 8 * (i / 4) + 2 * (thread % 4) + i % 2; }

struct Ran {
  Outcome outcome;
  std::vector<uint32_t> out;
};

Ran run(const Product &p, const std::vector<uint8_t> &image, const std::vector<uint32_t> &registers,
        const std::string &before = ready, const std::string &after = commitWait, uint32_t threads = 128) {
  Machine machine("sm_90a", asyncKernel(productKernel(p, before, after), bufferBytes));
  uint8_t *in = machine.array(image, "image");
  uint32_t *map = machine.array(registers, "registers");
  uint32_t *out = machine.array(std::vector<uint32_t>(size_t(p.registers) * 128, 0), "out");
  Ran ran{machine.run("k", {1, 1, 1}, {threads, 1, 1}, in, out, map, 0), {}};
  ran.out.assign(out, out + size_t(p.registers) * 128);
  return ran;
}

float asFloat(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}
uint32_t asBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}

int small(unsigned x, unsigned y, int range) {
  return static_cast<int>((x * 131 + y * 37 + x * y) % (2 * range + 1)) - range;
}

Product makeProduct(const std::string &types, unsigned columns, unsigned bytes, const std::string &tail,
                    Layout layout = Layout::Plain, bool acrossA = false, bool acrossB = false) {
  Product p;
  p.bytes = bytes;
  p.depth = 32 / bytes;
  p.columns = columns;
  p.registers = columns / 2;
  p.name = "m64n" + std::to_string(columns) + "k" + std::to_string(p.depth) + "." + types;
  p.tail = tail;
  p.a = {bytes, 64, p.depth, acrossA, layout, 0};
  p.b = {bytes, columns, p.depth, acrossB, layout, bOffset};
  return p;
}

/// A product of small integers, which is exact in every type.
void checkExact(Product p, const Encoder &encode, int range, int sign = 1, bool integers = false) {
  auto a = [&](unsigned m, unsigned k) { return double(small(m, k, range)); };
  auto b = [&](unsigned n, unsigned k) { return double(small(n + 7, k, range)); };
  auto c = [](unsigned m, unsigned n) { return small(m, n, 100); };
  std::vector<uint32_t> registers(size_t(p.registers + 4) * 128, 0);
  for (unsigned thread = 0; thread < 128; ++thread)
    for (unsigned i = 0; i < p.columns / 2; ++i) {
      int value = c(rowOf(thread, i), columnOf(thread, i));
      if (p.registers == p.columns / 2)
        registers[i * 128 + thread] = integers ? static_cast<uint32_t>(value) : asBits(static_cast<float>(value));
      else
        registers[i / 2 * 128 + thread] |= uint32_t(floatToF16(static_cast<float>(value))) << (16 * (i % 2));
    }
  if (p.aInRegisters)
    for (unsigned thread = 0; thread < 128; ++thread)
      for (unsigned r = 0; r < 4; ++r)
        for (unsigned e = 0; e < 4 / p.bytes; ++e)
          registers[(p.registers + r) * 128 + thread] |= encode(a(16 * (thread / 32) + thread % 32 / 4 + 8 * (r & 1),
                                                                  (thread % 4 * 4 + 16 * (r >> 1)) / p.bytes + e))
                                                         << (8 * p.bytes * e);
  Ran ran = run(p, imageOf(p, a, b, encode), registers);
  CHECK(kinds(ran.outcome).empty());
  CHECK(ran.outcome.counters.matrixInstructions == 4);
  size_t wrong = 0;
  for (unsigned thread = 0; thread < 128; ++thread)
    for (unsigned i = 0; i < p.columns / 2; ++i) {
      unsigned m = rowOf(thread, i), n = columnOf(thread, i);
      int sum = p.keep ? c(m, n) : 0;
      for (unsigned k = 0; k < p.depth; ++k)
        sum += sign * int(a(m, k)) * int(b(n, k));
      double got = 0;
      if (integers)
        got = static_cast<int32_t>(ran.out[i * 128 + thread]);
      else if (p.registers == p.columns / 2)
        got = asFloat(ran.out[i * 128 + thread]);
      else
        got = f16ToFloat(static_cast<uint16_t>(ran.out[i / 2 * 128 + thread] >> (16 * (i % 2))));
      wrong += got != sum;
    }
  INFO(p.name);
  CHECK(wrong == 0);
}

uint32_t asF16(double value) { return floatToF16(static_cast<float>(value)); }
uint32_t asBf16(double value) { return floatToBf16(static_cast<float>(value)); }
uint32_t asF32(double value) { return asBits(static_cast<float>(value)); }
uint32_t asInt(double value) { return static_cast<uint32_t>(static_cast<int>(value)) & 0xff; }
/// By search in the table of all values.
Encoder asNarrow(const FloatFormat &format) {
  return [&format](double value) -> uint32_t {
    const float *table = decodeTable(format);
    for (uint32_t code = 0; code < 256; ++code)
      if (table[code] == static_cast<float>(value))
        return code;
    FAIL("no such number");
    return 0;
  };
}

} // namespace

TEST_CASE("wgmma of halves in every layout and of many widths", "[simulator][wgmma]") {
  for (Layout layout : {Layout::Plain, Layout::Bytes128, Layout::Bytes64, Layout::Bytes32})
    for (bool acrossA : {false, true})
      for (bool acrossB : {false, true})
        checkExact(makeProduct("f32.f16.f16", 64, 2,
                               std::string(", 1, 1, ") + (acrossA ? "1" : "0") + (acrossB ? ", 1" : ", 0"), layout,
                               acrossA, acrossB),
                   asF16, 8);
  for (unsigned columns : {8u, 24u, 128u, 200u, 256u})
    checkExact(makeProduct("f32.bf16.bf16", columns, 2, ", 1, 1, 0, 0"), asBf16, 8);
}

TEST_CASE("wgmma of every element type", "[simulator][wgmma]") {
  checkExact(makeProduct("f32.tf32.tf32", 40, 4, ", 1, 1", Layout::Bytes128), asF32, 100);
  checkExact(makeProduct("f32.e4m3.e4m3", 48, 1, ", 1, 1", Layout::Bytes64), asNarrow(formatE4m3), 8);
  checkExact(makeProduct("f32.e5m2.e5m2", 16, 1, ", 1, 1"), asNarrow(formatE5m2), 4);
  auto integers = [](const char *types) {
    Product p = makeProduct(types, 32, 1, "", Layout::Bytes128);
    p.registerType = "i32";
    p.constraint = "r";
    return p;
  };
  checkExact(integers("s32.s8.s8"), asInt, 127, 1, true);
  Product halfSums = makeProduct("f16.f16.f16", 64, 2, ", 1, 1, 0, 0", Layout::Bytes128);
  halfSums.registers = 16;
  halfSums.registerType = "i32";
  halfSums.constraint = "r";
  checkExact(halfSums, asF16, 4);
}

TEST_CASE("wgmma with A in registers, signs, and without adding", "[simulator][wgmma]") {
  Product p = makeProduct("f32.f16.f16", 64, 2, ", 1, 1, 0", Layout::Bytes128);
  p.aInRegisters = true;
  checkExact(p, asF16, 8);
  p.tail = ", -1, 1, 0";
  checkExact(p, asF16, 8, -1);
  p.tail = ", -1, -1, 0";
  p.keep = false;
  checkExact(p, asF16, 8);
  Product integers = makeProduct("s32.s8.s8", 16, 1, "");
  integers.aInRegisters = true;
  integers.registerType = "i32";
  integers.constraint = "r";
  checkExact(integers, asInt, 127, 1, true);
  Product narrow = makeProduct("f32.e4m3.e4m3", 16, 1, ", 1, 1");
  narrow.aInRegisters = true;
  checkExact(narrow, asNarrow(formatE4m3), 8);
  Product words = makeProduct("f32.tf32.tf32", 16, 4, ", 1, 1");
  words.aInRegisters = true;
  checkExact(words, asF32, 30);
}

TEST_CASE("wgmma of real numbers is within the rounding of sums in f32", "[simulator][wgmma]") {
  Product p = makeProduct("f32.f16.f16", 128, 2, ", 1, 1, 0, 0", Layout::Bytes128);
  auto real = [](unsigned x, unsigned y) { return double(f16ToFloat(floatToF16(std::sin(float(x * 16 + y))))); };
  std::vector<uint32_t> registers(size_t(p.registers) * 128, asBits(0.1f));
  Ran ran = run(p, imageOf(p, real, real, asF16), registers);
  CHECK(kinds(ran.outcome).empty());
  for (unsigned thread = 0; thread < 128; ++thread)
    for (unsigned i = 0; i < p.registers; ++i) {
      double sum = 0.1f, size = 0.1;
      for (unsigned k = 0; k < 16; ++k) {
        double product = real(rowOf(thread, i), k) * real(columnOf(thread, i), k);
        sum += product;
        size += std::fabs(product);
      }
      // Sixteen additions, each rounded by at most half a unit of what was added up.
      REQUIRE(std::fabs(asFloat(ran.out[i * 128 + thread]) - sum) <= 16 * size * std::ldexp(1.0, -24));
    }
}

TEST_CASE("integer products saturate where they are asked to", "[simulator][wgmma]") {
  for (bool saturate : {false, true}) {
    Product p = makeProduct(saturate ? "s32.u8.u8.satfinite" : "s32.u8.u8", 8, 1, "");
    p.registerType = "i32";
    p.constraint = "r";
    auto ones = [](unsigned, unsigned) { return 255.0; };
    Ran ran = run(p, imageOf(p, ones, ones, asInt), std::vector<uint32_t>(size_t(p.registers) * 128, 0x7ffffff0));
    CHECK(kinds(ran.outcome).empty());
    CHECK(ran.out[77] == (saturate ? 0x7fffffffu : 0x7ffffff0u + 255 * 255 * 32));
  }
  // A signed, B not: -1 * 255.
  Product mixed = makeProduct("s32.s8.u8", 8, 1, "");
  mixed.registerType = "i32";
  mixed.constraint = "r";
  auto all = [](unsigned, unsigned) { return 255.0; };
  Ran both = run(mixed, imageOf(mixed, all, all, asInt), std::vector<uint32_t>(size_t(mixed.registers) * 128, 1));
  CHECK(kinds(both.outcome).empty());
  CHECK(both.out[200] == static_cast<uint32_t>(1 - 255 * 32));
  Product bits = makeProduct("s32.b1.b1.and.popc", 8, 1, "");
  bits.name = "m64n8k256.s32.b1.b1.and.popc";
  bits.registerType = "i32";
  bits.constraint = "r";
  auto pattern = [](unsigned x, unsigned k) { return double((x * 31 + k * 17) & 255); };
  Ran ran = run(bits, imageOf(bits, pattern, pattern, asInt), std::vector<uint32_t>(size_t(bits.registers) * 128, 5));
  CHECK(kinds(ran.outcome).empty());
  for (unsigned thread = 0; thread < 128; ++thread)
    for (unsigned i = 0; i < 4; ++i) {
      int sum = 5;
      for (unsigned k = 0; k < 32; ++k)
        sum += __builtin_popcount(unsigned(pattern(rowOf(thread, i), k)) & unsigned(pattern(columnOf(thread, i), k)));
      REQUIRE(ran.out[i * 128 + thread] == static_cast<uint32_t>(sum));
    }
}

TEST_CASE("faults around wgmma are reported", "[simulator][wgmma]") {
  Product p = makeProduct("f32.f16.f16", 16, 2, ", 1, 1, 0, 0", Layout::Bytes128);
  auto one = [](unsigned, unsigned) { return 1.0; };
  std::vector<uint8_t> image = imageOf(p, one, one, asF16);
  std::vector<uint32_t> registers(size_t(p.registers + 4) * 128, 0);
  auto with = [&](const std::string &before, const std::string &after, uint32_t threads = 128) {
    return run(p, image, registers, before, after, threads).outcome;
  };
  CHECK(kinds(with(ready, commitWait)).empty());
  // The generic stores of the operands.
  CHECK(kinds(with(blockBarrier + fence, commitWait)) == "proxy");
  CHECK(finds(with(proxyFence + fence, commitWait), ReportKind::Race));
  // Fences and waits.
  CHECK(kinds(with(std::string(proxyFence) + blockBarrier, commitWait)) == "async");
  std::string oneLeft = replaced(commitWait, "i64 0", "i64 1");
  CHECK(kinds(with(ready, oneLeft)).substr(0, 11) == "async async");
  CHECK(finds(with(ready, ""), ReportKind::Async));
  // Operands overwritten before the wait, after it by others, and after a barrier.
  std::string over = "  store i32 0, ptr addrspace(3) %ps, align 4\n";
  CHECK(finds(with(ready, over + commitWait), ReportKind::Async));
  CHECK(finds(with(ready, commitWait + over), ReportKind::Async)); // Other warps may still read.
  CHECK(kinds(with(ready, commitWait + blockBarrier + over)).empty());
  // Not all of a warpgroup.
  CHECK(kinds(with(ready, commitWait, 96)).find("divergence") == 0);
  // Out of bounds.
  Product far = p;
  far.b.start = bufferBytes - 256;
  CHECK(finds(run(far, image, registers).outcome, ReportKind::Bounds));
}

TEST_CASE("accumulators are followed through copies and loops", "[simulator][wgmma]") {
  // Two products in a chain through a loop; the accumulators are used after it.
  Product p = makeProduct("f32.f16.f16", 8, 2, ", 1, 1, 0, 0", Layout::Bytes128);
  auto one = [](unsigned, unsigned) { return 1.0; };
  std::vector<uint8_t> image = imageOf(p, one, one, asF16);
  auto kernel = [&](const std::string &inLoop, const std::string &afterLoop, const std::string &change) {
    std::string text = productKernel(p, ready, commitWait);
    size_t begin = text.find("  %d = call"), end = text.find("  %e0 =");
    std::string call = text.substr(begin, text.find('\n', begin) + 1 - begin);
    for (int r = 0; r < 4; ++r) {
      std::string n = std::to_string(r);
      call = replaced(call, "float %c" + n, "float %l" + n);
    }
    std::string loop = "  br label %loop\nloop:\n  %round = phi i32 [ 0, %copied ], [ %round1, %loop ]\n";
    for (int r = 0; r < 4; ++r) {
      std::string n = std::to_string(r);
      loop +=
          "  %l" + n + (change.empty() ? "" : "p") + " = phi float [ %c" + n + ", %copied ], [ %x" + n + ", %loop ]\n";
    }
    loop += change + call;
    for (int r = 0; r < 4; ++r)
      loop +=
          "  %x" + std::to_string(r) + " = extractvalue {float, float, float, float} %d, " + std::to_string(r) + "\n";
    loop += "  call void @llvm.nvvm.wgmma.commit_group.sync.aligned()\n" + inLoop +
            "  %round1 = add i32 %round, 1\n  %again = icmp ult i32 %round1, 3\n"
            "  br i1 %again, label %loop, label %left\nleft:\n" +
            afterLoop;
    return text.substr(0, begin) + loop + text.substr(end);
  };
  auto runs = [&](const std::string &body) {
    Machine machine("sm_90a", asyncKernel(body, bufferBytes));
    uint8_t *in = machine.array(image, "image");
    uint32_t *map = machine.array(std::vector<uint32_t>(1024, 0), "registers");
    float *out = machine.array(std::vector<float>(512, 0), "out");
    Outcome outcome = machine.run("k", {1, 1, 1}, {128, 1, 1}, in, out, map, 0);
    return std::pair(kinds(outcome), out[300]);
  };
  const std::string wait0 = "  call void @llvm.nvvm.wgmma.wait_group.sync.aligned(i64 0)\n",
                    wait1 = replaced(wait0, "i64 0", "i64 1");
  CHECK(runs(kernel("", wait0, "")) == std::pair(std::string(), 48.0f));
  CHECK(runs(kernel(wait1, wait0, "")) == std::pair(std::string(), 48.0f));
  CHECK(runs(kernel(wait1, wait1, "")).first.find("async") == 0);
  std::string doubled;
  for (int r = 0; r < 4; ++r)
    doubled += "  %l" + std::to_string(r) + " = fadd float %l" + std::to_string(r) + "p, 1.0\n";
  CHECK(runs(kernel(wait0, "", doubled + fence)) == std::pair(std::string(), 51.0f));
  CHECK(runs(kernel(wait0, "", doubled)).first == "async");                 // Written without a fence.
  CHECK(runs(kernel("", wait0, doubled + fence)).first.find("async") == 0); // Used while in flight.
}

TEST_CASE("what is no product is refused", "[simulator][wgmma]") {
  auto refusal = [](const std::string &chip, const std::string &text) {
    Machine machine(chip, asyncKernel("  call void asm sideeffect \"" + text + "\", \"\"()\n"));
    int32_t *in = machine.array(counting(64));
    auto outcome = machine.tryRun("k", {1, 1, 1}, {128, 1, 1}, in, in, in, 0);
    CHECK_FALSE(outcome.isOk());
    return outcome.status().message();
  };
  CHECK(refusal("sm_90", "wgmma.fence.sync.aligned;") == "'wgmma.fence.sync.aligned' needs sm_90a, this is sm_90");
  CHECK(refusal("sm_90a", "wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16 {}, 0, 0, 1, 1, 1, 0, 0;")
            .find("unsupported product") == 0);
  CHECK(refusal("sm_90a", "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.bf16 {}, 0, 0, 1, 1, 1, 0, 0;")
            .find("unsupported product") == 0);
  CHECK(refusal("sm_90a", "setmaxnreg.inc.sync.aligned.u32 100;")
            .find("of 100 registers: a multiple of 8 from 24 to 256") != std::string::npos);
}

} // namespace tilejit::sim::test
