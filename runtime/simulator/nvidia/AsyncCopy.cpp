// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// cp.async and the instructions that wait for it: intrinsics and assembly.

#include "nvidia/AsyncCopy.h"

#include "core/Block.h"
#include "nvidia/Capability.h"
#include "nvidia/CopyGroups.h"
#include "nvidia/Mbarrier.h"

#include <cstring>

namespace tilejit::sim {

namespace {

// --- Copies ---------------------------------------------------------------------------------------------------------

/// The bytes that each lane copies: the rest is zero.
enum class Source : uint8_t { All, Size, Ignored };

/// Checks the source of the lanes that read `bytes` of it; those that may not be read give zeros.
void checkSource(Warp &warp, const Op &op, LaneCopy &copy, LaneMask lanes, uint32_t bytes) {
  Access access;
  access.size = bytes;
  access.alignment = copy.size;
  access.site = op.site;
  LaneMask good = warp.block->access(warp, Space::Global, copy.from.data(), lanes, access);
  forEachLane(lanes & ~good, [&](unsigned l) { copy.bytes[l] = 0; });
}

/// a: destination in shared memory; b: source in global memory; c: bytes to read, or whether to ignore the source.
/// imm: size | Source << 8.
void copyAsync(Warp &warp, const Op &op) {
  Block &block = *warp.block;
  NvidiaWarpState &state = *warp.nvidia;
  LaneCopy &copy = state.copies.open.emplace_back();
  copy.site = op.site;
  copy.size = static_cast<uint32_t>(op.imm & 255);
  copy.sequence = state.copySequence++;
  auto source = static_cast<Source>(op.imm >> 8);
  const uint64_t *to = warp.reg<uint64_t>(op.a), *from = warp.reg<uint64_t>(op.b);
  for (unsigned l = 0; l < 32; ++l) {
    copy.to[l] = sharedOffset(to[l]);
    copy.from[l] = from[l];
    copy.bytes[l] = static_cast<uint8_t>(copy.size);
  }
  if (source == Source::Size) {
    const uint32_t *size = warp.reg<uint32_t>(op.c);
    for (unsigned l = 0; l < 32; ++l)
      copy.bytes[l] = static_cast<uint8_t>(std::min(size[l], copy.size));
    LaneMask large = lanesWhere<32>([&](unsigned l) { return size[l] > copy.size; }) & warp.mask;
    if (large)
      block.report(ReportKind::Bounds, op.site, warp, firstLane(large), "cp.async is to read more bytes than it copies",
                   "the size of the source is at most that of the copy");
  } else if (source == Source::Ignored) {
    const uint8_t *ignored = warp.reg<uint8_t>(op.c);
    for (unsigned l = 0; l < 32; ++l)
      if (ignored[l])
        copy.bytes[l] = 0;
  }
  for (LaneMask rest = warp.mask; rest;) {
    uint8_t bytes = copy.bytes[firstLane(rest)];
    LaneMask same = lanesWhere<32>([&](unsigned l) { return copy.bytes[l] == bytes; }) & rest;
    if (bytes)
      checkSource(warp, op, copy, same, bytes);
    rest &= ~same;
  }
  Access access;
  access.size = access.alignment = copy.size;
  access.site = op.site;
  access.write = access.pending = true;
  copy.lanes = block.access(warp, Space::Shared, copy.to.data(), warp.mask, access);
  // By the time they land they will be there.
  forEachLane(copy.lanes, [&](unsigned l) { __builtin_prefetch(reinterpret_cast<const void *>(copy.from[l])); });
  if (!copy.lanes)
    state.copies.open.pop_back();
}

/// Moves the bytes of some lanes; what they are worth from now on is an event of `actor`.
void land(Block &block, unsigned actor, LaneCopy &copy, LaneMask lanes) {
  lanes &= copy.lanes;
  copy.lanes &= ~lanes;
  forEachLane(lanes, [&](unsigned l) {
    uint8_t *to = block.shared.data() + copy.to[l];
    if (copy.bytes[l] == 16) { // The common size, as one move.
      std::memcpy(to, reinterpret_cast<const void *>(copy.from[l]), 16);
      return;
    }
    std::memcpy(to, reinterpret_cast<const void *>(copy.from[l]), copy.bytes[l]);
    std::memset(to + copy.bytes[l], 0, copy.size - copy.bytes[l]);
  });
  // Products of compilers in use read what was copied without a proxy fence, so none is asked for.
  block.shared.settleLanes(block, actor, copy.site, copy.to.data(), lanes, copy.size, true);
}

void commit(Warp &warp, const Op &) { commitCopies(warp.nvidia->copies, warp.mask); }

/// Agents that landed copies for an mbarrier are waited for as well.
void seeLanded(Warp &warp) { warp.block->ordering.acquire(warp.index, warp.nvidia->landed, 0); }

/// imm: groups that may stay on their way.
void waitGroups(Warp &warp, const Op &op) {
  Block &block = *warp.block;
  auto &copies = warp.nvidia->copies;
  auto left = static_cast<unsigned>(op.imm);
  forEachOldGroup(copies, warp.mask, left, [&](auto &group, LaneMask lanes) {
    for (LaneCopy &copy : group.copies)
      land(block, warp.index, copy, lanes);
  });
  dropWaited(copies, warp.mask, left);
  seeLanded(warp);
}

/// Waits for all copies, committed or not.
void waitAll(Warp &warp, const Op &op) {
  Op none = op;
  none.imm = 0;
  waitGroups(warp, none);
  auto &open = warp.nvidia->copies.open;
  for (LaneCopy &copy : open)
    land(*warp.block, warp.index, copy, warp.mask);
  std::erase_if(open, [](const LaneCopy &copy) { return !copy.lanes; });
}

/// a: mbarrier; imm: 1 where the arrival was counted when the mbarrier was initialised (noinc).
void arriveWhenLanded(Warp &warp, const Op &op) {
  DeferredArrival arrival;
  arrival.site = op.site;
  arrival.warp = warp.index;
  arrival.sequence = warp.nvidia->copySequence;
  const uint64_t *address = warp.reg<uint64_t>(op.a);
  forEachLane(warp.mask, [&](unsigned l) {
    Mbarrier *barrier = findMbarrier(warp, l, op.site, sharedOffset(address[l]));
    if (!barrier)
      return;
    arrival.mbarrier[l] = barrier->address;
    arrival.lanes |= LaneMask(1) << l;
    if (!op.imm)
      ++barrier->pending;
  });
  if (arrival.lanes)
    warp.block->nvidia->arrivals.push_back(arrival);
}

} // namespace

void landArrival(Block &block, const DeferredArrival &arrival) {
  Warp &warp = block.warps[arrival.warp];
  NvidiaWarpState &state = *warp.nvidia;
  for (LaneMask rest = arrival.lanes; rest;) {
    uint32_t address = arrival.mbarrier[firstLane(rest)];
    LaneMask lanes = lanesWhere<32>([&](unsigned l) { return arrival.mbarrier[l] == address; }) & rest;
    rest &= ~lanes;
    auto found = block.nvidia->mbarriers.find(address);
    if (found == block.nvidia->mbarriers.end())
      continue;
    Mbarrier &barrier = found->second;
    unsigned agent = agentOf(block, barrier);
    auto landOlder = [&](std::vector<LaneCopy> &copies) {
      for (LaneCopy &copy : copies)
        if (copy.sequence < arrival.sequence)
          land(block, agent, copy, lanes);
    };
    for (auto &group : state.copies.groups)
      landOlder(group.copies);
    landOlder(state.copies.open);
    std::erase_if(state.copies.open, [](const LaneCopy &copy) { return !copy.lanes; });
    block.ordering.release(agent);
    publishAt(block, barrier, agent);
    joinInto(state.landed, block.ordering.seen(agent));
    forEachLane(lanes, [&](unsigned l) { arriveAt(block, barrier, warp, l, arrival.site, 1); });
  }
}

// --- Decoding -------------------------------------------------------------------------------------------------------

namespace {

void emitCopy(Decoder &decoder, unsigned size, Source source, Reg to, Reg from, Reg third) {
  decoder.noteSharedAccess(size, size);
  Op &op = decoder.emit(copyAsync);
  op.a = to;
  op.b = from;
  op.c = third;
  op.registers |= Op::HasA | Op::HasB | (source == Source::All ? 0 : Op::HasC);
  op.imm = size | static_cast<int64_t>(source) << 8;
}

/// llvm.nvvm.cp.async.{ca,cg}.shared.global.{4,8,16}[.s]
void copyCall(Call &call) {
  if (!needsChip(call.decoder, 80, call.name))
    return;
  llvm::StringRef name = call.name;
  bool sized = name.consume_back(".s");
  unsigned size = 0;
  if (name.rsplit('.').second.getAsInteger(10, size) || (size != 4 && size != 8 && size != 16))
    return call.decoder.fail("unsupported intrinsic '" + call.name + "'");
  emitCopy(call.decoder, size, sized ? Source::Size : Source::All, call.reg(0), call.reg(1), sized ? call.reg(2) : 0);
}

/// cp.async.{ca,cg}.shared.global [to], [from], size[, bytes | ignore][, policy];
void copyStatement(AsmStatement &s) {
  if (!needsChip(s.decoder, 80, s.mnemonic))
    return;
  bool cached = s.has("ca");
  if (!cached && !s.has("cg"))
    return s.decoder.fail("unsupported assembly '" + s.mnemonic + "'");
  Reg to = s.address(0), from = s.address(1);
  auto size = static_cast<unsigned>(s.number(2));
  if (s.decoder.failed())
    return;
  if (size != 16 && (!cached || (size != 4 && size != 8)))
    return s.decoder.fail("cp.async of " + llvm::Twine(size) +
                          " bytes: " + (cached ? ".ca copies 4, 8 or 16" : ".cg copies 16"));
  size_t count = s.operands.size() - (s.has("L2::cache_hint") ? 1 : 0);
  if (count < 4)
    return emitCopy(s.decoder, size, Source::All, to, from, 0);
  bool ignores = s.operands[3].form == AsmOperand::Form::Register && s.operands[3].kind == Kind::I1;
  emitCopy(s.decoder, size, ignores ? Source::Ignored : Source::Size, to, from,
           s.reg(3, ignores ? Kind::I1 : Kind::I32));
}

void emitArrival(Decoder &decoder, Reg address, bool noIncrement) {
  decoder.noteSharedAccess(8, 8);
  Op &op = decoder.emit(arriveWhenLanded);
  op.a = address;
  op.registers |= Op::HasA;
  op.imm = noIncrement;
}

void emitWait(Decoder &decoder, int64_t left) {
  if (left < 0)
    return decoder.fail("cp.async.wait_group of " + llvm::Twine(left) + " groups");
  decoder.emit(waitGroups).imm = left;
}

} // namespace

void addNvidiaAsyncCopyRules(Rules &rules) {
  rules.callPrefix("llvm.nvvm.cp.async.ca.shared.global.", copyCall);
  rules.callPrefix("llvm.nvvm.cp.async.cg.shared.global.", copyCall);
  rules.call("llvm.nvvm.cp.async.commit.group", [](Call &call) { call.decoder.emit(commit); });
  rules.call("llvm.nvvm.cp.async.wait.group", [](Call &call) { emitWait(call.decoder, call.constant(0)); });
  rules.call("llvm.nvvm.cp.async.wait.all", [](Call &call) { call.decoder.emit(waitAll); });
  rules.callPrefix("llvm.nvvm.cp.async.mbarrier.arrive", [](Call &call) {
    if (needsChip(call.decoder, 80, call.name))
      emitArrival(call.decoder, call.reg(0), call.name.contains(".noinc"));
  });
  rules.assembly("cp.async", copyStatement);
  rules.assembly("cp.async.commit_group", [](AsmStatement &s) { s.decoder.emit(commit); });
  rules.assembly("cp.async.wait_group", [](AsmStatement &s) { emitWait(s.decoder, s.number(0)); });
  rules.assembly("cp.async.wait_all", [](AsmStatement &s) { s.decoder.emit(waitAll); });
  rules.assembly("cp.async.mbarrier", [](AsmStatement &s) {
    if (needsChip(s.decoder, 80, s.mnemonic))
      emitArrival(s.decoder, s.address(0), s.has("noinc"));
  });
}

} // namespace tilejit::sim
