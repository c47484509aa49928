// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Loads from global memory straight to LDS. The bytes are read when the instruction is issued and arrive when the wave
// waits for its vector loads; until then nobody may touch where they go. Lane l's bytes go to base + offset + l * size.

#include "amd/BufferRules.h"
#include "amd/State.h"
#include "core/Handlers.h"

#include <cstring>

namespace tilejit::sim {

namespace {

/// Bytes between the places of neighbouring lanes: a dword at least.
constexpr uint32_t ldsStep(uint32_t size) { return std::max(size, 4u); }

/// Takes `data` (size bytes for each active lane) on its way to LDS. `base` is a register.
template <unsigned W>
void startCopy(Warp &warp, const Op &op, Reg base, uint32_t offset, uint32_t size, LaneMask lanes,
               const uint8_t *data) {
  Block &block = *warp.block;
  LdsCopy copy;
  copy.site = op.site;
  copy.size = size;
  copy.address.resize(W);
  uint64_t first = warp.uniform<uint64_t>(base) + offset;
  for (unsigned l = 0; l < W; ++l)
    copy.address[l] = first + uint64_t(l) * ldsStep(size);
  Access access{.size = size, .alignment = std::min(size & (0u - size), 4u), .site = op.site, .write = true};
  access.pending = true;
  copy.lanes = block.access(warp, Space::Shared, copy.address.data(), lanes, access);
  copy.data.assign(data, data + size_t(size) * W);
  warp.amd->copies.push_back(std::move(copy));
}

/// in: global pointer, LDS pointer; numbers: size, offset of both.
template <unsigned W> void globalLoadLds(Warp &warp, const Op &op) {
  Block &block = *warp.block;
  const OpOperands &x = *op.x;
  auto size = static_cast<uint32_t>(x.numbers[0]), offset = static_cast<uint32_t>(x.numbers[1]);
  const uint64_t *pointer = warp.reg<uint64_t>(x.in[0]);
  alignas(64) uint64_t address[W];
  for (unsigned l = 0; l < W; ++l)
    address[l] = pointer[l] + offset;
  Access access{.size = size, .alignment = std::min(size & (0u - size), 4u), .site = op.site};
  LaneMask ok = block.access(warp, Space::Global, address, warp.mask, access);
  alignas(64) uint8_t data[W * 16];
  forEachLane(warp.mask, [&](unsigned l) {
    if (ok >> l & 1)
      std::memcpy(data + size_t(l) * size, block.at(warp, Space::Global, l, address[l]), size);
    else
      std::memset(data + size_t(l) * size, 0xbd, size);
  });
  startCopy<W>(warp, op, x.in[1], offset, size, warp.mask, data);
}

/// in: BufferRegs, LDS pointer; numbers: size, flags, offset.
template <unsigned W> void bufferLoadLds(Warp &warp, const Op &op) {
  const OpOperands &x = *op.x;
  auto size = static_cast<uint32_t>(x.numbers[0]), offset = static_cast<uint32_t>(x.numbers[2]);
  BufferLanes<W> lanes;
  locateBuffer<W>(warp, op, lanes);
  alignas(64) uint8_t data[W * 16];
  readBuffer<W>(warp, op, lanes, size, data);
  startCopy<W>(warp, op, x.in[BufferRegs], offset, size, warp.mask, data);
}

constexpr uint32_t chipsLoadToLds = chipsGfx9 | chipsRdna2;

/// Sizes that the chip can load to LDS.
bool checkSize(Call &call, int64_t size) {
  bool wide = size == 12 || size == 16;
  if ((wide && chipIsAmong(call.decoder, chipsCdna4)) || size == 1 || size == 2 || size == 4) {
    call.decoder.noteSharedAccess(static_cast<uint64_t>(size), size < 4 ? static_cast<uint64_t>(size) : 4);
    return true;
  }
  call.decoder.fail(llvm::Twine(call.name) + " of " + llvm::Twine(size) + " bytes is unsupported on " +
                    llvm::StringRef(call.decoder.chip().info.name));
  return false;
}

void globalRule(Call &call) {
  Decoder &decoder = call.decoder;
  if (!requireChips(call, chipsLoadToLds) || !checkSize(call, call.constant(2)))
    return;
  Regs in{call.reg(0), call.reg(1)};
  Op &op = decoder.emitWide(decoder.pick(TILEJIT_BOTH(globalLoadLds)), {}, in);
  decoder.operandsOf(op).numbers = {call.constant(2), call.constant(3)};
}

/// resource, LDS pointer, size, (index,) offset, scalar offset, constant offset, policy.
void bufferRule(Call &call) {
  Decoder &decoder = call.decoder;
  BufferForm form;
  parseBufferName(shortName(call), form);
  if (!requireChips(call, chipsLoadToLds) || !checkSize(call, call.constant(2)))
    return;
  unsigned fixed = form.hasIndex ? 6 : 5;
  int64_t offset = call.constant(fixed);
  Regs in = locationRegs(call, 0, 3, form.hasIndex);
  // The constant offset counts for both sides; on the buffer's it is part of the lane's offset.
  if (offset) {
    Reg sum = decoder.newReg(Kind::I32);
    decoder.emit(integerHandler(IntegerOp::Add, Kind::I32, decoder.width()), sum,
                 {in[BufferOffset], decoder.constant(Kind::I32, static_cast<uint64_t>(offset))});
    in[BufferOffset] = sum;
  }
  in.push_back(call.reg(1));
  Op &op = decoder.emitWide(decoder.pick(TILEJIT_BOTH(bufferLoadLds)), {}, in);
  decoder.operandsOf(op).numbers = {call.constant(2), bufferFlags(decoder, form.hasIndex), offset};
}

} // namespace

void addAmdLdsLoadRules(Rules &rules) {
  rules.callPrefix("llvm.amdgcn.load.to.lds.", globalRule);
  rules.call("llvm.amdgcn.global.load.lds", globalRule);
  for (const char *form : {"raw.buffer", "raw.ptr.buffer", "struct.buffer", "struct.ptr.buffer"})
    rules.call(std::string("llvm.amdgcn.") + form + ".load.lds", bufferRule);
}

} // namespace tilejit::sim
