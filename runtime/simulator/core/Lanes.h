// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Sets of lanes as bit masks, and the loops that every handler is made of: over all lanes where the whole warp takes
// part (which compilers turn into vector code), else computed for all and kept for the active ones. What a lane
// computes while it is inactive must therefore do no harm: handlers guard divisions and never dereference through
// `map`.

#ifndef TILEJIT_SIMULATOR_CORE_LANES_H
#define TILEJIT_SIMULATOR_CORE_LANES_H

#include <cstdint>
#include <cstring>
#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace tilejit::sim {

using LaneMask = uint64_t;

template <unsigned W> constexpr LaneMask allLanes = W == 64 ? ~LaneMask(0) : (LaneMask(1) << W) - 1;
inline LaneMask lanesBelow(unsigned count) { return count >= 64 ? ~LaneMask(0) : (LaneMask(1) << count) - 1; }
inline unsigned firstLane(LaneMask mask) { return static_cast<unsigned>(__builtin_ctzll(mask)); }
inline unsigned countLanes(LaneMask mask) { return static_cast<unsigned>(__builtin_popcountll(mask)); }

/// Calls f(lane) for each lane of the mask, in ascending order.
template <class F> inline void forEachLane(LaneMask mask, F f) {
  for (; mask; mask &= mask - 1)
    f(firstLane(mask));
}

/// to[l] = from[l] for the lanes of the mask.
template <unsigned W, class T> inline void blend(T *__restrict to, const T *__restrict from, LaneMask mask) {
#ifdef __AVX512BW__
  constexpr unsigned n = 64 / sizeof(T);
  for (unsigned l = 0; l < W; l += n) {
    LaneMask part = mask >> l;
    __m512i v;
    std::memcpy(&v, from + l, W < n ? W * sizeof(T) : 64);
    if constexpr (W < n)
      part &= allLanes<W>;
    if constexpr (sizeof(T) == 1)
      _mm512_mask_storeu_epi8(to + l, static_cast<__mmask64>(part), v);
    else if constexpr (sizeof(T) == 2)
      _mm512_mask_storeu_epi16(to + l, static_cast<__mmask32>(part), v);
    else if constexpr (sizeof(T) == 4)
      _mm512_mask_storeu_epi32(to + l, static_cast<__mmask16>(part), v);
    else
      _mm512_mask_storeu_epi64(to + l, static_cast<__mmask8>(part), v);
  }
#else
  forEachLane(mask, [&](unsigned l) { to[l] = from[l]; });
#endif
}

/// to[l] = f(l) for the lanes of the mask; f is called for all lanes. `to` may be what f reads at the same lane.
template <unsigned W, class T, class F> inline void map(LaneMask mask, T *to, F f) {
  alignas(64) T all[W];
  for (unsigned l = 0; l < W; ++l)
    all[l] = f(l);
  if (mask == allLanes<W>)
    std::memcpy(to, all, sizeof all);
  else
    blend<W>(to, all, mask);
}

/// Bit l: flags[l] != 0.
template <unsigned W> inline LaneMask maskOf(const uint8_t *flags) {
  LaneMask mask = 0;
#ifdef __AVX512BW__
  if constexpr (W == 64)
    return _mm512_test_epi8_mask(_mm512_loadu_si512(flags), _mm512_set1_epi8(-1));
  else
    return _mm256_test_epi8_mask(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(flags)), _mm256_set1_epi8(-1));
#elif defined(__AVX2__)
  for (unsigned l = 0; l < W; l += 32) {
    __m256i part = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(flags + l));
    __m256i zero = _mm256_cmpeq_epi8(part, _mm256_setzero_si256());
    mask |= LaneMask(~static_cast<uint32_t>(_mm256_movemask_epi8(zero))) << l;
  }
#else
  for (unsigned l = 0; l < W; ++l)
    mask |= LaneMask(flags[l] ? 1 : 0) << l;
#endif
  return mask;
}

/// Bit l of the result: f(l) holds. Called for all lanes.
template <unsigned W, class F> inline LaneMask lanesWhere(F f) {
  alignas(64) uint8_t flags[W];
  for (unsigned l = 0; l < W; ++l)
    flags[l] = f(l) ? 1 : 0;
  return maskOf<W>(flags);
}

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_CORE_LANES_H
