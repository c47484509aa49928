// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// st.async and red.async of sm_90: stores and reductions of single values into shared memory of a block of the cluster,
// which signal their bytes to an mbarrier of that block. They are copies like bulk copies, land as late, but do not go
// through the asynchronous proxy, and reductions to one place do not disturb each other. The forms of later chips for
// global memory are errors of the decoder that name them.

#include "core/Block.h"
#include "nvidia/BulkCopy.h"
#include "nvidia/Capability.h"
#include "nvidia/Mbarrier.h"
#include "nvidia/Multicast.h"
#include "nvidia/Ptx.h"
#include "nvidia/Rules.h"

#include <cstring>

namespace tilejit::sim {

namespace {

/// in: destination, mbarrier, values; numbers: {bytes of a value, CopyReduction, TensorMapType}.
void storeAsync(Warp &warp, const Op &op) {
  const OpOperands &x = *op.x;
  auto each = static_cast<uint32_t>(x.numbers[0]);
  ReductionSpec reduction{static_cast<CopyReduction>(x.numbers[1]), static_cast<TensorMapType>(x.numbers[2])};
  forEachLane(warp.mask, [&](unsigned lane) {
    BulkCopy copy;
    copy.way = BulkCopy::Way::LaneToShared;
    copy.site = op.site;
    copy.lane = lane;
    copy.shared = sharedOffset(warp.reg<uint64_t>(x.in[0])[lane]);
    copy.reduction = reduction;
    for (size_t i = 2; i < x.in.size(); ++i) {
      const uint8_t *value = warp.reg<uint8_t>(x.in[i]) + size_t(lane) * each;
      copy.data.insert(copy.data.end(), value, value + each);
    }
    copy.bytes = static_cast<uint32_t>(copy.data.size());
    if (checkShared(warp, lane, op.site, copy.shared, copy.bytes, copy.bytes, "destination of an asynchronous store"))
      startLoads(warp, copy, sharedOffset(warp.reg<uint64_t>(x.in[1])[lane]));
  });
}

void emitStore(AsmStatement &s, const PtxType &type, ReductionSpec reduction) {
  Decoder &decoder = s.decoder;
  Regs in = {s.address(0), s.address(2)};
  const AsmOperand &values = s.operands[1];
  Kind kind = type.bits == 64 ? Kind::I64 : Kind::I32;
  unsigned wanted = s.has("v4") ? 4 : s.has("v2") ? 2 : 1;
  if (values.form == AsmOperand::Form::Group)
    for (const AsmOperand &value : values.parts)
      in.push_back(decoder.asmRegister(value, kind, s.text));
  else
    in.push_back(s.reg(1, kind));
  if (in.size() != 2 + wanted)
    return decoder.fail("malformed assembly: '" + s.text + "' needs " + llvm::Twine(wanted) + " values");
  uint32_t each = type.bits / 8;
  decoder.noteSharedAccess(uint64_t(each) * wanted, uint64_t(each) * wanted);
  Op &op = decoder.emitWide(storeAsync, {}, in);
  decoder.operandsOf(op).numbers = {each, static_cast<int64_t>(reduction.operation),
                                    static_cast<int64_t>(reduction.type)};
}

/// What both begin with: {st,red}.async...shared::cluster.mbarrier::complete_tx::bytes... [a], values, [mbarrier]
std::optional<PtxType> beginStatement(AsmStatement &s) {
  if (!needsChip(s.decoder, 90, s.mnemonic) || !expectOperands(s, 3, 3))
    return std::nullopt;
  std::optional<PtxType> type = parsePtxType(s.words.back());
  bool isKnown = type && !type->pair && (type->bits == 32 || type->bits == 64);
  if (isKnown && !s.has("global") && s.has("mbarrier::complete_tx::bytes"))
    return type;
  unsupportedStatement(s);
  return std::nullopt;
}

/// st.async{.weak}{.shared::cluster}.mbarrier::complete_tx::bytes{.v2,.v4}.type [a], value, [mbarrier]
void storeStatement(AsmStatement &s) {
  if (std::optional<PtxType> type = beginStatement(s))
    emitStore(s, *type, {});
}

/// red.async.relaxed.cluster{.shared::cluster}.mbarrier::complete_tx::bytes.operation.type [a], value, [mbarrier]
void reduceStatement(AsmStatement &s) {
  std::optional<PtxType> type = beginStatement(s);
  ReductionSpec reduction;
  if (!type || !parseReduction(s, reduction))
    return;
  using enum CopyReduction;
  bool isSigned = type->kind == PtxType::Class::Signed, isWide = type->bits == 64, fits = !type->isFloat();
  if (reduction.operation == Inc || reduction.operation == Dec)
    fits &= !isSigned && !isWide;
  else if (reduction.operation != Add)
    fits &= !isWide;
  if (!fits)
    return unsupportedStatement(s);
  emitStore(s, *type, reduction);
}

} // namespace

void addNvidiaAsyncStoreRules(Rules &rules) {
  rules.assembly("st.async", storeStatement);
  rules.assembly("red.async", reduceStatement);
}

} // namespace tilejit::sim
