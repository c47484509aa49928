// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// AMD arithmetic that is not LLVM's own: floating-point instructions, bit fields and bytes, dot products, conversions
// to and from small floats.

#include "SimulatorKernel.h"

#include <bit>
#include <cmath>
#include <limits>
#include <random>

using namespace tilejit::sim;
using namespace tilejit::sim::test;

namespace {

/// Runs `body`, which makes %r from %a, %b and %c (any type of these bytes), on each element of arrays.
template <class R, class T>
std::vector<R> compute(const std::string &chip, const std::string &body, const std::string &declarations,
                       const std::string &in, const std::string &out, const std::vector<T> &a,
                       const std::vector<T> &b = {}, const std::vector<T> &c = {}) {
  auto load = [&](const std::string &n) {
    return "  %p" + n + " = getelementptr " + in + ", ptr addrspace(1) %m" + n + ", i32 %t\n  %" + n + " = load " + in +
           ", ptr addrspace(1) %p" + n + "\n";
  };
  std::string ir =
      "target triple = \"amdgcn-amd-amdhsa\"\n"
      "declare i32 @llvm.amdgcn.workitem.id.x()\n" +
      declarations +
      "\ndefine amdgpu_kernel void @k(ptr addrspace(1) %ma, ptr addrspace(1) %mb, ptr addrspace(1) %mc, ptr "
      "addrspace(1) %md) {\n  %t = call i32 @llvm.amdgcn.workitem.id.x()\n" +
      load("a") + load("b") + load("c") + body + "\n  %pd = getelementptr " + out +
      ", ptr addrspace(1) %md, i32 %t\n  store " + out + " %r, ptr addrspace(1) %pd\n  ret void\n}\n";
  INFO(ir);
  Machine machine(chip, ir);
  R *d = machine.output<R>(a.size());
  CHECK(kinds(machine.run("k", {1, 1, 1}, {static_cast<uint32_t>(a.size()), 1, 1}, machine.array(a),
                          machine.array(b.empty() ? a : b), machine.array(c.empty() ? a : c), d)) == "");
  return {d, d + a.size()};
}

std::vector<uint32_t> randomWords(size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<uint32_t> words(count);
  for (uint32_t &word : words)
    word = static_cast<uint32_t>(random());
  return words;
}

/// Numbers over the whole range of exponents from 2^-30 to 2^30, both signs.
std::vector<float> randomFloats(size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<float> values(count);
  for (float &value : values) {
    value = std::ldexp(1 + static_cast<float>(random() % 4096) / 4096, static_cast<int>(random() % 61) - 30);
    if (random() & 1)
      value = -value;
  }
  return values;
}

/// `name` applied to %a, %b, %c (as many as `arguments`) of one type.
std::pair<std::string, std::string> callOf(const std::string &name, const std::string &type, const std::string &result,
                                           int arguments) {
  std::string actual, formal;
  for (int i = 0; i < arguments; ++i) {
    actual += (i ? ", " : "") + type + " %" + "abc"[i];
    formal += (i ? ", " : "") + type;
  }
  return {"  %r = call " + result + " @llvm.amdgcn." + name + "(" + actual + ")",
          "declare " + result + " @llvm.amdgcn." + name + "(" + formal + ")"};
}

bool same(float a, float b) {
  return std::isnan(a) ? std::isnan(b) : std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
}

float nearest(double value) { return static_cast<float>(value); }

} // namespace

TEST_CASE("AMD math: approximations give the nearest number", "[simulator][amd]") {
  auto check = [](const std::string &name, const std::vector<float> &in, double (*f)(double)) {
    auto [body, declaration] = callOf(name + ".f32", "float", "float", 1);
    std::vector<float> found = compute<float>("gfx942", body, declaration, "float", "float", in);
    for (size_t i = 0; i < in.size(); ++i) {
      INFO(name << "(" << in[i] << ") = " << found[i]);
      float expected = nearest(f(in[i]));
      // exp2 and log are computed in double with an error well below half a unit, so ties may go either way.
      CHECK((same(found[i], expected) || found[i] == std::nextafter(expected, found[i])));
    }
  };
  std::vector<float> any = randomFloats(256, 1), positive = any, small(256);
  for (size_t i = 0; i < any.size(); ++i) {
    positive[i] = std::fabs(any[i]);
    small[i] = std::fmod(any[i], 100.0f);
  }
  any[0] = std::numeric_limits<float>::infinity();
  any[1] = -0.0f;
  check("rcp", any, [](double x) { return 1 / x; });
  check("sqrt", positive, [](double x) { return std::sqrt(x); });
  check("rsq", positive, [](double x) { return 1 / std::sqrt(x); });
  check("exp2", small, [](double x) { return std::exp2(x); });
  check("log", positive, [](double x) { return std::log2(x); });
  check("sin", small, [](double x) { return std::sin(6.283185307179586 * (x - std::rint(x))); });
  check("cos", small, [](double x) { return std::cos(6.283185307179586 * (x - std::rint(x))); });
  check("fract", small, [](double x) { return x - std::floor(x); });
  check("frexp.mant", any, [](double x) {
    int e;
    return std::isfinite(x) ? std::frexp(x, &e) : x;
  });
}

TEST_CASE("AMD math: exponents, classes, medians", "[simulator][amd]") {
  std::vector<float> values = randomFloats(64, 2);
  auto [exponentBody, exponentDeclaration] = callOf("frexp.exp.i32.f32", "float", "i32", 1);
  std::vector<int32_t> exponents =
      compute<int32_t>("gfx1100", exponentBody, exponentDeclaration, "float", "i32", values);
  for (size_t i = 0; i < values.size(); ++i) {
    int expected;
    std::frexp(values[i], &expected);
    CHECK(exponents[i] == expected);
  }
  float inf = std::numeric_limits<float>::infinity(), tiny = std::numeric_limits<float>::denorm_min();
  std::vector<float> kindsOfFloat{-inf, -1, -tiny, -0.0f, 0.0f, tiny, 1, inf, std::numeric_limits<float>::quiet_NaN()};
  std::vector<int> bit{2, 3, 4, 5, 6, 7, 8, 9, 1};
  for (int wanted = 0; wanted < 10; ++wanted) {
    std::vector<uint8_t> found =
        compute<uint8_t>("gfx942",
                         "  %q = call i1 @llvm.amdgcn.class.f32(float %a, i32 " + std::to_string(1 << wanted) +
                             ")\n  %r = zext i1 %q to i8",
                         "declare i1 @llvm.amdgcn.class.f32(float, i32)", "float", "i8", kindsOfFloat);
    for (size_t i = 0; i < found.size(); ++i)
      CHECK(found[i] == (bit[i] == wanted));
  }
  auto [body, declaration] = callOf("fmed3.f32", "float", "float", 3);
  std::vector<float> b = randomFloats(64, 3), c = randomFloats(64, 4);
  std::vector<float> middle = compute<float>("gfx942", body, declaration, "float", "float", values, b, c);
  for (size_t i = 0; i < middle.size(); ++i)
    CHECK(middle[i] == std::max(std::min(values[i], b[i]), std::min(std::max(values[i], b[i]), c[i])));
}

TEST_CASE("AMD math: division in steps is exact division", "[simulator][amd]") {
  const std::string declarations =
      "declare { float, i1 } @llvm.amdgcn.div.scale.f32(float, float, i1)\n"
      "declare float @llvm.amdgcn.div.fmas.f32(float, float, float, i1)\n"
      "declare float @llvm.amdgcn.div.fixup.f32(float, float, float)\n"
      "declare float @llvm.amdgcn.rcp.f32(float)\ndeclare float @llvm.fma.f32(float, float, float)\n";
  // The sequence that the compiler emits.
  const std::string body =
      "  %sd = call { float, i1 } @llvm.amdgcn.div.scale.f32(float %a, float %b, i1 0)\n"
      "  %sn = call { float, i1 } @llvm.amdgcn.div.scale.f32(float %a, float %b, i1 1)\n"
      "  %d = extractvalue { float, i1 } %sd, 0\n  %n = extractvalue { float, i1 } %sn, 0\n"
      "  %f = extractvalue { float, i1 } %sn, 1\n"
      "  %y0 = call float @llvm.amdgcn.rcp.f32(float %d)\n  %nd = fneg float %d\n"
      "  %e0 = call float @llvm.fma.f32(float %nd, float %y0, float 1.0)\n"
      "  %y1 = call float @llvm.fma.f32(float %e0, float %y0, float %y0)\n"
      "  %q0 = fmul float %n, %y1\n  %e1 = call float @llvm.fma.f32(float %nd, float %q0, float %n)\n"
      "  %q1 = call float @llvm.fma.f32(float %e1, float %y1, float %q0)\n"
      "  %e2 = call float @llvm.fma.f32(float %nd, float %q1, float %n)\n"
      "  %q2 = call float @llvm.amdgcn.div.fmas.f32(float %e2, float %y1, float %q1, i1 %f)\n"
      "  %r = call float @llvm.amdgcn.div.fixup.f32(float %q2, float %b, float %a)";
  std::vector<float> a = randomFloats(512, 5), b = randomFloats(512, 6);
  std::vector<float> special{0.0f, -0.0f, 1.0f, 3.0f, 1e-40f, 3e38f, -2e-38f, std::numeric_limits<float>::infinity()};
  for (size_t i = 0; i < 64; ++i) {
    a[i] = special[i / 8];
    b[i] = special[i % 8];
  }
  std::vector<float> found = compute<float>("gfx942", body, declarations, "float", "float", a, b);
  for (size_t i = 0; i < a.size(); ++i) {
    INFO(a[i] << " / " << b[i] << " = " << found[i]);
    CHECK(same(found[i], a[i] / b[i]));
  }
}

TEST_CASE("AMD math: bit fields and bytes", "[simulator][amd]") {
  std::vector<uint32_t> a = randomWords(256, 7), b = randomWords(256, 8), c = randomWords(256, 9);
  auto check = [&](const std::string &name, uint32_t (*f)(uint32_t, uint32_t, uint32_t), int arguments = 3) {
    auto [body, declaration] = callOf(name, "i32", "i32", arguments);
    std::vector<uint32_t> found = compute<uint32_t>("gfx942", body, declaration, "i32", "i32", a, b, c);
    for (size_t i = 0; i < a.size(); ++i) {
      INFO(name << std::hex << " " << a[i] << " " << b[i] << " " << c[i]);
      CHECK(found[i] == f(a[i], b[i], c[i]));
    }
  };
  check("ubfe.i32", [](uint32_t x, uint32_t offset, uint32_t width) {
    return width % 32 ? (x >> offset % 32) & ((1u << width % 32) - 1) : 0;
  });
  check("sbfe.i32", [](uint32_t x, uint32_t offset, uint32_t width) {
    uint32_t o = offset % 32, w = std::min(width % 32, 32 - o),
             field = w ? x >> o & (w == 32 ? ~0u : (1u << w) - 1) : 0;
    return w && w < 32 && field >> (w - 1) & 1 ? field | ~0u << w : field;
  });
  check("perm", [](uint32_t x, uint32_t y, uint32_t selectors) {
    uint32_t result = 0;
    for (int i = 0; i < 4; ++i) {
      uint32_t s = selectors >> 8 * i & 255, byte;
      if (s < 4)
        byte = y >> 8 * s & 255;
      else if (s < 8)
        byte = x >> 8 * (s - 4) & 255;
      else if (s < 12)
        byte = ((s < 10 ? y : x) >> (s % 2 ? 31 : 15) & 1) * 255;
      else
        byte = s == 12 ? 0 : 255;
      result |= byte << 8 * i;
    }
    return result;
  });
  check("alignbyte", [](uint32_t x, uint32_t y, uint32_t by) {
    return static_cast<uint32_t>((uint64_t(x) << 32 | y) >> 8 * (by % 4));
  });
  check("sad.u8", [](uint32_t x, uint32_t y, uint32_t sum) {
    for (int i = 0; i < 4; ++i)
      sum += static_cast<uint32_t>(std::abs(static_cast<int>(x >> 8 * i & 255) - static_cast<int>(y >> 8 * i & 255)));
    return sum;
  });
  check("lerp", [](uint32_t x, uint32_t y, uint32_t z) {
    uint32_t result = 0;
    for (int i = 0; i < 4; ++i)
      result |= ((x >> 8 * i & 255) + (y >> 8 * i & 255) + (z >> 8 * i & 1)) / 2 << 8 * i;
    return result;
  });
  check(
      "mul.i24.i32",
      [](uint32_t x, uint32_t y, uint32_t) {
        auto cut = [](uint32_t v) { return static_cast<int64_t>(static_cast<int32_t>(v << 8)) / 256; };
        return static_cast<uint32_t>(cut(x) * cut(y));
      },
      2);
  check(
      "mulhi.u24",
      [](uint32_t x, uint32_t y, uint32_t) {
        return static_cast<uint32_t>(uint64_t(x & 0xffffff) * (y & 0xffffff) >> 32);
      },
      2);
  check(
      "sffbh.i32",
      [](uint32_t x, uint32_t, uint32_t) {
        uint32_t n = 0;
        while (n < 32 && (x >> (31 - n) & 1) == x >> 31)
          ++n;
        return n == 32 ? ~0u : n;
      },
      1);
}

TEST_CASE("AMD math: dot products of integers", "[simulator][amd]") {
  std::vector<uint32_t> a = randomWords(256, 10), b = randomWords(256, 11), c = randomWords(256, 12);
  c[0] = 0x7fffffff;
  a[0] = b[0] = 0x7f7f7f7f;
  auto check = [&](const std::string &chip, const std::string &name, int count, bool isSigned, bool clamp) {
    std::string flags = std::string(", i1 ") + (clamp ? "1" : "0");
    std::vector<uint32_t> found =
        compute<uint32_t>(chip, "  %r = call i32 @llvm.amdgcn." + name + "(i32 %a, i32 %b, i32 %c" + flags + ")",
                          "declare i32 @llvm.amdgcn." + name + "(i32, i32, i32, i1)", "i32", "i32", a, b, c);
    int bits = 32 / count;
    auto element = [&](uint32_t word, int e) -> int64_t {
      uint32_t code = word >> bits * e & ((1u << bits) - 1);
      return isSigned && code >> (bits - 1) ? static_cast<int64_t>(code) - (1 << bits) : code;
    };
    for (size_t i = 0; i < a.size(); ++i) {
      int64_t sum = isSigned ? static_cast<int32_t>(c[i]) : static_cast<int64_t>(c[i]);
      for (int e = 0; e < count; ++e)
        sum += element(a[i], e) * element(b[i], e);
      if (clamp)
        sum = isSigned ? std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX) : std::clamp<int64_t>(sum, 0, UINT32_MAX);
      CHECK(found[i] == static_cast<uint32_t>(sum));
    }
  };
  for (bool clamp : {false, true}) {
    check("gfx906", "sdot4", 4, true, clamp);
    check("gfx942", "udot4", 4, false, clamp);
    check("gfx1030", "sdot8", 8, true, clamp);
    check("gfx1100", "udot8", 8, false, clamp);
  }
  std::vector<uint32_t> mixed =
      compute<uint32_t>("gfx1100", "  %r = call i32 @llvm.amdgcn.sudot4(i1 1, i32 %a, i1 0, i32 %b, i32 %c, i1 0)",
                        "declare i32 @llvm.amdgcn.sudot4(i1, i32, i1, i32, i32, i1)", "i32", "i32", a, b, c);
  for (size_t i = 0; i < a.size(); ++i) {
    uint32_t sum = c[i];
    for (int e = 0; e < 4; ++e)
      sum += static_cast<uint32_t>(static_cast<int8_t>(a[i] >> 8 * e) * static_cast<int>(b[i] >> 8 * e & 255));
    CHECK(mixed[i] == sum);
  }
}

TEST_CASE("AMD math: fdot2", "[simulator][amd]") {
  // Small integers as halves: 1.0 is 0x3c00, 2.0 0x4000, 3.0 0x4200, -1.0 0xbc00.
  std::vector<uint32_t> a{0x40003c00, 0xbc004200}, b{0x42004000, 0x3c003c00},
      c{std::bit_cast<uint32_t>(10.0f), std::bit_cast<uint32_t>(-4.0f)};
  std::vector<float> found =
      compute<float>("gfx906",
                     "  %x = bitcast i32 %a to <2 x half>\n  %y = bitcast i32 %b to <2 x half>\n"
                     "  %z = bitcast i32 %c to float\n"
                     "  %r = call float @llvm.amdgcn.fdot2(<2 x half> %x, <2 x half> %y, float %z, i1 0)",
                     "declare float @llvm.amdgcn.fdot2(<2 x half>, <2 x half>, float, i1)", "i32", "float", a, b, c);
  CHECK(found == std::vector<float>{18, -2});
}

// --- Small floats
// ------------------------------------------------------------------------------------------------------

namespace {

/// The value of an 8-bit float, from its definition.
double byteValue(uint32_t code, int mantissaBits, int bias, bool fnuz) {
  uint32_t magnitude = code & 127;
  if (fnuz ? code == 0x80 : mantissaBits == 3 ? magnitude == 127 : magnitude > 0x7c)
    return std::nan("");
  int exponent = static_cast<int>(magnitude >> mantissaBits);
  double mantissa = magnitude & ((1u << mantissaBits) - 1);
  double value = exponent ? std::ldexp(mantissa + (1 << mantissaBits), exponent - bias - mantissaBits)
                          : std::ldexp(mantissa, 1 - bias - mantissaBits);
  if (!fnuz && mantissaBits == 2 && magnitude == 0x7c)
    value = INFINITY;
  return code & 128 ? -value : value;
}

} // namespace

TEST_CASE("AMD math: 8-bit floats are read exactly and rounded to nearest even", "[simulator][amd]") {
  for (auto [chip, fnuz] : {std::pair<const char *, bool>{"gfx942", true}, {"gfx950", false}, {"gfx1201", false}})
    for (auto [name, mantissaBits] : {std::pair<std::string, int>{"fp8", 3}, {"bf8", 2}}) {
      int bias = (mantissaBits == 3 ? 7 : 15) + fnuz;
      std::vector<uint32_t> codes(256);
      for (uint32_t i = 0; i < 256; ++i)
        codes[i] = i << 16 | (255 - i);
      std::vector<float> found =
          compute<float>(chip, "  %r = call float @llvm.amdgcn.cvt.f32." + name + "(i32 %a, i32 2)",
                         "declare float @llvm.amdgcn.cvt.f32." + name + "(i32, i32)", "i32", "float", codes);
      for (uint32_t i = 0; i < 256; ++i)
        CHECK(same(found[i], static_cast<float>(byteValue(i, mantissaBits, bias, fnuz))));

      // Round trip of all numbers and of the points between them.
      std::vector<float> values;
      for (uint32_t i = 0; i < 126; ++i) {
        double low = byteValue(i, mantissaBits, bias, fnuz), high = byteValue(i + 1, mantissaBits, bias, fnuz);
        if (!std::isfinite(high))
          break;
        for (double x : {low, (low + high) / 2, low + (high - low) * 0.5001, low + (high - low) * 0.4999})
          values.push_back(static_cast<float>(x));
      }
      std::vector<uint32_t> bytes = compute<uint32_t>(
          chip, "  %r = call i32 @llvm.amdgcn.cvt.pk." + name + ".f32(float %a, float %b, i32 -1, i1 1)",
          "declare i32 @llvm.amdgcn.cvt.pk." + name + ".f32(float, float, i32, i1)", "float", "i32", values);
      for (size_t i = 0; i < values.size(); ++i) {
        auto below = static_cast<uint32_t>(i / 4);
        uint32_t expected = i % 4 == 0 ? below : i % 4 == 1 ? below + below % 2 : i % 4 == 2 ? below + 1 : below;
        INFO(chip << " " << name << " " << values[i]);
        CHECK(bytes[i] == (0xffffu | expected << 16 | expected << 24));
      }
    }
}

TEST_CASE("AMD math: 8-bit floats overflow as MODE says", "[simulator][amd]") {
  const std::string declarations = "declare i32 @llvm.amdgcn.cvt.pk.fp8.f32(float, float, i32, i1)\n"
                                   "declare void @llvm.amdgcn.s.setreg(i32, i32)\n";
  const std::string convert = "  %r = call i32 @llvm.amdgcn.cvt.pk.fp8.f32(float %a, float %b, i32 0, i1 0)";
  // MODE, one bit from 23 on.
  const std::string clamp = "  call void @llvm.amdgcn.s.setreg(i32 1473, i32 1)\n";
  std::vector<float> big{1000, -1000};
  CHECK(compute<uint32_t>("gfx942", convert, declarations, "float", "i32", big) ==
        std::vector<uint32_t>{0x8080, 0x8080});
  CHECK(compute<uint32_t>("gfx942", clamp + convert, declarations, "float", "i32", big) ==
        std::vector<uint32_t>{0x7f7f, 0xffff});
  CHECK(compute<uint32_t>("gfx950", clamp + convert, declarations, "float", "i32", big) ==
        std::vector<uint32_t>{0x7e7e, 0xfefe});
}

TEST_CASE("AMD math: stochastic rounding goes up as often as the random bits say", "[simulator][amd]") {
  // 1 + 5/16 of a step of 1/8 in fp8: up where the random fraction is at least 11/16.
  std::vector<uint32_t> seeds(256);
  for (uint32_t i = 0; i < 256; ++i)
    seeds[i] = i << 24;
  std::vector<uint32_t> found = compute<uint32_t>(
      "gfx950", "  %r = call i32 @llvm.amdgcn.cvt.sr.fp8.f32(float 0x3FF0A00000000000, i32 %a, i32 0, i32 1)",
      "declare i32 @llvm.amdgcn.cvt.sr.fp8.f32(float, i32, i32, i32)", "i32", "i32", seeds);
  for (uint32_t i = 0; i < 256; ++i)
    CHECK(found[i] == (i >= 176 ? 0x3900u : 0x3800u));
}

TEST_CASE("AMD math: packed conversions", "[simulator][amd]") {
  std::vector<float> a{1.0f, 2.0009765f, -70000.0f, 0.5f}, b{-2.0f, 65519.0f, 3.0f, -0.25f};
  CHECK(compute<uint32_t>("gfx942",
                          "  %q = call <2 x half> @llvm.amdgcn.cvt.pkrtz(float %a, float %b)\n"
                          "  %r = bitcast <2 x half> %q to i32",
                          "declare <2 x half> @llvm.amdgcn.cvt.pkrtz(float, float)", "float", "i32", a,
                          b) == std::vector<uint32_t>{0xc0003c00, 0x7bff4000, 0x4200fbff, 0xb4003800});
  CHECK(compute<uint32_t>("gfx942",
                          "  %q = call <2 x i16> @llvm.amdgcn.cvt.pknorm.i16(float %a, float %b)\n"
                          "  %r = bitcast <2 x i16> %q to i32",
                          "declare <2 x i16> @llvm.amdgcn.cvt.pknorm.i16(float, float)", "float", "i32", a,
                          b) == std::vector<uint32_t>{0x80017fff, 0x7fff7fff, 0x7fff8001, 0xe0004000});
  std::vector<uint32_t> wide{40000, 0xffff0000, 5}, other{7, 70000, 0x80000000};
  CHECK(compute<uint32_t>("gfx942",
                          "  %q = call <2 x i16> @llvm.amdgcn.cvt.pk.i16(i32 %a, i32 %b)\n"
                          "  %r = bitcast <2 x i16> %q to i32",
                          "declare <2 x i16> @llvm.amdgcn.cvt.pk.i16(i32, i32)", "i32", "i32", wide,
                          other) == std::vector<uint32_t>{0x00077fff, 0x7fff8000, 0x80000005});
}

TEST_CASE("AMD math: scaled conversions of CDNA 4", "[simulator][amd]") {
  // fp4: 1.0 is 2, 1.5 is 3, -2.0 is 12, 6.0 is 7; the scale is 4.
  std::vector<uint32_t> packed{0x3200, 0xc700, 0x2c00};
  CHECK(compute<uint64_t>("gfx950",
                          "  %q = call <2 x float> @llvm.amdgcn.cvt.scalef32.pk.f32.fp4(i32 %a, float 4.0, i32 1)\n"
                          "  %r = bitcast <2 x float> %q to i64",
                          "declare <2 x float> @llvm.amdgcn.cvt.scalef32.pk.f32.fp4(i32, float, i32)", "i32", "i64",
                          packed) ==
        std::vector<uint64_t>{uint64_t(std::bit_cast<uint32_t>(6.0f)) << 32 | std::bit_cast<uint32_t>(4.0f),
                              uint64_t(std::bit_cast<uint32_t>(-8.0f)) << 32 | std::bit_cast<uint32_t>(24.0f),
                              uint64_t(std::bit_cast<uint32_t>(4.0f)) << 32 | std::bit_cast<uint32_t>(-8.0f)});
  std::vector<float> a{4, 24, -8}, b{6, -100, 4};
  CHECK(compute<uint32_t>(
            "gfx950",
            "  %r = call i32 @llvm.amdgcn.cvt.scalef32.pk.fp4.f32(i32 -1, float %a, float %b, float 4.0, i32 2)",
            "declare i32 @llvm.amdgcn.cvt.scalef32.pk.fp4.f32(i32, float, float, float, i32)", "float", "i32", a,
            b) == std::vector<uint32_t>{0xff32ffff, 0xfff7ffff, 0xff2cffff});
  CHECK(compute<uint32_t>(
            "gfx950",
            "  %q = call <2 x i16> @llvm.amdgcn.cvt.scalef32.pk.fp8.f32(<2 x i16> splat (i16 -1), float %a, "
            "float %b, float 4.0, i1 1)\n  %r = bitcast <2 x i16> %q to i32",
            "declare <2 x i16> @llvm.amdgcn.cvt.scalef32.pk.fp8.f32(<2 x i16>, float, float, float, i1)", "float",
            "i32", a, b) == std::vector<uint32_t>{0x3c38ffff, 0xdc4cffff, 0x38c0ffff});
}
