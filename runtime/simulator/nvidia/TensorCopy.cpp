// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Bulk tensor copies: intrinsics and assembly, in tile and in im2col mode. The modes of later chips (im2col::w, gather
// and scatter) are errors of the decoder that name them.

#include "nvidia/TensorCopy.h"

#include "core/Block.h"
#include "nvidia/BulkCopy.h"
#include "nvidia/Capability.h"
#include "nvidia/Mbarrier.h"
#include "nvidia/Multicast.h"
#include "nvidia/TensorMap.h"

namespace tilejit::sim {

namespace {

constexpr uint32_t boxAlignment = 128;

/// What loads and stores of a box share. in: map, place in shared memory, coordinates, offsets of im2col loads;
/// numbers: {rank, ..., offsets, im2col}.
bool beginCopy(Warp &warp, const Op &op, unsigned lane, BulkCopy &copy, TensorMapInfo &map) {
  const OpOperands &x = *op.x;
  auto rank = static_cast<unsigned>(x.numbers[0]), offsets = static_cast<unsigned>(x.numbers[2]);
  bool im2col = x.numbers[3] != 0;
  auto found = readTensorMap(warp, lane, op.site, warp.reg<uint64_t>(x.in[0])[lane], rank, im2col);
  if (!found)
    return false;
  map = *found;
  copy.site = op.site;
  copy.lane = lane;
  copy.shared = sharedOffset(warp.reg<uint64_t>(x.in[1])[lane]);
  copy.bytes = boxBytes(map);
  copy.swizzle = static_cast<uint8_t>(map.swizzle);
  copy.fill = fillPattern(map);
  copy.fillBytes = static_cast<uint8_t>(sizeOf(map.type));
  if (!checkShared(warp, lane, op.site, copy.shared, copy.bytes, boxAlignment, "a tensor copy"))
    return false;
  int32_t coordinate[mostTensorRank] = {};
  for (unsigned i = 0; i < rank; ++i)
    coordinate[i] = warp.reg<int32_t>(x.in[2 + i])[lane];
  uint16_t away[mostTensorRank] = {};
  for (unsigned i = 0; i < offsets; ++i)
    away[i] = warp.reg<uint16_t>(x.in[2 + rank + i])[lane];
  if (im2col)
    addPixelRuns(map, coordinate, away, copy.runs);
  else
    addBoxRuns(map, coordinate, copy.runs);
  return true;
}

/// in: map, destination, coordinates, offsets, mbarrier, with numbers[1] the mask of blocks; numbers: {rank, has a
/// mask, offsets, im2col}.
void load(Warp &warp, const Op &op) {
  const OpOperands &x = *op.x;
  auto places = static_cast<size_t>(x.numbers[0] + x.numbers[2]);
  forEachLane(warp.mask, [&](unsigned lane) {
    BulkCopy copy;
    TensorMapInfo map;
    if (!beginCopy(warp, op, lane, copy, map))
      return;
    checkGlobal(warp, copy, false, false);
    std::optional<uint32_t> blocks;
    if (x.numbers[1])
      blocks = warp.reg<uint16_t>(x.in[3 + places])[lane];
    startLoads(warp, copy, sharedOffset(warp.reg<uint64_t>(x.in[2 + places])[lane]), blocks);
  });
}

/// in: map, source, coordinates; numbers: {rank, CopyReduction, 0, im2col}.
void store(Warp &warp, const Op &op) {
  ReductionSpec reduction{static_cast<CopyReduction>(op.x->numbers[1]), TensorMapType::U32};
  bool reduces = reduction.operation != CopyReduction::None;
  if (reduces && !warp.block->inWorld(warp))
    return;
  forEachLane(warp.mask, [&](unsigned lane) {
    BulkCopy copy;
    TensorMapInfo map;
    copy.way = BulkCopy::Way::SharedToGlobal;
    if (!beginCopy(warp, op, lane, copy, map))
      return;
    reduction.type = map.type;
    checkGlobal(warp, copy, true, reduces);
    startStore(warp, std::move(copy), reduction);
  });
}

// --- Decoding -------------------------------------------------------------------------------------------------------

/// The dimensions of a copy and how it goes through them.
struct CopyForm {
  unsigned rank = 0;
  bool im2col = false;
  unsigned offsets() const { return im2col ? rank - 2 : 0; } ///< Of loads.
};

void emitLoad(Decoder &decoder, llvm::ArrayRef<Reg> in, CopyForm form, bool hasMask) {
  decoder.noteSharedAccess(16, 16);
  Op &op = decoder.emitWide(load, {}, in);
  decoder.operandsOf(op).numbers = {form.rank, hasMask, form.offsets(), form.im2col};
}

void emitStore(Decoder &decoder, llvm::ArrayRef<Reg> in, CopyForm form, CopyReduction operation) {
  decoder.noteSharedAccess(16, 16);
  Op &op = decoder.emitWide(store, {}, in);
  decoder.operandsOf(op).numbers = {form.rank, static_cast<int64_t>(operation), 0, form.im2col};
}

/// Whether the mode that a name asks for is one of sm_90's; an error otherwise.
bool isKnownMode(Decoder &decoder, llvm::StringRef name) {
  for (llvm::StringRef mode : {"im2col_w", "im2col.w", "im2col::w", "gather4", "scatter4"})
    if (name.contains(mode)) {
      decoder.fail("unsupported mode " + mode + " in '" + name + "': sm_90 has tile and im2col");
      return false;
    }
  return true;
}

/// The form by the "2d" in a name, and its mode; rank 0 after an error.
CopyForm formOf(Decoder &decoder, llvm::StringRef word, llvm::StringRef name) {
  CopyForm form;
  form.im2col = name.contains("im2col");
  unsigned fewest = form.im2col ? 3 : 1;
  if (!word.consume_back("d") || word.getAsInteger(10, form.rank) || form.rank < fewest || form.rank > mostTensorRank) {
    decoder.fail("unsupported number of dimensions in '" + name + "'");
    form.rank = 0;
  }
  return form;
}

/// llvm.nvvm.cp.async.bulk.tensor.{g2s[.cta],s2g,reduce.<op>,prefetch}.{tile,im2col}.<rank>d
void tensorCall(Call &call) {
  Decoder &decoder = call.decoder;
  if (!needsChip(decoder, 90, call.name) || !isKnownMode(decoder, call.name))
    return;
  llvm::SmallVector<llvm::StringRef, 8> words;
  llvm::StringRef rest = call.name;
  rest.consume_front("llvm.nvvm.cp.async.bulk.tensor.");
  rest.split(words, '.');
  CopyForm form = formOf(decoder, words.back(), call.name);
  if (!form.rank || words[0] == "prefetch")
    return;
  Regs in;
  if (words[0] == "g2s") {
    // (destination, mbarrier, map, coordinates, offsets, [mask,] hint, flags)
    unsigned places = form.rank + form.offsets();
    bool cluster = words[1] != "cta", hasMask = cluster && call.constant(3 + places + 2);
    in = {call.reg(2), call.reg(0)};
    for (unsigned i = 0; i < places; ++i)
      in.push_back(call.reg(3 + i));
    in.push_back(call.reg(1));
    if (hasMask)
      in.push_back(call.reg(3 + places));
    return emitLoad(decoder, in, form, hasMask);
  }
  // (source, map, coordinates, hint, flag)
  in = {call.reg(1), call.reg(0)};
  for (unsigned i = 0; i < form.rank; ++i)
    in.push_back(call.reg(2 + i));
  CopyReduction operation = CopyReduction::None;
  if (words[0] == "reduce" && !(parseReductionWord(words[1], operation)))
    return decoder.fail("unsupported intrinsic '" + call.name + "'");
  emitStore(decoder, in, form, operation);
}

/// Appends the coordinates in [map, {x, y}], or the offsets in {x, y}.
void addCoordinates(AsmStatement &s, unsigned operand, unsigned count, Kind kind, Regs &in) {
  llvm::SmallVector<const AsmOperand *, 8> flat;
  if (operand >= s.operands.size())
    return s.decoder.fail("malformed assembly: '" + s.mnemonic + "' has too few operands");
  for (const AsmOperand &part : s.operands[operand].parts) {
    if (part.form != AsmOperand::Form::Group)
      flat.push_back(&part);
    for (const AsmOperand &inner : part.parts)
      flat.push_back(&inner);
  }
  if (flat.size() != count)
    return s.decoder.fail("malformed assembly: '" + s.mnemonic + "' needs " + llvm::Twine(count) +
                          (kind == Kind::I32 ? " coordinates" : " offsets"));
  for (const AsmOperand *coordinate : flat)
    in.push_back(s.decoder.asmRegister(*coordinate, kind, s.text));
}

/// cp[.reduce].async.bulk[.prefetch].tensor.<rank>d.<destination>.<source>...
void tensorStatement(AsmStatement &s) {
  Decoder &decoder = s.decoder;
  if (!needsChip(decoder, 90, s.mnemonic) || !isKnownMode(decoder, s.mnemonic))
    return;
  const auto *tensor = llvm::find(s.words, "tensor");
  bool hasRank = tensor != s.words.end() && tensor + 1 != s.words.end();
  CopyForm form = formOf(decoder, hasRank ? tensor[1] : llvm::StringRef(), s.mnemonic);
  if (!form.rank || s.has("prefetch"))
    return;
  Regs in;
  if (s.has("bulk_group")) {
    in = {s.address(0), s.address(1)};
    addCoordinates(s, 0, form.rank, Kind::I32, in);
    ReductionSpec reduction;
    if (s.has("reduce") && !parseReductionOperation(s, reduction))
      return;
    return emitStore(decoder, in, form, reduction.operation);
  }
  if (!s.has("mbarrier::complete_tx::bytes"))
    return decoder.fail("unsupported assembly '" + s.mnemonic + "'");
  in = {s.address(1), s.address(0)};
  addCoordinates(s, 1, form.rank, Kind::I32, in);
  if (form.im2col)
    addCoordinates(s, 3, form.offsets(), Kind::I16, in);
  in.push_back(s.address(2));
  bool hasMask = s.has("multicast::cluster");
  if (hasMask)
    in.push_back(s.reg(form.im2col ? 4 : 3, Kind::I16));
  emitLoad(decoder, in, form, hasMask);
}

void nothing(Call &call) { needsChip(call.decoder, 90, call.name); }
void nothingStatement(AsmStatement &s) { needsChip(s.decoder, 90, s.mnemonic); }

} // namespace

void addNvidiaTensorCopyRules(Rules &rules) {
  rules.callPrefix("llvm.nvvm.cp.async.bulk.tensor.", tensorCall);
  rules.callPrefix("llvm.nvvm.prefetch.tensormap", nothing);
  rules.assembly("cp.async.bulk.tensor", tensorStatement);
  rules.assembly("cp.reduce.async.bulk.tensor", tensorStatement);
  rules.assembly("cp.async.bulk.prefetch.tensor", tensorStatement);
  for (llvm::StringRef words : {"prefetch.tensormap", "prefetch.param.tensormap", "prefetch.const.tensormap"})
    rules.assembly(words, nothingStatement);
  addTensorMapRules(rules);
}

} // namespace tilejit::sim
