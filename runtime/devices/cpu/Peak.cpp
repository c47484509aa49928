// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The measuring of a machine's peak. Arithmetic loops are assembly, so that no compiler makes them slower or removes
// them: 24 (AVX-512) or 12 (others) independent accumulators, which covers latency times ports of every known core.

#include "tilejit/Device/Peak.h"

#include "tilejit/Target/TargetSpec.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tilejit {
namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// One arithmetic loop: runs `iterations` times and says how many operations one iteration is.
struct ArithmeticLoop {
  void (*run)(int64_t iterations);
  double operationsPerIteration;
};

#if defined(__x86_64__)

// Repeats a macro over register numbers, so that each accumulator is a register of its own.
#define TILEJIT_TWELVE(OP) OP(0) OP(1) OP(2) OP(3) OP(4) OP(5) OP(6) OP(7) OP(8) OP(9) OP(10) OP(11)
#define TILEJIT_NEXT_TWELVE(OP) OP(12) OP(13) OP(14) OP(15) OP(16) OP(17) OP(18) OP(19) OP(20) OP(21) OP(22) OP(23)

#define TILEJIT_ZERO_ZMM(n) "vpxord %%zmm" #n ", %%zmm" #n ", %%zmm" #n "\n"
#define TILEJIT_FMA_PS(n) "vfmadd231ps %%zmm30, %%zmm31, %%zmm" #n "\n"
#define TILEJIT_FMA_PD(n) "vfmadd231pd %%zmm30, %%zmm31, %%zmm" #n "\n"
#define TILEJIT_DOT_BF16(n) "vdpbf16ps %%zmm30, %%zmm31, %%zmm" #n "\n"
#define TILEJIT_DOT_INT8(n) "vpdpbusd %%zmm30, %%zmm31, %%zmm" #n "\n"
#define TILEJIT_CLOBBER_ZMM                                                                                            \
  "zmm0", "zmm1", "zmm2", "zmm3", "zmm4", "zmm5", "zmm6", "zmm7", "zmm8", "zmm9", "zmm10", "zmm11", "zmm12", "zmm13",  \
      "zmm14", "zmm15", "zmm16", "zmm17", "zmm18", "zmm19", "zmm20", "zmm21", "zmm22", "zmm23", "zmm30", "zmm31"

#define TILEJIT_ZMM_LOOP(NAME, FEATURES, OP)                                                                           \
  __attribute__((target(FEATURES))) void NAME(int64_t iterations) {                                                    \
    asm volatile(TILEJIT_TWELVE(TILEJIT_ZERO_ZMM) TILEJIT_NEXT_TWELVE(TILEJIT_ZERO_ZMM) TILEJIT_ZERO_ZMM(30)           \
                     TILEJIT_ZERO_ZMM(31) "1:\n" TILEJIT_TWELVE(OP) TILEJIT_NEXT_TWELVE(OP) "sub $1, %0\njnz 1b\n"     \
                 : "+r"(iterations)                                                                                    \
                 :                                                                                                     \
                 : TILEJIT_CLOBBER_ZMM, "cc");                                                                         \
  }
TILEJIT_ZMM_LOOP(fmaF32Avx512, "avx512f", TILEJIT_FMA_PS)
TILEJIT_ZMM_LOOP(fmaF64Avx512, "avx512f", TILEJIT_FMA_PD)
TILEJIT_ZMM_LOOP(dotBf16Avx512, "avx512f,avx512bf16", TILEJIT_DOT_BF16)
TILEJIT_ZMM_LOOP(dotInt8Avx512, "avx512f,avx512vnni", TILEJIT_DOT_INT8)

#define TILEJIT_ZERO_YMM(n) "vxorps %%ymm" #n ", %%ymm" #n ", %%ymm" #n "\n"
#define TILEJIT_FMA_YMM_PS(n) "vfmadd231ps %%ymm14, %%ymm15, %%ymm" #n "\n"
#define TILEJIT_FMA_YMM_PD(n) "vfmadd231pd %%ymm14, %%ymm15, %%ymm" #n "\n"
#define TILEJIT_YMM_LOOP(NAME, OP)                                                                                     \
  __attribute__((target("avx2,fma"))) void NAME(int64_t iterations) {                                                  \
    asm volatile(TILEJIT_TWELVE(TILEJIT_ZERO_YMM) TILEJIT_ZERO_YMM(14) TILEJIT_ZERO_YMM(15) "1:\n" TILEJIT_TWELVE(OP)  \
                     TILEJIT_TWELVE(OP) "sub $1, %0\njnz 1b\n"                                                         \
                 : "+r"(iterations)                                                                                    \
                 :                                                                                                     \
                 : "ymm0", "ymm1", "ymm2", "ymm3", "ymm4", "ymm5", "ymm6", "ymm7", "ymm8", "ymm9", "ymm10", "ymm11",   \
                   "ymm14", "ymm15", "cc");                                                                            \
  }
TILEJIT_YMM_LOOP(fmaF32Avx2, TILEJIT_FMA_YMM_PS)
TILEJIT_YMM_LOOP(fmaF64Avx2, TILEJIT_FMA_YMM_PD)

/// Sizes of AMX's matrix registers: all eight are 16 rows of 64 bytes.
struct alignas(64) MatrixSizes {
  uint8_t palette = 1, startRow = 0, reserved[14] = {};
  uint16_t rowBytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
static_assert(sizeof(MatrixSizes) == 64);

#define TILEJIT_ZERO_TMM(n) "tilezero %%tmm" #n "\n"
#define TILEJIT_TMM_LOOP(NAME, INSTRUCTION)                                                                            \
  void NAME(int64_t iterations) {                                                                                      \
    static constexpr MatrixSizes sizes;                                                                                \
    asm volatile("ldtilecfg %1\n" TILEJIT_EIGHT(TILEJIT_ZERO_TMM) "1:\n" TILEJIT_SIX(INSTRUCTION) TILEJIT_TMM_END      \
                 : "+r"(iterations)                                                                                    \
                 : "m"(sizes)                                                                                          \
                 : "cc");                                                                                              \
  }
#define TILEJIT_TMM_END "sub $1, %0\njnz 1b\ntilerelease\n"
#define TILEJIT_SIX(OP) OP(0) OP(1) OP(2) OP(3) OP(4) OP(5)
#define TILEJIT_EIGHT(OP) TILEJIT_SIX(OP) OP(6) OP(7)
#define TILEJIT_TILE_BF16(n) "tdpbf16ps %%tmm7, %%tmm6, %%tmm" #n "\n"
#define TILEJIT_TILE_INT8(n) "tdpbssd %%tmm7, %%tmm6, %%tmm" #n "\n"
TILEJIT_TMM_LOOP(dotBf16Amx, TILEJIT_TILE_BF16)
TILEJIT_TMM_LOOP(dotInt8Amx, TILEJIT_TILE_INT8)

ArithmeticLoop arithmeticLoop(DType dtype) {
  CpuFacts host = hostTarget().cpuFacts; // Which asks for the matrix registers.
  if (dtype == DType::BF16 && host.hasAmxBf16)
    return {dotBf16Amx, 6 * 2 * 16 * 16 * 32};
  if (dtype == DType::I8 && host.hasAmxInt8)
    return {dotInt8Amx, 6 * 2 * 16 * 16 * 64};
  bool avx512 = __builtin_cpu_supports("avx512f");
  if (dtype == DType::BF16 && avx512 && __builtin_cpu_supports("avx512bf16"))
    return {dotBf16Avx512, 24 * 64};
  if (dtype == DType::I8 && avx512 && __builtin_cpu_supports("avx512vnni"))
    return {dotInt8Avx512, 24 * 128};
  if (dtype == DType::F64 && avx512)
    return {fmaF64Avx512, 24 * 16};
  if (avx512)
    return {fmaF32Avx512, 24 * 32};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return dtype == DType::F64 ? ArithmeticLoop{fmaF64Avx2, 24 * 8} : ArithmeticLoop{fmaF32Avx2, 24 * 16};
  return {nullptr, 0};
}

#else

ArithmeticLoop arithmeticLoop(DType) { return {nullptr, 0}; }

#endif

/// Portable multiply-adds over GCC's vectors, for machines without a loop above.
template <typename Vector> void portableMultiplyAdd(int64_t iterations) {
  Vector acc[12] = {};
  Vector x = {}, y = {};
  for (int64_t i = 0; i < iterations; ++i) {
    for (Vector &a : acc)
      a = a + x * y;
    asm volatile("" : "+m"(acc) : : "memory");
  }
}
using Float4 = float __attribute__((vector_size(16)));
using Double2 = double __attribute__((vector_size(16)));

ArithmeticLoop chooseLoop(DType dtype) {
  ArithmeticLoop loop = arithmeticLoop(dtype);
  if (loop.run)
    return loop;
  if (dtype == DType::F64)
    return {portableMultiplyAdd<Double2>, 12 * 4};
  return {portableMultiplyAdd<Float4>, 12 * 8};
}

/// Runs body(thread) on all threads at once, after a common start; seconds until the last one ends.
double timeOnThreads(int threads, const std::function<void(int)> &body) {
  if (threads <= 1) {
    Clock::time_point begin = Clock::now();
    body(0);
    return secondsSince(begin);
  }
  std::atomic<int> ready{0};
  std::atomic<bool> go{false};
  std::vector<std::thread> pool;
  for (int t = 0; t < threads; ++t)
    pool.emplace_back([&, t] {
      ++ready;
      while (!go.load(std::memory_order_acquire))
        std::this_thread::yield();
      body(t);
    });
  while (ready.load() < threads)
    std::this_thread::yield();
  Clock::time_point begin = Clock::now();
  go.store(true, std::memory_order_release);
  for (std::thread &thread : pool)
    thread.join();
  return secondsSince(begin);
}

double timeLoop(ArithmeticLoop loop, int threads) {
  int64_t iterations = 1000;
  while (timeOnThreads(1, [&](int) { loop.run(iterations); }) < 1e-3)
    iterations *= 2;
  double best = 1e30;
  for (int repeat = 0; repeat < 8; ++repeat)
    best = std::min(best, timeOnThreads(threads, [&](int) { loop.run(iterations); }));
  return loop.operationsPerIteration * static_cast<double>(iterations) * threads / best * 1e-9;
}

/// Where pairs of bf16 are multiplied no faster than single floats are, the floats set the peak.
double measureArithmetic(DType dtype, int threads) {
  double peak = timeLoop(chooseLoop(dtype), threads);
  return dtype == DType::BF16 ? std::max(peak, timeLoop(chooseLoop(DType::F32), threads)) : peak;
}

constexpr int64_t cacheLine = 64;

/// Reads whole cache lines with eight independent sums.
void readBytes(const uint64_t *data, int64_t bytes) {
  using Vector = uint64_t __attribute__((vector_size(cacheLine)));
  Vector sums[4] = {};
  const auto *lines = reinterpret_cast<const Vector *>(data);
  int64_t count = bytes / cacheLine;
  for (int64_t i = 0; i + 4 <= count; i += 4)
    for (int64_t j = 0; j < 4; ++j)
      sums[j] += lines[i + j];
  asm volatile("" : : "m"(sums) : "memory");
}

#if defined(__x86_64__)
__attribute__((target("avx512f"))) void readBytesAvx512(const uint64_t *data, int64_t bytes) {
  __m512i sums[4] = {_mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512()};
  for (int64_t i = 0; i + 32 <= bytes / 8; i += 32)
    for (int j = 0; j < 4; ++j)
      sums[j] = _mm512_or_si512(sums[j], _mm512_load_si512(data + i + j * 8));
  asm volatile("" : : "m"(sums) : "memory");
}

__attribute__((target("avx512f"))) void streamBytesAvx512(uint64_t *to, const uint64_t *from, int64_t bytes) {
  for (int64_t i = 0; i + 8 <= bytes / 8; i += 8)
    _mm512_stream_si512(reinterpret_cast<__m512i *>(to + i), _mm512_load_si512(from + i));
  _mm_sfence();
}
#endif

void streamBytes(uint64_t *to, const uint64_t *from, int64_t bytes) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f"))
    return streamBytesAvx512(to, from, bytes);
  auto *target = reinterpret_cast<__m128i *>(to);
  const auto *source = reinterpret_cast<const __m128i *>(from);
  for (int64_t i = 0; i < bytes / 16; ++i)
    _mm_stream_si128(target + i, _mm_load_si128(source + i));
  _mm_sfence();
#else
  std::memcpy(to, from, bytes);
#endif
}

void readAll(const uint64_t *data, int64_t bytes) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f"))
    return readBytesAvx512(data, bytes);
#endif
  readBytes(data, bytes);
}

struct FreeDeleter {
  void operator()(void *p) const { std::free(p); }
};
using Buffer = std::unique_ptr<uint64_t, FreeDeleter>;

Buffer allocate(int64_t bytes) {
  auto *data = static_cast<uint64_t *>(std::aligned_alloc(4096, (bytes + 4095) & ~int64_t{4095}));
  if (data)
    std::memset(data, 1, bytes);
  return Buffer(data);
}

/// Bytes a second of one loop over all threads: best of several repetitions that fill a few milliseconds; of two where
/// one takes long.
double bandwidthOf(int threads, int64_t movedPerRun, const std::function<void(int)> &body) {
  double once = timeOnThreads(threads, body);
  int repeats = static_cast<int>(std::clamp(2e-3 / std::max(once, 1e-9), 1.0, 1e6));
  double best = 1e30;
  int trials = once > 10e-3 ? 2 : 5;
  for (int trial = 0; trial < trials; ++trial)
    best = std::min(best, timeOnThreads(threads, [&](int t) {
                      for (int i = 0; i < repeats; ++i)
                        body(t);
                    }));
  return static_cast<double>(movedPerRun) * repeats / best * 1e-9;
}

double measureBandwidth(const PeakQuery &query) {
  constexpr int64_t smallest = 16 << 10, largest = 256 << 20;
  int64_t total = std::clamp(query.bytesRead + query.bytesWritten, smallest, largest);
  bool copies = query.bytesWritten * 2 >= query.bytesRead && query.bytesWritten > 0;
  int64_t share = (total / (copies ? 2 : 1) / query.threads) & ~(4 * cacheLine - 1);
  share = std::max(share, 4 * cacheLine);
  std::vector<Buffer> from, to;
  for (int t = 0; t < query.threads; ++t) {
    from.push_back(allocate(share));
    to.push_back(copies ? allocate(share) : Buffer());
    if (!from.back() || (copies && !to.back()))
      return 0;
  }
  if (!copies)
    return bandwidthOf(query.threads, share * query.threads, [&](int t) { readAll(from[t].get(), share); });
  int64_t moved = 2 * share * query.threads;
  double plain = bandwidthOf(query.threads, moved, [&](int t) { std::memcpy(to[t].get(), from[t].get(), share); });
  double stream = bandwidthOf(query.threads, moved, [&](int t) { streamBytes(to[t].get(), from[t].get(), share); });
  return std::max(plain, stream);
}

} // namespace

MachinePeak measurePeak(const PeakQuery &query) {
  PeakQuery sane = query;
  sane.threads = std::max(1, query.threads);
  return {measureArithmetic(sane.arithmetic, sane.threads), measureBandwidth(sane)};
}

} // namespace tilejit
