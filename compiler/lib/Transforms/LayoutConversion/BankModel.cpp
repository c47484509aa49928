// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Rows of the chips, and the count of wavefronts: see the header.

#include "tilejit/Transforms/BankModel.h"

#include <algorithm>

namespace tilejit::tilegpu {

namespace {

// Lanes in order, 128 bytes at a time, and 256 at a time.
constexpr uint64_t k32Lanes[] = {1, 2, 4, 8, 16}, k16Lanes[] = {1, 2, 4, 8}, k8Lanes[] = {1, 2, 4};
constexpr uint64_t k64Lanes[] = {1, 2, 4, 8, 16, 32};
// Composable Kernel's documentation has 16-byte reads of CDNA served in lanes 0-3 and 20-23, 4-7 and 16-19, and so on.
constexpr uint64_t kCrossed[] = {1, 2, 20};
constexpr Phases kOf128{k32Lanes, k16Lanes, k8Lanes}, kOf256{k64Lanes, k32Lanes, k16Lanes},
    kCrossed128{k32Lanes, k16Lanes, kCrossed};

// NVIDIA: 32 banks and the order of lanes follow from "Shared Memory" in the CUDA C++ Programming Guide and from its
// profiler's count of wavefronts. AMD: banks are in the ISA documents; a shuffle (ds_bpermute) is an LDS access of 4
// bytes.
constexpr std::string_view kCosts = "costs of shuffles, selects and waits are estimates";
constexpr BankModel kRows[] = {
    {"nvidia", 5, 32, kOf128, kOf128, kOf128, 4, 2, 80, 48, kCosts},
    {"cdna", 6, 32, kOf128, kOf128, kCrossed128, 8, 4, 80, 48,
     "which lanes share a wavefront at 8 and 16 bytes (assumed: in order, see loadElse); costs are estimates"},
    {"cdna4", 6, 64, kOf256, kOf256, kOf256, 4, 4, 80, 48,
     "which lanes share a wavefront (assumed: in order, 256 bytes at a time); costs are estimates"},
    {"rdna", 5, 32, kOf128, kOf128, kOf128, 4, 2, 80, 48,
     "which lanes share a wavefront at 8 and 16 bytes (assumed: in order); costs are estimates"},
};

} // namespace

std::span<const BankModel> bankModels() { return kRows; }

const BankModel *findBankModel(std::string_view name) {
  const auto *row =
      std::find_if(std::begin(kRows), std::end(kRows), [&](const BankModel &m) { return m.name == name; });
  return row == std::end(kRows) ? nullptr : row;
}

int wavefrontsOfPhase(const gf2::Vectors &lanes, const gf2::Vectors &vector, int elementLog, const BankModel &model) {
  // The words touched are a subspace; those of one bank are a translate of its part in bank 0.
  gf2::Vectors words;
  for (uint64_t offset : gf2::concat(gf2::concat(lanes, vector), gf2::units(0, elementLog)))
    words.push_back(offset >> 2);
  gf2::Vectors banks = words;
  for (uint64_t &word : banks)
    word &= static_cast<uint64_t>(model.banks - 1);
  return 1 << (gf2::rank(words) - gf2::rank(banks));
}

} // namespace tilejit::tilegpu
