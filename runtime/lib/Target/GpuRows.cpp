// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The rows. NVIDIA: limits from the tables of the CUDA programming guide's appendix on compute capabilities, the PTX
// version from the release history in the PTX ISA manual. AMD: settings and register granules from LLVM's "User Guide
// for AMDGPU Backend", sizes from ROCm's page of hardware specifications, instructions from AMD's ISA manuals as LLVM
// selects them. A generic target has what all chips of its family have.

#include "GpuRows.h"

#include "tilejit/Base/Text.h"

#include <algorithm>
#include <array>

namespace tilejit::target {

namespace {

constexpr int64_t kib = 1024;

constexpr GpuFacts nvidia(int generation, int unitThreads, int unitBlocks, int64_t blockShared, int64_t unitShared) {
  GpuFacts facts;
  facts.generation = generation;
  facts.maxUnitThreads = unitThreads;
  facts.maxUnitBlocks = unitBlocks;
  facts.maxBlockShared = blockShared;
  facts.unitShared = unitShared;
  facts.hasBf16 = facts.hasAsyncCopy = generation >= 80;
  facts.hasDot4 = true;
  return facts;
}

/// A compute unit of GCN or CDNA: four SIMDs with 256 registers for each of 64 lanes.
constexpr GpuFacts gcn(int generation) {
  GpuFacts facts;
  facts.generation = generation;
  facts.warpLanes = 64;
  facts.maxUnitThreads = 4 * 10 * 64;
  facts.maxUnitBlocks = 16;
  facts.registersPerUnit = 4 * 256 * 64;
  facts.maxThreadRegisters = 256;
  facts.registerGranule = 4;
  facts.maxBlockShared = facts.unitShared = 64 * kib;
  facts.hasAsyncCopy = true;
  facts.hasDot2 = facts.hasDot4 = generation >= 0x906;
  facts.hasAtomicAddF32 = generation >= 0x908;
  facts.hasAtomicAddF64 = false;
  return facts;
}

/// From CDNA 2 on a SIMD has one file of 512 registers, which accumulators share.
constexpr GpuFacts cdna2(int generation) {
  GpuFacts facts = gcn(generation);
  facts.maxUnitThreads = 4 * 8 * 64;
  facts.registersPerUnit = 4 * 512 * 64;
  facts.maxThreadRegisters = 512;
  facts.registerGranule = 8;
  facts.hasPackedF32 = true;
  facts.hasAtomicAddF64 = true;
  return facts;
}

constexpr GpuFacts cdna4() {
  GpuFacts facts = cdna2(0x950);
  facts.maxBlockShared = facts.unitShared = 160 * kib;
  facts.hasBf16 = true;
  return facts;
}

/// A work-group processor of RDNA: four SIMDs of 32 lanes. `registers` are those of a SIMD for each lane.
constexpr GpuFacts rdna(int generation, int waves, int registers, int granule) {
  GpuFacts facts;
  facts.generation = generation;
  facts.maxUnitThreads = 4 * waves * 32;
  facts.registersPerUnit = 4 * registers * 32;
  facts.maxThreadRegisters = 256;
  facts.registerGranule = granule;
  facts.maxBlockShared = 64 * kib;
  facts.unitShared = 128 * kib;
  facts.hasAsyncCopy = generation < 0x1100;
  facts.hasDot2 = facts.hasDot4 = generation >= 0x1030;
  facts.hasAtomicAddF32 = generation >= 0x1100;
  facts.hasAtomicAddF64 = false;
  return facts;
}

constexpr TargetKind nv = TargetKind::Nvidia, amd = TargetKind::Amd;
constexpr GpuFacts rdna1 = rdna(0x1010, 20, 1024, 8), rdna2 = rdna(0x1030, 16, 1024, 16);
constexpr GpuFacts rdna3 = rdna(0x1100, 16, 1536, 24), rdna4 = rdna(0x1200, 16, 1536, 24);

constexpr GpuFacts as(GpuFacts facts, int generation) {
  facts.generation = generation;
  return facts;
}

// sm_89 needs more than the 7.8 of its first drivers: conversions of 8-bit floats came with 8.1.
constexpr std::array rows = std::to_array<GpuRow>({
    {"sm_75", nv, nvidia(75, 1024, 16, 64 * kib, 64 * kib), 63, false, false, true, "NVIDIA Turing"},
    {"sm_80", nv, nvidia(80, 2048, 32, 163 * kib, 164 * kib), 70, false, false, true, "NVIDIA Ampere (A100)"},
    {"sm_86", nv, nvidia(86, 1536, 16, 99 * kib, 100 * kib), 71, false, false, true, "NVIDIA Ampere (A10, RTX 30)"},
    {"sm_87", nv, nvidia(87, 1536, 16, 163 * kib, 164 * kib), 74, false, false, false, "NVIDIA Ampere (Orin)"},
    {"sm_89", nv, nvidia(89, 1536, 24, 99 * kib, 100 * kib), 81, false, false, true, "NVIDIA Ada (L4, L40, RTX 40)"},
    {"sm_90", nv, nvidia(90, 2048, 32, 227 * kib, 228 * kib), 78, false, false, true,
     "NVIDIA Hopper, portable instructions"},
    {"sm_90a", nv, nvidia(90, 2048, 32, 227 * kib, 228 * kib), 80, false, false, true, "NVIDIA Hopper (H100, H200)"},
    {"sm_100a", nv, nvidia(100, 2048, 32, 227 * kib, 228 * kib), 86, false, false, false, "NVIDIA Blackwell (B200)"},
    {"sm_103a", nv, nvidia(103, 2048, 32, 227 * kib, 228 * kib), 88, false, false, false, "NVIDIA Blackwell (B300)"},
    {"sm_110a", nv, nvidia(110, 1536, 24, 227 * kib, 228 * kib), 90, false, false, false, "NVIDIA Blackwell (Thor)"},
    {"sm_120a", nv, nvidia(120, 1536, 24, 99 * kib, 100 * kib), 87, false, false, false, "NVIDIA Blackwell (RTX 50)"},
    {"sm_121a", nv, nvidia(121, 1536, 24, 99 * kib, 100 * kib), 88, false, false, false, "NVIDIA Blackwell (GB10)"},
    {"gfx900", amd, gcn(0x900), 0, true, false, false, "AMD Vega 10 (MI25)", "gfx9-generic"},
    {"gfx906", amd, gcn(0x906), 0, true, true, true, "AMD Vega 20 (MI50, MI60)", "gfx9-generic"},
    {"gfx908", amd, gcn(0x908), 0, true, true, true, "AMD CDNA (MI100)"},
    {"gfx90a", amd, cdna2(0x90a), 0, true, true, true, "AMD CDNA 2 (MI210, MI250)"},
    {"gfx942", amd, cdna2(0x942), 0, true, true, true, "AMD CDNA 3 (MI300, MI325)", "gfx9-4-generic"},
    {"gfx950", amd, cdna4(), 0, true, true, true, "AMD CDNA 4 (MI350, MI355)", "gfx9-4-generic"},
    {"gfx1010", amd, rdna1, 0, true, false, false, "AMD RDNA (RX 5700)", "gfx10-1-generic"},
    {"gfx1030", amd, rdna2, 0, false, false, true, "AMD RDNA 2 (RX 6800, W6800)", "gfx10-3-generic"},
    {"gfx1100", amd, rdna3, 0, false, false, true, "AMD RDNA 3 (RX 7900, W7900)", "gfx11-generic"},
    {"gfx1101", amd, as(rdna3, 0x1101), 0, false, false, false, "AMD RDNA 3 (RX 7800, W7700)", "gfx11-generic"},
    {"gfx1151", amd, as(rdna3, 0x1151), 0, false, false, false, "AMD RDNA 3.5 (Ryzen AI Max)", "gfx11-generic"},
    {"gfx1200", amd, rdna4, 0, false, false, false, "AMD RDNA 4 (RX 9060)", "gfx12-generic"},
    {"gfx1201", amd, as(rdna4, 0x1201), 0, false, false, true, "AMD RDNA 4 (RX 9070, R9700)", "gfx12-generic"},
    {"gfx9-generic", amd, gcn(0x900), 0, true, false, false, "any AMD gfx9 chip before CDNA"},
    {"gfx9-4-generic", amd, cdna2(0x940), 0, true, true, false, "any AMD CDNA 3 or CDNA 4 chip"},
    {"gfx10-1-generic", amd, rdna1, 0, true, false, false, "any AMD RDNA chip"},
    {"gfx10-3-generic", amd, rdna2, 0, false, false, false, "any AMD RDNA 2 chip"},
    {"gfx11-generic", amd, rdna(0x1100, 16, 1024, 16), 0, false, false, false, "any AMD RDNA 3 or 3.5 chip"},
    {"gfx12-generic", amd, rdna4, 0, false, false, false, "any AMD RDNA 4 chip"},
});

bool hasSetting(const GpuRow &row, std::string_view name) {
  return (name == "xnack" && row.hasXnack) || (name == "sramecc" && row.hasSramEcc);
}

Status noSetting(const GpuRow &row, std::string_view setting) {
  std::string known;
  for (std::string_view name : {"sramecc", "xnack"})
    if (hasSetting(row, name))
      known += (known.empty() ? "" : ", ") + std::string(name) + "+, " + std::string(name) + "-";
  std::string name(row.name);
  return Status(StatusCode::InvalidArgument, "target " + name + " has no setting '" + shorten(setting, 40) + "'")
      .withHint(known.empty() ? "write just " + name : "after " + name + ": each of " + known + " may follow a colon");
}

} // namespace

std::span<const GpuRow> gpuRows() { return rows; }

const GpuRow *findGpu(std::string_view name) {
  auto found = std::find_if(rows.begin(), rows.end(), [&](const GpuRow &row) { return row.name == name; });
  return found == rows.end() ? nullptr : &*found;
}

std::string_view tripleOf(TargetKind kind) {
  switch (kind) {
  case TargetKind::Nvidia:
    return "nvptx64-nvidia-cuda";
  case TargetKind::Amd:
    return "amdgcn-amd-amdhsa";
  case TargetKind::Cpu:
    break;
  }
  return {};
}

Expected<TargetSpec> specOf(const GpuRow &row, std::string_view settings) {
  TargetSpec spec;
  spec.kind = row.kind;
  spec.name = row.name;
  spec.triple = tripleOf(row.kind);
  spec.cpu = row.name;
  spec.gpuFacts = row.facts;
  spec.description = row.about;
  if (row.kind == TargetKind::Nvidia)
    spec.features.push_back("+ptx" + std::to_string(row.ptx));
  if (settings.empty())
    return spec;
  for (std::string_view setting : splitText(settings, ':')) {
    std::string_view name = setting.substr(0, setting.size() - std::min<size_t>(setting.size(), 1));
    if (!hasSetting(row, name) || (setting.back() != '+' && setting.back() != '-'))
      return noSetting(row, setting);
    auto isSame = [&](const std::string &feature) { return std::string_view(feature).substr(1) == name; };
    if (std::any_of(spec.features.begin(), spec.features.end(), isSame))
      return Status(StatusCode::InvalidArgument,
                    "target " + spec.name + " has the setting '" + std::string(name) + "' twice");
    spec.features.push_back(setting.back() + std::string(name));
  }
  std::sort(spec.features.begin(), spec.features.end());
  spec.name = spellGpu(row, spec.features);
  return spec;
}

bool areFeaturesOf(const GpuRow &row, std::span<const std::string> features) {
  if (row.kind == TargetKind::Nvidia)
    return features.size() == 1 && features[0].starts_with("+ptx") &&
           parseInteger(std::string_view(features[0]).substr(4)).value_or(0) >= row.ptx;
  bool known = std::all_of(features.begin(), features.end(), [&](const std::string &feature) {
    return (feature[0] == '+' || feature[0] == '-') && hasSetting(row, std::string_view(feature).substr(1));
  });
  // Sorted, so that both signs of one name are two features.
  return known && features.size() <= 2 && (features.size() < 2 || features[0].substr(1) != features[1].substr(1));
}

std::string spellGpu(const GpuRow &row, std::span<const std::string> features) {
  std::string text(row.name);
  if (row.kind != TargetKind::Amd)
    return text;
  std::vector<std::string_view> sorted(features.begin(), features.end());
  std::sort(sorted.begin(), sorted.end(), [](auto a, auto b) { return a.substr(1) < b.substr(1); });
  for (std::string_view feature : sorted)
    text.append(":").append(feature.substr(1)).append(feature.substr(0, 1));
  return text;
}

} // namespace tilejit::target
