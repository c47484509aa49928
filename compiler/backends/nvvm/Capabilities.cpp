// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The rows; the generations are those of the PTX ISA manual's notes on targets. 75 is the oldest that targets name.

#include "Capabilities.h"

namespace tilejit::nvvm {

namespace {

constexpr backends::Capability rows[] = {
    // Who and where.
    {"nvvm.read.ptx.sreg.", 75},
    {"nvvm.read.ptx.sreg.cluster.", 90},
    {"nvvm.read.ptx.sreg.nclusterid.", 90},
    {"nvvm.read.ptx.sreg.aggr.smem.size", 90},
    // Waiting for each other, and order.
    {"nvvm.barrier0", 75},
    {"nvvm.barrier", 75},
    {"nvvm.barrier.arrive", 75},
    {"nvvm.bar.warp.sync", 75},
    {"nvvm.memory.barrier", 75},
    {"nvvm.nanosleep", 75},
    {"llvm.nvvm.membar.", 75},
    {"llvm.nvvm.exit", 75},
    {"nvvm.exit", 75},
    // Between lanes.
    {"nvvm.shfl.sync", 75},
    {"nvvm.vote.sync", 75},
    {"nvvm.match.sync", 75},
    {"nvvm.redux.sync", 80},
    {"nvvm.elect.sync", 90},
    // Bits and packed integers.
    {"nvvm.prmt", 75},
    {"nvvm.dot.accumulate.4way", 75},
    {"nvvm.dot.accumulate.2way", 75},
    // Copies past the registers.
    {"nvvm.cp.async.shared.global", 80},
    {"nvvm.cp.async.commit.group", 80},
    {"nvvm.cp.async.wait.group", 80},
    {"nvvm.cp.async.mbarrier.arrive", 80},
    {"nvvm.mbarrier.", 80},
    {"nvvm.mbarrier.expect_tx", 90},
    {"nvvm.mbarrier.complete_tx", 90},
    {"nvvm.mbarrier.arrive.expect_tx", 90},
    {"nvvm.mbarrier.try_wait", 90},
    {"nvvm.mbarrier.try_wait.parity", 90},
    // Matrices.
    {"nvvm.ldmatrix", 75},
    {"nvvm.stmatrix", 90},
    {"nvvm.mma.sync", 80},
};

} // namespace

llvm::ArrayRef<backends::Capability> capabilities() { return rows; }

} // namespace tilejit::nvvm
