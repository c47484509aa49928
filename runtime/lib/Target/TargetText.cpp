// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Targets as text: the line that travels in requests, the text behind cache keys, the name of a cache folder.
//
// The line has ten fields separated by ';': "tilejit-target-1", name, triple, cpu, features (separated by ','), arch,
// vector bits and registers, one letter for each hardware fact, cache sizes, description. Reading it checks every field
// against what a target can be, because it comes from another process.

#include "tilejit/Target/TargetSpec.h"

#include "CpuRows.h"

#include "tilejit/Base/Hash.h"
#include "tilejit/Base/Text.h"

#include <algorithm>
#include <array>

namespace tilejit {

using namespace target;

namespace {

constexpr std::string_view lineMark = "tilejit-target-1";

struct FactLetter {
  char letter;
  bool CpuFacts::*fact;
};
constexpr std::array factLetters = {
    FactLetter{'f', &CpuFacts::hasFma},        FactLetter{'m', &CpuFacts::hasMasks},
    FactLetter{'h', &CpuFacts::hasF16Convert}, FactLetter{'b', &CpuFacts::hasBf16Dot},
    FactLetter{'i', &CpuFacts::hasInt8Dot},
};

std::string joinFeatures(const std::vector<std::string> &features) {
  std::string text;
  for (const std::string &feature : features)
    text += (text.empty() ? "" : ",") + feature;
  return text;
}

/// triple;cpu;features;widths;facts;caches: what changes code.
std::string codeText(const TargetSpec &spec) {
  const CpuFacts &facts = spec.cpuFacts;
  std::string text = spec.triple + ";" + spec.cpu + ";" + joinFeatures(spec.features) + ";" +
                     std::to_string(facts.vectorBits) + "x" + std::to_string(facts.vectorRegisters) + ";";
  for (const FactLetter &row : factLetters)
    if (facts.*row.fact)
      text += row.letter;
  return text + ";" + std::to_string(facts.l1Bytes) + "," + std::to_string(facts.l2Bytes) + "," +
         std::to_string(facts.l3Bytes);
}

bool isNameText(std::string_view text) {
  constexpr std::string_view others = "_.-+:";
  return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           others.find(c) != std::string_view::npos;
  });
}

bool parseFacts(std::string_view text, CpuFacts &facts) {
  for (char c : text) {
    auto row = std::find_if(factLetters.begin(), factLetters.end(), [&](const FactLetter &r) { return r.letter == c; });
    if (row == factLetters.end())
      return false;
    facts.*row->fact = true;
  }
  return true;
}

bool parseWidths(std::string_view text, CpuFacts &facts) {
  auto parts = splitText(text, 'x');
  if (parts.size() != 2)
    return false;
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

bool parseArch(const std::string &triple, CpuFacts &facts) {
  for (CpuArch arch : {CpuArch::X86_64, CpuArch::AArch64, CpuArch::RiscV64})
    if (tripleOf(arch) == triple) {
      facts.arch = arch;
      return true;
    }
  return false;
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

} // namespace

std::string TargetSpec::keyText() const { return codeText(*this); }

std::string TargetSpec::folderName() const {
  const CpuRow *row = findCpu(cpuFacts.arch, cpu);
  std::string folder = row ? std::string(row->name) : cpu;
  if (!row || specOf(*row).keyText() != keyText())
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
  return std::string(lineMark) + ";" + target.name + ";" + codeText(target) + ";" + about;
}

Expected<TargetSpec> decodeTarget(std::string_view text) {
  Status malformed(StatusCode::InvalidArgument, "malformed target line '" + shorten(text, 80) + "'");
  auto fields = splitText(text, ';');
  constexpr size_t fieldCount = 8; // The description may hold ';'.
  if (fields.size() <= fieldCount || fields[0] != lineMark || text.size() > 4096)
    return malformed;
  TargetSpec spec;
  spec.name = fields[1];
  spec.triple = fields[2];
  spec.cpu = fields[3];
  CpuFacts &facts = spec.cpuFacts;
  if (!isNameText(spec.name) || !parseArch(spec.triple, facts) || !findCpu(facts.arch, spec.cpu) ||
      !parseFeatureList(fields[4], spec.features) || !parseWidths(fields[5], facts) || !parseFacts(fields[6], facts) ||
      !parseCaches(fields[7], facts))
    return malformed;
  size_t about = static_cast<size_t>(fields[fieldCount].data() - text.data());
  spec.description = text.substr(about);
  return spec;
}

} // namespace tilejit
