// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What the schedules of all chips share: their choice, and the complete config.

#include "Schedule.h"

#include "tilejit/Description/Config.h"

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
  case Family::Attention: {
    AttentionRegime main = attention(attentionShape(description_)).back();
    chooseTile({main.bm, main.bn}, main.warps);
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

} // namespace tilejit::oplib
