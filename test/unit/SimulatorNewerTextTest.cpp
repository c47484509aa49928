// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Spellings of newer LLVM versions as LLVM 22 writes them.

#include "decode/NewerText.h"

#include <catch2/catch.hpp>

namespace tilejit::sim {

TEST_CASE("literals take the bits of the type before them", "[simulator]") {
  auto rewritten = [](const char *text) { return rewriteNewerText(text); };
  CHECK(rewritten("store float f0x3F800000, ptr %p") == "store float 0x3FF0000000000000, ptr %p");
  CHECK(rewritten("half f0x3C00, bfloat f0x3F80, double f0x3FF0000000000000") ==
        "half 0xH3C00, bfloat 0xR3F80, double 0x3FF0000000000000");
  CHECK(rewritten("float +inf, float -inf, half +inf, double -inf") ==
        "float 0x7FF0000000000000, float 0xFFF0000000000000, half 0xH7C00, double 0xFFF0000000000000");
  CHECK(rewritten("float +qnan, float +nan(0x400001), float -snan(0x1), bfloat +qnan") ==
        "float 0x7FF8000000000000, float 0x7FF8000020000000, float 0xFFF0000020000000, bfloat 0xR7FC0");
  // A NaN and the smallest subnormal by their bits.
  CHECK(rewritten("float f0x7FC00001") == "float 0x7FF8000020000000");
  CHECK(rewritten("float f0x00000001") == "float 0x36A0000000000000");
}

TEST_CASE("decimals that a type can't hold become the nearest number", "[simulator]") {
  CHECK(rewriteNewerText("fmul float %x, 1.000000e-01") == "fmul float %x, 0x3FB99999A0000000");
  CHECK(rewriteNewerText("half 1.000000e-01") == "half 0xH2E66");
  CHECK(rewriteNewerText("bfloat -1.000000e-01, bfloat 1.000000e+39") == "bfloat 0xRBDCD, bfloat 0xR7F80");
  CHECK(rewriteNewerText("half 6.000000e-08, half 6.5519e+04, half 6.552e+04") ==
        "half 0xH0001, half 0xH7BFF, half 0xH7C00");
}

TEST_CASE("text of LLVM 22 stays as it is", "[simulator]") {
  const char *text = "; float 0.1 in a comment\n"
                     "@s = constant [4 x i8] c\"f0x3\"\n"
                     "%x.1e-5 = fadd float 1.500000e+00, 0x3FB99999A0000000 ; f0x3F800000\n"
                     "%\"float 0.1\" = fadd double 1.000000e-01, %inf\n"
                     "!0 = !{float 0.1}\n"
                     "target triple = \"amdgcn-amd-amdhsa\"\n";
  CHECK(rewriteNewerText(text) == text);
}

TEST_CASE("a triple that carries the chip loses it", "[simulator]") {
  CHECK(rewriteNewerText("target triple = \"amdgpu9.42-amd-amdhsa\"\n") == "target triple = \"amdgcn-amd-amdhsa\"\n");
  CHECK(rewriteNewerText("target triple = \"amdgpu9.0a-amd-amdhsa\"") == "target triple = \"amdgcn-amd-amdhsa\"");
}

} // namespace tilejit::sim
