// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// PTX statements that compute, each against its meaning in C++.

#include "SimulatorCompute.h"

#include <bit>

namespace tilejit::sim::test {

namespace {

constexpr size_t count = 300;

bool same(float a, float b) {
  return std::isnan(a) ? std::isnan(b) : std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
}
std::string typeOf(size_t bytes) { return "i" + std::to_string(8 * bytes); }
const char *letterOf(size_t bytes) { return bytes == 2 ? "h" : bytes == 4 ? "r" : "l"; }

template <class T> std::vector<T> operands(uint64_t seed) {
  std::vector<T> values = randomIntegers<T>(count, seed);
  std::rotate(values.begin(), values.begin() + static_cast<long>(seed % 5), values.end());
  return values;
}

/// d = mnemonic(a, b...), for integers.
template <class D, class A, class F> void check1(const std::string &mnemonic, F expected) {
  std::vector<A> a = operands<A>(1);
  std::vector<Column> in = {column(typeOf(sizeof(A)), a)};
  std::string constraints = std::string("=") + letterOf(sizeof(D)) + "," + letterOf(sizeof(A));
  std::vector<D> out = compute<D>(assembly(typeOf(sizeof(D)), mnemonic + " $0, $1;", constraints, in), in);
  for (size_t i = 0; i < count; ++i) {
    INFO(mnemonic << " of " << +a[i]);
    REQUIRE(out[i] == static_cast<D>(expected(a[i])));
  }
}
template <class D, class A, class B, class F> void check2(const std::string &mnemonic, F expected) {
  std::vector<A> a = operands<A>(1);
  std::vector<B> b = operands<B>(2);
  std::vector<Column> in = {column(typeOf(sizeof(A)), a), column(typeOf(sizeof(B)), b)};
  std::string constraints =
      std::string("=") + letterOf(sizeof(D)) + "," + letterOf(sizeof(A)) + "," + letterOf(sizeof(B));
  std::vector<D> out = compute<D>(assembly(typeOf(sizeof(D)), mnemonic + " $0, $1, $2;", constraints, in), in);
  for (size_t i = 0; i < count; ++i) {
    INFO(mnemonic << " of " << +a[i] << " and " << +b[i]);
    REQUIRE(out[i] == static_cast<D>(expected(a[i], b[i])));
  }
}
template <class D, class A, class B, class C, class F>
void check3(const std::string &mnemonic, F expected, const std::string &more = "") {
  std::vector<A> a = operands<A>(1);
  std::vector<B> b = operands<B>(2);
  std::vector<C> c = operands<C>(3);
  std::vector<Column> in = {column(typeOf(sizeof(A)), a), column(typeOf(sizeof(B)), b), column(typeOf(sizeof(C)), c)};
  std::string constraints = std::string("=") + letterOf(sizeof(D)) + "," + letterOf(sizeof(A)) + "," +
                            letterOf(sizeof(B)) + "," + letterOf(sizeof(C));
  std::vector<D> out =
      compute<D>(assembly(typeOf(sizeof(D)), mnemonic + " $0, $1, $2, $3" + more + ";", constraints, in), in);
  for (size_t i = 0; i < count; ++i) {
    INFO(mnemonic << " of " << +a[i] << ", " << +b[i] << " and " << +c[i]);
    REQUIRE(out[i] == static_cast<D>(expected(a[i], b[i], c[i])));
  }
}

/// d = mnemonic(a, b, c) for f32, up to three operands.
std::vector<float> floats(const std::string &mnemonic, const std::vector<std::vector<float>> &values) {
  std::vector<Column> in;
  std::string text = mnemonic + " $0", constraints = "=f";
  for (size_t i = 0; i < values.size(); ++i) {
    in.push_back(column("float", values[i]));
    text += ", $" + std::to_string(i + 1);
    constraints += ",f";
  }
  return compute<float>(assembly("float", text + ";", constraints, in), in);
}

float flush(float x) { return std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x; }

} // namespace

TEST_CASE("PTX integer arithmetic", "[simulator][ptx]") {
  using I = int32_t;
  using U = uint32_t;
  check2<U, U, U>("add.u32", [](U a, U b) { return a + b; });
  check2<U, U, U>("sub.s32", [](U a, U b) { return a - b; });
  check2<uint16_t, uint16_t, uint16_t>("mul.lo.u16", [](U a, U b) { return a * b; });
  check2<I, I, I>("mul.hi.s32", [](int64_t a, int64_t b) { return (a * b) >> 32; });
  check2<uint64_t, U, U>("mul.wide.u32", [](uint64_t a, uint64_t b) { return a * b; });
  check2<int64_t, I, I>("mul.wide.s32", [](int64_t a, int64_t b) { return a * b; });
  check2<uint64_t, uint64_t, uint64_t>("mul.hi.u64", [](uint64_t a, uint64_t b) {
    __extension__ typedef unsigned __int128 Wide;
    return static_cast<uint64_t>((Wide(a) * b) >> 64);
  });
  check3<U, U, U, U>("mad.lo.s32", [](U a, U b, U c) { return a * b + c; });
  check3<I, I, I, I>("mad.hi.s32", [](int64_t a, int64_t b, U c) { return static_cast<U>((a * b) >> 32) + c; });
  check3<int64_t, I, I, int64_t>("mad.wide.s32", [](int64_t a, int64_t b, uint64_t c) { return uint64_t(a * b) + c; });
  check2<I, I, I>("add.sat.s32", [](int64_t a, int64_t b) { return std::clamp<int64_t>(a + b, INT32_MIN, INT32_MAX); });
  check2<I, I, I>("mul24.lo.s32", [](U a, U b) { return U(int64_t(I(a << 8) >> 8) * (I(b << 8) >> 8)); });
  check3<U, U, U, U>("sad.u32", [](U a, U b, U c) { return c + (a > b ? a - b : b - a); });
  check2<U, U, U>("div.u32", [](U a, U b) { return b ? a / b : ~0u; });
  check2<I, I, I>("rem.s32", [](int64_t a, int64_t b) { return b ? a % b : a; });
  check2<I, I, I>("min.s32", [](I a, I b) { return std::min(a, b); });
  check2<uint64_t, uint64_t, uint64_t>("max.u64", [](uint64_t a, uint64_t b) { return std::max(a, b); });
  check1<I, I>("abs.s32", [](U a) { return I(a) < 0 ? 0 - a : a; });
  check1<int64_t, int64_t>("neg.s64", [](uint64_t a) { return 0 - a; });
  check2<U, U, U>("max.s16x2", [](U a, U b) {
    auto half = [](int16_t x, int16_t y) { return U(uint16_t(std::max(x, y))); };
    return half(int16_t(a), int16_t(b)) | half(int16_t(a >> 16), int16_t(b >> 16)) << 16;
  });
  check3<I, I, I, I>("dp4a.s32.u32", [](U a, U b, U c) {
    for (unsigned i = 0; i < 4; ++i)
      c += U(I(int8_t(a >> 8 * i)) * I(uint8_t(b >> 8 * i)));
    return c;
  });
  check3<I, I, I, I>("dp2a.hi.s32.s32", [](U a, U b, U c) {
    for (unsigned i = 0; i < 2; ++i)
      c += U(I(int16_t(a >> 16 * i)) * I(int8_t(b >> (16 + 8 * i))));
    return c;
  });
}

TEST_CASE("PTX bits", "[simulator][ptx]") {
  using U = uint32_t;
  using L = uint64_t;
  check2<U, U, U>("and.b32", [](U a, U b) { return a & b; });
  check2<L, L, L>("xor.b64", [](L a, L b) { return a ^ b; });
  check1<uint16_t, uint16_t>("not.b16", [](U a) { return ~a; });
  check1<U, U>("cnot.b32", [](U a) { return a == 0; });
  check2<U, U, U>("shl.b32", [](U a, U b) { return b > 31 ? 0 : a << b; });
  check2<L, L, U>("shr.u64", [](L a, U b) { return b > 63 ? 0 : a >> b; });
  check2<int32_t, int32_t, U>("shr.s32", [](int32_t a, U b) { return a >> std::min(b, 31u); });
  check3<U, U, U, U>("shf.l.wrap.b32", [](U a, U b, U c) { return U((L(b) << 32 | a) << (c & 31) >> 32); });
  check3<U, U, U, U>("shf.r.clamp.b32", [](U a, U b, U c) { return U((L(b) << 32 | a) >> std::min(c, 32u)); });
  // a & b | ~a & c is the table 0xca.
  check3<U, U, U, U>("lop3.b32", [](U a, U b, U c) { return (a & b) | (~a & c); }, ", 0xca");
  check3<U, U, U, U>("lop3.b32", [](U a, U b, U c) { return a ^ b ^ c; }, ", 150");
  check3<U, U, U, U>("prmt.b32", [](U a, U b, U c) {
    U result = 0;
    for (unsigned i = 0; i < 4; ++i) {
      U s = c >> 4 * i & 15, byte = U((L(b) << 32 | a) >> 8 * (s & 7)) & 255;
      result |= (s & 8 ? (byte & 128 ? 255 : 0) : byte) << 8 * i;
    }
    return result;
  });
  check3<U, U, U, U>("prmt.b32.f4e", [](U a, U b, U c) { return U((L(b) << 32 | a) >> 8 * (c & 3)); });
  check3<U, U, U, U>("bfe.u32", [](U a, U b, U c) {
    U p = b & 255, n = c & 255, shifted = p > 31 ? 0 : a >> p;
    return n > 31 ? shifted : shifted & ((1u << n) - 1);
  });
  check3<int32_t, int32_t, U, U>("bfe.s32", [](int32_t a, U b, U c) {
    U p = b & 255, n = c & 255, top = std::min<U>(p + n - 1, 31), sign = n == 0 ? 0 : U(a) >> top & 1;
    U result = sign ? ~0u : 0;
    for (U i = 0; i < 32; ++i)
      if (i < n && p + i <= 31)
        result = (result & ~(1u << i)) | (U(a) >> (p + i) & 1) << i;
    return result;
  });
  check1<U, U>("brev.b32", [](U a) {
    U result = 0;
    for (unsigned i = 0; i < 32; ++i)
      result |= (a >> i & 1) << (31 - i);
    return result;
  });
  check1<U, L>("popc.b64", [](L a) { return std::popcount(a); });
  check1<U, U>("clz.b32", [](U a) { return std::countl_zero(a); });
  check1<U, int32_t>("bfind.s32", [](int32_t a) {
    U x = a < 0 ? ~U(a) : U(a);
    return x ? 31 - U(std::countl_zero(x)) : ~0u;
  });
  check1<U, U>("bfind.shiftamt.u32", [](U a) { return a ? U(std::countl_zero(a)) : ~0u; });
  std::vector<U> a = operands<U>(1), b = operands<U>(2);
  std::vector<Column> in = {column("i32", a), column("i32", b)};
  std::vector<U> out = compute<U>(assembly("i32", "bfi.b32 $0, $1, $2, 4, 12;", "=r,r,r", in), in);
  for (size_t i = 0; i < count; ++i)
    REQUIRE(out[i] == ((b[i] & ~0xfff0u) | (a[i] << 4 & 0xfff0u)));
}

TEST_CASE("PTX carries go from statement to statement", "[simulator][ptx]") {
  std::vector<uint64_t> a = operands<uint64_t>(1), b = operands<uint64_t>(2);
  std::vector<Column> in = {column("i64", a), column("i64", b)};
  auto wide = [&](const std::string &low, const std::string &high) {
    return compute<uint64_t>(assembly("i64",
                                      "{ .reg .b32 a<2>, b<2>, d<2>; mov.b64 {a0, a1}, $1; mov.b64 {b0, b1}, $2; " +
                                          low + " d0, a0, b0; " + high + " d1, a1, b1; mov.b64 $0, {d0, d1}; }",
                                      "=l,l,l", in),
                             in);
  };
  std::vector<uint64_t> sums = wide("add.cc.u32", "addc.u32"), differences = wide("sub.cc.u32", "subc.u32");
  for (size_t i = 0; i < count; ++i) {
    REQUIRE(sums[i] == a[i] + b[i]);
    REQUIRE(differences[i] == a[i] - b[i]);
  }
  // The product of two 32-bit numbers plus 64 bits, as random number generators have it.
  std::vector<uint32_t> x = operands<uint32_t>(1), y = operands<uint32_t>(2);
  std::vector<Column> three = {column("i32", x), column("i32", y), column("i64", a)};
  std::vector<uint64_t> products =
      compute<uint64_t>(assembly("i64",
                                 "{ .reg .u32 lo, hi, c0, c1; mov.b64 {c0, c1}, $3; mad.lo.cc.u32 lo, $1, $2, c0;"
                                 " madc.hi.u32 hi, $1, $2, c1; mov.b64 $0, {lo, hi}; }",
                                 "=l,r,r,l", three),
                        three);
  for (size_t i = 0; i < count; ++i)
    REQUIRE(products[i] == uint64_t(x[i]) * y[i] + a[i]);
}

TEST_CASE("PTX floats with modifiers", "[simulator][ptx]") {
  std::vector<float> a = mixedFloats(count, 1), b = mixedFloats(count, 2), c = mixedFloats(count, 3);
  std::rotate(b.begin(), b.begin() + 4, b.end());
  std::rotate(c.begin(), c.begin() + 7, c.end());
  std::vector<float> add = floats("add.f32", {a, b}), flushed = floats("mul.rn.ftz.f32", {a, b}),
                     sat = floats("fma.rn.sat.f32", {a, b, c}), least = floats("min.f32", {a, b}),
                     nan = floats("max.NaN.f32", {a, b}), div = floats("div.rn.f32", {a, b}),
                     root = floats("sqrt.approx.ftz.f32", {a}), inverse = floats("rcp.approx.ftz.f32", {a}),
                     signs = floats("copysign.f32", {a, b}), xorSign = floats("min.xorsign.abs.f32", {a, b});
  for (size_t i = 0; i < count; ++i) {
    INFO(a[i] << ", " << b[i] << ", " << c[i]);
    REQUIRE(same(add[i], a[i] + b[i]));
    REQUIRE(same(flushed[i], flush(flush(a[i]) * flush(b[i]))));
    float f = std::fma(a[i], b[i], c[i]);
    REQUIRE(same(sat[i], f > 0 ? std::min(f, 1.0f) : 0.0f));
    REQUIRE((std::isnan(least[i]) ? std::isnan(a[i]) && std::isnan(b[i]) : least[i] == std::fmin(a[i], b[i])));
    REQUIRE(std::isnan(nan[i]) == (std::isnan(a[i]) || std::isnan(b[i])));
    REQUIRE(same(div[i], a[i] / b[i]));
    REQUIRE(same(root[i], std::sqrt(flush(a[i]))));
    REQUIRE(same(inverse[i], flush(1 / flush(a[i]))));
    REQUIRE(same(signs[i], std::copysign(b[i], a[i])));
    if (!std::isnan(a[i]) && !std::isnan(b[i])) {
      float magnitude = std::fmin(std::fabs(a[i]), std::fabs(b[i]));
      REQUIRE(same(xorSign[i], std::signbit(a[i]) != std::signbit(b[i]) ? -magnitude : magnitude));
    }
  }
}

TEST_CASE("directed rounding of f32 brackets the exact result", "[simulator][ptx]") {
  std::vector<float> a = mixedFloats(count, 1, 1e15f), b = mixedFloats(count, 2, 1e15f),
                     c = mixedFloats(count, 3, 1e30f);
  for (size_t i = 0; i < count; ++i)
    if (b[i] == 0)
      b[i] = 3;
  struct Case {
    const char *name;
    unsigned operands;
    double (*sign)(double r, double a, double b, double c); ///< Of the exact result minus r, by exact arithmetic.
  };
  // Exact in long double or by a remainder: the sign of the difference is what decides.
  const Case cases[] = {
      {"add", 2, [](double r, double a, double b, double) -> double { return double((long double)a - r + b); }},
      {"mul", 2, [](double r, double a, double b, double) { return a * b - r; }},
      {"div", 2, [](double r, double a, double b, double) { return (a - r * b) * b; }},
      {"fma", 3, [](double r, double a, double b, double c) { return double(((long double)(a * b) - r) + c); }},
      {"sqrt", 1, [](double r, double a, double, double) { return a - r * r; }},
  };
  for (const Case &k : cases) {
    std::vector<std::vector<float>> in = {a, b, c};
    in.resize(k.operands);
    std::string name = k.name;
    std::vector<float> down = floats(name + ".rm.f32", in), up = floats(name + ".rp.f32", in),
                       zero = floats(name + ".rz.f32", in), nearest = floats(name + ".rn.f32", in);
    for (size_t i = 0; i < count; ++i) {
      INFO(name << " of " << a[i] << ", " << b[i] << ", " << c[i] << " is " << down[i] << " to " << up[i]);
      if (std::isnan(nearest[i]) || std::isinf(nearest[i]) || std::fabs(nearest[i]) < 1e-30f)
        continue;
      REQUIRE((nearest[i] == down[i] || nearest[i] == up[i]));
      REQUIRE(zero[i] == (nearest[i] > 0 ? down[i] : up[i]));
      REQUIRE(k.sign(down[i], a[i], b[i], c[i]) >= 0);
      REQUIRE(k.sign(up[i], a[i], b[i], c[i]) <= 0);
      REQUIRE((down[i] == up[i] || up[i] == std::nextafterf(down[i], INFINITY)));
    }
  }
  CHECK(std::signbit(floats("add.rm.f32", {{1.5f}, {-1.5f}})[0]));
  CHECK(!std::signbit(floats("add.rp.f32", {{1.5f}, {-1.5f}})[0]));
}

TEST_CASE("directed rounding of f64", "[simulator][ptx]") {
  std::vector<double> a = {1, 1, 1e308, 0x1p-1074, -1, 1e16}, b = {3, 0x1p-60, 1e308, 0.5, 3, -0.1};
  std::vector<Column> in = {column("double", a), column("double", b)};
  auto run = [&](const std::string &mnemonic) {
    return compute<double>(assembly("double", mnemonic + " $0, $1, $2;", "=d,d,d", in), in);
  };
  std::vector<double> addUp = run("add.rp.f64"), addDown = run("add.rm.f64"), mulUp = run("mul.rp.f64"),
                      mulZero = run("mul.rz.f64"), divUp = run("div.rp.f64"), divDown = run("div.rm.f64");
  CHECK(addUp[1] == 1 + 0x1p-52);
  CHECK(addDown[1] == 1);
  CHECK(addUp[2] == INFINITY);
  CHECK(addDown[2] == std::numeric_limits<double>::max());
  CHECK(addUp[5] == 1e16);
  CHECK(addDown[5] == std::nextafter(1e16, 0));
  CHECK(mulUp[3] == 0x1p-1074);
  CHECK(mulZero[3] == 0);
  CHECK(mulZero[2] == std::numeric_limits<double>::max());
  CHECK(divUp[0] == std::nextafter(divDown[0], 1.0));
  CHECK(divDown[0] == 0x1.5555555555555p-2);
  CHECK(divUp[4] == -0x1.5555555555555p-2);
}

TEST_CASE("pairs of f16 and bf16", "[simulator][ptx]") {
  std::vector<uint32_t> a = operands<uint32_t>(1), b = operands<uint32_t>(2), c = operands<uint32_t>(3);
  std::vector<Column> in = {column("i32", a), column("i32", b), column("i32", c)};
  std::vector<uint32_t> f16 = compute<uint32_t>(assembly("i32", "fma.rn.f16x2 $0, $1, $2, $3;", "=r,r,r,r", in), in);
  std::vector<uint32_t> relu =
      compute<uint32_t>(assembly("i32", "fma.rn.relu.bf16x2 $0, $1, $2, $3;", "=r,r,r,r", in), in);
  auto half = [](uint32_t x, unsigned i) { return double(std::bit_cast<_Float16>(uint16_t(x >> 16 * i))); };
  auto brain = [](uint32_t x, unsigned i) { return double(std::bit_cast<float>((x >> 16 * i) << 16)); };
  for (size_t n = 0; n < count; ++n)
    for (unsigned i = 0; i < 2; ++i) {
      auto result = std::bit_cast<_Float16>(uint16_t(f16[n] >> 16 * i));
      // Exact in the 64 bits of long double, which then rounds once.
      auto exact = static_cast<_Float16>((long double)(half(a[n], i) * half(b[n], i)) + half(c[n], i));
      REQUIRE((std::isnan(double(result)) ? std::isnan(double(exact)) : result == exact));
      double product = brain(a[n], i) * brain(b[n], i) + brain(c[n], i);
      double r = brain(relu[n], i);
      if (std::isnan(product))
        REQUIRE(std::isnan(r));
      else
        REQUIRE((product <= 0 ? r == 0
                              : std::isinf(r) || std::fabs(r - product) <= std::fabs(product) * 0x1.01p-8 + 1e-40));
    }
  std::vector<Column> two = {in[0], in[1]};
  std::vector<uint32_t> least = compute<uint32_t>(assembly("i32", "min.f16x2 $0, $1, $2;", "=r,r,r", two), two);
  std::vector<uint32_t> nans =
      compute<uint32_t>(assembly("i32", "set.nan.f16x2.f16x2 $0, $1, $2;", "=r,r,r", two), two);
  for (size_t n = 0; n < count; ++n)
    for (unsigned i = 0; i < 2; ++i) {
      double x = half(a[n], i), y = half(b[n], i);
      if (!std::isnan(x) || !std::isnan(y))
        REQUIRE(half(least[n], i) == std::fmin(x, y));
      REQUIRE((nans[n] >> 16 * i & 0xffff) == (std::isnan(x) || std::isnan(y) ? 0x3c00 : 0));
    }
}

TEST_CASE("approximations are exact to one rounding", "[simulator][ptx]") {
  std::vector<float> a = mixedFloats(count, 5);
  auto near = [](float r, double exact) {
    auto e = static_cast<float>(exact);
    return same(r, e) || r == e || r == std::nextafterf(e, INFINITY) || r == std::nextafterf(e, -INFINITY);
  };
  std::vector<float> ex2 = floats("ex2.approx.f32", {a}), lg2 = floats("lg2.approx.f32", {a}),
                     sine = floats("sin.approx.f32", {a}), cosine = floats("cos.approx.f32", {a}),
                     tanh = floats("tanh.approx.f32", {a}), root = floats("rsqrt.approx.f32", {a}),
                     flushed = floats("ex2.approx.ftz.f32", {a});
  for (size_t i = 0; i < count; ++i) {
    double x = a[i];
    INFO(x);
    REQUIRE(near(ex2[i], std::exp2(x)));
    REQUIRE(near(lg2[i], std::log2(x)));
    REQUIRE(near(sine[i], std::sin(x)));
    REQUIRE(near(cosine[i], std::cos(x)));
    REQUIRE(near(tanh[i], std::tanh(x)));
    REQUIRE(near(root[i], 1 / std::sqrt(x)));
    REQUIRE(same(flushed[i], flush(ex2[i])));
  }
}

TEST_CASE("comparisons, selections and classes", "[simulator][ptx]") {
  std::vector<float> a = mixedFloats(count, 1), b = mixedFloats(count, 2);
  std::rotate(b.begin(), b.begin() + 5, b.end());
  b[100] = a[100];
  std::vector<Column> in = {column("float", a), column("float", b)};
  auto test = [&](const std::string &word) {
    return compute<uint32_t>(
        assembly("i32", "{ .reg .pred p; setp." + word + ".f32 p, $1, $2; selp.b32 $0, 1, 0, p; }", "=r,f,f", in), in);
  };
  std::vector<uint32_t> lt = test("lt"), geu = test("geu"), ne = test("ne"), neu = test("neu"), num = test("num");
  for (size_t i = 0; i < count; ++i) {
    bool unordered = std::isnan(a[i]) || std::isnan(b[i]);
    REQUIRE(lt[i] == (a[i] < b[i]));
    REQUIRE(geu[i] == !(a[i] < b[i]));
    REQUIRE(ne[i] == (!unordered && a[i] != b[i]));
    REQUIRE(neu[i] == (unordered || a[i] != b[i]));
    REQUIRE(num[i] == !unordered);
  }
  using U = uint32_t;
  check2<U, int32_t, int32_t>("set.lt.u32.s32", [](int32_t x, int32_t y) { return x < y ? ~0u : 0; });
  check2<U, U, U>("set.hi.u32.u32", [](U x, U y) { return x > y ? ~0u : 0; });
  check3<U, U, U, int32_t>("slct.b32.s32", [](U x, U y, int32_t z) { return z >= 0 ? x : y; });
  // Both results, and a combination with a third predicate.
  std::vector<U> x = operands<U>(1), y = operands<U>(2);
  std::vector<Column> two = {column("i32", x), column("i32", y)};
  std::vector<U> both =
      compute<U>(assembly("i32",
                          "{ .reg .pred p, q, e; .reg .b32 r, s; setp.ne.u32 e, $1, 0; setp.lt.and.u32 p|q, $1, $2, !e;"
                          " selp.u32 r, 1, 0, p; selp.u32 s, 2, 0, q; or.b32 $0, r, s; }",
                          "=r,r,r", two),
                 two);
  for (size_t i = 0; i < count; ++i)
    REQUIRE(both[i] == (x[i] == 0 ? (x[i] < y[i] ? 1u : 2u) : 0u));
  std::vector<Column> one = {in[0]};
  std::vector<U> finite = compute<U>(
      assembly("i32", "{ .reg .pred p; testp.subnormal.f32 p, $1; selp.u32 $0, 1, 0, p; }", "=r,f", one), one);
  for (size_t i = 0; i < count; ++i)
    REQUIRE(finite[i] == (std::fpclassify(a[i]) == FP_SUBNORMAL));
}

TEST_CASE("conversions with rounding modes", "[simulator][ptx]") {
  std::vector<float> a = mixedFloats(count, 9);
  for (size_t i = 20; i < 200; ++i)
    a[i] = static_cast<float>(i) * 0.25f - 25.0f;
  std::vector<Column> in = {column("float", a)};
  auto toInteger = [&](const std::string &mode) {
    return compute<int32_t>(assembly("i32", "cvt." + mode + ".s32.f32 $0, $1;", "=r,f", in), in);
  };
  std::vector<int32_t> nearest = toInteger("rni"), zero = toInteger("rzi"), down = toInteger("rmi"),
                       up = toInteger("rpi");
  auto limit = [](double x) {
    return std::isnan(x) ? 0 : static_cast<int32_t>(std::clamp<double>(x, INT32_MIN, INT32_MAX));
  };
  for (size_t i = 0; i < count; ++i) {
    INFO(a[i]);
    REQUIRE(nearest[i] == limit(std::rint(double(a[i]))));
    REQUIRE(zero[i] == limit(std::trunc(double(a[i]))));
    REQUIRE(down[i] == limit(std::floor(double(a[i]))));
    REQUIRE(up[i] == limit(std::ceil(double(a[i]))));
  }
  std::vector<int64_t> n = {0, 1, -1, (1ll << 53) + 1, INT64_MAX, INT64_MIN, -((1ll << 60) + 3)};
  std::vector<Column> wide = {column("i64", n)};
  std::vector<double> doubles = compute<double>(assembly("double", "cvt.rp.f64.s64 $0, $1;", "=d,l", wide), wide);
  CHECK(doubles[3] == 0x1p53 + 2);
  CHECK(doubles[4] == 0x1p63);
  CHECK(doubles[6] == -0x1p60);
  std::vector<float> singles = compute<float>(assembly("float", "cvt.rz.f32.u64 $0, $1;", "=f,l", wide), wide);
  CHECK(singles[2] == 0x1.fffffep63f);
  CHECK(singles[0] == 0);
  using U = uint32_t;
  check1<int16_t, int32_t>("cvt.sat.s16.s32", [](int32_t x) { return std::clamp(x, -32768, 32767); });
  check1<uint64_t, int32_t>("cvt.s64.s32", [](int32_t x) { return static_cast<int64_t>(x); });
  check1<uint16_t, U>("cvt.u16.u32", [](U x) { return x; });
  check1<U, U>("cvt.s32.s8", [](U x) { return static_cast<int8_t>(x); });
}

TEST_CASE("conversions to pairs of narrow numbers", "[simulator][ptx]") {
  std::vector<float> a = {1.0f, 1 + 0x1p-11f, 1e6f, -2.5f, NAN, 0x1p-20f}, b = {448, 500, -0.3f, 1e9f, 2, -17.5f};
  std::vector<Column> in = {column("float", a), column("float", b)};
  auto pack = [&](const std::string &mnemonic) {
    return compute<uint32_t>(assembly("i32", mnemonic + " $0, $1, $2;", "=r,f,f", in), in);
  };
  std::vector<uint32_t> nearest = pack("cvt.rn.f16x2.f32"), zero = pack("cvt.rz.f16x2.f32"),
                        relu = pack("cvt.rn.relu.f16x2.f32"), brain = pack("cvt.rn.bf16x2.f32");
  CHECK(nearest[0] == 0x3c005f00); // The first one is the upper half.
  CHECK(nearest[1] >> 16 == 0x3c00);
  CHECK(nearest[2] >> 16 == 0x7c00);
  CHECK(zero[2] >> 16 == 0x7bff);
  CHECK(relu[3] >> 16 == 0);
  CHECK(nearest[4] >> 16 == 0x7fff);
  CHECK(brain[0] == 0x3f8043e0);
  std::vector<uint16_t> e4m3 = compute<uint16_t>(
      assembly("i16", "cvt.rn.satfinite.e4m3x2.f32 $0, $1, $2;", "=h,f,f", in, "sm_89"), {in[0], in[1]});
  Expression onHopper = assembly("i16", "cvt.rn.satfinite.e4m3x2.f32 $0, $1, $2;", "=h,f,f", in, "sm_90");
  CHECK(compute<uint16_t>(onHopper, in) == e4m3);
  CHECK(e4m3[0] == 0x387e);
  CHECK((e4m3[1] & 0xff) == 0x7e); // 500 is limited.
  CHECK(e4m3[2] >> 8 == 0x7e);
  CHECK(e4m3[4] >> 8 == 0x7f);
  std::vector<uint16_t> e5m2 = compute<uint16_t>(
      assembly("i16", "cvt.rn.satfinite.e5m2x2.f32 $0, $1, $2;", "=h,f,f", in, "sm_90"), {in[0], in[1]});
  CHECK((e5m2[3] & 0xff) == 0x7b);
  std::vector<Column> codes = {column("i16", e4m3)};
  std::vector<uint32_t> back =
      compute<uint32_t>(assembly("i32", "cvt.rn.f16x2.e4m3x2 $0, $1;", "=r,h", codes, "sm_90"), codes);
  CHECK(back[0] == 0x3c005f00);
  CHECK(back[4] >> 16 == 0x7fff);
  // The chip must have it.
  Machine machine("sm_80");
  REQUIRE(machine.load(kernelOf(assembly("i16", "cvt.rn.satfinite.e4m3x2.f32 $0, $1, $2;", "=h,f,f", in), in)).isOk());
  Expected<Outcome> refused = machine.launch("k", {1, 1, 1}, {32, 1, 1}, {});
  REQUIRE(!refused.isOk());
  CHECK(refused.status().message().find("sm_89") != std::string::npos);
  std::vector<Column> one = {in[0]};
  std::vector<uint32_t> tf32 = compute<uint32_t>(assembly("i32", "cvt.rna.tf32.f32 $0, $1;", "=r,f", one), one);
  CHECK(tf32[1] == std::bit_cast<uint32_t>(1 + 0x1p-10f)); // A tie goes away from zero.
}

TEST_CASE("moves pack and unpack", "[simulator][ptx]") {
  std::vector<uint32_t> a = operands<uint32_t>(1), b = operands<uint32_t>(2);
  std::vector<Column> in = {column("i32", a), column("i32", b)};
  std::vector<uint64_t> joined = compute<uint64_t>(assembly("i64", "mov.b64 $0, {$1, $2};", "=l,r,r", in), in);
  std::vector<uint32_t> swapped = compute<uint32_t>(
      assembly("i32", "{ .reg .b16 %x, %y; mov.b32 {%x, %y}, $1; mov.b32 $0, {%y, %x}; }", "=r,r,r", in), in);
  std::vector<uint32_t> upper = compute<uint32_t>(
      assembly("i32", "{ .reg .b16 %x; mov.b32 {_, %x}, $1; cvt.u32.u16 $0, %x; }", "=r,r,r", in), in);
  for (size_t i = 0; i < count; ++i) {
    REQUIRE(joined[i] == (uint64_t(b[i]) << 32 | a[i]));
    REQUIRE(swapped[i] == (a[i] >> 16 | a[i] << 16));
    REQUIRE(upper[i] == a[i] >> 16);
  }
}

} // namespace tilejit::sim::test
