// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The rows. Cache sizes are those of a common part of the line; `native` reads its own.

#include "CpuRows.h"

#include "tilejit/Base/Text.h"

#include <algorithm>
#include <array>

namespace tilejit::target {

namespace {

constexpr FeatureSet level2 = featureSet(Sse3, Ssse3, Sse41, Sse42, Popcnt, Cx16, Sahf);
constexpr FeatureSet level3 = level2 | featureSet(Lzcnt, Bmi, Bmi2, Movbe, Avx, Avx2, Fma, F16c);
constexpr FeatureSet level4 = level3 | featureSet(Avx512F, Avx512CD, Avx512DQ, Avx512BW, Avx512VL);
constexpr FeatureSet skylakeServer = level4 | featureSet(Prfchw);
constexpr FeatureSet icelake =
    skylakeServer | featureSet(Gfni, Avx512Ifma, Avx512Vbmi, Avx512Vbmi2, Avx512Vnni, Avx512Bitalg, Avx512Vpopcntdq);
constexpr FeatureSet sapphire = icelake | featureSet(AvxVnni, Avx512Bf16, Avx512Fp16, AmxTile, AmxBf16, AmxInt8);
constexpr FeatureSet zen = level3 | featureSet(Prfchw, Sse4a);
constexpr FeatureSet zen4 = icelake | featureSet(Sse4a, Avx512Bf16);
constexpr FeatureSet armServer = featureSet(Lse, FullFp16, DotProd);
constexpr FeatureSet armBf16 = armServer | featureSet(Bf16, I8mm, Sve);

constexpr int64_t kib = 1024, mib = 1024 * kib;
constexpr CpuPorts single = {1, 1, 1}, twin = {2, 2, 2}, many = {4, 3, 2}, manyBf16 = {4, 3, 4};
constexpr CpuArch x86 = CpuArch::X86_64, arm = CpuArch::AArch64, riscv = CpuArch::RiscV64;

constexpr std::array rows = std::to_array<CpuRow>({
    {"x86-64", "x86-64", x86, 0, 32 * kib, 256 * kib, 8 * mib, "x86-64 baseline, SSE2", ""},
    {"x86-64-v2", "x86-64-v2", x86, level2, 32 * kib, 256 * kib, 8 * mib, "x86-64 level 2, SSE4.2", ""},
    {"x86-64-v3", "x86-64-v3", x86, level3, 32 * kib, 512 * kib, 8 * mib, "x86-64 level 3, AVX2 and FMA", ""},
    {"x86-64-v4", "x86-64-v4", x86, level4, 32 * kib, mib, 16 * mib, "x86-64 level 4, AVX-512", ""},
    {"haswell", "haswell", x86, level3, 32 * kib, 256 * kib, 8 * mib, "Intel Haswell and Broadwell", ""},
    {"skylake", "skylake", x86, level3 | featureSet(Prfchw), 32 * kib, 256 * kib, 8 * mib, "Intel Skylake client", ""},
    {"skylake-avx512", "skylake-avx512", x86, skylakeServer, 32 * kib, mib, 16 * mib, "Intel Skylake server", ""},
    {"cascadelake", "cascadelake", x86, skylakeServer | featureSet(Avx512Vnni), 32 * kib, mib, 16 * mib,
     "Intel Cascade Lake", ""},
    {"icelake-server", "icelake-server", x86, icelake, 48 * kib, 1280 * kib, 24 * mib, "Intel Ice Lake server", ""},
    {"sapphirerapids", "sapphirerapids", x86, sapphire, 48 * kib, 2 * mib, 32 * mib,
     "Intel Sapphire and Emerald Rapids", ""},
    {"graniterapids", "graniterapids", x86, sapphire, 48 * kib, 2 * mib, 64 * mib, "Intel Granite Rapids", ""},
    {"znver1", "znver1", x86, zen, 32 * kib, 512 * kib, 8 * mib, "AMD Zen", "", single},
    {"znver2", "znver2", x86, zen, 32 * kib, 512 * kib, 16 * mib, "AMD Zen 2", ""},
    {"znver3", "znver3", x86, zen, 32 * kib, 512 * kib, 32 * mib, "AMD Zen 3", ""},
    {"znver4", "znver4", x86, zen4, 32 * kib, mib, 32 * mib, "AMD Zen 4", "", single},
    {"znver5", "znver5", x86, zen4 | featureSet(AvxVnni), 48 * kib, mib, 32 * mib, "AMD Zen 5", "", twin},
    {"armv8-a", "generic", arm, 0, 32 * kib, 512 * kib, 2 * mib, "AArch64 baseline, NEON", ""},
    {"cortex-a76", "cortex-a76", arm, armServer, 64 * kib, 512 * kib, 2 * mib, "Arm Cortex-A76", ""},
    {"neoverse-n1", "neoverse-n1", arm, armServer, 64 * kib, mib, 32 * mib, "Arm Neoverse N1", ""},
    {"neoverse-v1", "neoverse-v1", arm, armBf16, 64 * kib, mib, 32 * mib, "Arm Neoverse V1", "", many},
    {"neoverse-n2", "neoverse-n2", arm, armBf16 | featureSet(Sve2), 64 * kib, mib, 32 * mib, "Arm Neoverse N2", ""},
    {"neoverse-v2", "neoverse-v2", arm, armBf16 | featureSet(Sve2), 64 * kib, 2 * mib, 64 * mib, "Arm Neoverse V2", "",
     manyBf16},
    {"apple-m1", "apple-m1", arm, armServer, 128 * kib, 12 * mib, 0, "Apple M1, ELF objects only", "", many},
    {"rv64gcv", "generic-rv64", riscv, featureSet(RvV), 32 * kib, 512 * kib, 2 * mib, "RISC-V with vectors of 128 bits",
     "+a,+c,+d,+f,+m,+v"},
    {"sifive-x280", "sifive-x280", riscv, featureSet(RvV, Zvl256b, Zvl512b), 32 * kib, 512 * kib, 2 * mib,
     "SiFive X280, vectors of 512 bits", "", single},
});

std::string_view x86NameFor(const X86Model &id) {
  if (id.vendor == X86Model::Vendor::Intel && id.family == 6) {
    switch (id.model) {
    case 0x3c:
    case 0x3d:
    case 0x3f:
    case 0x45:
    case 0x46:
    case 0x47:
    case 0x4f:
    case 0x56:
      return "haswell";
    case 0x4e:
    case 0x5e:
    case 0x8e:
    case 0x9e:
    case 0xa5:
    case 0xa6:
      return "skylake";
    case 0x55:
      return "skylake-avx512";
    case 0x6a:
    case 0x6c:
      return "icelake-server";
    case 0x8f:
    case 0xcf:
      return "sapphirerapids";
    case 0xad:
    case 0xae:
      return "graniterapids";
    default:
      return {};
    }
  }
  if (id.vendor == X86Model::Vendor::Amd) {
    if (id.family == 0x17)
      return id.model < 0x30 ? "znver1" : "znver2";
    if (id.family == 0x19)
      return (id.model >= 0x10 && id.model <= 0x1f) || id.model >= 0x60 ? "znver4" : "znver3";
    if (id.family == 0x1a)
      return "znver5";
  }
  return {};
}

} // namespace

std::span<const CpuRow> cpuRows() { return rows; }

const CpuRow *findRow(std::string_view name) {
  auto found = std::find_if(rows.begin(), rows.end(), [&](const CpuRow &row) { return row.name == name; });
  return found == rows.end() ? nullptr : &*found;
}

const CpuRow *findCpu(CpuArch arch, std::string_view cpu) {
  auto found =
      std::find_if(rows.begin(), rows.end(), [&](const CpuRow &row) { return row.arch == arch && row.cpu == cpu; });
  return found == rows.end() ? nullptr : &*found;
}

const CpuRow &x86RowFor(const X86Model &model, FeatureSet features) {
  if (const CpuRow *row = findRow(x86NameFor(model)))
    return *row;
  for (std::string_view name : {"x86-64-v4", "x86-64-v3", "x86-64-v2"})
    if (const CpuRow *row = findRow(name); contains(features, row->features))
      return *row;
  return *findRow("x86-64");
}

std::string_view tripleOf(CpuArch arch) {
  switch (arch) {
  case CpuArch::X86_64:
    return "x86_64-unknown-linux-gnu";
  case CpuArch::AArch64:
    return "aarch64-unknown-linux-gnu";
  case CpuArch::RiscV64:
    return "riscv64-unknown-linux-gnu";
  }
  return {};
}

CpuPorts portsOf(const CpuRow &row, int vectorBits) {
  CpuFacts full;
  full.arch = row.arch;
  setFeatureFacts(full, row.features);
  return full.vectorBits == vectorBits ? row.ports : CpuPorts();
}

TargetSpec specOf(const CpuRow &row) {
  TargetSpec spec;
  spec.name = row.name;
  spec.triple = tripleOf(row.arch);
  spec.cpu = row.cpu;
  if (!row.extra.empty())
    for (std::string_view feature : splitText(row.extra, ','))
      spec.features.emplace_back(feature);
  spec.cpuFacts.arch = row.arch;
  setFeatureFacts(spec.cpuFacts, row.features);
  spec.cpuFacts.ports = portsOf(row, spec.cpuFacts.vectorBits);
  spec.cpuFacts.l1Bytes = row.l1;
  spec.cpuFacts.l2Bytes = row.l2;
  spec.cpuFacts.l3Bytes = row.l3;
  spec.description = row.about;
  return spec;
}

} // namespace tilejit::target
