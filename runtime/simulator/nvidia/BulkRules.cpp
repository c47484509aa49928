// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Instructions of bulk copies of bytes, and of the groups of bulk stores: intrinsics and assembly. Cache hints are
// ignored.

#include "core/Block.h"
#include "nvidia/BulkCopy.h"
#include "nvidia/Capability.h"
#include "nvidia/CopyGroups.h"
#include "nvidia/Mbarrier.h"
#include "nvidia/Multicast.h"

namespace tilejit::sim {

namespace {

constexpr uint32_t bulkAlignment = 16;
// Bulk stores that were only waited for until their source was read stay on their way, but not arbitrarily many.
constexpr size_t mostUnwritten = 16;

bool checkSize(Warp &warp, unsigned lane, uint32_t site, uint32_t bytes) {
  if (bytes % bulkAlignment == 0)
    return true;
  warp.block->report(ReportKind::Misaligned, site, warp, lane, "a bulk copy of " + std::to_string(bytes) + " bytes",
                     "bulk copies move multiples of 16 bytes; copy the rest otherwise");
  return false;
}

bool checkAddress(Warp &warp, unsigned lane, uint32_t site, uint64_t address) {
  if (address % bulkAlignment == 0)
    return true;
  if (warp.block->checks(Check::Alignment))
    warp.block->reportAt(ReportKind::Misaligned, site, warp, lane, Space::Global, address,
                         "a bulk copy that must be aligned to 16 bytes", "align the base and the row length");
  return false;
}

/// in: destination, source, bytes, mbarrier, with numbers[1] the mask of blocks. numbers: {way, has a mask}.
void load(Warp &warp, const Op &op) {
  const OpOperands &x = *op.x;
  auto way = static_cast<BulkCopy::Way>(x.numbers[0]);
  forEachLane(warp.mask, [&](unsigned lane) {
    uint32_t to = sharedOffset(warp.reg<uint64_t>(x.in[0])[lane]), bytes = warp.reg<uint32_t>(x.in[2])[lane];
    uint64_t from = warp.reg<uint64_t>(x.in[1])[lane];
    if (!checkSize(warp, lane, op.site, bytes) || !bytes ||
        !checkShared(warp, lane, op.site, to, bytes, bulkAlignment, "destination of a bulk copy"))
      return;
    BulkCopy copy;
    copy.way = way;
    copy.site = op.site;
    copy.lane = lane;
    copy.shared = to;
    copy.bytes = bytes;
    if (way == BulkCopy::Way::SharedToShared) {
      copy.from = sharedOffset(from);
      if (!checkShared(warp, lane, op.site, copy.from, bytes, bulkAlignment, "source of a bulk copy"))
        return;
    } else {
      if (!checkAddress(warp, lane, op.site, from))
        return;
      copy.runs.push_back({0, bytes, from});
      checkGlobal(warp, copy, false, false);
    }
    std::optional<uint32_t> blocks;
    if (x.numbers[1])
      blocks = warp.reg<uint16_t>(x.in[4])[lane];
    startLoads(warp, copy, sharedOffset(warp.reg<uint64_t>(x.in[3])[lane]), blocks);
  });
}

/// Runs of the bytes whose bit is set in the mask of each 16.
void addRuns(BulkCopy &copy, uint64_t to, uint32_t mask) {
  if (mask == 0xffff) {
    copy.runs.push_back({0, copy.bytes, to});
    return;
  }
  for (uint32_t i = 0; i < copy.bytes; ++i) {
    if (!((mask >> (i % 16)) & 1))
      continue;
    if (!copy.runs.empty() && copy.runs.back().offset + copy.runs.back().bytes == i)
      ++copy.runs.back().bytes;
    else
      copy.runs.push_back({i, 1, to + i});
  }
}

/// in: destination, source, bytes, with numbers[0] the mask of bytes. numbers: {has a mask, CopyReduction, type}.
void store(Warp &warp, const Op &op) {
  const OpOperands &x = *op.x;
  ReductionSpec reduction{static_cast<CopyReduction>(x.numbers[1]), static_cast<TensorMapType>(x.numbers[2])};
  bool reduces = reduction.operation != CopyReduction::None;
  if (reduces && !warp.block->inWorld(warp))
    return;
  forEachLane(warp.mask, [&](unsigned lane) {
    uint64_t to = warp.reg<uint64_t>(x.in[0])[lane];
    BulkCopy copy;
    copy.way = BulkCopy::Way::SharedToGlobal;
    copy.site = op.site;
    copy.lane = lane;
    copy.shared = sharedOffset(warp.reg<uint64_t>(x.in[1])[lane]);
    copy.bytes = warp.reg<uint32_t>(x.in[2])[lane];
    if (!checkSize(warp, lane, op.site, copy.bytes) || !copy.bytes || !checkAddress(warp, lane, op.site, to) ||
        !checkShared(warp, lane, op.site, copy.shared, copy.bytes, bulkAlignment, "source of a bulk copy"))
      return;
    addRuns(copy, to, x.numbers[0] ? warp.reg<uint16_t>(x.in[3])[lane] : 0xffff);
    checkGlobal(warp, copy, true, reduces);
    startStore(warp, std::move(copy), reduction);
  });
}

/// cp.reduce into shared memory: in: destination, source, bytes, mbarrier; numbers: {CopyReduction, type}. The bytes
/// are combined at once; the mbarrier hears of it later.
void reduceShared(Warp &warp, const Op &op) {
  const OpOperands &x = *op.x;
  Block &block = *warp.block;
  ReductionSpec reduction{static_cast<CopyReduction>(x.numbers[0]), static_cast<TensorMapType>(x.numbers[1])};
  forEachLane(warp.mask, [&](unsigned lane) {
    uint32_t to = sharedOffset(warp.reg<uint64_t>(x.in[0])[lane]),
             from = sharedOffset(warp.reg<uint64_t>(x.in[1])[lane]);
    uint32_t bytes = warp.reg<uint32_t>(x.in[2])[lane];
    if (!checkSize(warp, lane, op.site, bytes) || !bytes ||
        !checkShared(warp, lane, op.site, to, bytes, bulkAlignment, "destination of a bulk reduction") ||
        !checkShared(warp, lane, op.site, from, bytes, bulkAlignment, "source of a bulk reduction"))
      return;
    std::vector<uint8_t> sum(block.shared.data() + to, block.shared.data() + to + bytes);
    reduceBytes(reduction, sum.data(), block.shared.data() + from, bytes);
    std::copy(sum.begin(), sum.end(), block.shared.data() + to);
    BulkCopy copy;
    copy.way = BulkCopy::Way::SharedToShared;
    copy.site = op.site;
    copy.lane = lane;
    copy.shared = copy.from = to;
    copy.bytes = bytes;
    startLoads(warp, copy, sharedOffset(warp.reg<uint64_t>(x.in[3])[lane]));
  });
}

void commit(Warp &warp, const Op &) {
  NvidiaWarpState &state = *warp.nvidia;
  auto &group = commitCopies(state.stores, warp.mask);
  if (state.storeAgent == noAgent)
    return;
  warp.block->ordering.release(state.storeAgent);
  group.clock = warp.block->ordering.seen(state.storeAgent);
}

/// imm: groups that may stay on their way, times two, plus one if they need only have read their source.
void waitGroups(Warp &warp, const Op &op) {
  Block &block = *warp.block;
  auto &stores = warp.nvidia->stores;
  auto left = static_cast<unsigned>(op.imm >> 1);
  bool onlyRead = op.imm & 1;
  forEachOldGroup(stores, warp.mask, left, [&](auto &group, LaneMask lanes) {
    for (BulkCopy &copy : group.copies)
      if (copy.lanes & lanes)
        onlyRead ? readStore(block, copy) : writeStore(block, copy);
    block.ordering.acquire(warp.index, group.clock, 0);
  });
  if (!onlyRead)
    return dropWaited(stores, warp.mask, left);
  while (stores.groups.size() > mostUnwritten + left) {
    for (BulkCopy &copy : stores.groups.front().copies)
      writeStore(block, copy);
    stores.groups.pop_front();
  }
}

// --- Decoding -------------------------------------------------------------------------------------------------------

void emitLoad(Decoder &decoder, BulkCopy::Way way, std::initializer_list<Reg> in, bool hasMask) {
  decoder.noteSharedAccess(16, 16);
  Op &op = decoder.emitWide(load, {}, llvm::ArrayRef<Reg>(in.begin(), in.end()));
  decoder.operandsOf(op).numbers = {static_cast<int64_t>(way), hasMask};
}

void emitStore(Decoder &decoder, llvm::ArrayRef<Reg> in, bool hasMask, ReductionSpec reduction = {}) {
  decoder.noteSharedAccess(16, 16);
  Op &op = decoder.emitWide(store, {}, in);
  decoder.operandsOf(op).numbers = {hasMask, static_cast<int64_t>(reduction.operation),
                                    static_cast<int64_t>(reduction.type)};
}

constexpr auto toShared = BulkCopy::Way::GlobalToShared, withinShared = BulkCopy::Way::SharedToShared;

void loadCall(Call &call) {
  if (!needsChip(call.decoder, 90, call.name))
    return;
  // (destination, mbarrier, source, bytes, ...): the mask comes with a flag.
  bool cluster = call.name.ends_with(".to.shared.cluster"), within = call.name.ends_with(".cta.to.cluster");
  bool hasMask = cluster && call.constant(6);
  if (hasMask)
    return emitLoad(call.decoder, toShared, {call.reg(0), call.reg(2), call.reg(3), call.reg(1), call.reg(4)}, true);
  emitLoad(call.decoder, within ? withinShared : toShared, {call.reg(0), call.reg(2), call.reg(3), call.reg(1)}, false);
}

void storeCall(Call &call) {
  if (!needsChip(call.decoder, 90, call.name))
    return;
  bool hasMask = call.name.ends_with(".bytemask");
  Regs in = {call.reg(0), call.reg(1), call.reg(2)};
  if (hasMask)
    in.push_back(call.reg(5));
  emitStore(call.decoder, in, hasMask);
}

void nothing(Call &call) { needsChip(call.decoder, 90, call.name); }

/// cp.async.bulk.<destination>.<source>...
void copyStatement(AsmStatement &s) {
  if (!needsChip(s.decoder, 90, s.mnemonic))
    return;
  size_t count = s.operands.size() - (s.has("L2::cache_hint") ? 1 : 0);
  if (s.has("prefetch"))
    return;
  if (s.has("bulk_group")) {
    Regs in = {s.address(0), s.address(1), s.reg(2, Kind::I32)};
    bool hasMask = s.has("cp_mask");
    if (hasMask)
      in.push_back(s.reg(static_cast<unsigned>(s.operands.size() - 1), Kind::I16));
    return emitStore(s.decoder, in, hasMask);
  }
  if (!s.has("mbarrier::complete_tx::bytes"))
    return s.decoder.fail("unsupported assembly '" + s.mnemonic + "'");
  bool within = !s.has("global");
  Reg to = s.address(0), from = s.address(1), bytes = s.reg(2, Kind::I32), barrier = s.address(3);
  if (s.has("multicast::cluster") && count > 4)
    return emitLoad(s.decoder, toShared, {to, from, bytes, barrier, s.reg(4, Kind::I16)}, true);
  emitLoad(s.decoder, within ? withinShared : toShared, {to, from, bytes, barrier}, false);
}

/// cp.reduce.async.bulk.<destination>.<source>.<completion>.<operation>.<type>
void reduceStatement(AsmStatement &s) {
  if (!needsChip(s.decoder, 90, s.mnemonic))
    return;
  ReductionSpec reduction;
  if (!parseReduction(s, reduction))
    return;
  if (s.has("bulk_group"))
    return emitStore(s.decoder, Regs{s.address(0), s.address(1), s.reg(2, Kind::I32)}, false, reduction);
  Regs in = {s.address(0), s.address(1), s.reg(2, Kind::I32), s.address(3)};
  s.decoder.noteSharedAccess(16, 16);
  Op &op = s.decoder.emitWide(reduceShared, {}, in);
  s.decoder.operandsOf(op).numbers = {static_cast<int64_t>(reduction.operation), static_cast<int64_t>(reduction.type)};
}

void emitWait(Decoder &decoder, llvm::StringRef name, int64_t left, bool onlyRead) {
  if (!needsChip(decoder, 90, name))
    return;
  if (left < 0)
    return decoder.fail("cp.async.bulk.wait_group of " + llvm::Twine(left) + " groups");
  decoder.emit(waitGroups).imm = left * 2 + onlyRead;
}

} // namespace

bool parseReductionWord(llvm::StringRef word, CopyReduction &operation) {
  static constexpr llvm::StringLiteral operations[] = {"", "add", "min", "max", "inc", "dec", "and", "or", "xor"};
  for (unsigned i = 1; i < std::size(operations); ++i)
    if (word == operations[i]) {
      operation = static_cast<CopyReduction>(i);
      return true;
    }
  return false;
}

bool parseReductionOperation(AsmStatement &s, ReductionSpec &spec) {
  for (llvm::StringRef word : s.words)
    if (parseReductionWord(word, spec.operation))
      return true;
  s.decoder.fail("unsupported reduction in '" + s.mnemonic + "'");
  return false;
}

bool parseReduction(AsmStatement &s, ReductionSpec &spec) {
  static constexpr struct {
    llvm::StringLiteral name;
    TensorMapType type;
  } types[] = {{"u32", TensorMapType::U32}, {"b32", TensorMapType::U32},   {"s32", TensorMapType::S32},
               {"u64", TensorMapType::U64}, {"b64", TensorMapType::U64},   {"s64", TensorMapType::S64},
               {"f16", TensorMapType::F16}, {"bf16", TensorMapType::BF16}, {"f32", TensorMapType::F32},
               {"f64", TensorMapType::F64}};
  if (!parseReductionOperation(s, spec))
    return false;
  for (const auto &row : types)
    if (s.words.back() == row.name) {
      spec.type = row.type;
      return true;
    }
  s.decoder.fail("unsupported element type in '" + s.mnemonic + "'");
  return false;
}

void addNvidiaBulkCopyRules(Rules &rules) {
  rules.callPrefix("llvm.nvvm.cp.async.bulk.global.to.shared.", loadCall);
  rules.call("llvm.nvvm.cp.async.bulk.shared.cta.to.cluster", loadCall);
  rules.callPrefix("llvm.nvvm.cp.async.bulk.shared.cta.to.global", storeCall);
  rules.call("llvm.nvvm.cp.async.bulk.prefetch.L2", nothing);
  rules.call("llvm.nvvm.cp.async.bulk.commit.group", [](Call &call) { call.decoder.emit(commit); });
  rules.call("llvm.nvvm.cp.async.bulk.wait.group",
             [](Call &call) { emitWait(call.decoder, call.name, call.constant(0), false); });
  rules.call("llvm.nvvm.cp.async.bulk.wait.group.read",
             [](Call &call) { emitWait(call.decoder, call.name, call.constant(0), true); });
  rules.assembly("cp.async.bulk", copyStatement);
  rules.assembly("cp.reduce.async.bulk", reduceStatement);
  rules.assembly("cp.async.bulk.commit_group", [](AsmStatement &s) { s.decoder.emit(commit); });
  rules.assembly("cp.async.bulk.wait_group",
                 [](AsmStatement &s) { emitWait(s.decoder, s.mnemonic, s.number(0), s.has("read")); });
}

} // namespace tilejit::sim
