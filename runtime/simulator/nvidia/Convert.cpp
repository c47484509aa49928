// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The general conversion of one number, and handlers that apply it to lanes one by one; those of f16 and bf16 are
// vector code.

#include "nvidia/Convert.h"

#include "core/MathLanes.h"
#include "nvidia/FloatOperations.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace tilejit::sim {

namespace {

using Class = NumberType::Class;

const NumberType types[] = {
    {"u8", Class::Unsigned, 8, nullptr},     {"s8", Class::Signed, 8, nullptr},
    {"u16", Class::Unsigned, 16, nullptr},   {"s16", Class::Signed, 16, nullptr},
    {"u32", Class::Unsigned, 32, nullptr},   {"s32", Class::Signed, 32, nullptr},
    {"u64", Class::Unsigned, 64, nullptr},   {"s64", Class::Signed, 64, nullptr},
    {"f16", Class::Float, 16, &formatF16},   {"bf16", Class::Float, 16, &formatBf16},
    {"f32", Class::Float, 32, &formatF32},   {"f64", Class::Float, 64, nullptr},
    {"tf32", Class::Float, 32, &formatTf32}, {"e4m3", Class::Float, 8, &formatE4m3},
    {"e5m2", Class::Float, 8, &formatE5m2},  {"e2m3", Class::Float, 8, &formatE2m3},
    {"e3m2", Class::Float, 8, &formatE3m2},  {"e2m1", Class::Float, 4, &formatE2m1},
    {"ue8m0", Class::E8m0, 8, nullptr},
};

uint64_t maskOfBits(unsigned bits) { return bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1; }

double roundToIntegral(double x, Rounding rounding) {
  switch (rounding) {
  case Rounding::Zero:
    return std::trunc(x);
  case Rounding::Up:
    return std::ceil(x);
  case Rounding::Down:
    return std::floor(x);
  case Rounding::Away:
    return roundAway(x);
  default:
    return std::rint(x);
  }
}

double decodeNumber(const NumberType &type, uint64_t bits) {
  if (type.kind == Class::E8m0)
    return decodeE8m0(static_cast<uint32_t>(bits & 255));
  if (!type.format)
    return std::bit_cast<double>(bits);
  if (type.format == &formatF32 || type.format == &formatTf32)
    return std::bit_cast<float>(static_cast<uint32_t>(bits));
  return decodeFloat(*type.format, static_cast<uint32_t>(bits));
}

/// A double as an integer, limited to its range. NaN is 0, but the lowest number where 64 bits or f64 take part.
uint64_t toInteger(const Conversion &c, double x) {
  unsigned bits = c.to->bits;
  bool isSigned = c.to->kind == Class::Signed;
  if (std::isnan(x))
    return c.from->bits == 64 || bits == 64 ? uint64_t(1) << (bits - 1) : 0;
  x = roundToIntegral(x, c.rounding);
  double limit = std::ldexp(1.0, isSigned ? int(bits) - 1 : int(bits));
  if (isSigned) {
    if (x >= limit)
      return maskOfBits(bits - 1);
    return x < -limit ? uint64_t(1) << (bits - 1) : static_cast<uint64_t>(static_cast<int64_t>(x)) & maskOfBits(bits);
  }
  return x >= limit ? maskOfBits(bits) : x <= 0 ? 0 : static_cast<uint64_t>(x);
}

uint64_t integerToInteger(const Conversion &c, int64_t value) {
  unsigned bits = c.to->bits;
  bool fromSigned = c.from->kind == Class::Signed;
  if (c.saturate) {
    bool toSigned = c.to->kind == Class::Signed;
    auto most = static_cast<int64_t>(maskOfBits(toSigned ? bits - 1 : std::min(bits, 63u)));
    int64_t least = toSigned ? -most - 1 : 0;
    bool huge = !fromSigned && value < 0; // Above all signed numbers.
    if (huge && (toSigned || bits < 64))
      value = most;
    else if (!huge)
      value = std::clamp(value, least, bits == 64 && !toSigned ? std::numeric_limits<int64_t>::max() : most);
    if (!toSigned && bits < 64)
      value = std::min(value, static_cast<int64_t>(maskOfBits(bits)));
  }
  return static_cast<uint64_t>(value) & maskOfBits(bits);
}

/// A number without error to a float type.
uint64_t toFloat(const Conversion &c, double x) {
  if (c.integral)
    x = std::copysign(roundToIntegral(x, c.rounding), x);
  if (c.relu)
    x = std::isnan(x) ? x : x > 0 ? x : 0.0;
  if (c.saturate)
    x = x > 0 ? std::min(x, 1.0) : 0.0;
  if (c.to->kind == Class::E8m0)
    return encodeE8m0(x, c.rounding, c.finite);
  if (!c.to->format)
    return std::bit_cast<uint64_t>(x);
  Rounding rounding = c.integral ? Rounding::Nearest : c.rounding;
  if (c.to->format == &formatTf32) {
    if (std::isnan(x))
      return 0x7fffffff;
    return uint64_t(encodeFloat(formatTf32, x, rounding, c.finite)) << 13;
  }
  if (std::isnan(x) && c.to->format->top == FloatFormat::Top::Ieee && c.to->bits >= 16)
    return c.to->bits == 32 ? 0x7fffffff : 0x7fff;
  if (std::isnan(x) && c.to->format == &formatE5m2)
    return 0x7f;
  uint64_t bits = encodeFloat(*c.to->format, x, rounding, c.finite);
  if (c.flush && c.to->format == &formatF32 && !(bits & 0x7f800000))
    bits &= 0x80000000;
  return bits;
}

} // namespace

const NumberType *findNumberType(std::string_view name) {
  const auto *found = std::find_if(std::begin(types), std::end(types), [&](auto &t) { return t.name == name; });
  return found == std::end(types) ? nullptr : found;
}

uint64_t convertNumber(const Conversion &c, uint64_t bits) {
  bits &= maskOfBits(c.from->bits);
  bool fromInteger = c.from->kind == Class::Unsigned || c.from->kind == Class::Signed;
  bool toAnInteger = c.to->kind == Class::Unsigned || c.to->kind == Class::Signed;
  if (fromInteger) {
    auto value = static_cast<int64_t>(bits);
    unsigned unused = 64 - c.from->bits;
    if (c.from->kind == Class::Signed)
      value = static_cast<int64_t>(bits << unused) >> unused;
    if (toAnInteger)
      return integerToInteger(c, value);
    // In two exact halves, so that the sum is rounded once.
    double high = c.from->kind == Class::Signed ? static_cast<double>(value >> 32)
                                                : static_cast<double>(static_cast<uint64_t>(value) >> 32);
    auto low = static_cast<double>(static_cast<uint32_t>(value));
    if (!c.to->format && c.to->kind == Class::Float)
      return std::bit_cast<uint64_t>(addRounded(high * 0x1p32, low, c.rounding) + 0.0);
    return toFloat(c, addToOdd(high * 0x1p32, low));
  }
  double x = decodeNumber(*c.from, bits);
  if (c.flush && c.from->format == &formatF32)
    x = flushed(static_cast<float>(x));
  return toAnInteger ? toInteger(c, x) : toFloat(c, x);
}

int64_t encodeConversion(const Conversion &c) {
  return (c.to - types) | (c.from - types) << 8 | int64_t(c.rounding) << 16 | int64_t(c.integral) << 20 |
         int64_t(c.flush) << 21 | int64_t(c.saturate) << 22 | int64_t(c.relu) << 23 | int64_t(c.finite) << 24;
}

namespace {

Conversion decodeConversion(int64_t bits) {
  Conversion c;
  c.to = types + (bits & 255);
  c.from = types + (bits >> 8 & 255);
  c.rounding = static_cast<Rounding>(bits >> 16 & 15);
  c.integral = bits >> 20 & 1;
  c.flush = bits >> 21 & 1;
  c.saturate = bits >> 22 & 1;
  c.relu = bits >> 23 & 1;
  c.finite = bits >> 24 & 1;
  return c;
}

constexpr unsigned width = 32;

uint64_t loadLane(const Warp &warp, uint32_t reg, unsigned bytes, unsigned lane) {
  uint64_t bits = 0;
  std::memcpy(&bits, warp.registers + reg + size_t(lane) * bytes, bytes);
  return bits;
}

unsigned bytesOf(unsigned bits) { return bits <= 8 ? 1 : bits / 8; }

void one(Warp &warp, const Op &op) {
  Conversion c = decodeConversion(op.imm);
  unsigned from = bytesOf(c.from->bits), to = bytesOf(c.to->bits);
  forEachLane(warp.mask, [&](unsigned l) {
    uint64_t bits = convertNumber(c, loadLane(warp, op.a, from, l));
    std::memcpy(warp.registers + op.d + size_t(l) * to, &bits, to);
  });
}

/// Bytes of two numbers next to each other.
unsigned pairBytes(const NumberType &type) { return type.bits == 4 ? 1 : type.bits / 4; }

void two(Warp &warp, const Op &op) {
  Conversion c = decodeConversion(op.imm);
  unsigned from = bytesOf(c.from->bits), to = pairBytes(*c.to);
  forEachLane(warp.mask, [&](unsigned l) {
    uint64_t high = convertNumber(c, loadLane(warp, op.a, from, l));
    uint64_t low = convertNumber(c, loadLane(warp, op.b, from, l)), bits = high << c.to->bits | low;
    std::memcpy(warp.registers + op.d + size_t(l) * to, &bits, to);
  });
}

void both(Warp &warp, const Op &op) {
  Conversion c = decodeConversion(op.imm);
  unsigned from = pairBytes(*c.from), to = pairBytes(*c.to);
  forEachLane(warp.mask, [&](unsigned l) {
    uint64_t source = loadLane(warp, op.a, from, l);
    uint64_t low = convertNumber(c, source), high = convertNumber(c, source >> c.from->bits);
    uint64_t bits = high << c.to->bits | low;
    std::memcpy(warp.registers + op.d + size_t(l) * to, &bits, to);
  });
}

// The common cases, as vector code.
float fromF16(uint16_t a) { return f16ToFloat(a); }
float fromBf16(uint16_t a) { return bf16ToFloat(a); }
uint16_t toF16(float a) { return a == a ? floatToF16(a) : 0x7fff; }
uint16_t toBf16(float a) { return a == a ? floatToBf16(a) : 0x7fff; }
uint32_t toF16Pair(float a, float b) { return uint32_t(toF16(a)) << 16 | toF16(b); }
uint32_t toBf16Pair(float a, float b) { return uint32_t(toBf16(a)) << 16 | toBf16(b); }

bool isPlain(const Conversion &c) {
  return c.rounding == Rounding::Nearest && !c.integral && !c.flush && !c.saturate && !c.relu && !c.finite;
}

} // namespace

Handler convertNumberHandler(const Conversion &c) {
  if (isPlain(c) && c.to->format == &formatF32) {
    if (c.from->format == &formatF16)
      return warpOf<fromF16>;
    if (c.from->format == &formatBf16)
      return warpOf<fromBf16>;
  }
  if (isPlain(c) && c.from->format == &formatF32) {
    if (c.to->format == &formatF16)
      return warpOf<toF16>;
    if (c.to->format == &formatBf16)
      return warpOf<toBf16>;
  }
  return one;
}

Handler convertTwoHandler(const Conversion &c) {
  if (isPlain(c) && c.from->format == &formatF32) {
    if (c.to->format == &formatF16)
      return warpOf<toF16Pair>;
    if (c.to->format == &formatBf16)
      return warpOf<toBf16Pair>;
  }
  return two;
}

Handler convertPairHandler(const Conversion &) { return both; }

} // namespace tilejit::sim
