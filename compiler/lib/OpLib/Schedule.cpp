// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What the schedules of all chips share: their choice, and the complete config.

#include "Schedule.h"

#include "tilejit/Description/Config.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <bit>

namespace tilejit::oplib {

std::unique_ptr<Schedule> Schedule::create(const Description &description, const TargetSpec &target,
                                           const abi::Config &config) {
  if (!target.isGpu())
    return createCpuSchedule(description, target.cpuFacts, config);
  // A config that would be chosen anyway was not given: each regime then has tiles of its own.
  static const abi::Config nothing;
  std::unique_ptr<Schedule> chosen = createGpuSchedule(description, target, nothing);
  return chosen->complete() == config ? std::move(chosen) : createGpuSchedule(description, target, config);
}

int64_t Schedule::get(const char *key, int64_t fallback) const {
  auto found = config_.find(key);
  return found == config_.end() ? fallback : found->second;
}

abi::Config Schedule::complete() const {
  abi::Config chosen;
  auto chooseTile = [&](TileSize tile, int64_t warps) {
    chosen["bm"] = tile.rows;
    chosen["bn"] = tile.columns;
    chosen["warps"] = warps;
  };
  switch (description_.family) {
  case Family::Matmul: {
    MatmulRegime main = matmul(matmulShape(description_)).back();
    chooseTile({main.bm, main.bn}, main.warps);
    chosen["bk"] = main.bk;
    chosen["stages"] = main.stages;
    chosen["split_k"] = main.splitK;
    chosen["order"] = main.order;
    break;
  }
  case Family::Elementwise:
  case Family::Cast: {
    Tiling tiling = elementwise(elementwiseSpace(description_));
    chooseTile(tiling.tile, tiling.warps);
    break;
  }
  case Family::Transpose: {
    Tiling tiling = transpose(transposeShape(description_));
    chooseTile(tiling.tile, tiling.warps);
    break;
  }
  case Family::Reduce: {
    SweepRegime main = reduce(reduceSpace(description_)).back();
    chooseTile(main.tile, main.warps);
    chosen["chunk"] = reduceChunk();
    break;
  }
  case Family::Softmax:
  case Family::LogSoftmax:
  case Family::LayerNorm:
  case Family::RmsNorm: {
    SweepRegime main = rows(rowsSpace(description_)).back();
    chooseTile(main.tile, main.warps);
    break;
  }
  case Family::Attention:
  case Family::AttentionDecode: {
    std::vector<AttentionRegime> regimes = attention(attentionShape(description_));
    chooseTile({regimes.back().bm, regimes.back().bn}, regimes.back().warps);
    chosen["split_k"] = regimes.front().split;
    break;
  }
  }
  abi::Config config = config_;
  for (const ConfigKey &key : configKeys(description_.family)) {
    auto choice = chosen.find(std::string(key.name));
    bool applies = choice != chosen.end() && (!isCpu() || key.notOnCpu.empty());
    if (applies)
      config.insert(*choice);
  }
  return config;
}

//===--- attention ----------------------------------------------------------------------------------------------===//

Status Schedule::checkAttentionSplit() const {
  if (get("split_k", 1) == 1 || attention(attentionShape(description_)).front().split > 1)
    return Status::ok();
  return Status(StatusCode::InvalidArgument,
                "config key 'split_k' does not apply to more than " + std::to_string(fewQueries) + " queries")
      .withHint("their blocks are instances enough");
}

/// Parts of the keys of a few queries that give the wanted number of instances, none of less than the wanted keys. A
/// number of batches that varies counts as 1, and many of them are left alone.
void Schedule::addWithSplit(const AttentionShape &shape, const AttentionNeeds &needs, AttentionRegime regime,
                            std::vector<AttentionRegime> &regimes) const {
  const Space &space = shape.rowsOf(regime.isGrouped);
  const Size &batches = shape.size(0), &rows = space.dims[AttentionShape::query].size;
  int64_t blocks = 1;
  if (!regime.isGrouped || rows.isStatic())
    blocks = llvm::divideCeilSigned(rows.isStatic() ? rows.factor : 1, regime.bm);
  int64_t heads = std::max<int64_t>(1, space.dims[AttentionShape::head].size.factor * blocks);
  int64_t each = heads * (batches.isStatic() ? std::max<int64_t>(1, batches.factor) : 1);
  int64_t wanted = std::min(needs.instances / each, largest(shape.size(AttentionShape::key)) / needs.keys);
  wanted = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(std::clamp<int64_t>(wanted, 1, mostParts))));
  AttentionRegime shared = regime;
  shared.split = get("split_k", wanted);
  if (shared.split > 1) {
    int64_t most = std::max<int64_t>(1, needs.instances / heads / 2);
    if (!batches.isStatic() && largest(batches) > most)
      shared.maxBatches = most;
    regimes.push_back(shared);
    if (!shared.maxBatches)
      return;
  }
  regimes.push_back(regime);
}

std::vector<AttentionRegime> Schedule::attentionRegimes(const AttentionShape &shape,
                                                        const AttentionNeeds &needs) const {
  const Size &queries = shape.size(AttentionShape::query);
  bool canGroup = shape.grouped && shape.group > 1;
  auto few = [&](int64_t most) {
    bool isLast = largest(queries) <= most;
    AttentionRegime regime = attentionRegime(shape, canGroup ? most * shape.group : most, isLast);
    regime.isGrouped = canGroup;
    if (!isLast)
      regime.maxQueries = most;
    return regime;
  };
  std::vector<AttentionRegime> regimes;
  if (shape.hasSequences()) // A block has queries of several sequences, each with keys of its own.
    return {attentionRegime(shape, largest(queries), /*isLast=*/true)};
  if (smallest(queries) <= 1 && largest(queries) > 1)
    addWithSplit(shape, needs, few(1), regimes);
  if (int64_t most = std::max<int64_t>(1, largest(queries)); most <= fewQueries) {
    addWithSplit(shape, needs, few(most), regimes);
    return regimes;
  }
  // Many queries of one head fill a block; those that decode share the pages that they load.
  bool isGrouped = canGroup && shape.isPaged();
  AttentionRegime many =
      attentionRegime(shape, saturatingProduct(largest(queries), isGrouped ? shape.group : 1), /*isLast=*/true);
  many.isGrouped = isGrouped;
  regimes.push_back(many);
  return regimes;
}

} // namespace tilejit::oplib
