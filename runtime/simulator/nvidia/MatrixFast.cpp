// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The products that kernels spend their time in: m16n8k16 and m16n8k8 of f16 and bf16 with sums in f32. Sums stay where
// C and D have them, 16 lanes in a vector; a column of A is spread over each quad by a permutation, a row of B lies in
// memory in the order in which the lanes of a quad want it. Products are exact, sums are rounded to f32 one after
// another.

#include "core/Warp.h"
#include "nvidia/Matrix.h"

#ifdef __AVX512BW__
#include <immintrin.h>
#endif

namespace tilejit::sim {

#ifdef __AVX512BW__

namespace {

/// 16 values of 16 bits as f32.
template <bool isBf16> __m512 widen(const void *from) {
  __m256i halves = _mm256_loadu_si256(static_cast<const __m256i *>(from));
  if constexpr (isBf16)
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
  else
    return _mm512_cvtph_ps(halves);
}

struct alignas(64) Indices {
  uint32_t of[16];
  __m512i load() const { return _mm512_load_si512(of); }
};

/// Tables for two values a register. A vector then holds 8 lanes, low and high halves in turn.
struct PackedTables {
  Indices spread[8];    ///< Of 16 lanes in two vectors: value `column` (2t + half) of each quad, in its four lanes.
  Indices firstHalf[2]; ///< Four rows of B, in two vectors, as four columns of four.
  Indices join[4];      ///< Two of those as two columns of eight.
};
constexpr PackedTables makePackedTables() {
  PackedTables tables{};
  for (unsigned column = 0; column < 8; ++column)
    for (unsigned l = 0; l < 16; ++l)
      tables.spread[column].of[l] = l / 4 * 8 + column;
  // Even rows first: lane t of a quad sums columns 2t and 2t + 1 of C in different registers.
  constexpr unsigned rowOrder[4] = {0, 2, 1, 3};
  for (unsigned half = 0; half < 2; ++half)
    for (unsigned i = 0; i < 16; ++i)
      tables.firstHalf[half].of[i] = rowOrder[i % 4] * 8 + half * 4 + i / 4;
  for (unsigned pair = 0; pair < 2; ++pair)
    for (unsigned i = 0; i < 16; ++i) {
      unsigned column = pair * 2 + i / 8, row = i % 8; // row: n0 n2 n4 n6 n1 n3 n5 n7
      bool odd = row >= 4, second = row % 4 >= 2;
      tables.join[pair].of[i] = (second ? 16 : 0) + column * 4 + (odd ? 2 : 0) + row % 2;
    }
  return tables;
}
constexpr PackedTables packedTables = makePackedTables();

/// The table for one value a register, 16 lanes a vector: two k of B, in two vectors of 16 lanes, as two columns of
/// eight.
struct SingleTables {
  Indices columns[2];
};
constexpr SingleTables makeSingleTables() {
  SingleTables tables{};
  for (unsigned half = 0; half < 2; ++half)
    for (unsigned i = 0; i < 16; ++i) {
      unsigned t = half * 2 + i / 8, row = i % 8, n = row < 4 ? row * 2 : (row - 4) * 2 + 1;
      tables.columns[half].of[i] = n * 4 + t;
    }
  return tables;
}
constexpr SingleTables singleTables = makeSingleTables();

/// A of a chunk of 8 columns: rows g and g + 8.
template <bool isBf16, bool packed> struct ChunkA;
template <bool isBf16> struct ChunkA<isBf16, true> {
  __m512 low[4], high[4];
  ChunkA(Warp &warp, const Reg *regs) {
    for (unsigned q = 0; q < 4; ++q) {
      low[q] = widen<isBf16>(warp.registers + regs[0] + q * 32);
      high[q] = widen<isBf16>(warp.registers + regs[1] + q * 32);
    }
  }
  template <unsigned column> __m512 spread(bool isHigh, unsigned half) const {
    const __m512 *from = (isHigh ? high : low) + half * 2;
    return _mm512_permutex2var_ps(from[0], packedTables.spread[column].load(), from[1]);
  }
};
template <bool isBf16> struct ChunkA<isBf16, false> {
  __m512 value[4][2];
  ChunkA(Warp &warp, const Reg *regs) {
    for (unsigned e = 0; e < 4; ++e)
      for (unsigned half = 0; half < 2; ++half)
        value[e][half] = widen<isBf16>(warp.registers + regs[e] + half * 32);
  }
  template <unsigned column> __m512 spread(bool isHigh, unsigned half) const {
    constexpr int t = column / 2;
    return _mm512_permute_ps(value[column % 2 + (isHigh ? 2 : 0)][half], t * 0x55);
  }
};

/// B of a chunk of 8 rows: [k][n], n in the order 0 2 4 6 1 3 5 7.
template <bool isBf16, bool packed>
[[gnu::always_inline]] inline void transposeB(Warp &warp, const Reg *regs, float *to) {
  if constexpr (packed) {
    __m512 rows[4], columns[2][2];
    for (unsigned q = 0; q < 4; ++q)
      rows[q] = widen<isBf16>(warp.registers + regs[0] + q * 32);
    for (unsigned half = 0; half < 2; ++half)
      for (unsigned part = 0; part < 2; ++part)
        columns[half][part] =
            _mm512_permutex2var_ps(rows[part * 2], packedTables.firstHalf[half].load(), rows[part * 2 + 1]);
    for (unsigned half = 0; half < 2; ++half)
      for (unsigned pair = 0; pair < 2; ++pair)
        _mm512_store_ps(to + half * 32 + pair * 16,
                        _mm512_permutex2var_ps(columns[half][0], packedTables.join[pair].load(), columns[half][1]));
  } else {
    for (unsigned e = 0; e < 2; ++e) {
      __m512 low = widen<isBf16>(warp.registers + regs[e]), high = widen<isBf16>(warp.registers + regs[e] + 32);
      for (unsigned half = 0; half < 2; ++half) {
        __m512 two = _mm512_permutex2var_ps(low, singleTables.columns[half].load(), high);
        _mm256_store_ps(to + (half * 4 + e) * 8, _mm512_castps512_ps256(two));
        _mm256_store_ps(to + (half * 4 + 2 + e) * 8, _mm512_extractf32x8_ps(two, 1));
      }
    }
  }
}

/// Sums of all lanes: [register of C][half of the warp].
using Sums = __m512[4][2];

template <unsigned column, class A>
[[gnu::always_inline]] inline void addColumn(Sums &sums, const A &a, const float *b) {
  __m512 even = _mm512_broadcast_f32x4(_mm_load_ps(b + column * 8));
  __m512 odd = _mm512_broadcast_f32x4(_mm_load_ps(b + column * 8 + 4));
  for (unsigned half = 0; half < 2; ++half) {
    __m512 low = a.template spread<column>(false, half), high = a.template spread<column>(true, half);
    sums[0][half] = _mm512_fmadd_ps(low, even, sums[0][half]);
    sums[1][half] = _mm512_fmadd_ps(low, odd, sums[1][half]);
    sums[2][half] = _mm512_fmadd_ps(high, even, sums[2][half]);
    sums[3][half] = _mm512_fmadd_ps(high, odd, sums[3][half]);
  }
}

template <class A> [[gnu::always_inline]] inline void addChunk(Sums &sums, const A &a, const float *b) {
  addColumn<0>(sums, a, b);
  addColumn<1>(sums, a, b);
  addColumn<2>(sums, a, b);
  addColumn<3>(sums, a, b);
  addColumn<4>(sums, a, b);
  addColumn<5>(sums, a, b);
  addColumn<6>(sums, a, b);
  addColumn<7>(sums, a, b);
}

template <unsigned chunks, bool isBf16, bool packed> void multiply(Warp &warp, const OpOperands &x) {
  constexpr unsigned regsA = packed ? 2 : 4, regsB = packed ? 1 : 2;
  const Reg *a = x.in.data(), *b = a + regsA * chunks, *c = b + regsB * chunks;
  alignas(64) float rows[chunks * 64];
  for (unsigned i = 0; i < chunks; ++i)
    transposeB<isBf16, packed>(warp, b + i * regsB, rows + i * 64);
  Sums sums;
  for (unsigned i = 0; i < 4; ++i)
    for (unsigned half = 0; half < 2; ++half)
      sums[i][half] = _mm512_loadu_ps(warp.reg<float>(c[i]) + half * 16);
  for (unsigned i = 0; i < chunks; ++i)
    addChunk(sums, ChunkA<isBf16, packed>(warp, a + i * regsA), rows + i * 64);
  for (unsigned i = 0; i < 4; ++i)
    for (unsigned half = 0; half < 2; ++half)
      _mm512_mask_storeu_ps(warp.reg<float>(x.out[i]) + half * 16, static_cast<__mmask16>(warp.mask >> half * 16),
                            sums[i][half]);
}

template <unsigned chunks> void choose(Warp &warp, const OpOperands &x, bool isBf16, bool packed) {
  if (packed)
    return isBf16 ? multiply<chunks, true, true>(warp, x) : multiply<chunks, false, true>(warp, x);
  return isBf16 ? multiply<chunks, true, false>(warp, x) : multiply<chunks, false, false>(warp, x);
}

} // namespace

bool runFastMma(Warp &warp, const OpOperands &x, const MmaPlan &plan) {
  bool isBf16 = plan.a.type == MmaType::BF16, packed = plan.a.perRegister == 2;
  if (plan.k == 16)
    choose<2>(warp, x, isBf16, packed);
  else
    choose<1>(warp, x, isBf16, packed);
  return true;
}

#else

bool runFastMma(Warp &, const OpOperands &, const MmaPlan &) { return false; }

#endif

} // namespace tilejit::sim
