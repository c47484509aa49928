// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// How the shared memory of a chip serves the lanes of a warp, and what its instructions cost beside each other: one row
// of data for each kind of chip. Planning and tests take it from here alone.

#ifndef TILEJIT_TRANSFORMS_BANKMODEL_H
#define TILEJIT_TRANSFORMS_BANKMODEL_H

#include "tilejit/Dialect/TileGPU/IR/Gf2.h"

#include <span>
#include <string_view>

namespace tilejit::tilegpu {

/// The lanes that share a wavefront, by the bytes a lane moves: steps of the lane number. Lanes that differ by a sum of
/// these steps are served together.
struct Phases {
  std::span<const uint64_t> upTo4Bytes, of8Bytes, of16Bytes;

  std::span<const uint64_t> ofBytes(int bytes) const {
    return bytes <= 4 ? upTo4Bytes : bytes <= 8 ? of8Bytes : of16Bytes;
  }
};

struct BankModel {
  std::string_view name;
  int laneBits; ///< Of a warp.
  int banks;    ///< Of 4 bytes each.
  Phases load, store;
  /// Another order of lanes in which loads may be served, as far as is known; equal to `load` if there is none. Among
  /// ways without bank conflicts, one that has none in this order either is preferred.
  Phases loadElse;
  /// Costs in quarters of a wavefront that passes through the banks, for one warp: a shuffle of 32 bits, a select, and
  /// waiting once for the block or for the warp between store and load.
  int shuffleCost, selectCost, blockSyncCost, warpSyncCost;
  /// What is assumed rather than documented or measured; empty if nothing.
  std::string_view unverified;

  bool hasLoadElse() const { return load.of16Bytes.data() != loadElse.of16Bytes.data(); }
};

/// "nvidia", "cdna" (wave64, 32 banks), "cdna4" (gfx950: 64 banks), "rdna" (wave32).
std::span<const BankModel> bankModels();
/// Null for an unknown name.
const BankModel *findBankModel(std::string_view name);

/// Wavefronts that one access of the lanes of one phase takes. `lanes` and `vector` have the byte offsets of the steps
/// of those lanes and of the elements of one lane's vector; elements have 2^elementLog bytes.
int wavefrontsOfPhase(const gf2::Vectors &lanes, const gf2::Vectors &vector, int elementLog, const BankModel &model);

} // namespace tilejit::tilegpu

#endif // TILEJIT_TRANSFORMS_BANKMODEL_H
