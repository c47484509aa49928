// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Targets as text: the line that travels in requests, the text behind cache keys, the name of a cache folder.
//
// The line has ten fields separated by ';': "tilejit-target-3", name, "sim" or nothing, triple, cpu, features
// (separated by ','), numbers joined by 'x', one letter for each hardware fact, sizes (separated by ','), description.
// The numbers are vector bits, registers and ports of a CPU, generation and lanes of a GPU; the sizes are those of a
// CPU's caches, or a GPU's limits. Reading it checks every field against what a target can be, because it comes from
// another process.

#include "tilejit/Target/TargetSpec.h"

#include "CpuRows.h"
#include "GpuRows.h"

#include "tilejit/Base/Hash.h"
#include "tilejit/Base/Text.h"

#include <algorithm>
#include <array>

namespace tilejit {

using namespace target;

namespace {

constexpr std::string_view lineMark = "tilejit-target-3", simMark = "sim";

/// A letter for each fact that is true or false.
template <typename Facts> struct FactLetter {
  char letter;
  bool Facts::*fact;
};
constexpr std::array cpuLetters = std::to_array<FactLetter<CpuFacts>>({
    {'f', &CpuFacts::hasFma},
    {'m', &CpuFacts::hasMasks},
    {'h', &CpuFacts::hasF16Convert},
    {'b', &CpuFacts::hasBf16Dot},
    {'i', &CpuFacts::hasInt8Dot},
    {'x', &CpuFacts::hasAmxBf16},
    {'y', &CpuFacts::hasAmxInt8},
});
constexpr std::array gpuLetters = std::to_array<FactLetter<GpuFacts>>({
    {'b', &GpuFacts::hasBf16},
    {'c', &GpuFacts::hasAsyncCopy},
    {'d', &GpuFacts::hasDot2},
    {'p', &GpuFacts::hasPackedF32},
    {'q', &GpuFacts::hasDot4},
    {'s', &GpuFacts::hasAtomicAddF32},
    {'w', &GpuFacts::hasAtomicAddF64},
});

using CpuPort = int CpuPorts::*;
constexpr std::array<CpuPort, 3> cpuPorts = {&CpuPorts::fma, &CpuPorts::loads, &CpuPorts::bf16Dots};
constexpr int mostPorts = 16;

/// A limit of a GPU, and the largest that any chip may have.
struct GpuLimit {
  int GpuFacts::*number;
  int largest;
};
constexpr std::array gpuLimits = std::to_array<GpuLimit>({
    {&GpuFacts::maxBlockThreads, 1 << 16},
    {&GpuFacts::maxUnitThreads, 1 << 16},
    {&GpuFacts::maxUnitBlocks, 1 << 10},
    {&GpuFacts::registersPerUnit, 1 << 24},
    {&GpuFacts::maxThreadRegisters, 1 << 12},
    {&GpuFacts::registerGranule, 1 << 8},
});
constexpr std::array<int64_t GpuFacts::*, 2> gpuSizes = {&GpuFacts::maxBlockShared, &GpuFacts::unitShared};
constexpr int64_t largestShared = int64_t{1} << 30;

std::string joinFeatures(const std::vector<std::string> &features) {
  std::string text;
  for (const std::string &feature : features)
    text += (text.empty() ? "" : ",") + feature;
  return text;
}

template <typename Facts, size_t count>
std::string lettersOf(const Facts &facts, const std::array<FactLetter<Facts>, count> &letters) {
  std::string text;
  for (const FactLetter<Facts> &row : letters)
    if (facts.*row.fact)
      text += row.letter;
  return text;
}

std::string factsText(const CpuFacts &facts) {
  std::string widths = std::to_string(facts.vectorBits) + "x" + std::to_string(facts.vectorRegisters);
  for (const CpuPort &port : cpuPorts)
    widths += "x" + std::to_string(facts.ports.*port);
  return widths + ";" + lettersOf(facts, cpuLetters) + ";" + std::to_string(facts.l1Bytes) + "," +
         std::to_string(facts.l2Bytes) + "," + std::to_string(facts.l3Bytes);
}

std::string factsText(const GpuFacts &facts) {
  std::string text = std::to_string(facts.generation) + "x" + std::to_string(facts.warpLanes) + ";" +
                     lettersOf(facts, gpuLetters) + ";";
  for (const GpuLimit &limit : gpuLimits)
    text += std::to_string(facts.*limit.number) + ",";
  return text + std::to_string(facts.*gpuSizes[0]) + "," + std::to_string(facts.*gpuSizes[1]);
}

/// triple;cpu;features;numbers;letters;sizes: what changes code.
std::string codeText(const TargetSpec &spec) {
  return spec.triple + ";" + spec.cpu + ";" + joinFeatures(spec.features) + ";" +
         (spec.isCpu() ? factsText(spec.cpuFacts) : factsText(spec.gpuFacts));
}

bool isNameText(std::string_view text) {
  constexpr std::string_view others = "_.-+:";
  return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           others.find(c) != std::string_view::npos;
  });
}

template <typename Facts, size_t count>
bool parseLetters(std::string_view text, const std::array<FactLetter<Facts>, count> &letters, Facts &facts) {
  for (const FactLetter<Facts> &row : letters)
    facts.*row.fact = text.find(row.letter) != std::string_view::npos;
  return lettersOf(facts, letters) == text;
}

bool parseWidths(std::string_view text, CpuFacts &facts) {
  auto parts = splitText(text, 'x');
  if (parts.size() != 2 + cpuPorts.size())
    return false;
  for (size_t i = 0; i < cpuPorts.size(); ++i) {
    auto number = parseInteger(parts[2 + i]);
    if (!number || *number < 1 || *number > mostPorts)
      return false;
    facts.ports.*cpuPorts[i] = static_cast<int>(*number);
  }
  auto bits = parseInteger(parts[0]), registers = parseInteger(parts[1]);
  if (!bits || !registers || *registers < 8 || *registers > 64)
    return false;
  if (*bits != 128 && *bits != 256 && *bits != 512)
    return false;
  facts.vectorBits = static_cast<int>(*bits);
  facts.vectorRegisters = static_cast<int>(*registers);
  return true;
}

bool parseCaches(std::string_view text, CpuFacts &facts) {
  auto parts = splitText(text, ',');
  if (parts.size() != 3)
    return false;
  std::array<int64_t *, 3> sizes = {&facts.l1Bytes, &facts.l2Bytes, &facts.l3Bytes};
  for (size_t i = 0; i < sizes.size(); ++i) {
    auto bytes = parseInteger(parts[i]);
    constexpr int64_t largest = int64_t{1} << 40;
    if (!bytes || *bytes < (i == 2 ? 0 : 1024) || *bytes > largest)
      return false;
    *sizes[i] = *bytes;
  }
  return true;
}

/// Kind and architecture.
bool parseTriple(TargetSpec &spec) {
  for (CpuArch arch : {CpuArch::X86_64, CpuArch::AArch64, CpuArch::RiscV64})
    if (tripleOf(arch) == spec.triple) {
      spec.cpuFacts.arch = arch;
      return true;
    }
  for (TargetKind kind : {TargetKind::Nvidia, TargetKind::Amd})
    if (tripleOf(kind) == spec.triple) {
      spec.kind = kind;
      return true;
    }
  return false;
}

bool parseGeneration(std::string_view text, GpuFacts &facts) {
  auto parts = splitText(text, 'x');
  if (parts.size() != 2)
    return false;
  auto generation = parseInteger(parts[0]), lanes = parseInteger(parts[1]);
  if (!generation || *generation < 1 || *generation > 0xffff || (lanes != 32 && lanes != 64))
    return false;
  facts.generation = static_cast<int>(*generation);
  facts.warpLanes = static_cast<int>(*lanes);
  return true;
}

bool parseLimits(std::string_view text, GpuFacts &facts) {
  auto parts = splitText(text, ',');
  if (parts.size() != gpuLimits.size() + gpuSizes.size())
    return false;
  for (size_t i = 0; i < parts.size(); ++i) {
    bool isSize = i >= gpuLimits.size();
    auto number = parseInteger(parts[i]);
    if (!number || *number < 1 || *number > (isSize ? largestShared : gpuLimits[i].largest))
      return false;
    if (isSize)
      facts.*gpuSizes[i - gpuLimits.size()] = *number;
    else
      facts.*gpuLimits[i].number = static_cast<int>(*number);
  }
  return true;
}

bool parseFeatureList(std::string_view text, std::vector<std::string> &features) {
  if (text.empty())
    return true;
  for (std::string_view feature : splitText(text, ',')) {
    if (!isNameText(feature) || (feature[0] != '+' && feature[0] != '-') || feature.size() < 2)
      return false;
    features.emplace_back(feature);
  }
  return std::is_sorted(features.begin(), features.end());
}

/// What is told apart by kind: `texts` are numbers, letters and sizes.
bool parseFacts(std::span<const std::string_view> texts, TargetSpec &spec) {
  if (spec.isCpu()) {
    CpuFacts &facts = spec.cpuFacts;
    return findCpu(facts.arch, spec.cpu) && parseWidths(texts[0], facts) && parseLetters(texts[1], cpuLetters, facts) &&
           parseCaches(texts[2], facts);
  }
  GpuFacts &facts = spec.gpuFacts;
  const GpuRow *row = findGpu(spec.cpu);
  return row && row->kind == spec.kind && areFeaturesOf(*row, spec.features) && parseGeneration(texts[0], facts) &&
         parseLetters(texts[1], gpuLetters, facts) && parseLimits(texts[2], facts);
}

/// The name of the target's chip or CPU, with what makes another target of it, and whether that says all.
std::pair<std::string, bool> spell(const TargetSpec &spec) {
  if (spec.isGpu()) {
    const GpuRow *row = findGpu(spec.cpu);
    if (!row)
      return {spec.cpu, false};
    Expected<TargetSpec> plain = specOf(*row);
    if (row->kind == TargetKind::Amd)
      plain->features = spec.features;
    return {spellGpu(*row, spec.features), plain->keyText() == spec.keyText()};
  }
  const CpuRow *row = findCpu(spec.cpuFacts.arch, spec.cpu);
  return row ? std::pair(std::string(row->name), specOf(*row).keyText() == spec.keyText()) : std::pair(spec.cpu, false);
}

} // namespace

std::string TargetSpec::keyText() const { return codeText(*this); }

std::string TargetSpec::folderName() const {
  auto [folder, isAll] = spell(*this);
  if (!isAll)
    folder += "-" + digest(keyText()).hex().substr(0, 12);
  for (char &c : folder)
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
          c == '-'))
      c = '_';
  return folder;
}

std::string encodeTarget(const TargetSpec &target) {
  std::string about = target.description;
  std::replace(about.begin(), about.end(), '\n', ' ');
  return std::string(lineMark) + ";" + target.name + ";" + (target.simulated ? std::string(simMark) : "") + ";" +
         codeText(target) + ";" + about;
}

Expected<TargetSpec> decodeTarget(std::string_view text) {
  Status malformed(StatusCode::InvalidArgument, "malformed target line '" + shorten(text, 80) + "'");
  auto fields = splitText(text, ';');
  constexpr size_t fieldCount = 9; // The description may hold ';'.
  if (fields.size() <= fieldCount || fields[0] != lineMark || text.size() > 4096)
    return malformed;
  TargetSpec spec;
  spec.name = fields[1];
  spec.simulated = fields[2] == simMark;
  spec.triple = fields[3];
  spec.cpu = fields[4];
  if (!isNameText(spec.name) || !(fields[2].empty() || spec.simulated) || !parseTriple(spec) ||
      !parseFeatureList(fields[5], spec.features) || !parseFacts(std::span(fields).subspan(6, 3), spec) ||
      (spec.simulated && spec.isCpu()))
    return malformed;
  size_t about = static_cast<size_t>(fields[fieldCount].data() - text.data());
  spec.description = text.substr(about);
  return spec;
}

std::string target::lineOfKey(std::string_view keyText) {
  return std::string(lineMark) + ";any;;" + std::string(keyText) + ";";
}

std::string targetNameOf(std::string_view keyText) {
  for (const TargetSpec &target : knownTargets())
    if (target.keyText() == keyText)
      return target.name;
  Expected<TargetSpec> target = decodeTarget(lineOfKey(keyText));
  auto [name, isAll] = target ? spell(*target) : std::pair(std::string(), false);
  return isAll ? name : shorten(keyText, 80);
}

} // namespace tilejit
