// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Bulk tensor copies: intrinsics and assembly. Tile mode only: im2col, gather and scatter are errors of the decoder
// that name them.

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

/// What loads and stores of a box share. in: map, place in shared memory, coordinates...
bool beginCopy(Warp &warp, const Op &op, unsigned lane, BulkCopy &copy, TensorMapInfo &map) {
  const OpOperands &x = *op.x;
  auto rank = static_cast<unsigned>(x.numbers[0]);
  auto found = readTensorMap(warp, lane, op.site, warp.reg<uint64_t>(x.in[0])[lane], rank);
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
  addBoxRuns(map, coordinate, copy.runs);
  return true;
}

/// in: map, destination, coordinates, mbarrier, with numbers[1] the mask of blocks; numbers: {rank, has a mask}.
void load(Warp &warp, const Op &op) {
  const OpOperands &x = *op.x;
  auto rank = static_cast<size_t>(x.numbers[0]);
  forEachLane(warp.mask, [&](unsigned lane) {
    BulkCopy copy;
    TensorMapInfo map;
    if (!beginCopy(warp, op, lane, copy, map))
      return;
    checkGlobal(warp, copy, false, false);
    std::optional<uint32_t> blocks;
    if (x.numbers[1])
      blocks = warp.reg<uint16_t>(x.in[3 + rank])[lane];
    startLoads(warp, copy, sharedOffset(warp.reg<uint64_t>(x.in[2 + rank])[lane]), blocks);
  });
}

/// in: map, source, coordinates; numbers: {rank, CopyReduction}.
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

void emitLoad(Decoder &decoder, llvm::ArrayRef<Reg> in, unsigned rank, bool hasMask) {
  decoder.noteSharedAccess(16, 16);
  Op &op = decoder.emitWide(load, {}, in);
  decoder.operandsOf(op).numbers = {rank, hasMask};
}

void emitStore(Decoder &decoder, llvm::ArrayRef<Reg> in, unsigned rank, CopyReduction operation) {
  decoder.noteSharedAccess(16, 16);
  Op &op = decoder.emitWide(store, {}, in);
  decoder.operandsOf(op).numbers = {rank, static_cast<int64_t>(operation)};
}

/// Whether the words of a name ask for tile mode; an error otherwise.
bool isTile(Decoder &decoder, llvm::StringRef name) {
  for (llvm::StringRef mode : {"im2col", "gather4", "scatter4"})
    if (name.contains(mode)) {
      decoder.fail("unsupported mode " + mode + " in '" + name + "': tensor copies are simulated in tile mode");
      return false;
    }
  return true;
}

/// The rank in "....2d"; 0 after an error.
unsigned rankOf(Decoder &decoder, llvm::StringRef word, llvm::StringRef name) {
  unsigned rank = 0;
  if (!word.consume_back("d") || word.getAsInteger(10, rank) || rank < 1 || rank > mostTensorRank) {
    decoder.fail("unsupported number of dimensions in '" + name + "'");
    return 0;
  }
  return rank;
}

/// llvm.nvvm.cp.async.bulk.tensor.{g2s[.cta],s2g,reduce.<op>,prefetch}.tile.<rank>d
void tensorCall(Call &call) {
  Decoder &decoder = call.decoder;
  if (!needsChip(decoder, 90, call.name) || !isTile(decoder, call.name))
    return;
  llvm::SmallVector<llvm::StringRef, 8> words;
  llvm::StringRef rest = call.name;
  rest.consume_front("llvm.nvvm.cp.async.bulk.tensor.");
  rest.split(words, '.');
  unsigned rank = rankOf(decoder, words.back(), call.name);
  if (!rank || words[0] == "prefetch")
    return;
  Regs in;
  if (words[0] == "g2s") {
    // (destination, mbarrier, map, coordinates, [mask,] hint, flags)
    bool cluster = words[1] != "cta", hasMask = cluster && call.constant(3 + rank + 2);
    in = {call.reg(2), call.reg(0)};
    for (unsigned i = 0; i < rank; ++i)
      in.push_back(call.reg(3 + i));
    in.push_back(call.reg(1));
    if (hasMask)
      in.push_back(call.reg(3 + rank));
    return emitLoad(decoder, in, rank, hasMask);
  }
  // (source, map, coordinates, hint, flag)
  in = {call.reg(1), call.reg(0)};
  for (unsigned i = 0; i < rank; ++i)
    in.push_back(call.reg(2 + i));
  CopyReduction operation = CopyReduction::None;
  if (words[0] == "reduce" && !(parseReductionWord(words[1], operation)))
    return decoder.fail("unsupported intrinsic '" + call.name + "'");
  emitStore(decoder, in, rank, operation);
}

/// Appends the coordinates in [map, {x, y}].
void addCoordinates(AsmStatement &s, unsigned operand, unsigned rank, Regs &in) {
  llvm::SmallVector<const AsmOperand *, 8> flat;
  if (operand >= s.operands.size())
    return s.decoder.fail("malformed assembly: '" + s.mnemonic + "' has too few operands");
  for (const AsmOperand &part : s.operands[operand].parts) {
    if (part.form != AsmOperand::Form::Group)
      flat.push_back(&part);
    for (const AsmOperand &inner : part.parts)
      flat.push_back(&inner);
  }
  if (flat.size() != rank)
    return s.decoder.fail("malformed assembly: '" + s.mnemonic + "' needs " + llvm::Twine(rank) + " coordinates");
  for (const AsmOperand *coordinate : flat)
    in.push_back(s.decoder.asmRegister(*coordinate, Kind::I32, s.text));
}

/// cp[.reduce].async.bulk[.prefetch].tensor.<rank>d.<destination>.<source>...
void tensorStatement(AsmStatement &s) {
  Decoder &decoder = s.decoder;
  if (!needsChip(decoder, 90, s.mnemonic) || !isTile(decoder, s.mnemonic))
    return;
  const auto *tensor = llvm::find(s.words, "tensor");
  unsigned rank = tensor == s.words.end() || tensor + 1 == s.words.end() ? 0 : rankOf(decoder, tensor[1], s.mnemonic);
  if (!rank || s.has("prefetch"))
    return;
  Regs in;
  if (s.has("bulk_group")) {
    in = {s.address(0), s.address(1)};
    addCoordinates(s, 0, rank, in);
    ReductionSpec reduction;
    if (s.has("reduce") && !parseReductionOperation(s, reduction))
      return;
    return emitStore(decoder, in, rank, reduction.operation);
  }
  if (!s.has("mbarrier::complete_tx::bytes"))
    return decoder.fail("unsupported assembly '" + s.mnemonic + "'");
  in = {s.address(1), s.address(0)};
  addCoordinates(s, 1, rank, in);
  in.push_back(s.address(2));
  bool hasMask = s.has("multicast::cluster");
  if (hasMask)
    in.push_back(s.reg(3, Kind::I16));
  emitLoad(decoder, in, rank, hasMask);
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
