// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Sums are kept as one vector of 16 rows for each column of D. A is turned to one vector of 16 rows for each k, B stays
// as it lies: each of its elements is spread over a vector. With AVX-512 such a vector is one register.

#include "nvidia/WarpgroupNumbers.h"

#include "core/NarrowFloat.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#ifdef __AVX512F__
#include <immintrin.h>
#endif

namespace tilejit::sim {

namespace {

constexpr unsigned rows = productRows, mostDepth = 32;

/// 32 bits of each row of each column, float or integer.
struct Sums {
  alignas(64) uint32_t at[mostColumns][rows];
};

// --- Registers of D to columns and back -----------------------------------------------------------------------------

// Of eight columns there are four registers: register 2h + p of lane 4g + t has row g + 8h, column 2t + p.
#ifdef __AVX512F__

__m512 loadBits(const uint32_t *from) { return _mm512_loadu_ps(from); }
void storeBits(uint32_t *to, __m512 bits) { _mm512_storeu_ps(to, bits); }

/// Columns p, p + 2, p + 4, p + 6 of eight.
void toColumns(const uint32_t *low, const uint32_t *high, uint32_t (*columns)[rows]) {
  const __m512i first = _mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 1, 5, 9, 13, 17, 21, 25, 29);
  const __m512i second = _mm512_setr_epi32(2, 6, 10, 14, 18, 22, 26, 30, 3, 7, 11, 15, 19, 23, 27, 31);
  __m512 l0 = loadBits(low), l1 = loadBits(low + 16), h0 = loadBits(high), h1 = loadBits(high + 16);
  __m512 l01 = _mm512_permutex2var_ps(l0, first, l1), h01 = _mm512_permutex2var_ps(h0, first, h1);
  __m512 l23 = _mm512_permutex2var_ps(l0, second, l1), h23 = _mm512_permutex2var_ps(h0, second, h1);
  storeBits(columns[0], _mm512_shuffle_f32x4(l01, h01, 0x44));
  storeBits(columns[2], _mm512_shuffle_f32x4(l01, h01, 0xee));
  storeBits(columns[4], _mm512_shuffle_f32x4(l23, h23, 0x44));
  storeBits(columns[6], _mm512_shuffle_f32x4(l23, h23, 0xee));
}

void fromColumns(const uint32_t (*columns)[rows], uint32_t *low, uint32_t *high) {
  const __m512i lowRows = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  const __m512i highRows = _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  const __m512i lowPairs = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11),
                highPairs = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
  __m512 c0 = loadBits(columns[0]), c1 = loadBits(columns[2]), c2 = loadBits(columns[4]), c3 = loadBits(columns[6]);
  auto place = [&](__m512i order, uint32_t *to) {
    __m512d c01 = _mm512_castps_pd(_mm512_permutex2var_ps(c0, order, c1));
    __m512d c23 = _mm512_castps_pd(_mm512_permutex2var_ps(c2, order, c3));
    storeBits(to, _mm512_castpd_ps(_mm512_permutex2var_pd(c01, lowPairs, c23)));
    storeBits(to + 16, _mm512_castpd_ps(_mm512_permutex2var_pd(c01, highPairs, c23)));
  };
  place(lowRows, low);
  place(highRows, high);
}

#else

void toColumns(const uint32_t *low, const uint32_t *high, uint32_t (*columns)[rows]) {
  for (unsigned lane = 0; lane < 32; ++lane) {
    columns[lane % 4 * 2][lane / 4] = low[lane];
    columns[lane % 4 * 2][lane / 4 + 8] = high[lane];
  }
}

void fromColumns(const uint32_t (*columns)[rows], uint32_t *low, uint32_t *high) {
  for (unsigned lane = 0; lane < 32; ++lane) {
    low[lane] = columns[lane % 4 * 2][lane / 4];
    high[lane] = columns[lane % 4 * 2][lane / 4 + 8];
  }
}

#endif

void loadSums(const ProductSpec &spec, uint32_t *const *from, Sums &sums) {
  for (unsigned n = 0; n < spec.columns; n += 8) {
    if (spec.sum != ProductSum::F16) {
      for (unsigned p = 0; p < 2; ++p)
        toColumns(from[n / 2 + p], from[n / 2 + p + 2], sums.at + n + p);
      continue;
    }
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned half = 0; half < 2; ++half) {
        uint32_t pair = from[n / 4 + half][lane];
        for (unsigned p = 0; p < 2; ++p)
          sums.at[n + lane % 4 * 2 + p][lane / 4 + 8 * half] =
              std::bit_cast<uint32_t>(f16ToFloat(static_cast<uint16_t>(pair >> (16 * p))));
      }
  }
}

void storeSums(const ProductSpec &spec, const Sums &sums, uint32_t *const *to) {
  for (unsigned n = 0; n < spec.columns; n += 8) {
    if (spec.sum != ProductSum::F16) {
      for (unsigned p = 0; p < 2; ++p)
        fromColumns(sums.at + n + p, to[n / 2 + p], to[n / 2 + p + 2]);
      continue;
    }
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned half = 0; half < 2; ++half) {
        uint32_t pair = 0;
        for (unsigned p = 0; p < 2; ++p)
          pair |= uint32_t(floatToF16(std::bit_cast<float>(sums.at[n + lane % 4 * 2 + p][lane / 4 + 8 * half])))
                  << (16 * p);
        to[n / 4 + half][lane] = pair;
      }
  }
}

// --- Elements -------------------------------------------------------------------------------------------------------

unsigned depthOf(ProductType type) {
  return type == ProductType::TF32 ? 8 : type == ProductType::F16 || type == ProductType::BF16 ? 16 : 32;
}

void decodeHalves(const uint8_t *bytes, float *to) {
#ifdef __AVX512F__
  _mm512_storeu_ps(to, _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(bytes))));
#else
  for (unsigned k = 0; k < 16; ++k) {
    uint16_t half;
    std::memcpy(&half, bytes + 2 * k, 2);
    to[k] = f16ToFloat(half);
  }
#endif
}

/// The 32 bytes of a row as numbers.
void decodeRow(ProductType type, const uint8_t *bytes, float *to) {
  uint32_t words[8];
  switch (type) {
  case ProductType::F16:
    return decodeHalves(bytes, to);
  case ProductType::BF16:
    std::memcpy(words, bytes, sizeof words);
    for (unsigned k = 0; k < 8; ++k) {
      to[2 * k] = std::bit_cast<float>(words[k] << 16);
      to[2 * k + 1] = std::bit_cast<float>(words[k] & 0xffff0000u);
    }
    return;
  case ProductType::TF32:
    std::memcpy(words, bytes, sizeof words);
    for (unsigned k = 0; k < 8; ++k)
      to[k] = std::bit_cast<float>(words[k] & 0xffffe000u);
    return;
  default: {
    const float *table = decodeTable(type == ProductType::E4M3 ? formatE4m3 : formatE5m2);
    for (unsigned k = 0; k < 32; ++k)
      to[k] = table[bytes[k]];
  }
  }
}

void decodeRow(ProductType type, const uint8_t *bytes, int32_t *to) {
  for (unsigned k = 0; k < 32; ++k)
    to[k] = type == ProductType::S8 ? static_cast<int8_t>(bytes[k]) : bytes[k];
}

template <class T> struct Numbers {
  alignas(64) T a[mostDepth][rows]; ///< Turned.
  alignas(64) T b[mostColumns * mostDepth];
};

template <class T>
void decodeOperands(const ProductSpec &spec, const ProductOperands &operands, unsigned depth, Numbers<T> &numbers) {
  T row[mostDepth];
  bool negative = spec.negateA != spec.negateB;
  for (unsigned m = 0; m < rows; ++m) {
    decodeRow(spec.a, operands.a[m], row);
    for (unsigned k = 0; k < depth; ++k)
      numbers.a[k][m] = negative ? -row[k] : row[k];
  }
  for (unsigned n = 0; n < spec.columns; ++n)
    decodeRow(spec.b, operands.b[n], numbers.b + size_t(n) * depth);
}

// --- Products -------------------------------------------------------------------------------------------------------

template <unsigned depth> void multiplyReal(unsigned columns, const Numbers<float> &numbers, Sums &sums) {
  constexpr unsigned block = 8;
  for (unsigned n = 0; n < columns; n += block) {
    const float *b = numbers.b + size_t(n) * depth;
#ifdef __AVX512F__
    __m512 sum[block];
    for (unsigned j = 0; j < block; ++j)
      sum[j] = loadBits(sums.at[n + j]);
    for (unsigned k = 0; k < depth; ++k) {
      __m512 a = _mm512_load_ps(numbers.a[k]);
      for (unsigned j = 0; j < block; ++j)
        sum[j] = _mm512_fmadd_ps(a, _mm512_set1_ps(b[j * depth + k]), sum[j]);
    }
    for (unsigned j = 0; j < block; ++j)
      storeBits(sums.at[n + j], sum[j]);
#else
    for (unsigned j = 0; j < block; ++j) {
      float sum[rows];
      std::memcpy(sum, sums.at[n + j], sizeof sum);
      for (unsigned k = 0; k < depth; ++k)
        for (unsigned m = 0; m < rows; ++m)
          sum[m] += numbers.a[k][m] * b[j * depth + k]; // The product is exact.
      std::memcpy(sums.at[n + j], sum, sizeof sum);
    }
#endif
  }
}

/// Adds to a column of integers, wrapping around or stopping at the limits.
void addColumn(const int32_t *sum, bool saturate, uint32_t *column) {
  for (unsigned m = 0; m < rows; ++m) {
    int64_t wide = int64_t(static_cast<int32_t>(column[m])) + sum[m];
    int64_t limited =
        std::clamp<int64_t>(wide, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max());
    column[m] = static_cast<uint32_t>(saturate ? limited : wide);
  }
}

void multiplyIntegers(const ProductSpec &spec, const Numbers<int32_t> &numbers, Sums &sums) {
  for (unsigned n = 0; n < spec.columns; ++n) {
    int32_t sum[rows] = {};
    for (unsigned k = 0; k < 32; ++k)
      for (unsigned m = 0; m < rows; ++m)
        sum[m] += numbers.a[k][m] * numbers.b[n * 32 + k];
    addColumn(sum, spec.saturate, sums.at[n]);
  }
}

/// Counts of bits that are set in both.
void multiplyBits(const ProductSpec &spec, const ProductOperands &operands, Sums &sums) {
  for (unsigned n = 0; n < spec.columns; ++n) {
    int32_t sum[rows] = {};
    uint64_t b[4];
    std::memcpy(b, operands.b[n], sizeof b);
    for (unsigned m = 0; m < rows; ++m) {
      uint64_t a[4];
      std::memcpy(a, operands.a[m], sizeof a);
      for (unsigned i = 0; i < 4; ++i)
        sum[m] += std::popcount(a[i] & b[i]);
    }
    addColumn(sum, false, sums.at[n]);
  }
}

} // namespace

void multiplyRows(const ProductSpec &spec, const ProductOperands &operands, bool keep, uint32_t *const *from,
                  uint32_t *const *to) {
  thread_local Sums sums;
  if (keep)
    loadSums(spec, from, sums);
  else
    std::memset(sums.at, 0, spec.columns * sizeof sums.at[0]);
  if (spec.a == ProductType::B1) {
    multiplyBits(spec, operands, sums);
  } else if (spec.sum == ProductSum::S32) {
    thread_local Numbers<int32_t> numbers;
    decodeOperands(spec, operands, 32, numbers);
    multiplyIntegers(spec, numbers, sums);
  } else {
    thread_local Numbers<float> numbers;
    unsigned depth = depthOf(spec.a);
    decodeOperands(spec, operands, depth, numbers);
    depth == 8    ? multiplyReal<8>(spec.columns, numbers, sums)
    : depth == 16 ? multiplyReal<16>(spec.columns, numbers, sums)
                  : multiplyReal<32>(spec.columns, numbers, sums);
  }
  storeSums(spec, sums, to);
}

} // namespace tilejit::sim
