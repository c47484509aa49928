// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Buffer resources, and loads, stores and atomics through them. Formats and swizzled buffers are for graphics and are
// not simulated: they are refused by name.

#include "amd/BufferRules.h"
#include "core/Atomics.h"
#include "core/Handlers.h"

#include <cstring>

namespace tilejit::sim {

namespace {

/// x->out = {low, high} of a resource of in: base, stride, records, flags.
template <unsigned W> void makeResource(Warp &warp, const Op &op) {
  const OpOperands &x = *op.x;
  const uint64_t *base = warp.reg<uint64_t>(x.in[0]), *records = warp.reg<uint64_t>(x.in[2]);
  const uint16_t *stride = warp.reg<uint16_t>(x.in[1]);
  const uint32_t *flags = warp.reg<uint32_t>(x.in[3]);
  alignas(64) uint64_t low[W], high[W];
  for (unsigned l = 0; l < W; ++l) {
    low[l] = (base[l] & 0xffffffffffff) | uint64_t(stride[l]) << 48;
    high[l] = std::min<uint64_t>(records[l], 0xffffffff) | uint64_t(flags[l]) << 32;
  }
  blend<W>(warp.reg<uint64_t>(x.out[0]), low, warp.mask);
  blend<W>(warp.reg<uint64_t>(x.out[1]), high, warp.mask);
}

/// x->out = four dwords in a row of in[0], in[1]; or the other way round.
template <unsigned W> void joinDwords(Warp &warp, const Op &op) {
  const OpOperands &x = *op.x;
  for (unsigned half = 0; half < 2; ++half) {
    const uint32_t *low = warp.reg<uint32_t>(x.in[2 * half]), *high = warp.reg<uint32_t>(x.in[2 * half + 1]);
    map<W>(warp.mask, warp.reg<uint64_t>(x.out[half]), [&](unsigned l) { return low[l] | uint64_t(high[l]) << 32; });
  }
}

/// x->out = memory; numbers: bytes, flags, then the size of each element in memory.
template <unsigned W> void bufferLoad(Warp &warp, const Op &op) {
  const OpOperands &x = *op.x;
  auto size = static_cast<uint32_t>(x.numbers[0]);
  BufferLanes<W> lanes;
  locateBuffer<W>(warp, op, lanes);
  alignas(64) uint8_t data[W * 64];
  readBuffer<W>(warp, op, lanes, size, data);
  for (size_t i = 0; i < x.out.size(); ++i) {
    unsigned bytes = sizeOf(x.outKinds[i]);
    uint8_t *to = warp.registers + x.out[i];
    const uint8_t *from = data + x.offsets[i];
    if (bytes == 4)
      forEachLane(warp.mask, [&](unsigned l) { std::memcpy(to + l * 4, from + size_t(l) * size, 4); });
    else
      forEachLane(warp.mask, [&](unsigned l) { std::memcpy(to + l * bytes, from + size_t(l) * size, bytes); });
  }
}

/// Memory = in, from BufferRegs on; numbers as bufferLoad.
template <unsigned W> void bufferStore(Warp &warp, const Op &op) {
  Block &block = *warp.block;
  const OpOperands &x = *op.x;
  auto size = static_cast<uint32_t>(x.numbers[0]);
  BufferLanes<W> lanes;
  locateBuffer<W>(warp, op, lanes);
  alignas(64) uint8_t data[W * 64];
  for (size_t i = BufferRegs; i < x.in.size(); ++i) {
    unsigned bytes = sizeOf(x.inKinds[i]);
    const uint8_t *from = warp.registers + x.in[i];
    uint8_t *to = data + x.offsets[i - BufferRegs];
    for (unsigned l = 0; l < W; ++l)
      std::memcpy(to + size_t(l) * size, from + l * bytes, bytes);
  }
  // Lanes with the same number of bytes in range go together: all, none, or a ragged end.
  LaneMask left = warp.mask & lanesWhere<W>([&](unsigned l) { return lanes.bytes[l] != 0; });
  while (left) {
    uint32_t bytes = lanes.bytes[firstLane(left)];
    LaneMask part = left & lanesWhere<W>([&](unsigned l) { return lanes.bytes[l] == bytes; });
    Access access{.size = bytes, .alignment = std::min(bytes & (0u - bytes), 4u), .site = op.site, .write = true};
    LaneMask ok = block.access(warp, Space::Global, lanes.address, part, access);
    forEachLane(ok, [&](unsigned l) {
      std::memcpy(block.at(warp, Space::Global, l, lanes.address[l]), data + size_t(l) * size, bytes);
    });
    left &= ~part;
  }
}

/// x->out = {address, whether in range}; numbers: bytes, flags.
template <unsigned W> void bufferAddress(Warp &warp, const Op &op) {
  const OpOperands &x = *op.x;
  auto size = static_cast<uint32_t>(x.numbers[0]);
  BufferLanes<W> lanes;
  locateBuffer<W>(warp, op, lanes);
  blend<W>(warp.reg<uint64_t>(x.out[0]), lanes.address, warp.mask);
  map<W>(warp.mask, warp.reg<uint8_t>(x.out[1]), [&](unsigned l) -> uint8_t { return lanes.bytes[l] == size; });
}

// --- Rules -----------------------------------------------------------------------------------------------------------

void makeResourceRule(Call &call) {
  Decoder &decoder = call.decoder;
  Regs out = call.results();
  if (out.size() != 2)
    return decoder.fail("fat buffer pointers must be lowered before they are simulated");
  Regs in{call.reg(0), call.reg(1), decoder.widen(call.reg(2)), call.reg(3)};
  decoder.emitWide(decoder.pick(TILEJIT_BOTH(makeResource)), out, in);
}

/// Offsets and sizes of a value in memory; its bytes.
uint32_t describeMemory(Decoder &decoder, llvm::Type *type, OpOperands &operands) {
  for (const Leaf &leaf : decoder.leaves(type))
    operands.offsets.push_back(leaf.offset);
  return static_cast<uint32_t>(decoder.layout().getTypeStoreSize(type).getFixedValue());
}

bool checkBytes(Call &call, uint32_t bytes) {
  if (bytes && bytes <= 64)
    return true;
  call.decoder.fail(llvm::Twine("unsupported type of ") + call.name);
  return false;
}

void loadRule(Call &call, const BufferForm &form) {
  Decoder &decoder = call.decoder;
  Regs in = locationRegs(call, 0, 1, form.hasIndex), out = call.results();
  OpOperands &x = decoder.operandsOf(decoder.emitWide(decoder.pick(TILEJIT_BOTH(bufferLoad)), out, in));
  uint32_t bytes = describeMemory(decoder, call.call.getType(), x);
  x.numbers = {bytes, bufferFlags(decoder, form.hasIndex)};
  checkBytes(call, bytes);
}

void storeRule(Call &call, const BufferForm &form) {
  Decoder &decoder = call.decoder;
  Regs in = locationRegs(call, 1, 2, form.hasIndex), data = call.regs(0);
  in.append(data.begin(), data.end());
  OpOperands &x = decoder.operandsOf(decoder.emitWide(decoder.pick(TILEJIT_BOTH(bufferStore)), {}, in));
  uint32_t bytes = describeMemory(decoder, call.call.getArgOperand(0)->getType(), x);
  x.numbers = {bytes, bufferFlags(decoder, form.hasIndex)};
  checkBytes(call, bytes);
}

struct AtomicName {
  const char *name;
  AtomicOp op;
};
constexpr AtomicName atomicNames[] = {
    {"swap", AtomicOp::Exchange},
    {"add", AtomicOp::Add},
    {"sub", AtomicOp::Sub},
    {"smin", AtomicOp::Min},
    {"umin", AtomicOp::UMin},
    {"smax", AtomicOp::Max},
    {"umax", AtomicOp::UMax},
    {"and", AtomicOp::And},
    {"or", AtomicOp::Or},
    {"xor", AtomicOp::Xor},
    {"inc", AtomicOp::IncrementWrap},
    {"dec", AtomicOp::DecrementWrap},
    {"fadd", AtomicOp::FAdd},
    {"fmin", AtomicOp::FMin},
    {"fmax", AtomicOp::FMax},
    {"cond.sub.u32", AtomicOp::SubConditional},
    {"sub.clamp.u32", AtomicOp::SubSaturating},
    {"cmpswap", AtomicOp::CompareExchange},
};

/// vdata (, compare), resource, (index,) offset, scalar offset, policy. Out of range nothing happens and the result is
/// 0.
void atomicRule(Call &call, const BufferForm &form) {
  Decoder &decoder = call.decoder;
  llvm::StringRef name = form.name;
  name.consume_front("atomic.");
  const AtomicName *found = nullptr;
  for (const AtomicName &row : atomicNames)
    if (isNamed(name, row.name) && (!found || std::strlen(row.name) > std::strlen(found->name)))
      found = &row;
  if (!found)
    return decoder.fail(llvm::Twine("unsupported atomic ") + call.name);
  bool exchange = found->op == AtomicOp::CompareExchange;
  unsigned resource = exchange ? 2 : 1;
  Regs in = locationRegs(call, resource, resource + 1, form.hasIndex), value = call.regs(0), operands = value;
  if (exchange) {
    operands = call.regs(1);
    operands.append(value.begin(), value.end());
  }
  AtomicSpec spec;
  spec.op = found->op;
  spec.kind = decoder.kindOfReg(value[0]);
  spec.elements = static_cast<unsigned>(value.size());
  spec.space = AtomicSpace::Global;
  spec.resultUsed = !call.call.use_empty();
  Reg address = decoder.newReg(Kind::Pointer), valid = decoder.newReg(Kind::I1);
  Op &op = decoder.emitWide(decoder.pick(TILEJIT_BOTH(bufferAddress)), {address, valid}, in);
  decoder.operandsOf(op).numbers = {static_cast<int64_t>(sizeOf(spec.kind) * spec.elements),
                                    bufferFlags(decoder, form.hasIndex) | BufferWhole};
  decoder.setPredicate(valid, false);
  std::vector<Reg> old = emitAtomic(decoder, spec, address, operands);
  decoder.clearPredicate();
  Regs out = call.results();
  for (size_t i = 0; i < out.size() && i < old.size(); ++i)
    decoder.emit(selectHandler(spec.kind, decoder.width()), out[i], {valid, old[i], decoder.constant(spec.kind, 0)});
}

void bufferRule(Call &call) {
  BufferForm form;
  if (!parseBufferName(shortName(call), form))
    return call.decoder.fail(llvm::Twine("unsupported intrinsic ") + call.name);
  llvm::StringRef name = form.name;
  if (isNamed(name, "load.format") || isNamed(name, "store.format") || isNamed(name, "load.lds"))
    return call.decoder.fail(llvm::Twine("unsupported buffer access ") + call.name);
  if (isNamed(name, "load"))
    loadRule(call, form);
  else if (isNamed(name, "store"))
    storeRule(call, form);
  else
    atomicRule(call, form);
}

/// s.buffer.load(resource, offset, policy): no index, no scalar offset.
void scalarLoadRule(Call &call) {
  Decoder &decoder = call.decoder;
  Regs in = resourceRegs(call, 0), out = call.results();
  Reg zero = decoder.constant(Kind::I32, 0);
  for (Reg reg : {zero, call.reg(1), zero})
    in.push_back(reg);
  OpOperands &x = decoder.operandsOf(decoder.emitWide(decoder.pick(TILEJIT_BOTH(bufferLoad)), out, in));
  uint32_t bytes = describeMemory(decoder, call.call.getType(), x);
  x.numbers = {bytes, bufferFlags(decoder, false)};
  checkBytes(call, bytes);
}

} // namespace

bool checkResource(Warp &warp, const Op &op, int64_t flags, uint64_t low, uint64_t high) {
  // Bit 62 of the others only says how a cache places the bytes.
  bool swizzled = low >> (flags & BufferRdna3 ? 62 : 63), addsThread = high >> 55 & 1, isImage = high >> 62;
  if (!swizzled && !addsThread && !isImage) [[likely]]
    return true;
  const char *what = isImage ? "use of a resource that is no buffer (type bits 127:126 are set)"
                     : addsThread
                         ? "use of a buffer resource that adds the thread's number (bit 119), which is not simulated,"
                         : "use of a swizzled buffer resource (bits 63:62), which is not simulated,";
  warp.block->report(ReportKind::Trap, op.site, warp, firstLane(warp.mask), what,
                     "kernels that compute need plain resources: stride and flags without these bits");
  warp.block->abandon(warp);
  return false;
}

bool parseBufferName(llvm::StringRef name, BufferForm &form) {
  form.hasIndex = name.consume_front("struct.");
  if (!form.hasIndex && !name.consume_front("raw."))
    return false;
  name.consume_front("ptr.");
  form.atomicLoad = name.consume_front("atomic.");
  if (!name.consume_front("buffer."))
    return false;
  form.name = name;
  return true;
}

Regs resourceRegs(Call &call, unsigned argument) {
  Decoder &decoder = call.decoder;
  Regs regs = call.regs(argument);
  if (regs.size() == 2)
    return regs;
  if (regs.size() != 4) {
    decoder.fail(llvm::Twine("unsupported buffer resource of ") + call.name);
    return {decoder.constant(Kind::I64, 0), decoder.constant(Kind::I64, 0)};
  }
  Regs halves{decoder.newReg(Kind::I64), decoder.newReg(Kind::I64)};
  decoder.emitWide(decoder.pick(TILEJIT_BOTH(joinDwords)), halves, regs);
  return halves;
}

Regs locationRegs(Call &call, unsigned argument, unsigned next, bool hasIndex) {
  Regs regs = resourceRegs(call, argument);
  regs.push_back(hasIndex ? call.reg(next++) : call.decoder.constant(Kind::I32, 0));
  regs.push_back(call.reg(next));
  regs.push_back(call.reg(next + 1));
  return regs;
}

int64_t bufferFlags(const Decoder &decoder, bool hasIndex) {
  int64_t flags = 0;
  if (hasIndex)
    flags |= BufferHasIndex;
  if (chipIsAmong(decoder, chipsRdna))
    flags |= BufferSelects;
  if (chipIsAmong(decoder, chipsSinceRdna3))
    flags |= BufferRdna3;
  return flags;
}

void addAmdBufferRules(Rules &rules) {
  rules.callPrefix("llvm.amdgcn.make.buffer.rsrc.", makeResourceRule);
  for (const char *form :
       {"raw.buffer.", "raw.ptr.buffer.", "struct.buffer.", "struct.ptr.buffer.", "raw.atomic.buffer.",
        "raw.ptr.atomic.buffer.", "struct.atomic.buffer.", "struct.ptr.atomic.buffer."})
    rules.callPrefix(std::string("llvm.amdgcn.") + form, bufferRule);
  rules.callPrefix("llvm.amdgcn.s.buffer.load.", scalarLoadRule);
}

} // namespace tilejit::sim
