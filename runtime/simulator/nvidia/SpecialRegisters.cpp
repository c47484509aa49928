// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Special registers of NVIDIA's machines, read by intrinsics and by the operands of assembly alike. What a simulator
// can't know (multiprocessors, performance counters) has a fixed answer.

#include "nvidia/SpecialRegisters.h"

#include "core/Block.h"

#include <algorithm>

namespace tilejit::sim {

namespace {

enum class Special : uint8_t {
  Tid,
  Ntid,
  Ctaid,
  Nctaid,
  ClusterId,
  NclusterId,
  ClusterCtaid,
  ClusterNctaid, // With a dimension.
  LaneId,
  WarpId,
  NwarpId,
  WarpSize,
  SmId,
  NsmId,
  GridId,
  Zero,
  MaskEq,
  MaskLe,
  MaskLt,
  MaskGe,
  MaskGt,
  Clock,
  ClockHigh,
  Clock64,
  TotalShared,
  DynamicShared,
  Reserved0,
  Reserved1,
  ReservedEnd,
  ClusterRank,
  ClusterRanks,
  ExplicitCluster,
};

struct Row {
  const char *name; ///< With dots for underscores, as in names of intrinsics; vectors without their ".x".
  Special special;
  bool vector;
  Kind kind;
};

const Row table[] = {
    {"tid", Special::Tid, true, Kind::I32},
    {"ntid", Special::Ntid, true, Kind::I32},
    {"ctaid", Special::Ctaid, true, Kind::I32},
    {"nctaid", Special::Nctaid, true, Kind::I32},
    {"clusterid", Special::ClusterId, true, Kind::I32},
    {"nclusterid", Special::NclusterId, true, Kind::I32},
    {"cluster.ctaid", Special::ClusterCtaid, true, Kind::I32},
    {"cluster.nctaid", Special::ClusterNctaid, true, Kind::I32},
    {"cluster.ctarank", Special::ClusterRank, false, Kind::I32},
    {"cluster.nctarank", Special::ClusterRanks, false, Kind::I32},
    {"is.explicit.cluster", Special::ExplicitCluster, false, Kind::I1},
    {"laneid", Special::LaneId, false, Kind::I32},
    {"warpid", Special::WarpId, false, Kind::I32},
    {"nwarpid", Special::NwarpId, false, Kind::I32},
    {"warpsize", Special::WarpSize, false, Kind::I32},
    {"smid", Special::SmId, false, Kind::I32},
    {"nsmid", Special::NsmId, false, Kind::I32},
    {"gridid", Special::GridId, false, Kind::I64},
    {"lanemask.eq", Special::MaskEq, false, Kind::I32},
    {"lanemask.le", Special::MaskLe, false, Kind::I32},
    {"lanemask.lt", Special::MaskLt, false, Kind::I32},
    {"lanemask.ge", Special::MaskGe, false, Kind::I32},
    {"lanemask.gt", Special::MaskGt, false, Kind::I32},
    {"clock", Special::Clock, false, Kind::I32},
    {"clock.hi", Special::ClockHigh, false, Kind::I32},
    {"clock64", Special::Clock64, false, Kind::I64},
    {"globaltimer", Special::Clock64, false, Kind::I64},
    {"globaltimer.lo", Special::Clock, false, Kind::I32},
    {"globaltimer.hi", Special::ClockHigh, false, Kind::I32},
    {"total.smem.size", Special::TotalShared, false, Kind::I32},
    {"aggr.smem.size", Special::TotalShared, false, Kind::I32},
    {"dynamic.smem.size", Special::DynamicShared, false, Kind::I32},
    {"reserved.smem.offset.begin", Special::Reserved0, false, Kind::I32},
    {"reserved.smem.offset.0", Special::Reserved0, false, Kind::I32},
    {"reserved.smem.offset.1", Special::Reserved1, false, Kind::I32},
    {"reserved.smem.offset.cap", Special::ReservedEnd, false, Kind::I32},
    {"reserved.smem.offset.end", Special::ReservedEnd, false, Kind::I32},
};

/// Performance counters and environment registers, which are numbered: they hold 0.
const char *const zeroes[] = {"pm", "envreg"};

constexpr unsigned multiprocessors = 108;

// --- Reading --------------------------------------------------------------------------------------------------------

/// What is the same in all threads of a block.
uint64_t ofBlock(const Warp &warp, Special special, unsigned dim) {
  const Block &block = *warp.block;
  const LaunchRequest &request = *block.launch().request;
  const uint32_t *cluster = request.cluster, *index = block.blockOf(warp).index;
  uint64_t executed = block.options().instructionBudget - warp.budget;
  switch (special) {
  case Special::Ntid:
    return dim < 3 ? request.block[dim] : 0;
  case Special::Ctaid:
    return dim < 3 ? index[dim] : 0;
  case Special::Nctaid:
    return dim < 3 ? request.grid[dim] : 0;
  case Special::ClusterId:
    return dim < 3 ? index[dim] / cluster[dim] : 0;
  case Special::NclusterId:
    return dim < 3 ? request.grid[dim] / cluster[dim] : 0;
  case Special::ClusterCtaid:
    return dim < 3 ? index[dim] % cluster[dim] : 0;
  case Special::ClusterNctaid:
    return dim < 3 ? cluster[dim] : 0;
  case Special::ClusterRank:
    return warp.rank;
  case Special::ClusterRanks:
    return block.places.size();
  case Special::ExplicitCluster:
    return block.places.size() > 1;
  case Special::WarpId:
    return warp.place;
  case Special::NwarpId:
    return block.launch().warps;
  case Special::WarpSize:
    return warp.width;
  case Special::SmId:
    return block.blockOf(warp).number % multiprocessors;
  case Special::NsmId:
    return multiprocessors;
  case Special::GridId:
    return 1;
  case Special::Clock:
  case Special::Clock64:
    return executed;
  case Special::ClockHigh:
    return executed >> 32;
  // The region lies at the start of shared memory: Decoder::placeShared leaves it free in kernels that ask.
  case Special::Reserved0:
    return block.shared.base(warp.rank);
  case Special::Reserved1:
    return block.shared.base(warp.rank) + reservedSharedBytes / 2;
  case Special::ReservedEnd:
    return block.shared.base(warp.rank) + reservedSharedBytes;
  case Special::TotalShared:
    return block.launch().sharedBytes;
  case Special::DynamicShared:
    return request.dynamicSharedBytes;
  default:
    return 0;
  }
}

/// d = a register of the block or warp; imm: Special, dimension << 8.
template <class T> void readUniform(Warp &warp, const Op &op) {
  T value = static_cast<T>(ofBlock(warp, static_cast<Special>(op.imm & 255), static_cast<unsigned>(op.imm >> 8)));
  map<32>(warp.mask, warp.reg<T>(op.d), [&](unsigned) { return value; });
}

/// d = threadIdx in a dimension.
void readThread(Warp &warp, const Op &op) {
  const uint32_t *size = warp.block->launch().request->block;
  auto dim = static_cast<unsigned>(op.imm >> 8);
  uint32_t before = dim == 0 ? 1 : dim == 1 ? size[0] : size[0] * size[1];
  map<32>(warp.mask, warp.reg<uint32_t>(op.d),
          [&](unsigned l) { return dim < 3 ? warp.thread(l) / before % size[dim] : 0; });
}

/// d = something of the lane's number.
void readLane(Warp &warp, const Op &op) {
  auto special = static_cast<Special>(op.imm & 255);
  map<32>(warp.mask, warp.reg<uint32_t>(op.d), [&](unsigned l) -> uint32_t {
    uint32_t own = 1u << l;
    switch (special) {
    case Special::MaskEq:
      return own;
    case Special::MaskLe:
      return own | (own - 1);
    case Special::MaskLt:
      return own - 1;
    case Special::MaskGe:
      return ~(own - 1);
    case Special::MaskGt:
      return ~(own | (own - 1));
    default:
      return l;
    }
  });
}

Handler handlerOf(Special special, Kind kind) {
  switch (special) {
  case Special::Tid:
    return readThread;
  case Special::LaneId:
  case Special::MaskEq:
  case Special::MaskLe:
  case Special::MaskLt:
  case Special::MaskGe:
  case Special::MaskGt:
    return readLane;
  default:
    return sizeOf(kind) == 8 ? readUniform<uint64_t> : sizeOf(kind) == 1 ? readUniform<uint8_t> : readUniform<uint32_t>;
  }
}

// --- Names ----------------------------------------------------------------------------------------------------------

/// The row of a name and the dimension it asks for; null when there is none.
const Row *findRow(llvm::StringRef name, unsigned &dim) {
  static const Row zero = {"", Special::Zero, false, Kind::I32};
  for (const char *prefix : zeroes) {
    llvm::StringRef number = name;
    if (number.consume_front(prefix) && !number.empty() &&
        number.find_first_not_of("0123456789") == llvm::StringRef::npos)
      return &zero;
  }
  dim = 0;
  for (const Row &row : table) {
    llvm::StringRef rest = name;
    if (!rest.consume_front(row.name))
      continue;
    if (rest.empty() && !row.vector)
      return &row;
    size_t found = row.vector && rest.size() == 2 && rest[0] == '.' ? llvm::StringRef("xyzw").find(rest[1])
                                                                    : llvm::StringRef::npos;
    if (found != llvm::StringRef::npos) {
      dim = static_cast<unsigned>(found);
      return &row;
    }
  }
  return nullptr;
}

Reg read(Decoder &decoder, const Row &row, unsigned dim, Kind kind) {
  Reg result = decoder.newReg(kind);
  decoder.emit(handlerOf(row.special, kind), result, {}, static_cast<int64_t>(row.special) | int64_t(dim) << 8);
  return result;
}

std::string withDots(llvm::StringRef name) {
  std::string text = name.str();
  std::replace(text.begin(), text.end(), '_', '.');
  return text;
}

void readIntrinsic(Call &call) {
  llvm::StringRef name = call.name;
  if (!name.consume_front("llvm.nvvm.read.ptx.sreg."))
    name.consume_front("llvm.nvvm.");
  unsigned dim = 0;
  const Row *row = findRow(withDots(name), dim);
  if (!row)
    return call.decoder.fail("unsupported special register '" + call.name + "'");
  Kind kind = call.decoder.kindOf(call.call.getType());
  call.decoder.define(&call.call, {read(call.decoder, *row, dim, kind)});
}

} // namespace

Reg specialRegister(Decoder &decoder, llvm::StringRef name) {
  llvm::StringRef plain = name;
  plain.consume_front("%");
  unsigned dim = 0;
  const Row *row = findRow(plain == "WARP_SZ" ? "warpsize" : withDots(plain), dim);
  if (!row) {
    decoder.fail("unsupported special register '" + name + "'");
    return decoder.constant(Kind::I32, 0);
  }
  return read(decoder, *row, dim, row->kind);
}

void addNvidiaSpecialRegisterRules(Rules &rules) {
  rules.callPrefix("llvm.nvvm.read.ptx.sreg.", readIntrinsic);
  rules.call("llvm.nvvm.is_explicit_cluster", readIntrinsic);
}

} // namespace tilejit::sim
