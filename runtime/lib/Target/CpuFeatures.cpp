// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Tables of features: names, where CPUID has them, what register state they need; and set arithmetic on them.

#include "CpuFeatures.h"

#include <algorithm>
#include <array>

namespace tilejit::target {

namespace {

enum class Register : uint8_t { Eax, Ebx, Ecx, Edx };
/// What the operating system must save for a feature: nothing beyond SSE, the ymm registers, the zmm and mask ones, the
/// matrix registers of AMX.
enum class State : uint8_t { Sse, Ymm, Zmm, Tiles };

struct X86Row {
  std::string_view name;
  uint32_t leaf, subleaf;
  Register place;
  uint8_t bit;
  State state;
};

constexpr std::array x86Rows = std::to_array<X86Row>({
    {"sse3", 1, 0, Register::Ecx, 0, State::Sse},
    {"ssse3", 1, 0, Register::Ecx, 9, State::Sse},
    {"sse4.1", 1, 0, Register::Ecx, 19, State::Sse},
    {"sse4.2", 1, 0, Register::Ecx, 20, State::Sse},
    {"popcnt", 1, 0, Register::Ecx, 23, State::Sse},
    {"cx16", 1, 0, Register::Ecx, 13, State::Sse},
    {"sahf", 0x80000001, 0, Register::Ecx, 0, State::Sse},
    {"lzcnt", 0x80000001, 0, Register::Ecx, 5, State::Sse},
    {"bmi", 7, 0, Register::Ebx, 3, State::Sse},
    {"bmi2", 7, 0, Register::Ebx, 8, State::Sse},
    {"movbe", 1, 0, Register::Ecx, 22, State::Sse},
    {"prfchw", 0x80000001, 0, Register::Ecx, 8, State::Sse},
    {"sse4a", 0x80000001, 0, Register::Ecx, 6, State::Sse},
    {"gfni", 7, 0, Register::Ecx, 8, State::Sse},
    {"avx", 1, 0, Register::Ecx, 28, State::Ymm},
    {"avx2", 7, 0, Register::Ebx, 5, State::Ymm},
    {"fma", 1, 0, Register::Ecx, 12, State::Ymm},
    {"f16c", 1, 0, Register::Ecx, 29, State::Ymm},
    {"avxvnni", 7, 1, Register::Eax, 4, State::Ymm},
    {"avx512f", 7, 0, Register::Ebx, 16, State::Zmm},
    {"avx512cd", 7, 0, Register::Ebx, 28, State::Zmm},
    {"avx512dq", 7, 0, Register::Ebx, 17, State::Zmm},
    {"avx512bw", 7, 0, Register::Ebx, 30, State::Zmm},
    {"avx512vl", 7, 0, Register::Ebx, 31, State::Zmm},
    {"avx512ifma", 7, 0, Register::Ebx, 21, State::Zmm},
    {"avx512vbmi", 7, 0, Register::Ecx, 1, State::Zmm},
    {"avx512vbmi2", 7, 0, Register::Ecx, 6, State::Zmm},
    {"avx512vnni", 7, 0, Register::Ecx, 11, State::Zmm},
    {"avx512bitalg", 7, 0, Register::Ecx, 12, State::Zmm},
    {"avx512vpopcntdq", 7, 0, Register::Ecx, 14, State::Zmm},
    {"avx512bf16", 7, 1, Register::Eax, 5, State::Zmm},
    {"avx512fp16", 7, 0, Register::Edx, 23, State::Zmm},
    {"amx-tile", 7, 0, Register::Edx, 24, State::Tiles},
    {"amx-bf16", 7, 0, Register::Edx, 22, State::Tiles},
    {"amx-int8", 7, 0, Register::Edx, 25, State::Tiles},
});

constexpr auto x86Names = [] {
  std::array<std::string_view, x86Rows.size()> names;
  for (size_t i = 0; i < names.size(); ++i)
    names[i] = x86Rows[i].name;
  return names;
}();
constexpr std::array<std::string_view, 7> armNames = {"lse", "fullfp16", "dotprod", "bf16", "i8mm", "sve", "sve2"};
constexpr std::array<std::string_view, 3> riscVNames = {"v", "zvl256b", "zvl512b"};

uint32_t registerOf(const CpuidLeaf &leaf, Register place) {
  switch (place) {
  case Register::Eax:
    return leaf.eax;
  case Register::Ebx:
    return leaf.ebx;
  case Register::Ecx:
    return leaf.ecx;
  case Register::Edx:
    return leaf.edx;
  }
  return 0;
}

/// The widest state that the operating system saves.
State usableState(const CpuidSource &cpuid) {
  constexpr uint32_t osxsave = 1u << 27;
  if (!(cpuid.leaf(1, 0).ecx & osxsave))
    return State::Sse;
  uint64_t saved = cpuid.xcr0();
  if ((saved & 0x6) != 0x6)
    return State::Sse;
  constexpr uint64_t zmm = 0xe6, tiles = zmm | 0x60000;
  return (saved & tiles) == tiles ? State::Tiles : (saved & zmm) == zmm ? State::Zmm : State::Ymm;
}

} // namespace

std::span<const std::string_view> featureNames(CpuArch arch) {
  switch (arch) {
  case CpuArch::X86_64:
    return x86Names;
  case CpuArch::AArch64:
    return armNames;
  case CpuArch::RiscV64:
    return riscVNames;
  }
  return {};
}

std::optional<FeatureSet> applyFeatures(CpuArch arch, FeatureSet set, std::span<const std::string> changes) {
  auto names = featureNames(arch);
  for (const std::string &change : changes) {
    if (change.size() < 2 || (change[0] != '+' && change[0] != '-'))
      return std::nullopt;
    auto found = std::find(names.begin(), names.end(), std::string_view(change).substr(1));
    if (found == names.end())
      continue; // A feature that no table needs: base extensions of RISC-V.
    FeatureSet bit = FeatureSet{1} << (found - names.begin());
    set = change[0] == '+' ? set | bit : set & ~bit;
  }
  return set;
}

std::vector<std::string> featureChanges(CpuArch arch, FeatureSet from, FeatureSet to) {
  std::vector<std::string> changes;
  auto names = featureNames(arch);
  for (size_t i = 0; i < names.size(); ++i) {
    FeatureSet bit = FeatureSet{1} << i;
    if ((from ^ to) & bit)
      changes.push_back((to & bit ? "+" : "-") + std::string(names[i]));
  }
  std::sort(changes.begin(), changes.end());
  return changes;
}

std::string listFeatures(CpuArch arch, FeatureSet set) {
  std::string text;
  auto names = featureNames(arch);
  for (size_t i = 0; i < names.size(); ++i)
    if (set & (FeatureSet{1} << i))
      text += (text.empty() ? "" : ", ") + std::string(names[i]);
  return text;
}

void setFeatureFacts(CpuFacts &facts, FeatureSet set) {
  auto has = [&](auto... features) { return contains(set, featureSet(features...)); };
  switch (facts.arch) {
  case CpuArch::X86_64: {
    bool wide = has(Avx512F, Avx512CD, Avx512DQ, Avx512BW, Avx512VL);
    facts.vectorBits = wide ? 512 : has(Avx2) ? 256 : 128;
    facts.vectorRegisters = wide ? 32 : 16;
    facts.hasFma = has(Fma);
    facts.hasMasks = wide;
    facts.hasF16Convert = has(F16c);
    facts.hasBf16Dot = has(Avx512Bf16);
    facts.hasInt8Dot = wide ? has(Avx512Vnni) : has(AvxVnni);
    facts.hasAmxBf16 = facts.hasBf16Dot && has(AmxTile, AmxBf16);
    facts.hasAmxInt8 = facts.hasInt8Dot && has(AmxTile, AmxInt8);
    return;
  }
  case CpuArch::AArch64:
    // Vectors are emitted as NEON; code for one length of SVE would not run on another.
    facts.vectorBits = 128;
    facts.vectorRegisters = 32;
    facts.hasFma = true;
    facts.hasMasks = false;
    facts.hasF16Convert = true;
    facts.hasBf16Dot = has(Bf16);
    facts.hasInt8Dot = has(DotProd);
    return;
  case CpuArch::RiscV64:
    facts.vectorBits = has(Zvl512b) ? 512 : has(Zvl256b) ? 256 : 128;
    facts.vectorRegisters = 32;
    facts.hasFma = true;
    facts.hasMasks = has(RvV);
    facts.hasF16Convert = false;
    facts.hasBf16Dot = false;
    facts.hasInt8Dot = false;
    return;
  }
}

FeatureSet x86Features(const CpuidSource &cpuid) {
  uint32_t lastBasic = cpuid.leaf(0, 0).eax;
  uint32_t lastExtended = cpuid.leaf(0x80000000, 0).eax;
  uint32_t lastSubleaf7 = lastBasic >= 7 ? cpuid.leaf(7, 0).eax : 0;
  State usable = usableState(cpuid);
  FeatureSet set = 0;
  for (size_t i = 0; i < x86Rows.size(); ++i) {
    const X86Row &row = x86Rows[i];
    bool known = row.leaf >= 0x80000000 ? row.leaf <= lastExtended : row.leaf <= lastBasic;
    if (!known || (row.leaf == 7 && row.subleaf > lastSubleaf7) || row.state > usable)
      continue;
    if (registerOf(cpuid.leaf(row.leaf, row.subleaf), row.place) >> row.bit & 1)
      set |= FeatureSet{1} << i;
  }
  return set;
}

X86Model x86Model(const CpuidSource &cpuid) {
  X86Model model;
  CpuidLeaf vendor = cpuid.leaf(0, 0);
  if (vendor.ebx == 0x756e6547 && vendor.edx == 0x49656e69 && vendor.ecx == 0x6c65746e) // "GenuineIntel"
    model.vendor = X86Model::Vendor::Intel;
  else if (vendor.ebx == 0x68747541 && vendor.edx == 0x69746e65 && vendor.ecx == 0x444d4163) // "AuthenticAMD"
    model.vendor = X86Model::Vendor::Amd;
  uint32_t signature = cpuid.leaf(1, 0).eax;
  model.family = signature >> 8 & 0xf;
  model.model = signature >> 4 & 0xf;
  if (model.family == 6 || model.family == 0xf)
    model.model |= (signature >> 16 & 0xf) << 4;
  if (model.family == 0xf)
    model.family += signature >> 20 & 0xff;
  return model;
}

} // namespace tilejit::target
