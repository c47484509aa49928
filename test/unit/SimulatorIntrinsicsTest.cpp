// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// LLVM's own intrinsics in the simulator, on both widths of warps, against C++ and libm in double.

#include "SimulatorCompute.h"

#include <bit>

namespace tilejit::sim::test {

namespace {

constexpr size_t count = 300; // Not a multiple of the block: a ragged last warp.
const char *const chips[] = {"sm_80", "gfx942"};

bool same(float a, float b) {
  return std::isnan(a) ? std::isnan(b) : std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
}
/// Equal, or next to each other: what one rounding of a result in double may differ by.
bool near(float a, double exact) {
  auto b = static_cast<float>(exact);
  return same(a, b) || a == b || a == std::nextafterf(b, INFINITY) || a == std::nextafterf(b, -INFINITY);
}

/// One function of f32 on both widths.
template <class F> void checkUnary(const std::string &name, F exact, bool exactly, const std::vector<float> &values) {
  for (const char *chip : chips) {
    std::vector<Column> in = {column("float", values)};
    std::vector<float> out = compute<float>(callOf("float", "llvm." + name + ".f32", in, "", chip), in);
    INFO(name << " on " << chip);
    for (size_t i = 0; i < values.size(); ++i) {
      INFO("of " << values[i] << " is " << out[i]);
      double expected = exact(static_cast<double>(values[i]));
      REQUIRE((exactly ? same(out[i], static_cast<float>(expected)) : near(out[i], expected)));
    }
  }
}

template <class D, class T, class F>
void checkInteger(const std::string &name, const std::string &type, F expected, const std::string &more = "") {
  for (const char *chip : chips) {
    std::vector<T> a = randomIntegers<T>(count, 3);
    std::vector<Column> in = {column(type, a)};
    std::vector<D> out = compute<D>(callOf(type, "llvm." + name + "." + type, in, more, chip), in);
    INFO(name << " of " << type << " on " << chip);
    for (size_t i = 0; i < count; ++i)
      REQUIRE(out[i] == static_cast<D>(expected(a[i])));
  }
}

template <class T, class F> void checkBinaryInteger(const std::string &name, const std::string &type, F expected) {
  std::vector<T> a = randomIntegers<T>(count, 3), b = randomIntegers<T>(count, 5);
  std::rotate(b.begin(), b.begin() + 3, b.end());
  std::vector<Column> in = {column(type, a), column(type, b)};
  std::vector<T> out = compute<T>(callOf(type, "llvm." + name + "." + type, in), in);
  INFO(name << " of " << type);
  for (size_t i = 0; i < count; ++i) {
    INFO(+a[i] << " and " << +b[i]);
    REQUIRE(out[i] == static_cast<T>(expected(a[i], b[i])));
  }
}

} // namespace

TEST_CASE("functions of f32", "[simulator][intrinsics]") {
  std::vector<float> any = mixedFloats(count, 1), small = mixedFloats(count, 2, 1e6f);
  checkUnary("fabs", [](double x) { return std::fabs(x); }, true, any);
  checkUnary("floor", [](double x) { return std::floor(x); }, true, any);
  checkUnary("ceil", [](double x) { return std::ceil(x); }, true, any);
  checkUnary("trunc", [](double x) { return std::trunc(x); }, true, any);
  checkUnary("rint", [](double x) { return std::rint(x); }, true, any);
  checkUnary("nearbyint", [](double x) { return std::nearbyint(x); }, true, any);
  checkUnary("roundeven", [](double x) { return std::rint(x); }, true, any);
  checkUnary("round", [](double x) { return std::round(x); }, true, any);
  checkUnary("sqrt", [](double x) { return std::sqrt(x); }, true, any);
  checkUnary("canonicalize", [](double x) { return x; }, true, any);
  checkUnary("exp", [](double x) { return std::exp(x); }, false, any);
  checkUnary("exp2", [](double x) { return std::exp2(x); }, false, any);
  checkUnary("log", [](double x) { return std::log(x); }, false, any);
  checkUnary("log2", [](double x) { return std::log2(x); }, false, any);
  checkUnary("log10", [](double x) { return std::log10(x); }, false, any);
  checkUnary("sin", [](double x) { return std::sin(x); }, false, any);
  checkUnary("cos", [](double x) { return std::cos(x); }, false, any);
  checkUnary("tan", [](double x) { return std::tan(x); }, false, small);
  checkUnary("tanh", [](double x) { return std::tanh(x); }, false, any);
  checkUnary("atan", [](double x) { return std::atan(x); }, false, any);
}

TEST_CASE("minima and maxima treat NaN and zeros by their names", "[simulator][intrinsics]") {
  std::vector<float> a = {1, NAN, 2, NAN, -0.0f, 0.0f, -INFINITY}, b = {2, 3, NAN, NAN, 0.0f, -0.0f, 5};
  std::vector<Column> in = {column("float", a), column("float", b)};
  struct Case {
    const char *name;
    std::vector<float> expected;
  };
  const Case cases[] = {
      {"minnum", {1, 3, 2, NAN, -0.0f, -0.0f, -INFINITY}},      {"maxnum", {2, 3, 2, NAN, 0.0f, 0.0f, 5}},
      {"minimum", {1, NAN, NAN, NAN, -0.0f, -0.0f, -INFINITY}}, {"maximum", {2, NAN, NAN, NAN, 0.0f, 0.0f, 5}},
      {"minimumnum", {1, 3, 2, NAN, -0.0f, -0.0f, -INFINITY}},  {"maximumnum", {2, 3, 2, NAN, 0.0f, 0.0f, 5}},
  };
  for (const Case &c : cases) {
    std::vector<float> out = compute<float>(callOf("float", std::string("llvm.") + c.name + ".f32", in), in);
    for (size_t i = 0; i < a.size(); ++i) {
      INFO(c.name << " " << a[i] << " " << b[i] << " is " << out[i]);
      CHECK(same(out[i], c.expected[i]));
    }
  }
}

TEST_CASE("fused multiply-add of all kinds rounds once", "[simulator][intrinsics]") {
  std::vector<float> a = mixedFloats(count, 1, 1e18f), b = mixedFloats(count, 2, 1e18f),
                     c = mixedFloats(count, 3, 1e30f);
  std::vector<Column> in = {column("float", a), column("float", b), column("float", c)};
  for (const char *name : {"llvm.fma.f32", "llvm.fmuladd.f32"}) {
    std::vector<float> out = compute<float>(callOf("float", name, in), in);
    for (size_t i = 0; i < count; ++i)
      REQUIRE(same(out[i], std::fma(a[i], b[i], c[i])));
  }
  // f16: 1 + 2^-10 squared is 1 + 2^-9 + 2^-20; what is added decides a tie that f32 can't see.
  std::vector<uint16_t> x = {0x3c01, 0x3c01, 0x3c01}, z = {0x0001, 0x8001, 0x9400};
  std::vector<Column> halves = {column("half", x), column("half", x), column("half", z)};
  std::vector<uint16_t> result = compute<uint16_t>(callOf("half", "llvm.fma.f16", halves), halves);
  for (size_t i = 0; i < x.size(); ++i) {
    double exact = double(std::bit_cast<_Float16>(x[i])) * double(std::bit_cast<_Float16>(x[i])) +
                   double(std::bit_cast<_Float16>(z[i])); // 31 bits: exact.
    CHECK(result[i] == std::bit_cast<uint16_t>(static_cast<_Float16>(exact)));
  }
}

TEST_CASE("f16, bf16 and f64 have the functions too, and vectors go element by element", "[simulator][intrinsics]") {
  std::vector<uint16_t> halves(count);
  for (size_t i = 0; i < count; ++i)
    halves[i] = static_cast<uint16_t>(i * 211);
  std::vector<Column> in = {column("half", halves)};
  std::vector<uint16_t> out = compute<uint16_t>(callOf("half", "llvm.floor.f16", in), in);
  for (size_t i = 0; i < count; ++i) {
    float x = static_cast<float>(std::bit_cast<_Float16>(halves[i]));
    if (!std::isnan(x))
      REQUIRE(out[i] == std::bit_cast<uint16_t>(static_cast<_Float16>(std::floor(x))));
  }
  std::vector<double> numbers = {0.1, -3, 700, 1e-300, 2.5, INFINITY};
  std::vector<Column> doubles = {column("double", numbers)};
  std::vector<double> powers = compute<double>(callOf("double", "llvm.exp2.f64", doubles), doubles);
  for (size_t i = 0; i < numbers.size(); ++i)
    CHECK(powers[i] == std::exp2(numbers[i]));
  std::vector<uint64_t> pairs = {0x3f800000bf800000ull, 0xc0490fdb40490fdbull};
  std::vector<Column> vectors = {column("<2 x float>", pairs)};
  CHECK(compute<uint64_t>(callOf("<2 x float>", "llvm.fabs.v2f32", vectors), vectors) ==
        std::vector<uint64_t>{0x3f8000003f800000ull, 0x40490fdb40490fdbull});
  std::vector<uint32_t> bfloats = {0xc0490000};
  std::vector<Column> pair = {column("<2 x bfloat>", bfloats)};
  CHECK(compute<uint32_t>(callOf("<2 x bfloat>", "llvm.trunc.v2bf16", pair), pair) ==
        std::vector<uint32_t>{0xc0400000});
}

TEST_CASE("numbers are taken apart and put together", "[simulator][intrinsics]") {
  std::vector<float> a = {8, -0.75f, 0, 1e-40f, 3.7f, -INFINITY};
  std::vector<int32_t> by = {3, -2, 5, 20, -140, 1};
  std::vector<Column> in = {column("float", a), column("i32", by)};
  std::vector<float> scaled = compute<float>(callOf("float", "llvm.ldexp.f32.i32", in), in);
  std::vector<float> raised = compute<float>(callOf("float", "llvm.powi.f32.i32", in), in);
  for (size_t i = 0; i < a.size(); ++i) {
    CHECK(same(scaled[i], std::ldexp(a[i], by[i])));
    CHECK(near(raised[i], std::pow(double(a[i]), by[i])));
  }
  std::vector<Column> one = {column("float", a)};
  Expression parts{"gfx942", "{ float, i32 }", "  %r = call { float, i32 } @llvm.frexp.f32.i32(float %a)",
                   "declare { float, i32 } @llvm.frexp.f32.i32(float)\n"};
  struct Parts {
    float mantissa;
    int32_t exponent;
  };
  std::vector<Parts> split = compute<Parts>(parts, one);
  for (size_t i = 0; i + 1 < a.size(); ++i) {
    int exponent = 0;
    CHECK(split[i].mantissa == std::frexp(a[i], &exponent));
    CHECK(split[i].exponent == exponent);
  }
  // Classes: NaNs 0 and 1, then from -inf (2) to +inf (9).
  std::vector<float> kindsOfNumbers = {NAN, -INFINITY, -1, -1e-40f, -0.0f, 0.0f, 1e-40f, 1, INFINITY};
  for (int c = 1; c < 10; ++c) {
    Expression test{"sm_80", "i8",
                    "  %p = call i1 @llvm.is.fpclass.f32(float %a, i32 " + std::to_string(1 << c) +
                        ")\n  %r = zext i1 %p to i8",
                    "declare i1 @llvm.is.fpclass.f32(float, i32)\n"};
    std::vector<Column> numbers = {column("float", kindsOfNumbers)};
    std::vector<uint8_t> found = compute<uint8_t>(test, numbers);
    for (size_t i = 0; i < found.size(); ++i)
      CHECK(found[i] == (static_cast<int>(i) + 1 == c));
  }
}

TEST_CASE("bits of integers", "[simulator][intrinsics]") {
  checkInteger<uint32_t, uint32_t>("ctpop", "i32", [](uint32_t x) { return std::popcount(x); });
  checkInteger<uint64_t, uint64_t>("ctpop", "i64", [](uint64_t x) { return std::popcount(x); });
  checkInteger<uint16_t, uint16_t>("ctlz", "i16", [](uint16_t x) { return std::countl_zero(x); }, "i1 false");
  checkInteger<uint32_t, uint32_t>("ctlz", "i32", [](uint32_t x) { return std::countl_zero(x); }, "i1 false");
  checkInteger<uint64_t, uint64_t>("cttz", "i64", [](uint64_t x) { return std::countr_zero(x); }, "i1 false");
  checkInteger<uint8_t, uint8_t>("cttz", "i8", [](uint8_t x) { return std::countr_zero(x); }, "i1 false");
  checkInteger<uint32_t, uint32_t>("bswap", "i32", [](uint32_t x) { return __builtin_bswap32(x); });
  checkInteger<uint16_t, uint16_t>("bswap", "i16", [](uint16_t x) { return __builtin_bswap16(x); });
  auto reversed = [](uint32_t x) {
    uint32_t result = 0;
    for (unsigned i = 0; i < 32; ++i)
      result |= (x >> i & 1) << (31 - i);
    return result;
  };
  checkInteger<uint32_t, uint32_t>("bitreverse", "i32", reversed);
  checkInteger<int32_t, int32_t>(
      "abs", "i32", [](int32_t x) { return x < 0 ? 0u - uint32_t(x) : uint32_t(x); }, "i1 false");
  // Odd widths: seven bits, as Triton's layouts have them.
  std::vector<uint8_t> a = {0, 1, 3, 64, 100, 127};
  std::vector<Column> in = {column("i8", a)};
  Expression seven{"gfx942", "i8",
                   "  %n = trunc i8 %a to i7\n  %v = call i7 @llvm.bitreverse.i7(i7 %n)\n  %r = zext i7 %v to i8",
                   "declare i7 @llvm.bitreverse.i7(i7)\n"};
  CHECK(compute<uint8_t>(seven, in) == std::vector<uint8_t>{0, 64, 96, 1, 19, 127});
}

TEST_CASE("integers with limits", "[simulator][intrinsics]") {
  checkBinaryInteger<int32_t>("smin", "i32", [](int64_t a, int64_t b) { return std::min(a, b); });
  checkBinaryInteger<int8_t>("smax", "i8", [](int a, int b) { return std::max(a, b); });
  checkBinaryInteger<uint64_t>("umin", "i64", [](uint64_t a, uint64_t b) { return std::min(a, b); });
  checkBinaryInteger<uint16_t>("umax", "i16", [](int a, int b) { return std::max(a, b); });
  auto limit = [](int64_t x) { return std::clamp<int64_t>(x, INT32_MIN, INT32_MAX); };
  checkBinaryInteger<int32_t>("sadd.sat", "i32", [=](int64_t a, int64_t b) { return limit(a + b); });
  checkBinaryInteger<int32_t>("ssub.sat", "i32", [=](int64_t a, int64_t b) { return limit(a - b); });
  checkBinaryInteger<uint32_t>("usub.sat", "i32", [](uint32_t a, uint32_t b) { return a < b ? 0 : a - b; });
  checkBinaryInteger<uint8_t>("uadd.sat", "i8", [](int a, int b) { return std::min(a + b, 255); });
  checkBinaryInteger<uint64_t>("uadd.sat", "i64", [](uint64_t a, uint64_t b) { return a + b < a ? ~0ull : a + b; });
  for (const char *name : {"fshl", "fshr"}) {
    std::vector<uint32_t> a = randomIntegers<uint32_t>(count, 1), b = randomIntegers<uint32_t>(count, 2),
                          c = randomIntegers<uint32_t>(count, 3);
    std::vector<Column> in = {column("i32", a), column("i32", b), column("i32", c)};
    std::vector<uint32_t> out = compute<uint32_t>(callOf("i32", std::string("llvm.") + name + ".i32", in), in);
    for (size_t i = 0; i < count; ++i) {
      uint64_t both = uint64_t(a[i]) << 32 | b[i];
      unsigned by = c[i] & 31;
      REQUIRE(out[i] == static_cast<uint32_t>(name[3] == 'l' ? (both << by) >> 32 : both >> by));
    }
  }
}

TEST_CASE("arithmetic with overflow, three-way comparison, saturating conversions", "[simulator][intrinsics]") {
  std::vector<int32_t> a = randomIntegers<int32_t>(count, 1), b = randomIntegers<int32_t>(count, 2);
  std::vector<Column> in = {column("i32", a), column("i32", b)};
  for (const char *name : {"sadd", "ssub", "smul", "uadd", "usub", "umul"}) {
    std::string full = std::string("llvm.") + name + ".with.overflow.i32";
    Expression e{"sm_80", "i8",
                 "  %p = call { i32, i1 } @" + full +
                     "(i32 %a, i32 %b)\n  %o = extractvalue { i32, i1 } %p, 1\n"
                     "  %r = zext i1 %o to i8",
                 "declare { i32, i1 } @" + full + "(i32, i32)\n"};
    std::vector<uint8_t> out = compute<uint8_t>(e, in);
    for (size_t i = 0; i < count; ++i) {
      int32_t s;
      uint32_t u;
      auto x = static_cast<uint32_t>(a[i]), y = static_cast<uint32_t>(b[i]);
      bool expected = std::string(name) == "sadd"   ? __builtin_add_overflow(a[i], b[i], &s)
                      : std::string(name) == "ssub" ? __builtin_sub_overflow(a[i], b[i], &s)
                      : std::string(name) == "smul" ? __builtin_mul_overflow(a[i], b[i], &s)
                      : std::string(name) == "uadd" ? __builtin_add_overflow(x, y, &u)
                      : std::string(name) == "usub" ? __builtin_sub_overflow(x, y, &u)
                                                    : __builtin_mul_overflow(x, y, &u);
      REQUIRE(out[i] == expected);
    }
  }
  Expression compare{"gfx942", "i8", "  %r = call i8 @llvm.scmp.i8.i32(i32 %a, i32 %b)",
                     "declare i8 @llvm.scmp.i8.i32(i32, i32)\n"};
  std::vector<int8_t> order = compute<int8_t>(compare, in);
  for (size_t i = 0; i < count; ++i)
    REQUIRE(order[i] == (a[i] > b[i]) - (a[i] < b[i]));
  std::vector<float> x = {1.9f, -1.9f, 1e10f, -1e10f, NAN, 300, -5};
  std::vector<Column> numbers = {column("float", x)};
  CHECK(compute<int32_t>(callOf("i32", "llvm.fptosi.sat.i32.f32", numbers), numbers) ==
        std::vector<int32_t>{1, -1, INT32_MAX, INT32_MIN, 0, 300, -5});
  CHECK(compute<uint8_t>(callOf("i8", "llvm.fptoui.sat.i8.f32", numbers), numbers) ==
        std::vector<uint8_t>{1, 0, 255, 0, 0, 255, 0});
}

TEST_CASE("reductions of vectors", "[simulator][intrinsics]") {
  std::vector<std::array<float, 4>> a = {{1, 2, 3, 4}, {1e8f, 1, -1e8f, 0.5f}};
  std::vector<Column> in = {column("<4 x float>", a)};
  Expression sum{"sm_80", "float", "  %r = call float @llvm.vector.reduce.fadd.v4f32(float 1.0, <4 x float> %a)",
                 "declare float @llvm.vector.reduce.fadd.v4f32(float, <4 x float>)\n"};
  CHECK(compute<float>(sum, in) == std::vector<float>{11, 0.5f}); // In order: 1 and the first 1 are lost.
  Expression most{"gfx942", "float", "  %r = call float @llvm.vector.reduce.fmax.v4f32(<4 x float> %a)",
                  "declare float @llvm.vector.reduce.fmax.v4f32(<4 x float>)\n"};
  CHECK(compute<float>(most, in) == std::vector<float>{4, 1e8f});
  std::vector<std::array<int8_t, 4>> b = {{1, -2, 3, 100}, {100, 100, 0, 0}};
  std::vector<Column> bytes = {column("<4 x i8>", b)};
  Expression add{"sm_80", "i8", "  %r = call i8 @llvm.vector.reduce.add.v4i8(<4 x i8> %a)",
                 "declare i8 @llvm.vector.reduce.add.v4i8(<4 x i8>)\n"};
  CHECK(compute<int8_t>(add, bytes) == std::vector<int8_t>{102, -56});
  Expression least{"sm_80", "i8", "  %r = call i8 @llvm.vector.reduce.smin.v4i8(<4 x i8> %a)",
                   "declare i8 @llvm.vector.reduce.smin.v4i8(<4 x i8>)\n"};
  CHECK(compute<int8_t>(least, bytes) == std::vector<int8_t>{-2, 0});
}

TEST_CASE("parts of vectors, masked pointers, numbers to the nearest integer", "[simulator][intrinsics]") {
  std::vector<uint32_t> a = {0x04030201};
  std::vector<Column> in = {column("<4 x i8>", a)};
  auto vector = [&](const std::string &body, const std::string &declaration) {
    return compute<uint32_t>({"sm_80", "<4 x i8>", body, "declare " + declaration + "\n"}, in)[0];
  };
  CHECK(vector("  %r = call <4 x i8> @llvm.vector.reverse.v4i8(<4 x i8> %a)",
               "<4 x i8> @llvm.vector.reverse.v4i8(<4 x i8>)") == 0x01020304);
  CHECK(vector("  %h = call <2 x i8> @llvm.vector.extract.v2i8.v4i8(<4 x i8> %a, i64 2)\n"
               "  %r = call <4 x i8> @llvm.vector.insert.v4i8.v2i8(<4 x i8> %a, <2 x i8> %h, i64 0)",
               "<2 x i8> @llvm.vector.extract.v2i8.v4i8(<4 x i8>, i64)\n"
               "declare <4 x i8> @llvm.vector.insert.v4i8.v2i8(<4 x i8>, <2 x i8>, i64)") == 0x04030403);
  std::vector<uint64_t> n = {0x123456789abcdef3ull};
  std::vector<Column> pointers = {column("ptr", n)};
  Expression mask{"sm_80", "ptr", "  %r = call ptr @llvm.ptrmask.p0.i64(ptr %a, i64 -16)",
                  "declare ptr @llvm.ptrmask.p0.i64(ptr, i64)\n"};
  CHECK(compute<uint64_t>(mask, pointers)[0] == 0x123456789abcdef0ull);
  std::vector<float> x = {2.5f, -3.5f};
  std::vector<Column> reals = {column("float", x)};
  CHECK(compute<int64_t>(callOf("i64", "llvm.llrint.i64.f32", reals), reals) == std::vector<int64_t>{2, -4});
  CHECK(compute<int32_t>(callOf("i32", "llvm.lround.i32.f32", reals), reals) == std::vector<int32_t>{3, -4});
}

TEST_CASE("constrained arithmetic is that of the default mode", "[simulator][intrinsics]") {
  std::vector<float> a = {1, 3, -7}, b = {3, 0.1f, 2};
  std::vector<Column> in = {column("float", a), column("float", b)};
  auto constrained = [](const std::string &mode) {
    return Expression{"sm_80", "float",
                      "  %r = call float @llvm.experimental.constrained.fdiv.f32(float %a, float %b, metadata !\"" +
                          mode + "\", metadata !\"fpexcept.ignore\")",
                      "declare float @llvm.experimental.constrained.fdiv.f32(float, float, metadata, metadata)\n"};
  };
  CHECK(compute<float>(constrained("round.tonearest"), in) == std::vector<float>{1.0f / 3, 3 / 0.1f, -3.5f});
  Machine machine("sm_80");
  Status status = machine.load(kernelOf(constrained("round.upward"), in));
  Expected<Outcome> outcome = machine.launch("k", {1, 1, 1}, {32, 1, 1}, {});
  REQUIRE(!outcome.isOk());
  CHECK(outcome.status().message().find("round.upward") != std::string::npos);
}

TEST_CASE("copies and fills of memory, with what was never written", "[simulator][intrinsics]") {
  std::vector<uint64_t> a = {0x1122334455667788ull, 0x99aabbccddeeff00ull, 7};
  std::vector<Column> in = {column("i64", a)};
  // Through a local variable, moved by three bytes within it (the copies overlap), over a fill.
  Expression e{"sm_80", "i64",
               "  %v = alloca [32 x i8], align 8\n"
               "  call void @llvm.memset.p0.i64(ptr align 8 %v, i8 -86, i64 32, i1 false)\n"
               "  %g = addrspacecast ptr addrspace(1) %at_a to ptr\n"
               "  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %v, ptr %g, i64 8, i1 false)\n"
               "  %q = getelementptr i8, ptr %v, i64 3\n"
               "  call void @llvm.memmove.p0.p0.i64(ptr %q, ptr %v, i64 13, i1 false)\n"
               "  %r = load i64, ptr %v, align 8",
               "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)\n"
               "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n"
               "declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)\n"};
  std::vector<uint64_t> out = compute<uint64_t>(e, in);
  for (size_t i = 0; i < a.size(); ++i)
    CHECK(out[i] == (a[i] << 24 | (a[i] & 0xffffff)));
  // Half of the variable is written; copying all of it is no mistake, reading the rest of the copy is one.
  std::string text = kernelOf({"sm_80", "i64",
                               "  %v = alloca [2 x i64], align 8\n  %w = alloca [2 x i64], align 8\n"
                               "  store i64 %a, ptr %v, align 8\n"
                               "  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %w, ptr align 8 %v, i64 16, i1 false)\n"
                               "  %h = getelementptr i64, ptr %w, i64 1\n  %r = load i64, ptr %h, align 8",
                               "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n"},
                              in);
  Machine machine("sm_80", text);
  auto *result = machine.output<uint64_t>(3);
  Outcome outcome = machine.run("k", {1, 1, 1}, {32, 1, 1}, result, machine.array(a), 3);
  CHECK(kinds(outcome) == "uninitialized");
}

TEST_CASE("masked loads and stores access what a constant mask names", "[simulator][intrinsics]") {
  // As LLVM makes them of neighbouring accesses with a gap. What the gap holds was never written, and stays so.
  std::vector<uint64_t> a = {0x1122334455667788ull, 0x99aabbccddeeff00ull};
  std::vector<Column> in = {column("i64", a)};
  auto text = [&](const std::string &element) {
    return kernelOf({"sm_80", "i32",
                     "  %v = alloca <4 x i32>, align 16\n  %low = trunc i64 %a to i32\n"
                     "  %s = insertelement <4 x i32> poison, i32 %low, i64 2\n"
                     "  call void @llvm.masked.store.v4i32.p0(<4 x i32> %s, ptr align 16 %v, "
                     "<4 x i1> <i1 false, i1 false, i1 true, i1 false>)\n"
                     "  %l = call <4 x i32> @llvm.masked.load.v4i32.p0(ptr align 16 %v, "
                     "<4 x i1> <i1 false, i1 true, i1 true, i1 false>, <4 x i32> splat (i32 7))\n"
                     "  %r = extractelement <4 x i32> %l, i64 " +
                         element,
                     "declare void @llvm.masked.store.v4i32.p0(<4 x i32>, ptr, <4 x i1>)\n"
                     "declare <4 x i32> @llvm.masked.load.v4i32.p0(ptr, <4 x i1>, <4 x i32>)\n"},
                    in);
  };
  auto run = [&](const std::string &element, std::vector<uint32_t> &result) {
    Machine machine("sm_80", text(element));
    auto *out = machine.output<uint32_t>(2);
    Outcome outcome = machine.run("k", {1, 1, 1}, {32, 1, 1}, out, machine.array(a), 2);
    result.assign(out, out + 2);
    return kinds(outcome);
  };
  std::vector<uint32_t> result;
  CHECK(run("2", result).empty());
  CHECK(result == std::vector<uint32_t>{0x55667788u, 0xddeeff00u});
  CHECK(run("1", result) == "uninitialized");
  CHECK(run("0", result).empty());
  CHECK(result == std::vector<uint32_t>{7, 7});
}

TEST_CASE("elements that share bytes lie in memory from the lowest bits on", "[simulator]") {
  std::vector<uint32_t> a = {0x76543210, 0xfedcba98, 0x00000001, 0x80000000};
  std::vector<Column> in = {column("<8 x i4>", a)};
  std::vector<uint32_t> reversed = compute<uint32_t>({"gfx942", "<8 x i4>",
                                                      "  %r = shufflevector <8 x i4> %a, <8 x i4> poison, <8 x i32> "
                                                      "<i32 7, i32 6, i32 5, i32 4, i32 3, i32 2, i32 1, i32 0>",
                                                      ""},
                                                     in);
  CHECK(reversed == std::vector<uint32_t>{0x01234567, 0x89abcdef, 0x10000000, 0x00000008});
  std::vector<uint8_t> b = {0x00, 0x7f, 0xd5, 0x2b};
  std::vector<Column> bits = {column("<7 x i1>", b)};
  Expression inverted{"sm_80", "<7 x i1>", "  %r = xor <7 x i1> %a, splat (i1 true)", ""};
  CHECK(compute<uint8_t>(inverted, bits) == std::vector<uint8_t>{0x7f, 0x00, 0x2a, 0x54});
}

TEST_CASE("a trap does not hide the race that led to it, and adds nothing to it", "[simulator][intrinsics]") {
  auto text = [](const std::string &barrier) {
    return "target triple = \"nvptx64-nvidia-cuda\"\n@s = internal addrspace(3) global [64 x i32] undef, align 4\n"
           "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\ndeclare void @llvm.trap()\n"
           "declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)\n"
           "define ptx_kernel void @k(i32 %expected) {\n  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
           "  %mine = getelementptr i32, ptr addrspace(3) @s, i32 %t\n  %u = xor i32 %t, 63\n"
           "  %other = getelementptr i32, ptr addrspace(3) @s, i32 %u\n  store i32 1, ptr addrspace(3) %mine\n"
           "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n  store i32 2, ptr addrspace(3) %mine\n" +
           barrier +
           "  %v = load i32, ptr addrspace(3) %other\n  %right = icmp eq i32 %v, %expected\n"
           "  br i1 %right, label %fine, label %wrong\nwrong:\n  call void @llvm.trap()\n  unreachable\nfine:\n"
           "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n  %w = load i32, ptr addrspace(3) %other\n"
           "  ret void\n}\n";
  };
  Machine racing("sm_80", text(""));
  CHECK(kinds(racing.run("k", {1, 1, 1}, {64, 1, 1}, 2)) == "trap race race");
  Machine ordered("sm_80", text("  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n"));
  CHECK(kinds(ordered.run("k", {1, 1, 1}, {64, 1, 1}, 2)) == "");
  CHECK(kinds(ordered.run("k", {1, 1, 1}, {64, 1, 1}, 3)) == "trap");
}

TEST_CASE("a trap ends the launch with a report, questions have answers", "[simulator][intrinsics]") {
  std::vector<uint32_t> a = {0, 0, 5, 0};
  std::vector<Column> in = {column("i32", a)};
  std::string text = kernelOf({"sm_80", "i32",
                               "  %bad = icmp eq i32 %a, 5\n  br i1 %bad, label %stop, label %fine\nstop:\n"
                               "  call void @llvm.trap()\n  unreachable\nfine:\n"
                               "  %e = call i32 @llvm.expect.i32(i32 %a, i32 0)\n"
                               "  call void @llvm.assume(i1 true)\n  %r = add i32 %e, 1",
                               "declare void @llvm.trap()\ndeclare void @llvm.assume(i1)\n"
                               "declare i32 @llvm.expect.i32(i32, i32)\n"},
                              in);
  Machine machine("sm_80", text);
  auto *result = machine.output<uint32_t>(4);
  Outcome outcome = machine.run("k", {1, 1, 1}, {32, 1, 1}, result, machine.array(a), 4);
  REQUIRE(kinds(outcome) == "trap");
  CHECK(outcome.reports[0].message.find("lane 2") != std::string::npos);
}

} // namespace tilejit::sim::test
