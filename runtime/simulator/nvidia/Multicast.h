// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What bulk copies of bytes and of boxes have in common beyond their way: masks of blocks, and the words of reductions.

#ifndef TILEJIT_SIMULATOR_NVIDIA_MULTICAST_H
#define TILEJIT_SIMULATOR_NVIDIA_MULTICAST_H

#include "core/Block.h"
#include "nvidia/BulkCopy.h"

#include "llvm/ADT/StringRef.h"

namespace tilejit::sim {

struct AsmStatement;

/// Clusters have one block: a copy to others is reported.
inline bool checkMulticast(Warp &warp, unsigned lane, uint32_t site, uint32_t mask) {
  if (mask == 1)
    return true;
  warp.block->report(ReportKind::Bounds, site, warp, lane,
                     "a copy to the blocks of mask " + std::to_string(mask) + " of a cluster that has one block",
                     "clear the bits of blocks that are not in the cluster");
  return false;
}

/// Operation of a reduction by its word; whether there is one of this name.
bool parseReductionWord(llvm::StringRef word, CopyReduction &operation);
/// Operation, and operation and type, of a statement. False: the decoder has failed.
bool parseReductionOperation(AsmStatement &s, ReductionSpec &spec);
bool parseReduction(AsmStatement &s, ReductionSpec &spec);

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_NVIDIA_MULTICAST_H
