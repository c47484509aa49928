// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Proxy fences: intrinsics and assembly. The one-sided forms for remote barriers act like the general fence.

#include "nvidia/ProxyFence.h"

#include "core/Block.h"
#include "nvidia/Capability.h"
#include "nvidia/Mbarrier.h"
#include "nvidia/Ptx.h"

namespace tilejit::sim {

namespace {

void fenceAsync(Warp &warp, const Op &) {
  warp.block->ordering.proxyFence(warp.index);
  fenceInitialisations(warp, false);
}

void fenceMbarrierInit(Warp &warp, const Op &) { fenceInitialisations(warp, true); }

/// a: a tensor map.
void acquireTensorMap(Warp &warp, const Op &op) {
  auto &changed = warp.block->nvidia->changedMaps;
  const uint64_t *map = warp.reg<uint64_t>(op.a);
  forEachLane(warp.mask, [&](unsigned lane) {
    if (auto found = changed.find(map[lane]); found != changed.end())
      found->second = true;
  });
}

void emitFence(Decoder &decoder, llvm::StringRef name, bool alias) {
  if (needsChip(decoder, alias ? 70 : 90, name) && !alias)
    decoder.emit(fenceAsync);
}

void emitTensorMapFence(Decoder &decoder, llvm::StringRef name, const Reg *map) {
  if (!needsChip(decoder, 90, name) || !map)
    return;
  Op &op = decoder.emit(acquireTensorMap);
  op.a = *map;
  op.registers |= Op::HasA;
}

/// llvm.nvvm.fence.proxy.*
void proxyCall(Call &call) {
  if (!call.name.contains(".tensormap_generic."))
    return emitFence(call.decoder, call.name, call.name.ends_with(".alias"));
  if (!call.size())
    return emitTensorMapFence(call.decoder, call.name, nullptr);
  Reg map = call.reg(0);
  emitTensorMapFence(call.decoder, call.name, &map);
}

void proxyStatement(AsmStatement &s) {
  if (s.words.size() < 3)
    return unsupportedStatement(s);
  if (!s.has("tensormap::generic"))
    return emitFence(s.decoder, s.mnemonic, s.has("alias"));
  if (!s.has("acquire"))
    return emitTensorMapFence(s.decoder, s.mnemonic, nullptr);
  Reg map = s.address(0);
  emitTensorMapFence(s.decoder, s.mnemonic, &map);
}

void emitInitFence(Decoder &decoder, llvm::StringRef name) {
  if (needsChip(decoder, 90, name))
    decoder.emit(fenceMbarrierInit);
}

} // namespace

void addProxyFenceRules(Rules &rules) {
  rules.callPrefix("llvm.nvvm.fence.proxy.", proxyCall);
  rules.call("llvm.nvvm.fence.mbarrier_init.release.cluster",
             [](Call &call) { emitInitFence(call.decoder, call.name); });
  rules.assembly("fence.proxy", proxyStatement);
  rules.assembly("fence.mbarrier_init", [](AsmStatement &s) { emitInitFence(s.decoder, s.mnemonic); });
}

} // namespace tilejit::sim
