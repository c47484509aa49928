// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The rows; the generations are those for which LLVM selects an instruction. 0x900 is the oldest that targets name.

#include "Capabilities.h"

namespace tilejit::rocdl {

namespace {

constexpr int lastGcn = 0x950, firstRdna = 0x1010;

constexpr backends::Capability rows[] = {
    // Who and where.
    {"rocdl.workitem.id.", 0x900},
    {"rocdl.workgroup.id.", 0x900},
    {"rocdl.mbcnt.lo", 0x900},
    {"rocdl.mbcnt.hi", 0x900},
    {"rocdl.wavefrontsize", 0x900},
    // Waiting for each other, and order.
    {"rocdl.s.barrier", 0x900},
    {"rocdl.barrier", 0x900},
    {"rocdl.s.barrier.signal", 0x1200},
    {"rocdl.s.barrier.wait", 0x1200},
    {"rocdl.s.waitcnt", 0x900, lastGcn},
    {"rocdl.s.waitcnt", firstRdna, 0x11ff},
    {"rocdl.s.wait.dscnt", 0x1200},
    {"rocdl.s.wait.loadcnt", 0x1200},
    {"rocdl.s.wait.storecnt", 0x1200},
    {"rocdl.s.sleep", 0x900},
    {"rocdl.s.setprio", 0x900},
    {"rocdl.sched.barrier", 0x900},
    {"rocdl.sched.group.barrier", 0x900},
    {"rocdl.iglp.opt", 0x908, lastGcn},
    {"llvm.amdgcn.endpgm", 0x900},
    {"llvm.amdgcn.wave.barrier", 0x900},
    // Between lanes.
    {"rocdl.ds_bpermute", 0x900},
    {"rocdl.ds_swizzle", 0x900},
    {"rocdl.readlane", 0x900},
    {"rocdl.readfirstlane", 0x900},
    {"rocdl.ballot", 0x900},
    {"rocdl.update.dpp", 0x900},
    {"rocdl.permlanex16", firstRdna},
    {"rocdl.permlane16.swap", 0x950, lastGcn},
    {"rocdl.permlane32.swap", 0x950, lastGcn},
    // Products of packed numbers.
    {"llvm.amdgcn.fdot2", 0x906, lastGcn},
    {"llvm.amdgcn.fdot2", 0x1030},
    {"llvm.amdgcn.sdot4", 0x906, lastGcn},
    {"llvm.amdgcn.sdot4", 0x1030, 0x10ff},
    {"llvm.amdgcn.udot4", 0x906, lastGcn},
    {"llvm.amdgcn.udot4", 0x1030},
    {"llvm.amdgcn.sudot4", 0x1100},
    // Powers of two.
    {"llvm.ldexp", 0x900},
    // Buffers: loads and stores that check bounds.
    {"rocdl.make.buffer.rsrc", 0x900},
    {"rocdl.raw.ptr.buffer.load", 0x900},
    {"rocdl.raw.ptr.buffer.store", 0x900},
    // Matrices.
    {"rocdl.mfma.f32.16x16x16f16", 0x908, lastGcn},
    {"rocdl.mfma.f32.32x32x8f16", 0x908, lastGcn},
};

} // namespace

llvm::ArrayRef<backends::Capability> capabilities() { return rows; }

} // namespace tilejit::rocdl
