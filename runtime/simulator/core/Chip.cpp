// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Rows of the simulated chips. Shared memory: CUDA C++ Programming Guide, table "Technical Specifications per Compute
// Capability" (opt-in maximum of a block); LDS: LLVM's AMDGPU usage guide and AMD's ISA documents.

#include "core/Chip.h"

#include <vector>

namespace tilejit::sim {

namespace {

constexpr uint32_t kib = 1024;

const Chip table[] = {
    {{"sm_75", "NVIDIA Turing", true, 32, 64 * kib}, Generation::Turing, 75, false},
    {{"sm_80", "NVIDIA Ampere A100", true, 32, 163 * kib}, Generation::Ampere, 80, false},
    {{"sm_86", "NVIDIA Ampere, consumer", true, 32, 99 * kib}, Generation::Ampere, 86, false},
    {{"sm_89", "NVIDIA Ada", true, 32, 99 * kib}, Generation::Ada, 89, false},
    {{"sm_90", "NVIDIA Hopper, portable instructions", true, 32, 227 * kib}, Generation::Hopper, 90, false},
    {{"sm_90a", "NVIDIA Hopper", true, 32, 227 * kib}, Generation::Hopper, 90, true},
    {{"gfx906", "AMD Vega 20, wave64", false, 64, 64 * kib}, Generation::Gcn5, 0x906, false},
    {{"gfx908", "AMD CDNA 1, wave64", false, 64, 64 * kib}, Generation::Cdna1, 0x908, false},
    {{"gfx90a", "AMD CDNA 2, wave64", false, 64, 64 * kib}, Generation::Cdna2, 0x90a, false},
    {{"gfx942", "AMD CDNA 3, wave64", false, 64, 64 * kib}, Generation::Cdna3, 0x942, false},
    {{"gfx950", "AMD CDNA 4, wave64", false, 64, 160 * kib}, Generation::Cdna4, 0x950, false, 64},
    {{"gfx1030", "AMD RDNA 2, wave32", false, 32, 64 * kib}, Generation::Rdna2, 0x1030, false},
    {{"gfx1100", "AMD RDNA 3, wave32", false, 32, 64 * kib}, Generation::Rdna3, 0x1100, false},
    {{"gfx1201", "AMD RDNA 4, wave32", false, 32, 64 * kib}, Generation::Rdna4, 0x1201, false},
};

} // namespace

std::span<const Chip> chips() { return table; }

const Chip *findChip(std::string_view name) {
  std::string_view plain = name.substr(0, name.find(':'));
  for (const Chip &chip : table)
    if (chip.info.name == plain)
      return &chip;
  return nullptr;
}

} // namespace tilejit::sim
