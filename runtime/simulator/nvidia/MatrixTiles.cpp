// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Products of tiles whose sums fit f32: all of mma and wmma but f64, single bits, sparse ones and Volta's. A vector
// holds lanes of one register; a column of A is spread over the lanes of each quad, a row of B is kept in the order
// in which these want it. Vectors are those of the compiler, so that every CPU level has this.

#include "nvidia/Matrix.h"

#include <cassert>
#include <cstring>
#ifdef __AVX__
#include <immintrin.h>
#endif

namespace tilejit::sim {

namespace {

constexpr unsigned width = 32, tile = 8;
constexpr unsigned maxSteps = 16; // Of four k each.

#if defined(__AVX512F__)
constexpr unsigned lanes = 16;
#elif defined(__AVX__)
constexpr unsigned lanes = 8;
#else
constexpr unsigned lanes = 4;
#endif
constexpr unsigned parts = width / lanes;
using Vector = float __attribute__((vector_size(lanes * sizeof(float))));

inline Vector load(const float *from) {
  Vector v;
  std::memcpy(&v, from, sizeof v);
  return v;
}

inline Vector multiplyAdd(Vector a, Vector b, Vector c) {
#if defined(__AVX512F__)
  return reinterpret_cast<Vector>(
      _mm512_fmadd_ps(reinterpret_cast<__m512>(a), reinterpret_cast<__m512>(b), reinterpret_cast<__m512>(c)));
#elif defined(__FMA__)
  return reinterpret_cast<Vector>(
      _mm256_fmadd_ps(reinterpret_cast<__m256>(a), reinterpret_cast<__m256>(b), reinterpret_cast<__m256>(c)));
#else
  return a * b + c; // Products are exact but for denormal results.
#endif
}

/// Four numbers for the lanes of each quad.
inline Vector forQuads(const float *four) {
#if defined(__AVX512F__)
  return reinterpret_cast<Vector>(_mm512_broadcast_f32x4(_mm_load_ps(four)));
#else
  Vector v;
  for (unsigned i = 0; i < lanes / 4; ++i)
    std::memcpy(reinterpret_cast<char *>(&v) + i * 16, four, 16);
  return v;
#endif
}

/// Lane t of each quad, in all lanes of it.
template <int t> inline Vector spread(Vector v) {
#if defined(__AVX512F__)
  return __builtin_shufflevector(v, v, t, t, t, t, 4 + t, 4 + t, 4 + t, 4 + t, 8 + t, 8 + t, 8 + t, 8 + t, 12 + t,
                                 12 + t, 12 + t, 12 + t);
#elif defined(__AVX__)
  return __builtin_shufflevector(v, v, t, t, t, t, 4 + t, 4 + t, 4 + t, 4 + t);
#else
  return __builtin_shufflevector(v, v, t, t, t, t);
#endif
}

/// The values of an element of B, lane (n, t), as rows of the four k: even columns, then odd ones.
inline void layOut(const float *element, float *rows) {
#if defined(__AVX512F__)
  Vector low = load(element), high = load(element + lanes);
  Vector two = __builtin_shufflevector(low, high, 0, 8, 16, 24, 4, 12, 20, 28, 1, 9, 17, 25, 5, 13, 21, 29);
  Vector others = __builtin_shufflevector(low, high, 2, 10, 18, 26, 6, 14, 22, 30, 3, 11, 19, 27, 7, 15, 23, 31);
  std::memcpy(rows, &two, sizeof two);
  std::memcpy(rows + lanes, &others, sizeof others);
#else
  for (unsigned t = 0; t < 4; ++t)
    for (unsigned i = 0; i < tile; ++i)
      rows[t * tile + i] = element[(i < 4 ? 2 * i : 2 * i - 7) * 4 + t];
#endif
}

/// Sums of `groups` groups of rows and one of columns: [group][column 2t, 2t + 1][part of the warp].
template <unsigned groups> using Sums = Vector[groups][2][parts];

template <unsigned groups, int t>
[[gnu::always_inline]] inline void addColumn(Sums<groups> &sums, const Vector (&a)[groups][parts], const float *rows) {
  Vector even = forQuads(rows + t * tile), odd = forQuads(rows + t * tile + 4);
  for (unsigned g = 0; g < groups; ++g)
    for (unsigned part = 0; part < parts; ++part) {
      Vector column = spread<t>(a[g][part]);
      sums[g][0][part] = multiplyAdd(column, even, sums[g][0][part]);
      sums[g][1][part] = multiplyAdd(column, odd, sums[g][1][part]);
    }
}

template <unsigned groups>
void multiplyRows(const MmaTiles &tiles, unsigned firstGroup, unsigned columns, const float *a, const float *rows,
                  float *c) {
  Sums<groups> sums;
  auto place = [&](unsigned g, unsigned odd) { return c + tiles.c[firstGroup + g][columns][odd] * width; };
  for (unsigned g = 0; g < groups; ++g)
    for (unsigned odd = 0; odd < 2; ++odd)
      for (unsigned part = 0; part < parts; ++part)
        sums[g][odd][part] = load(place(g, odd) + part * lanes);
  for (const MmaTiles::Step &step : tiles.steps) {
    Vector values[groups][parts];
    for (unsigned g = 0; g < groups; ++g)
      for (unsigned part = 0; part < parts; ++part)
        values[g][part] = load(a + step.a[firstGroup + g] * width + part * lanes);
    addColumn<groups, 0>(sums, values, rows);
    addColumn<groups, 1>(sums, values, rows);
    addColumn<groups, 2>(sums, values, rows);
    addColumn<groups, 3>(sums, values, rows);
    rows += 4 * tile;
  }
  for (unsigned g = 0; g < groups; ++g)
    for (unsigned odd = 0; odd < 2; ++odd)
      for (unsigned part = 0; part < parts; ++part)
        std::memcpy(place(g, odd) + part * lanes, &sums[g][odd][part], sizeof(Vector));
}

} // namespace

void multiplyTiles(const MmaPlan &plan, const float *a, const float *b, float *c) {
  const MmaTiles &tiles = plan.tiles;
  assert(tiles.steps.size() <= maxSteps && "k is at most 64");
  alignas(64) float rows[maxSteps * 4 * tile];
  for (unsigned n = 0; n < tiles.columns; ++n) {
    float *to = rows;
    for (const MmaTiles::Step &step : tiles.steps) {
      layOut(b + step.b[n] * width, to);
      to += 4 * tile;
    }
    unsigned m = 0;
    for (; m + 2 <= tiles.rows; m += 2)
      multiplyRows<2>(tiles, m, n, a, rows, c);
    if (m < tiles.rows)
      multiplyRows<1>(tiles, m, n, a, rows, c);
  }
}

} // namespace tilejit::sim
