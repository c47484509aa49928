// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Addresses in shared memory of the blocks of a cluster: the same place in another block's part (mapa), and whose part
// an address is in (getctarank). All parts are one address space here, so that any address leads to its place.

#include "core/Block.h"
#include "core/Pointers.h"
#include "nvidia/Capability.h"
#include "nvidia/Rules.h"

namespace tilejit::sim {

namespace {

/// An address without the window of generic pointers.
uint64_t withoutWindow(uint64_t address) {
  return spaceOf(address) == Space::Shared ? address - sharedWindow : address;
}

/// d = the place of address a in the part of block b; generic where a is.
template <class T> void mapShared(Warp &warp, const Op &op) {
  Block &block = *warp.block;
  const T *address = warp.reg<T>(op.a);
  const uint32_t *rank = warp.reg<uint32_t>(op.b);
  T mapped[32] = {};
  forEachLane(warp.mask, [&](unsigned l) {
    uint64_t place = withoutWindow(address[l]);
    if (rank[l] >= block.shared.blocks())
      block.report(ReportKind::Bounds, op.site, warp, l,
                   "address in block " + std::to_string(rank[l]) + " of a cluster of " +
                       std::to_string(block.shared.blocks()) + " asked for",
                   "the ranks of a cluster begin at 0; launch with a cluster that has the block");
    else
      place = block.shared.base(rank[l]) + block.shared.offsetOf(place);
    mapped[l] = static_cast<T>(place + (address[l] - withoutWindow(address[l])));
  });
  blend<32>(warp.reg<T>(op.d), mapped, warp.mask);
}

/// d (I32) = the rank of the block whose shared memory has address a.
template <class T> void rankOf(Warp &warp, const Op &op) {
  const Block &block = *warp.block;
  const T *address = warp.reg<T>(op.a);
  map<32>(warp.mask, warp.reg<uint32_t>(op.d),
          [&](unsigned l) { return block.shared.ownerOf(withoutWindow(address[l])); });
}

void mapCall(Call &call) {
  if (needsChip(call.decoder, 90, call.name))
    call.decoder.emit(mapShared<uint64_t>, call.result(), {call.reg(0), call.reg(1)});
}

/// mapa{.space}.type d, a, b
void mapStatement(AsmStatement &s) {
  if (!needsChip(s.decoder, 90, s.mnemonic))
    return;
  bool wide = s.has("u64");
  Kind kind = wide ? Kind::I64 : Kind::I32;
  s.decoder.emit(wide ? mapShared<uint64_t> : mapShared<uint32_t>, s.reg(0, kind),
                 {s.reg(1, kind), s.reg(2, Kind::I32)});
}

void rankCall(Call &call) {
  if (needsChip(call.decoder, 90, call.name))
    call.decoder.emit(rankOf<uint64_t>, call.result(), {call.reg(0)});
}

/// getctarank{.space}.type d, a
void rankStatement(AsmStatement &s) {
  if (!needsChip(s.decoder, 90, s.mnemonic))
    return;
  bool wide = s.has("u64");
  s.decoder.emit(wide ? rankOf<uint64_t> : rankOf<uint32_t>, s.reg(0, Kind::I32),
                 {s.reg(1, wide ? Kind::I64 : Kind::I32)});
}

} // namespace

void addNvidiaClusterAddressRules(Rules &rules) {
  rules.callPrefix("llvm.nvvm.mapa", mapCall);
  rules.assembly("mapa", mapStatement);
  rules.callPrefix("llvm.nvvm.getctarank", rankCall);
  rules.assembly("getctarank", rankStatement);
}

} // namespace tilejit::sim
