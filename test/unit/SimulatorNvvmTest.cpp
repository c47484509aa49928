// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// llvm.nvvm intrinsics that compute: their names lead to the right operation, with the right order of operands.

#include "SimulatorCompute.h"

#include <bit>

namespace tilejit::sim::test {

namespace {

template <class D>
std::vector<D> call(const std::string &result, const std::string &name, const std::vector<Column> &in,
                    const std::string &chip = "sm_90") {
  return compute<D>(callOf(result, "llvm.nvvm." + name, in, "", chip), in);
}

} // namespace

TEST_CASE("nvvm float arithmetic", "[simulator][nvvm]") {
  std::vector<float> a = {1, -3, 0x1p-149f, 4}, b = {3, 0.5f, 1, 7}, c = {0x1p-30f, 1, 0, -2};
  std::vector<Column> three = {column("float", a), column("float", b), column("float", c)}, two = {three[0], three[1]},
                      one = {three[0]};
  CHECK(call<float>("float", "fma.rn.f", three) == std::vector<float>{3, -0.5f, 0x1p-149f, 26});
  CHECK(call<float>("float", "fma.rp.f", three)[0] == std::nextafterf(3, 4));
  CHECK(call<float>("float", "fma.rm.f", three)[0] == 3);
  CHECK(call<float>("float", "fma.rn.ftz.f", three)[2] == 0);
  CHECK(call<float>("float", "add.rz.f", two) == std::vector<float>{4, -2.5f, 1, 11});
  CHECK(call<float>("float", "mul.rn.ftz.f", two)[2] == 0);
  CHECK(call<float>("float", "div.full", two)[0] == 1.0f / 3);
  CHECK(call<float>("float", "div.rm.f", two)[0] == std::nextafterf(1.0f / 3, 0)); // The nearest is above a third.
  CHECK(call<float>("float", "sqrt.rn.f", one)[3] == 2);
  CHECK(call<float>("float", "sqrt.f", one)[3] == 2);
  CHECK(call<float>("float", "rsqrt.approx.ftz.f", one)[3] == 0.5f);
  CHECK(call<float>("float", "ex2.approx.ftz.f32", one) == std::vector<float>{2, 0.125f, 1, 16});
  CHECK(call<float>("float", "lg2.approx.f", one)[3] == 2);
  CHECK(call<float>("float", "fmin.nan.f", two) == std::vector<float>{1, -3, 0x1p-149f, 4});
  CHECK(call<float>("float", "fmax.xorsign.abs.f", two) == std::vector<float>{3, -3, 1, 7});
  CHECK(call<float>("float", "fabs.ftz.f32", one) == std::vector<float>{1, 3, 0, 4});
  CHECK(call<float>("float", "saturate.f", one) == std::vector<float>{1, 0, 0x1p-149f, 1});
  std::vector<float> x = {2.5f, -2.5f, 3.7f};
  std::vector<Column> reals = {column("float", x)};
  CHECK(call<float>("float", "round.f", reals) == std::vector<float>{2, -2, 4});
  CHECK(call<float>("float", "floor.ftz.f", reals) == std::vector<float>{2, -3, 3});
  CHECK(call<float>("float", "trunc.f", reals) == std::vector<float>{2, -2, 3});
  std::vector<uint32_t> h = {0x40003c00}, k = {0x3c004200};
  std::vector<Column> halves = {column("<2 x half>", h), column("<2 x half>", k), column("<2 x half>", k)};
  CHECK(call<uint32_t>("<2 x half>", "fma.rn.f16x2", halves) == std::vector<uint32_t>{0x42004600});
  CHECK(call<uint32_t>("<2 x half>", "fmax.f16x2", {halves[0], halves[1]}) == std::vector<uint32_t>{0x40004200});
}

TEST_CASE("nvvm integer arithmetic", "[simulator][nvvm]") {
  std::vector<uint32_t> a = {0x12345678, 0xffffffff}, b = {0x9abcdef0, 2}, c = {0x7531, 35};
  std::vector<Column> three = {column("i32", a), column("i32", b), column("i32", c)}, two = {three[0], three[1]};
  CHECK(call<uint32_t>("i32", "mulhi.ui", two)[1] == 1);
  CHECK(call<uint32_t>("i32", "mulhi.i", two)[1] == 0xffffffff);
  // Bytes 1, 3, 5, 7 of 0x9abcdef0'12345678.
  CHECK(call<uint32_t>("i32", "prmt", three)[0] == 0x9ade1256);
  CHECK(call<uint32_t>("i32", "fshl.clamp.i32", three)[1] == 2); // By 32: the lower word.
  CHECK(call<uint32_t>("i32", "fshr.clamp.i32", three)[1] == 0xffffffff);
  CHECK(call<uint32_t>("i32", "idp4a.u.u", three)[1] == 255 * 2 + 35);
  CHECK(call<uint32_t>("i32", "sad.ui", three)[1] == 0xfffffffd + 35);
  CHECK(call<uint32_t>("i32", "mul24.ui", two)[1] == 0xffffffu * 2);
}

TEST_CASE("nvvm conversions", "[simulator][nvvm]") {
  std::vector<float> a = {1.5f, -2.5f, 1e10f, NAN}, b = {0.25f, 600, -1, 3};
  std::vector<Column> one = {column("float", a)}, two = {column("float", a), column("float", b)};
  CHECK(call<int32_t>("i32", "f2i.rn", one) == std::vector<int32_t>{2, -2, INT32_MAX, 0});
  CHECK(call<int32_t>("i32", "f2i.rm.ftz", one)[1] == -3);
  CHECK(call<uint32_t>("i32", "f2ui.rz", one) == std::vector<uint32_t>{1, 0, UINT32_MAX, 0});
  CHECK(call<int64_t>("i64", "f2ll.rp", one) == std::vector<int64_t>{2, -2, 10000000000, INT64_MIN});
  std::vector<int64_t> n = {(1ll << 53) + 1};
  std::vector<Column> wide = {column("i64", n)};
  CHECK(call<double>("double", "ll2d.rp", wide) == std::vector<double>{0x1p53 + 2});
  CHECK(call<double>("double", "ll2d.rm", wide) == std::vector<double>{0x1p53});
  // The first argument is the upper half.
  CHECK(call<uint32_t>("<2 x half>", "ff2f16x2.rn", two)[0] == 0x3e003400);
  CHECK(call<uint32_t>("<2 x bfloat>", "ff2bf16x2.rz", two)[0] == 0x3fc03e80);
  CHECK(call<uint16_t>("i16", "ff.to.e4m3x2.rn", two)[0] == 0x3c28);
  CHECK((call<uint16_t>("i16", "ff.to.e4m3x2.rn", two)[1] & 255) == 0x7e);
  std::vector<uint16_t> codes = {0x3c28};
  std::vector<Column> bytes = {column("i16", codes)};
  CHECK(call<uint32_t>("<2 x half>", "e4m3x2.to.f16x2.rn", bytes)[0] == 0x3e003400);
  std::vector<uint32_t> halves = {0x3e003400};
  std::vector<Column> pairs = {column("<2 x half>", halves)};
  CHECK(call<uint16_t>("i16", "f16x2.to.e5m2x2.rn", pairs)[0] == 0x3e34);
  CHECK(call<uint32_t>("i32", "f2tf32.rna", one)[0] == std::bit_cast<uint32_t>(1.5f));
  std::vector<double> d = {std::bit_cast<double>(0x1122334455667788ull)};
  std::vector<Column> doubles = {column("double", d)};
  CHECK(call<uint32_t>("i32", "d2i.hi", doubles)[0] == 0x11223344);
  CHECK(call<uint32_t>("i32", "d2i.lo", doubles)[0] == 0x55667788);
}

} // namespace tilejit::sim::test
