// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Packed conversions: to and from f16, 8-bit floats (FNUZ on CDNA 3, OCP later), normalised and clamped integers.
// Eight-bit results overflow to NaN or infinity unless the MODE register says that they saturate.

#include "amd/Elements.h"
#include "amd/Elementwise.h"
#include "amd/SmallRounding.h"
#include "amd/State.h"
#include "core/Block.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tilejit::sim {

uint32_t encodeStochastic(const FloatFormat &format, float value, uint32_t random, bool saturate) {
  if (!std::isfinite(value) || value == 0)
    return encodeFloat(format, value, Rounding::Nearest, saturate);
  // The random bits go below the last bit that is kept, then the rest is cut off.
  int exponent;
  double magnitude = std::frexp(std::fabs(static_cast<double>(value)), &exponent);
  int last = std::max(exponent - 1, 1 - format.bias) - format.mantissaBits;
  double kept = std::floor(std::ldexp(magnitude, exponent - last) + random * 0x1p-32);
  // Past the largest number even a cut overflows, so the nearest number is asked for: it is exact otherwise.
  return encodeFloat(format, std::copysign(std::ldexp(kept, last), value), Rounding::Nearest, saturate);
}

namespace {

// --- Lane by lane ----------------------------------------------------------------------------------------------------

uint16_t packNormalized(float value, float scale, float low) {
  float clamped = value == value ? std::fmin(std::fmax(value, low), 1.0f) : 0.0f;
  return static_cast<uint16_t>(static_cast<int32_t>(std::rint(clamped * scale)));
}
/// Byte b of c = a, clamped.
uint32_t packByte(float a, uint32_t b, uint32_t c) {
  uint32_t byte = a == a ? static_cast<uint32_t>(std::fmin(std::fmax(std::rint(a), 0.0f), 255.0f)) : 0;
  unsigned shift = 8 * (b & 3);
  return (c & ~(255u << shift)) | byte << shift;
}
/// Four bits as a number from -0.5 to 0.4375.
float offsetNibble(uint32_t a) {
  int32_t value = static_cast<int32_t>(a << 28) >> 28;
  return static_cast<float>(value) / 16;
}

constexpr LaneRow laneRows[] = {
    {"cvt.pk.u8.f32", Kind::F32, lanesOf<packByte>},
    {"cvt.off.f32.i4", Kind::I32, lanesOf<offsetNibble>},
};

/// x->out = two 16-bit results of two operands.
template <auto F, unsigned W, class T> void packTwo(Warp &warp, const Op &op) {
  const OpOperands &x = *op.x;
  alignas(64) uint16_t results[2][W];
  for (unsigned i = 0; i < 2; ++i) {
    const T *from = warp.reg<T>(x.in[i]);
    for (unsigned l = 0; l < W; ++l)
      results[i][l] = F(from[l]);
  }
  for (unsigned i = 0; i < 2; ++i)
    blend<W>(warp.reg<uint16_t>(x.out[i]), results[i], warp.mask);
}
uint16_t towardZero(float value) { return static_cast<uint16_t>(encodeFloat(formatF16, value, Rounding::Zero)); }
uint16_t normalizedSigned(float value) { return packNormalized(value, 32767, -1); }
uint16_t normalizedUnsigned(float value) { return packNormalized(value, 65535, 0); }
uint16_t clampedSigned(uint32_t value) {
  return static_cast<uint16_t>(std::clamp<int32_t>(static_cast<int32_t>(value), INT16_MIN, INT16_MAX));
}
uint16_t clampedUnsigned(uint32_t value) { return static_cast<uint16_t>(std::min<uint32_t>(value, UINT16_MAX)); }

template <auto F, class T> void packTwoRule(Call &call) { emitCall(call, packTwo<F, 32, T>, packTwo<F, 64, T>); }

// --- Eight-bit floats
// --------------------------------------------------------------------------------------------------

bool saturates(const Warp &warp) { return warp.amd->mode & modeFp16Overflow; }

/// x->out = floats (f32 or f16) of the bytes of in[0] from number imm on; table: the format.
template <unsigned W> void fromBytes(Warp &warp, const Op &op) {
  const OpOperands &x = *op.x;
  const float *values = decodeTable(*static_cast<const FloatFormat *>(x.table));
  alignas(64) uint32_t bytes[W];
  if (sizeOf(x.inKinds[0]) == 2)
    for (unsigned l = 0; l < W; ++l)
      bytes[l] = warp.reg<uint16_t>(x.in[0])[l];
  else
    std::memcpy(bytes, warp.reg<uint32_t>(x.in[0]), sizeof bytes);
  for (size_t i = 0; i < x.out.size(); ++i) {
    auto shift = static_cast<unsigned>(8 * (op.imm + static_cast<int64_t>(i)));
    if (x.outKinds[i] == Kind::F32)
      map<W>(warp.mask, warp.reg<float>(x.out[i]), [&](unsigned l) { return values[bytes[l] >> shift & 255]; });
    else
      map<W>(warp.mask, warp.reg<uint16_t>(x.out[i]),
             [&](unsigned l) { return floatToF16(values[bytes[l] >> shift & 255]); });
  }
}

/// x->out = in[2] with the half imm replaced by the bytes of in[0], in[1].
template <unsigned W> void toBytes(Warp &warp, const Op &op) {
  const OpOperands &x = *op.x;
  const auto &format = *static_cast<const FloatFormat *>(x.table);
  bool saturate = saturates(warp);
  const float *a = warp.reg<float>(x.in[0]), *b = warp.reg<float>(x.in[1]);
  const uint32_t *old = warp.reg<uint32_t>(x.in[2]);
  auto shift = static_cast<unsigned>(16 * op.imm);
  alignas(64) uint32_t all[W];
  for (unsigned l = 0; l < W; ++l) {
    uint32_t pair = encodeFloat(format, a[l], Rounding::Nearest, saturate) |
                    encodeFloat(format, b[l], Rounding::Nearest, saturate) << 8;
    all[l] = (old[l] & ~(0xffffu << shift)) | pair << shift;
  }
  blend<W>(warp.reg<uint32_t>(x.out[0]), all, warp.mask);
}

/// x->out = in[2] with the byte imm replaced by in[0], rounded with the random bits in[1].
template <unsigned W> void toByteStochastic(Warp &warp, const Op &op) {
  const OpOperands &x = *op.x;
  const auto &format = *static_cast<const FloatFormat *>(x.table);
  bool saturate = saturates(warp);
  const float *from = warp.reg<float>(x.in[0]);
  const uint32_t *random = warp.reg<uint32_t>(x.in[1]), *old = warp.reg<uint32_t>(x.in[2]);
  auto shift = static_cast<unsigned>(8 * op.imm);
  alignas(64) uint32_t all[W];
  for (unsigned l = 0; l < W; ++l)
    all[l] = (old[l] & ~(255u << shift)) | encodeStochastic(format, from[l], random[l], saturate) << shift;
  blend<W>(warp.reg<uint32_t>(x.out[0]), all, warp.mask);
}

/// Half imm of a pair of 16-bit floats x->in[0], [1] replaced by in[2], rounded with the random bits in[3].
template <unsigned W> void toHalfStochastic(Warp &warp, const Op &op) {
  const OpOperands &x = *op.x;
  const auto &format = *static_cast<const FloatFormat *>(x.table);
  const float *from = warp.reg<float>(x.in[2]);
  const uint32_t *random = warp.reg<uint32_t>(x.in[3]);
  alignas(64) uint16_t all[2][W];
  for (unsigned half = 0; half < 2; ++half)
    std::memcpy(all[half], warp.reg<uint16_t>(x.in[half]), sizeof all[half]);
  for (unsigned l = 0; l < W; ++l)
    all[op.imm][l] = static_cast<uint16_t>(encodeStochastic(format, from[l], random[l], false));
  for (unsigned half = 0; half < 2; ++half)
    blend<W>(warp.reg<uint16_t>(x.out[half]), all[half], warp.mask);
}

constexpr uint32_t chipsFp8 = chipsSinceCdna3 | chipsRdna4;

const FloatFormat *eightBitFormat(Call &call, bool isBf8) {
  bool fnuz = call.decoder.chip().generation == Generation::Cdna3;
  return isBf8 ? fnuz ? &formatE5m2Fnuz : &formatE5m2 : fnuz ? &formatE4m3Fnuz : &formatE4m3;
}

/// cvt.f32.fp8(src, byte), cvt.pk.f32.bf8(src, word), cvt.pk.f16.fp8(src).
void fromBytesRule(Call &call) {
  if (!requireChips(call, chipsFp8))
    return;
  Decoder &decoder = call.decoder;
  Regs out = call.results(), in{call.reg(0)};
  int64_t first = call.size() > 1 ? call.constant(1) * static_cast<int64_t>(out.size()) : 0;
  Op &op = decoder.emitWide(decoder.pick(TILEJIT_BOTH(fromBytes)), out, in, first);
  decoder.operandsOf(op).table = eightBitFormat(call, call.name.contains(".bf8"));
}

/// cvt.pk.fp8.f32(a, b, old, word), cvt.sr.fp8.f32(a, random, old, byte).
void toBytesRule(Call &call) {
  if (!requireChips(call, chipsFp8))
    return;
  Decoder &decoder = call.decoder;
  Regs out = call.results(), in{call.reg(0), call.reg(1), call.reg(2)};
  bool stochastic = isNamed(shortName(call), "cvt.sr");
  Handler handler = stochastic ? decoder.pick(TILEJIT_BOTH(toByteStochastic)) : decoder.pick(TILEJIT_BOTH(toBytes));
  int64_t place = call.constant(3) & (stochastic ? 3 : 1);
  decoder.operandsOf(decoder.emitWide(handler, out, in, place)).table =
      eightBitFormat(call, call.name.contains(".bf8"));
}

/// cvt.sr.f16.f32(old, src, random, half).
void toHalfRule(Call &call) {
  if (!requireChips(call, chipsCdna4))
    return;
  Decoder &decoder = call.decoder;
  Regs out = call.results(), in = call.regs(0);
  in.push_back(call.reg(1));
  in.push_back(call.reg(2));
  Op &op = decoder.emitWide(decoder.pick(TILEJIT_BOTH(toHalfStochastic)), out, in, call.constant(3) & 1);
  decoder.operandsOf(op).table = call.name.contains("bf16") ? &formatBf16 : &formatF16;
}

} // namespace

void addAmdConversionRules(Rules &rules) {
  for (const LaneRow &row : laneRows)
    rules.call(std::string("llvm.amdgcn.") + row.name, [](Call &call) { emitLaneRow(call, laneRows); });
  rules.call("llvm.amdgcn.cvt.pkrtz", packTwoRule<towardZero, float>);
  rules.call("llvm.amdgcn.cvt.pknorm.i16", packTwoRule<normalizedSigned, float>);
  rules.call("llvm.amdgcn.cvt.pknorm.u16", packTwoRule<normalizedUnsigned, float>);
  rules.call("llvm.amdgcn.cvt.pk.i16", packTwoRule<clampedSigned, uint32_t>);
  rules.call("llvm.amdgcn.cvt.pk.u16", packTwoRule<clampedUnsigned, uint32_t>);
  for (const char *name : {"f32.fp8", "f32.bf8", "pk.f32.fp8", "pk.f32.bf8"})
    rules.call(std::string("llvm.amdgcn.cvt.") + name, fromBytesRule);
  for (const char *name : {"pk.fp8.f32", "pk.bf8.f32", "sr.fp8.f32", "sr.bf8.f32"})
    rules.call(std::string("llvm.amdgcn.cvt.") + name, toBytesRule);
  rules.call("llvm.amdgcn.cvt.sr.f16.f32", toHalfRule);
  rules.call("llvm.amdgcn.cvt.sr.bf16.f32", toHalfRule);
}

} // namespace tilejit::sim
