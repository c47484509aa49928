// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What bulk copies of bytes and of boxes have in common beyond their way: the blocks they go to, and the words of
// reductions.

#ifndef TILEJIT_SIMULATOR_NVIDIA_MULTICAST_H
#define TILEJIT_SIMULATOR_NVIDIA_MULTICAST_H

#include "core/Block.h"
#include "nvidia/BulkCopy.h"

#include "llvm/ADT/StringRef.h"

#include <optional>

namespace tilejit::sim {

struct AsmStatement;

/// Starts a copy to shared memory whose source and destination were checked, and which signals the mbarrier at an
/// address. With a mask it goes to the blocks of the cluster whose bits are set, to the same place in each, and signals
/// the mbarrier at the same place there.
void startLoads(Warp &warp, const BulkCopy &copy, uint32_t mbarrier, std::optional<uint32_t> blocks = std::nullopt);

/// Operation of a reduction by its word; whether there is one of this name.
bool parseReductionWord(llvm::StringRef word, CopyReduction &operation);
/// Operation, and operation and type, of a statement. False: the decoder has failed.
bool parseReductionOperation(AsmStatement &s, ReductionSpec &spec);
bool parseReduction(AsmStatement &s, ReductionSpec &spec);

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_NVIDIA_MULTICAST_H
