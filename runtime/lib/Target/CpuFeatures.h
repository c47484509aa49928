// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The instruction-set features that can change generated code, one table for each architecture, as sets of bits. Names
// are LLVM's. What the compiler never emits (cryptography, system instructions) is left out on purpose: a machine
// without it runs our code.

#ifndef TILEJIT_LIB_TARGET_CPUFEATURES_H
#define TILEJIT_LIB_TARGET_CPUFEATURES_H

#include "tilejit/Target/TargetSpec.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilejit::target {

/// Bit i is feature i of the architecture's table.
using FeatureSet = uint64_t;

// clang-format off
enum X86Feature : uint8_t {
  Sse3, Ssse3, Sse41, Sse42, Popcnt, Cx16, Sahf, Lzcnt, Bmi, Bmi2, Movbe, Prfchw, Sse4a, Gfni,
  Avx, Avx2, Fma, F16c, AvxVnni,
  Avx512F, Avx512CD, Avx512DQ, Avx512BW, Avx512VL, Avx512Ifma, Avx512Vbmi, Avx512Vbmi2, Avx512Vnni, Avx512Bitalg,
  Avx512Vpopcntdq, Avx512Bf16, Avx512Fp16,
  AmxTile, AmxBf16, AmxInt8,
};
enum ArmFeature : uint8_t { Lse, FullFp16, DotProd, Bf16, I8mm, Sve, Sve2 };
enum RiscVFeature : uint8_t { RvV, Zvl256b, Zvl512b };
// clang-format on

template <typename... Features> constexpr FeatureSet featureSet(Features... features) {
  return ((FeatureSet{1} << features) | ... | FeatureSet{0});
}
constexpr bool contains(FeatureSet set, FeatureSet subset) { return (set & subset) == subset; }

/// LLVM's names, by bit.
std::span<const std::string_view> featureNames(CpuArch arch);
/// What `+x` and `-x` of LLVM's spelling make of a set; nothing where a name is unknown or has no sign.
std::optional<FeatureSet> applyFeatures(CpuArch arch, FeatureSet set, std::span<const std::string> changes);
/// The changes that turn `from` into `to`, sorted.
std::vector<std::string> featureChanges(CpuArch arch, FeatureSet from, FeatureSet to);
/// Names of a set, in the table's order: "avx2, fma".
std::string listFeatures(CpuArch arch, FeatureSet set);
/// Facts that follow from the features alone: vector width, registers, what is in hardware.
void setFeatureFacts(CpuFacts &facts, FeatureSet set);

/// Four registers of a CPUID leaf.
struct CpuidLeaf {
  uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};
/// Where CPUID is read from: the processor, or a test.
class CpuidSource {
public:
  virtual ~CpuidSource() = default;
  virtual CpuidLeaf leaf(uint32_t leaf, uint32_t subleaf) const = 0;
  /// XCR0: the register state that the operating system keeps. Called only where CPUID says that it can be read.
  virtual uint64_t xcr0() const = 0;
};
/// Features that the processor has and the operating system lets programs use.
FeatureSet x86Features(const CpuidSource &cpuid);
/// Vendor, family and model as one value: "intel 6 143"; for the table of rows.
struct X86Model {
  enum class Vendor : uint8_t { Other, Intel, Amd } vendor = Vendor::Other;
  uint32_t family = 0, model = 0;
};
X86Model x86Model(const CpuidSource &cpuid);

} // namespace tilejit::target

#endif // TILEJIT_LIB_TARGET_CPUFEATURES_H
