// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Integers wider than 64 bits in the simulator: arithmetic, comparisons and casts against LLVM's own numbers of any
// width, and constants that are casts of vectors.

#include "SimulatorCompute.h"

#include "llvm/ADT/APInt.h"
#include "llvm/ADT/ArrayRef.h"

#include <algorithm>
#include <array>
#include <functional>

namespace tilejit::sim::test {

namespace {

using llvm::APInt;
using Words = std::array<uint64_t, 2>;

constexpr size_t count = 300;

/// Numbers of all sizes, zeros and extremes among them; the upper word of every third one is zero or ones.
std::vector<Words> wideNumbers(uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Words> values = {{0, 0}, {1, 0}, {~0ull, ~0ull}, {0, 1ull << 63}, {~0ull, ~0ull >> 1}, {0, 1}};
  while (values.size() < count) {
    uint64_t low = random() >> (random() % 64), high = random() >> (random() % 64);
    values.push_back({low, values.size() % 3 ? high : random() & 1 ? ~0ull : 0});
  }
  std::shuffle(values.begin(), values.end(), random);
  return values;
}

APInt numberOf(const Words &words, unsigned bits) {
  return APInt(128, llvm::ArrayRef<uint64_t>(words.data(), 2)).trunc(bits);
}

Words wordsOf(const APInt &number) {
  APInt wide = number.zext(128);
  return {wide.getRawData()[0], wide.getRawData()[1]};
}

std::string typeOf(unsigned bits) { return "i" + std::to_string(bits); }

/// `%r = OP %x, %y` on integers of a width between 65 and 128.
void check(unsigned bits, const std::string &op, const std::function<APInt(APInt, APInt)> &wanted,
           const std::function<bool(APInt, APInt)> &isDefined = nullptr) {
  std::vector<Words> a = wideNumbers(bits), b = wideNumbers(bits + 1);
  if (isDefined)
    for (size_t i = 0; i < count; ++i)
      if (!isDefined(numberOf(a[i], bits), numberOf(b[i], bits)))
        b[i] = {i % bits + 1, 0};
  std::vector<Column> in = {column("i128", a), column("i128", b)};
  std::string type = typeOf(bits), body;
  for (const char *name : {"a", "b"})
    body += std::string("  %n") + name + " = " + (bits == 128 ? "or" : "trunc") + " i128 %" + name +
            (bits == 128 ? ", 0\n" : " to " + type + "\n");
  body += "  %v = " + op + " " + type + " %na, %nb\n";
  std::string result = op.starts_with("icmp") ? "i1" : type;
  body += result == "i128" ? "  %r = or i128 %v, 0" : "  %r = zext " + result + " %v to i128";
  for (const char *chip : {"sm_80", "gfx942"}) {
    std::vector<Words> out = compute<Words>({chip, "i128", body, ""}, in);
    for (size_t i = 0; i < count; ++i) {
      INFO(op << " " << type << ", element " << i << ": " << a[i][1] << ":" << a[i][0] << ", " << b[i][1] << ":"
              << b[i][0]);
      REQUIRE(out[i] == wordsOf(wanted(numberOf(a[i], bits), numberOf(b[i], bits))));
    }
  }
}

} // namespace

TEST_CASE("arithmetic on integers of 65 to 128 bits", "[simulator][wide]") {
  for (unsigned bits : {65u, 96u, 127u, 128u}) {
    auto byNumber = [=](APInt, APInt b) { return !b.isZero(); };
    auto withoutOverflow = [=](APInt a, APInt b) { return !b.isZero() && !(a.isMinSignedValue() && b.isAllOnes()); };
    auto inside = [=](APInt, APInt b) { return b.ult(bits); };
    check(bits, "add", [](APInt a, APInt b) { return a + b; });
    check(bits, "sub", [](APInt a, APInt b) { return a - b; });
    check(bits, "mul", [](APInt a, APInt b) { return a * b; });
    check(bits, "and", [](APInt a, APInt b) { return a & b; });
    check(bits, "or", [](APInt a, APInt b) { return a | b; });
    check(bits, "xor", [](APInt a, APInt b) { return a ^ b; });
    check(bits, "udiv", [](APInt a, APInt b) { return a.udiv(b); }, byNumber);
    check(bits, "urem", [](APInt a, APInt b) { return a.urem(b); }, byNumber);
    check(bits, "sdiv", [](APInt a, APInt b) { return a.sdiv(b); }, withoutOverflow);
    check(bits, "srem", [](APInt a, APInt b) { return a.srem(b); }, withoutOverflow);
    check(bits, "shl", [](APInt a, APInt b) { return a.shl(b); }, inside);
    check(bits, "lshr", [](APInt a, APInt b) { return a.lshr(b); }, inside);
    check(bits, "ashr", [](APInt a, APInt b) { return a.ashr(b); }, inside);
  }
}

TEST_CASE("comparisons of integers of 65 to 128 bits", "[simulator][wide]") {
  for (unsigned bits : {65u, 128u}) {
    auto number = [](bool holds) { return APInt(1, holds); };
    check(bits, "icmp eq", [=](APInt a, APInt b) { return number(a == b); });
    check(bits, "icmp ne", [=](APInt a, APInt b) { return number(a != b); });
    check(bits, "icmp ult", [=](APInt a, APInt b) { return number(a.ult(b)); });
    check(bits, "icmp ule", [=](APInt a, APInt b) { return number(a.ule(b)); });
    check(bits, "icmp sgt", [=](APInt a, APInt b) { return number(a.sgt(b)); });
    check(bits, "icmp sge", [=](APInt a, APInt b) { return number(a.sge(b)); });
  }
}

TEST_CASE("casts between narrow and wide integers, selects and vectors of them", "[simulator][wide]") {
  std::vector<Words> a = wideNumbers(5);
  std::vector<Column> in = {column("i128", a)};
  auto cast = [&](const std::string &body, const std::function<APInt(APInt)> &wanted) {
    std::vector<Words> out = compute<Words>({"gfx942", "i128", body, ""}, in);
    for (size_t i = 0; i < count; ++i) {
      INFO(body << ", element " << i);
      REQUIRE(out[i] == wordsOf(wanted(numberOf(a[i], 128))));
    }
  };
  for (unsigned bits : {1u, 7u, 8u, 32u, 33u, 64u, 65u, 96u}) {
    std::string cut = "  %n = trunc i128 %a to " + typeOf(bits) + "\n";
    cast(cut + "  %r = zext " + typeOf(bits) + " %n to i128", [=](APInt a) { return a.trunc(bits).zext(128); });
    cast(cut + "  %r = sext " + typeOf(bits) + " %n to i128", [=](APInt a) { return a.trunc(bits).sext(128); });
    if (bits < 96)
      cast(cut + "  %w = sext " + typeOf(bits) + " %n to i96\n  %r = zext i96 %w to i128",
           [=](APInt a) { return a.trunc(bits).sext(96).zext(128); });
  }
  for (unsigned by : {1u, 32u, 64u, 65u, 127u}) {
    std::string amount = std::to_string(by);
    cast("  %r = shl i128 %a, " + amount, [=](APInt a) { return a.shl(by); });
    cast("  %r = lshr i128 %a, " + amount, [=](APInt a) { return a.lshr(by); });
    cast("  %r = ashr i128 %a, " + amount, [=](APInt a) { return a.ashr(by); });
  }
  cast("  %n = trunc i128 %a to i100\n  %s = shl i100 %n, 50\n  %r = zext i100 %s to i128",
       [](APInt a) { return a.trunc(100).shl(50); });
  cast("  %c = icmp slt i128 %a, 0\n  %n = sub i128 0, %a\n  %r = select i1 %c, i128 %n, i128 %a",
       [](APInt a) { return a.abs(); });
  cast("  %v = insertelement <2 x i128> <i128 1, i128 3>, i128 %a, i32 0\n  %m = mul <2 x i128> %v, %v\n"
       "  %t = trunc <2 x i128> %m to <2 x i80>\n  %w = sext <2 x i80> %t to <2 x i128>\n"
       "  %x = extractelement <2 x i128> %w, i32 0\n  %y = extractelement <2 x i128> %w, i32 1\n"
       "  %r = add i128 %x, %y",
       [](APInt a) { return (a * a).trunc(80).sext(128) + 9; });
}

TEST_CASE("upper halves of 64-bit products", "[simulator][wide]") {
  std::vector<Words> a = wideNumbers(8);
  std::vector<Column> in = {column("[2 x i64]", a)};
  for (bool isSigned : {false, true}) {
    std::string extend = isSigned ? "sext" : "zext";
    Expression high{"sm_80", "i64",
                    "  %x = extractvalue [2 x i64] %a, 0\n  %y = extractvalue [2 x i64] %a, 1\n  %wx = " + extend +
                        " i64 %x to i128\n  %wy = " + extend +
                        " i64 %y to i128\n  %p = mul nuw i128 %wx, %wy\n  %h = lshr i128 %p, 64\n"
                        "  %r = trunc nuw i128 %h to i64",
                    ""};
    if (isSigned)
      high.body.replace(high.body.find("nuw i128 %wx"), 3, "nsw");
    std::vector<uint64_t> out = compute<uint64_t>(high, in);
    for (size_t i = 0; i < count; ++i) {
      APInt x(64, a[i][0]), y(64, a[i][1]);
      APInt product = isSigned ? x.sext(128) * y.sext(128) : x.zext(128) * y.zext(128);
      REQUIRE(out[i] == product.extractBitsAsZExtValue(64, 64));
    }
  }
}

TEST_CASE("what is too wide, or converts to a float, is refused in words", "[simulator][wide]") {
  auto refusal = [](const std::string &body) {
    std::vector<Words> none(1);
    Machine machine("sm_80", kernelOf({"sm_80", "i64", body, ""}, {column("i128", none)}));
    Expected<Outcome> outcome = machine.launch("k", {1, 1, 1}, {1, 1, 1}, {});
    REQUIRE(!outcome.isOk());
    return outcome.status().message();
  };
  CHECK(refusal("  %w = zext i128 %a to i256\n  %m = mul i256 %w, %w\n  %r = trunc i256 %m to i64")
            .find("unsupported operation 'mul' on integers wider than 128 bits") != std::string::npos);
  CHECK(refusal("  %f = uitofp i128 %a to double\n  %r = bitcast double %f to i64")
            .find("unsupported cast of integers wider than 64 bits") != std::string::npos);
}

TEST_CASE("constants may be casts of vectors to other numbers of elements", "[simulator]") {
  std::vector<uint32_t> a = {0, 1, 5, 6};
  std::vector<Column> in = {column("i32", a)};
  // A scalarized phi's constants are left like this.
  Expression phi{"gfx942", "<2 x bfloat>",
                 "  %odd = trunc i32 %a to i1\n  br i1 %odd, label %then, label %join\nthen:\n"
                 "  %v = bitcast i32 %a to <2 x bfloat>\n  br label %join\njoin:\n"
                 "  %r = phi <2 x bfloat> [ %v, %then ], [ bitcast (<1 x i32> splat (i32 1065369472) to <2 x bfloat>), "
                 "%work ]",
                 ""};
  CHECK(compute<uint32_t>(phi, in) == std::vector<uint32_t>{1065369472, 1, 5, 1065369472});
  Expression word{"sm_80", "i32", "  %r = add i32 %a, bitcast (<2 x i16> <i16 3, i16 1> to i32)", ""};
  CHECK(compute<uint32_t>(word, in) == std::vector<uint32_t>{65539, 65540, 65544, 65545});
}

} // namespace tilejit::sim::test
