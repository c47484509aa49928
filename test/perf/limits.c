// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What the machine can do at most, for peers.py, which compiles this for the machine that it runs on: multiply-adds on
// registers in each type of the products, and reading memory. Each function does so much work and gives its amount; the
// caller holds the clock, and calls from several threads at once.

#include <stddef.h>
#include <stdint.h>

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

typedef float Floats __attribute__((vector_size(64), aligned(4)));
typedef int64_t Longs __attribute__((vector_size(64), aligned(64)));

enum { accumulators = 24 };

/// Keeps a value in a register from being known, so that no sum is the same as another or is taken out of a loop.
#define HIDE(x) __asm__ volatile("" : "+v"(x))
#define HIDE_ALL(sums)                                                                                                 \
  for (size_t a = 0; a < sizeof(sums) / sizeof(*(sums)); ++a)                                                          \
  HIDE(sums[a])

double limitF32(int64_t iterations) {
  Floats sums[accumulators] = {0}, x = {0}, y = {0};
  HIDE_ALL(sums);
  for (int64_t i = 0; i < iterations; ++i) {
    HIDE(x);
    HIDE(y);
#pragma GCC unroll 24
    for (int a = 0; a < accumulators; ++a)
      sums[a] = x * y + sums[a];
  }
  HIDE_ALL(sums);
  return 2.0 * 16 * accumulators * (double)iterations;
}

/// Sums up by an instruction that multiplies several numbers in each lane of 32 bits, which are zeros here. gcc copies
/// the sums around an instruction that overwrites its operand: half as many registers hold both.
enum { groupAccumulators = 14 };
#define SUM_UP(Vector, step, iterations)                                                                               \
  Vector sums[groupAccumulators] = {0};                                                                                \
  __m512i zero = _mm512_setzero_si512();                                                                               \
  HIDE_ALL(sums);                                                                                                      \
  HIDE(zero);                                                                                                          \
  for (int64_t i = 0; i < iterations; ++i)                                                                             \
    _Pragma("GCC unroll 14") for (int a = 0; a < groupAccumulators; ++a) sums[a] = step;                               \
  HIDE_ALL(sums)

/// 0: the processor has no such instruction.
double limitBf16(int64_t iterations) {
#if defined(__AVX512BF16__)
  SUM_UP(__m512, _mm512_dpbf16_ps(sums[a], (__m512bh)zero, (__m512bh)zero), iterations);
  return 4.0 * 16 * groupAccumulators * (double)iterations;
#else
  (void)iterations;
  return 0;
#endif
}

double limitInt8(int64_t iterations) {
#if defined(__AVX512VNNI__)
  SUM_UP(__m512i, _mm512_dpbusd_epi32(sums[a], zero, zero), iterations);
  return 8.0 * 16 * groupAccumulators * (double)iterations;
#else
  (void)iterations;
  return 0;
#endif
}

/// Reads so many bytes, a multiple of 512, from an address aligned to 64.
double limitRead(const void *memory, size_t bytes) {
  const Longs *at = memory, *end = at + bytes / sizeof(Longs);
  Longs sums[8] = {0};
  for (; at < end; at += 8)
#pragma GCC unroll 8
    for (int a = 0; a < 8; ++a)
      sums[a] += at[a];
  for (int a = 0; a < 8; ++a)
    HIDE(sums[a]);
  return (double)bytes;
}
