// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Integer instructions of AMD chips: bit fields, byte permutations, sums of differences, 24-bit products.

#include "amd/Elementwise.h"
#include "core/Block.h"

#include <algorithm>

namespace tilejit::sim {

namespace {

template <class T> T unsignedField(T value, uint32_t offset, uint32_t width) {
  constexpr uint32_t bits = 8 * sizeof(T);
  offset &= bits - 1;
  width &= bits == 64 ? 127 : 31;
  if (!width)
    return 0;
  T shifted = value >> offset;
  return width >= bits ? shifted : shifted & ((T(1) << width) - 1);
}
template <class T, class S> T signedField(T value, uint32_t offset, uint32_t width) {
  constexpr uint32_t bits = 8 * sizeof(T);
  offset &= bits - 1;
  width &= bits == 64 ? 127 : 31;
  if (!width)
    return 0;
  if (width >= bits - offset)
    return static_cast<T>(static_cast<S>(value) >> offset);
  return static_cast<T>(static_cast<S>(value << (bits - offset - width)) >> (bits - width));
}

constexpr uint32_t byteOf(uint64_t value, unsigned i) { return value >> (8 * i) & 255; }
constexpr uint32_t difference(uint32_t a, uint32_t b) { return a > b ? a - b : b - a; }

/// Average of each byte, rounded up where the byte of c is odd.
uint32_t averageBytes(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t result = 0;
  for (unsigned i = 0; i < 4; ++i)
    result |= (byteOf(a, i) + byteOf(b, i) + (byteOf(c, i) & 1)) >> 1 << (8 * i);
  return result;
}
uint32_t sumOfDifferences(uint32_t a, uint32_t b, uint32_t c) {
  for (unsigned i = 0; i < 4; ++i)
    c += difference(byteOf(a, i), byteOf(b, i));
  return c;
}
/// Bytes whose reference (b) is 0 do not count.
uint32_t maskedSumOfDifferences(uint32_t a, uint32_t b, uint32_t c) {
  for (unsigned i = 0; i < 4; ++i)
    c += byteOf(b, i) ? difference(byteOf(a, i), byteOf(b, i)) : 0;
  return c;
}
uint32_t highSumOfDifferences(uint32_t a, uint32_t b, uint32_t c) { return (sumOfDifferences(a, b, 0) << 16) + c; }
uint32_t sumOfDifferences16(uint32_t a, uint32_t b, uint32_t c) {
  return c + difference(a & 0xffff, b & 0xffff) + difference(a >> 16, b >> 16);
}
/// Four sums: of four neighbouring bytes of a each.
template <uint32_t (*Sum)(uint32_t, uint32_t, uint32_t)> uint64_t fourSums(uint64_t a, uint32_t b, uint64_t c) {
  uint64_t result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    uint32_t before = c >> (16 * i) & 0xffff;
    result |= uint64_t(Sum(static_cast<uint32_t>(a >> (8 * i)), b, before) & 0xffff) << (16 * i);
  }
  return result;
}
/// x->out = four sums of in: a (64 bits), b, four dwords before.
template <unsigned W> void fourWideSums(Warp &warp, const Op &op) {
  const OpOperands &x = *op.x;
  const uint64_t *a = warp.reg<uint64_t>(x.in[0]);
  const uint32_t *b = warp.reg<uint32_t>(x.in[1]);
  alignas(64) uint32_t sums[4][W];
  for (unsigned i = 0; i < 4; ++i) {
    const uint32_t *c = warp.reg<uint32_t>(x.in[2 + i]);
    for (unsigned l = 0; l < W; ++l)
      sums[i][l] = maskedSumOfDifferences(static_cast<uint32_t>(a[l] >> (8 * i)), b[l], c[l]);
  }
  for (unsigned i = 0; i < 4; ++i)
    blend<W>(warp.reg<uint32_t>(x.out[i]), sums[i], warp.mask);
}

/// Four bytes of {a, b} from byte c on.
uint32_t alignBytes(uint32_t a, uint32_t b, uint32_t c) {
  return static_cast<uint32_t>((uint64_t(a) << 32 | b) >> (8 * (c & 3)));
}
/// Bytes of {a, b} by selectors: 0 to 7 a byte, 8 to 11 the sign of an odd one, 12 zero, else ones.
uint32_t permuteBytes(uint32_t a, uint32_t b, uint32_t selectors) {
  uint64_t both = uint64_t(a) << 32 | b;
  uint32_t result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    uint32_t selector = byteOf(selectors, i), byte;
    if (selector < 8)
      byte = byteOf(both, selector);
    else if (selector < 12)
      byte = both >> (16 * (selector - 8) + 15) & 1 ? 255 : 0;
    else
      byte = selector == 12 ? 0 : 255;
    result |= byte << (8 * i);
  }
  return result;
}

constexpr int64_t signed24(uint32_t value) { return static_cast<int32_t>(value << 8) >> 8; }
constexpr uint64_t unsigned24(uint32_t value) { return value & 0xffffff; }
uint32_t multiplySigned24(uint32_t a, uint32_t b) { return static_cast<uint32_t>(signed24(a) * signed24(b)); }
uint32_t multiplyUnsigned24(uint32_t a, uint32_t b) { return static_cast<uint32_t>(unsigned24(a) * unsigned24(b)); }
uint64_t multiplySigned24Wide(uint32_t a, uint32_t b) { return static_cast<uint64_t>(signed24(a) * signed24(b)); }
uint64_t multiplyUnsigned24Wide(uint32_t a, uint32_t b) { return unsigned24(a) * unsigned24(b); }
uint32_t multiplyHighSigned24(uint32_t a, uint32_t b) {
  return static_cast<uint32_t>((signed24(a) * signed24(b)) >> 32);
}
uint32_t multiplyHighUnsigned24(uint32_t a, uint32_t b) {
  return static_cast<uint32_t>((unsigned24(a) * unsigned24(b)) >> 32);
}

/// Number of leading bits that equal the sign, all ones where every bit does.
uint32_t signBits(uint32_t value) {
  uint32_t flipped = static_cast<int32_t>(value) < 0 ? ~value : value;
  return flipped ? static_cast<uint32_t>(__builtin_clz(flipped)) : ~0u;
}

/// Bit by bit the entry of table imm at {a, b, c}.
template <class T> T lookUpBits(T a, T b, T c, Imm table) {
  T result = 0;
  for (unsigned i = 0; i < 8; ++i)
    if (table.value >> i & 1)
      result |= static_cast<T>((i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c));
  return result;
}

uint32_t nextRandom(uint32_t x) { return x << 1 ^ (x >> 31 ? 0xc5u : 0u); }

template <int Low, int High> uint16_t shiftAndPack(uint32_t a, uint32_t b, uint32_t shift) {
  auto clamp = [&](uint32_t value) {
    int32_t shifted = static_cast<int32_t>(value) >> (shift & 31);
    return static_cast<uint32_t>(std::clamp(shifted, Low, High)) & 255;
  };
  return static_cast<uint16_t>(clamp(a) | clamp(b) << 8);
}

constexpr uint32_t chipsPacked = chipsCdna4;
constexpr LaneRow rows[] = {
    {"ubfe", Kind::I32, lanesOf<unsignedField<uint32_t>>},
    {"ubfe", Kind::I64, lanesOf<unsignedField<uint64_t>>},
    {"sbfe", Kind::I32, lanesOf<signedField<uint32_t, int32_t>>},
    {"sbfe", Kind::I64, lanesOf<signedField<uint64_t, int64_t>>},
    {"lerp", Kind::I32, lanesOf<averageBytes>},
    {"sad.u8", Kind::I32, lanesOf<sumOfDifferences>},
    {"msad.u8", Kind::I32, lanesOf<maskedSumOfDifferences>},
    {"sad.hi.u8", Kind::I32, lanesOf<highSumOfDifferences>},
    {"sad.u16", Kind::I32, lanesOf<sumOfDifferences16>},
    {"qsad.pk.u16.u8", Kind::I64, lanesOf<fourSums<sumOfDifferences>>},
    {"mqsad.pk.u16.u8", Kind::I64, lanesOf<fourSums<maskedSumOfDifferences>>},
    {"alignbyte", Kind::I32, lanesOf<alignBytes>},
    {"perm", Kind::I32, lanesOf<permuteBytes>},
    {"mul.i24.i32", Kind::I32, lanesOf<multiplySigned24>},
    {"mul.u24.i32", Kind::I32, lanesOf<multiplyUnsigned24>},
    {"mul.i24", Kind::I32, lanesOf<multiplySigned24>},
    {"mul.u24", Kind::I32, lanesOf<multiplyUnsigned24>},
    {"mul.i24.i64", Kind::I32, lanesOf<multiplySigned24Wide>},
    {"mul.u24.i64", Kind::I32, lanesOf<multiplyUnsigned24Wide>},
    {"mulhi.i24", Kind::I32, lanesOf<multiplyHighSigned24>},
    {"mulhi.u24", Kind::I32, lanesOf<multiplyHighUnsigned24>},
    {"sffbh", Kind::I32, lanesOf<signBits>},
    {"bitop3", Kind::I32, lanesOf<lookUpBits<uint32_t>>, chipsCdna4},
    {"bitop3", Kind::I16, lanesOf<lookUpBits<uint16_t>>, chipsCdna4},
    {"prng.b32", Kind::I32, lanesOf<nextRandom>, chipsCdna4},
    {"ashr.pk.i8.i32", Kind::I32, lanesOf<shiftAndPack<-128, 127>>, chipsPacked},
    {"ashr.pk.u8.i32", Kind::I32, lanesOf<shiftAndPack<0, 255>>, chipsPacked},
};

} // namespace

void addAmdIntegerRules(Rules &rules) {
  for (const LaneRow &row : rows) {
    std::string name = std::string("llvm.amdgcn.") + row.name;
    auto rule = [](Call &call) { emitLaneRow(call, rows); };
    rules.call(name, rule);
    rules.callPrefix(name + ".", rule);
  }
  rules.call("llvm.amdgcn.mqsad.u32.u8", [](Call &call) { emitCall(call, TILEJIT_BOTH(fourWideSums)); });
}

} // namespace tilejit::sim
