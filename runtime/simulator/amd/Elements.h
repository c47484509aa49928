// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Values of the element types of AMD's matrix instructions.

#ifndef TILEJIT_SIMULATOR_AMD_ELEMENTS_H
#define TILEJIT_SIMULATOR_AMD_ELEMENTS_H

#include "amd/Matrix.h"
#include "core/NarrowFloat.h"

#include <bit>
#include <cstdint>
#ifdef __AVX512F__
#include <immintrin.h>
#endif

namespace tilejit::sim {

/// The format of an element of at most 8 bits.
constexpr const FloatFormat &formatOf(Element element) {
  switch (element) {
  case Element::Fp8:
    return formatE4m3;
  case Element::Bf8:
    return formatE5m2;
  case Element::Fp8Fnuz:
    return formatE4m3Fnuz;
  case Element::Bf8Fnuz:
    return formatE5m2Fnuz;
  case Element::Fp6:
    return formatE2m3;
  case Element::Bf6:
    return formatE3m2;
  default:
    return formatE2m1;
  }
}

/// The number behind an element's bits.
inline double valueOf(uint32_t bits, Element type) {
  switch (type) {
  case Element::F16:
    return f16ToFloat(static_cast<uint16_t>(bits));
  case Element::BF16:
    return bf16ToFloat(static_cast<uint16_t>(bits));
  case Element::F32:
    return std::bit_cast<float>(bits);
  default:
    return decodeTable(formatOf(type))[bits];
  }
}

template <unsigned W> inline void valuesOfF16(const uint16_t *from, float *to) {
#ifdef __AVX512F__
  for (unsigned l = 0; l < W; l += 16)
    _mm512_storeu_ps(to + l, _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(from + l))));
#else
  for (unsigned l = 0; l < W; ++l)
    to[l] = f16ToFloat(from[l]);
#endif
}

/// 19 bits: what XF32 instructions keep of a float.
inline float roundToXf32(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7f800000) == 0x7f800000)
    return value;
  return std::bit_cast<float>((bits + 0xfff + (bits >> 13 & 1)) & ~0x1fffu);
}

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_AMD_ELEMENTS_H
