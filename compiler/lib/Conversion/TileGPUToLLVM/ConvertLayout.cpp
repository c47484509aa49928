// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Changes of layout within a warp: other registers, or words exchanged between lanes, as the planner says.

#include "ConvertLayout.h"

#include "../Common/LayoutPlan.h"
#include "Exchange.h"

using namespace mlir;
using namespace tilejit;
using namespace tilejit::gpu;
using namespace tilejit::tilegpu;

void gpu::applySelects(KernelEmitter &e, ArrayRef<Select> selects, MutableArrayRef<Value> registers) {
  for (const Select &select : selects) {
    Value exchanges = e.threadParity(select.threadMask);
    SmallVector<Value> before(registers);
    for (size_t reg = 0; reg < before.size(); ++reg)
      registers[reg] = arith::SelectOp::create(e.b, e.loc, exchanges, before[reg ^ select.exchange], before[reg]);
  }
}

/// The i32 number of the lane that a round reads from; a mask where it is the own one with some bits changed.
static Value partnerLane(KernelEmitter &e, const ShuffleMove &move, uint64_t laneXor) {
  Type i32 = e.b.getI32Type();
  Value lane = e.threadCombination(SmallVector<int64_t>(move.partner.begin(), move.partner.end()));
  return laneXor == 0 ? lane : Value(arith::XOrIOp::create(e.b, e.loc, lane, e.integer(i32, int64_t(laneXor))));
}

static bool isOwnLane(KernelEmitter &e, const ShuffleMove &move) {
  for (auto [bit, column] : llvm::enumerate(move.partner))
    if (column != (int64_t(bit) < e.laneBits() ? uint64_t{1} << bit : 0))
      return false;
  return true;
}

/// `elements` are in the form of memory (at least 8 bits).
static SmallVector<Value> shuffled(KernelEmitter &e, const ShuffleMove &move, ArrayRef<Value> elements) {
  auto word = [&](ArrayRef<unsigned> registers) {
    return e.fromScalars(llvm::map_to_vector(registers, [&](unsigned reg) { return elements[reg]; }));
  };
  SmallVector<Value> words =
      llvm::map_to_vector(move.sourceWords, [&](const auto &registers) { return word(registers); });
  applySelects(e, move.before, words);
  bool byMask = isOwnLane(e, move);
  SmallVector<Value> received;
  for (const ShuffleRound &round : move.rounds) {
    Value published = words[round.word];
    if (round.isOwn)
      received.push_back(published);
    else if (byMask)
      received.push_back(fromLaneXor(e, published, int64_t(round.laneXor)));
    else
      received.push_back(fromLane(e, published, partnerLane(e, move, round.laneXor)));
  }
  applySelects(e, move.after, received);
  size_t count = 0;
  for (const auto &registers : move.resultWords)
    count += registers.size();
  SmallVector<Value> result(count);
  for (auto [own, registers] : llvm::zip(received, move.resultWords))
    for (auto [reg, element] : llvm::zip(registers, e.scalars(own)))
      result[reg] = element;
  applySelects(e, move.within, result);
  return result;
}

static LogicalResult lowerConvertLayout(KernelEmitter &e, Operation *op) {
  auto convert = cast<ConvertLayoutOp>(op);
  Type element = convert.getType().getElementType();
  ConversionPlan plan = gpu::planConversion(convert.getSource(), layoutOf(convert.getType()), e.banks);
  SmallVector<Value> all = e.scalars(e.toMemory(e.get(convert.getSource()), element)), moved;
  SmallVector<Value> own = llvm::map_to_vector(plan.from.kept, [&](unsigned reg) { return all[reg]; });
  if (std::holds_alternative<NoMove>(plan.move)) {
    moved = own;
  } else if (auto *registers = std::get_if<RegisterMove>(&plan.move)) {
    applySelects(e, registers->selects, own);
    moved = llvm::map_to_vector(registers->source, [&](unsigned reg) { return own[reg]; });
  } else if (auto *shuffle = std::get_if<ShuffleMove>(&plan.move)) {
    moved = shuffled(e, *shuffle, own);
  } else {
    return e.refuse(op, "it leads through on-chip memory (tile-gpu-on-chip)");
  }
  SmallVector<Value> result = llvm::map_to_vector(plan.to.index, [&](unsigned reg) { return moved[reg]; });
  e.set(convert.getResult(), e.fromMemory(e.fromScalars(result), element));
  return success();
}

void gpu::registerConvertLayout(LoweringTable &table) {
  table[ConvertLayoutOp::getOperationName()] = lowerConvertLayout;
}
