// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The GPUs that have a name: what LLVM calls them, their limits, which settings of LLVM's spelling they have, whether
// the simulator knows them. Data only; nothing here asks a driver.

#ifndef TILEJIT_LIB_TARGET_GPUROWS_H
#define TILEJIT_LIB_TARGET_GPUROWS_H

#include "tilejit/Target/TargetSpec.h"

#include <span>
#include <string_view>

namespace tilejit::target {

struct GpuRow {
  std::string_view name; ///< Also LLVM's.
  TargetKind kind;
  GpuFacts facts;
  int ptx = 0;             ///< NVIDIA: ten times the PTX version, the lowest with all that the chip's code needs.
  bool hasXnack = false;   ///< AMD: the setting exists.
  bool hasSramEcc = false; ///< AMD: the setting exists.
  bool simulated = false;  ///< `sim:NAME` is a target.
  std::string_view about;
  std::string_view generic = {}; ///< The generic target whose code the chip runs; empty: none.

  /// NVIDIA: the code uses what only this chip has, so that later ones do not run it.
  bool isSpecific() const { return name.back() == 'a'; }
};

std::span<const GpuRow> gpuRows();
/// The row of a name, or null.
const GpuRow *findGpu(std::string_view name);
std::string_view tripleOf(TargetKind kind);
/// The target of a row, with the settings of LLVM's spelling: "sramecc+:xnack-", or nothing. InvalidArgument for a
/// setting that the chip does not have, that is no setting, or that is there twice.
Expected<TargetSpec> specOf(const GpuRow &row, std::string_view settings = {});
/// Whether these are features that a target of the row can have, in the order of TargetSpec::features.
bool areFeaturesOf(const GpuRow &row, std::span<const std::string> features);
/// A line that decodeTarget() reads, for a target of which only the keyText is known.
std::string lineOfKey(std::string_view keyText);
/// LLVM's spelling of a row with features: "gfx90a:sramecc+:xnack-".
std::string spellGpu(const GpuRow &row, std::span<const std::string> features);

} // namespace tilejit::target

#endif // TILEJIT_LIB_TARGET_GPUROWS_H
